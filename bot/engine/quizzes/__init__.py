"""One module an item kind: how it is asked and how an answer is graded; the package root imports nothing."""
