"""The warm start, inside: a parent that has imported what learners import, and what it forks, one child a job."""
