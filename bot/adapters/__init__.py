"""One folder a platform; the package root imports nothing."""
