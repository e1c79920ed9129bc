"""What the teacher sees: figures of items, drop-off, questions and complaints; the package root imports nothing."""
