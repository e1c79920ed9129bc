"""What grading an answer comes to; shared by every item kind."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from content.schema import Near


class Verdict(StrEnum):
    """How an answer is taken."""

    RIGHT = "right"
    PARTIAL = "partial"
    """some of it: counts as a try, and its credit is kept"""
    NEAR = "near"
    """a known miss, with words of its own; counts as a try"""
    WRONG = "wrong"
    UNREAD = "unread"
    """not an answer of this kind: costs nothing, another reading of the text is tried"""
    OTHER_UNIT = "other_unit"
    """a figure, but in another unit than the one asked for: costs nothing, and is said"""
    NOT_FINITE = "not_finite"
    """no finite number: costs nothing, and is said"""


@dataclass(frozen=True, slots=True)
class Note:
    """What is said to one part of an answer: the part as shown, the course's words on it, and whether it is right."""

    part: str
    feedback: str
    right: bool


@dataclass(frozen=True, slots=True)
class Grade:
    """A verdict, the course's own words on this answer (may be empty), and the misconception it shows, if any.

    `credit` (0 to 1) is of the answer alone, without regard to help; `points` of `of` say a partial one in numbers.
    """

    verdict: Verdict
    feedback: str = ""
    misconception: str = ""
    credit: float = 0.0
    points: int = 0
    of: int = 0
    notes: tuple[Note, ...] = ()


def near_miss(near: Iterable[Near], same: Iterable[bool]) -> Grade | None:
    """Give the grade of the first known near miss that is the same as the answer."""
    for miss, is_same in zip(near, same, strict=True):
        if is_same:
            return Grade(Verdict.NEAR, miss.feedback, miss.misconception or "")
    return None
