"""The web chat; the package root imports nothing."""
