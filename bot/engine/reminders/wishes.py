"""What a learner wishes of reminders, as it is stored; and the row that keeps it.

Law: minutes count from local midnight, Monday is day 0, and nothing is sent before a zone is known.
"""

from dataclasses import dataclass, replace
from datetime import datetime

MOST_UNANSWERED = 3
"""Digests without any word of the learner's, after which no more are sent until they return."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """A learner's wishes and where their reminders stand.

    `next_at` is when the next digest falls due, None while none does; `last_day` is the learner's day of the last one.
    Quiet hours run from `quiet_from` to `quiet_to` over midnight where they must; the same twice means none.
    """

    zone: str = ""
    reminders: bool = False
    minute: int = 17 * 60
    quiet_from: int = 22 * 60
    quiet_to: int = 8 * 60
    off: tuple[int, ...] = ()
    next_at: datetime | None = None
    last_day: str = ""
    unanswered: int = 0

    def with_(self, **changes: object) -> "Wishes":
        """Give a copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class KeepWishes:
    """Store the wishes; refused whole when another digest was sent since `known_day` was read."""

    wishes: Wishes
    known_day: str
