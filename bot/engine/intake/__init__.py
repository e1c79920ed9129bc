"""What chat clients do to code, undone: from a text or a file to candidates; the package root imports nothing."""
