"""Two platforms' accounts of one learner joined by a code that is used once; the package root imports nothing."""
