"""What a typed line would be, by what was said last; stored in the session as a plain code.

Law: an expectation only adds a reading of the next text; commands are read before it.
"""

from enum import StrEnum

EXERCISE = "exercise:"
"""Begins the expectation of code for an exercise; its id follows."""


class Expects(StrEnum):
    """What the next text would be."""

    NOTHING = ""
    ANSWER = "answer"
    PERCENT = "percent"
    TIME = "time"
    RUN = "run"
