"""The lessons and how they are read; the package root imports nothing."""
