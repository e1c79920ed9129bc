"""One module a way to confine; the package root imports nothing."""
