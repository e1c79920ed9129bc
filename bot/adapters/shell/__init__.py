"""The shell chat of `bot say`; the package root imports nothing."""
