"""Questions in the learner's own words: from a text to a passage of the lessons, or to an honest no."""
