"""What a typed line would be, by what was said last; stored in the session as a plain code.

Law: an expectation only adds a reading of the next text; commands are read before it.
"""

from enum import StrEnum

EXERCISE = "exercise:"
"""Begins the expectation of code for an exercise; its id follows."""


PLAY = "play:"
"""Begins the expectation of a figure for an explorer; its lesson's slug follows."""


class Expects(StrEnum):
    """What the next text would be."""

    NOTHING = ""
    ANSWER = "answer"
    TIME = "time"
    RUN = "run"
