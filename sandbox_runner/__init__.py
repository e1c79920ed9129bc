"""Measured runs of strangers' code; the package root imports nothing."""
