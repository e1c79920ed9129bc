"""What a typed line would be, by what was said last; stored in the session as a plain code.

Law: an expectation only adds a reading of the next text; commands are read before it.
"""

from enum import StrEnum

EXERCISE = "exercise:"
"""Begins the expectation of code for an exercise; its id follows, and behind a colon how many hints were shown."""


PLAY = "play:"
"""Begins the expectation of a figure for an explorer; its lesson's slug follows."""


NAME = "name:"
"""Begins the expectation of a name for the board; the id of the exercise whose board was shown follows."""


WHEN = "when:"
"""Begins the expectation of an hour or a zone for reminders; the slot's own name of their panel follows."""


LINK = "link"
"""The expectation of a code that joins accounts; nothing follows."""


ERASE = "erase:"
"""Begins the expectation of the second word that deletes everything; its token and its time (in seconds) follow."""


def exercise_of(expects: str) -> str:
    """Give the id of the exercise for which code is expected, also while a name for its board is; empty for none."""
    begun = next((prefix for prefix in (EXERCISE, NAME) if expects.startswith(prefix)), "")
    return expects.removeprefix(begun).partition(":")[0] if begun else ""


def hints_of(expects: str) -> int:
    """Give how many hints of the expected exercise were shown."""
    seen = expects.removeprefix(EXERCISE).partition(":")[2] if expects.startswith(EXERCISE) else ""
    return int(seen) if seen.isascii() and seen.isdecimal() else 0


class Expects(StrEnum):
    """What the next text would be."""

    NOTHING = ""
    ANSWER = "answer"
    TIME = "time"
    RUN = "run"
