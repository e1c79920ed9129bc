"""What a learner remembers and knows: memory, mastery, streaks, and how they are shown; the root imports nothing."""
