"""The conversation with a learner; the package root imports nothing."""
