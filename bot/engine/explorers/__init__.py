"""What can be played with without code: one pure module an explorer, reached through `playing.py`."""
