"""The warm start, seen from outside: a parent kept ready behind bubblewrap's walls, and its children, one a job."""
