"""What belongs to the learner: a copy of it, its deletion, how long it is kept; the package root imports nothing."""
