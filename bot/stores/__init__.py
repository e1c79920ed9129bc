"""One module a database; the package root imports nothing."""
