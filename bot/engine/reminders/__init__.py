"""When and how a learner wishes to be reminded; the package root imports nothing."""
