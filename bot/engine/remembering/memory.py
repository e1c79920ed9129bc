"""One flashcard in one learner's memory, by FSRS 6: what a grade makes of it, and when it is due again.

Law: pure, by whole days and without chance; a success never makes the interval shorter, and a clock that went back
counts as one that stood still.
"""

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any, cast

from fsrs import Card, Rating, Scheduler, State

MOST_DAYS = 60
"""The longest interval."""
RETENTION = 0.9
"""The share of cards still known when they are due."""

_SCHEDULER = Scheduler(
    desired_retention=RETENTION,
    learning_steps=(),
    relearning_steps=(),
    maximum_interval=MOST_DAYS,
    enable_fuzzing=False,
)


class Grade(IntEnum):
    """How well a card was known, as FSRS counts."""

    FORGOT = 1
    HARD = 2
    KNEW = 3
    EASY = 4


@dataclass(frozen=True, slots=True)
class Memory:
    """A card's memory. `stability` in days, `difficulty` from 1 to 10; times in UTC; `rev` of the card as graded."""

    rev: int
    stability: float
    difficulty: float
    graded_at: datetime
    due: datetime
    grades: int
    lapses: int

    @property
    def days(self) -> int:
        """The interval from the last grade to the day when it is due."""
        return (self.due - self.graded_at).days


def graded(before: Memory | None, grade: Grade, rev: int, at: datetime) -> Memory:
    """Give the memory after a grade. A memory of an older `rev` is of another meaning: it begins anew."""
    at = at.astimezone(UTC)
    if before is not None and before.rev != rev:
        before = None
    if before is None:
        card = Card(card_id=1)
    else:
        at = max(at, before.graded_at)
        card = Card(1, State.Review, None, before.stability, before.difficulty, before.due, before.graded_at)
    after, _ = _SCHEDULER.review_card(card, Rating(grade.value), at)
    kept = before.stability if before is not None and grade is not Grade.FORGOT else 0.0
    stability = max(cast("float", after.stability), kept)
    made = Memory(
        rev=rev,
        stability=stability,
        difficulty=cast("float", after.difficulty),
        graded_at=at,
        due=after.due,
        grades=(before.grades if before else 0) + 1,
        lapses=(before.lapses if before else 0) + (before is not None and grade is Grade.FORGOT),
    )
    if before is not None and grade is not Grade.FORGOT and made.days < before.days:
        return replace(made, due=at + timedelta(days=before.days))
    return made


def to_json(memory: Memory) -> str:
    """Serialise for the store."""
    return json.dumps(
        {
            "rev": memory.rev,
            "stability": memory.stability,
            "difficulty": memory.difficulty,
            "graded_at": memory.graded_at.isoformat(),
            "due": memory.due.isoformat(),
            "grades": memory.grades,
            "lapses": memory.lapses,
        }
    )


def from_json(text: str) -> Memory | None:
    """Load what `to_json` wrote; None for a card that was never graded, or a text that is damaged."""
    try:
        value = cast("dict[str, Any]", json.loads(text))
        return Memory(
            rev=int(value["rev"]),
            stability=float(value["stability"]),
            difficulty=float(value["difficulty"]),
            graded_at=datetime.fromisoformat(value["graded_at"]).astimezone(UTC),
            due=datetime.fromisoformat(value["due"]).astimezone(UTC),
            grades=int(value["grades"]),
            lapses=int(value["lapses"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
