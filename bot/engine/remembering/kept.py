"""What is kept of a learner's memory and knowledge, as it is loaded for a turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.engine.remembering.mastery import Difficulty, Topic
from bot.engine.remembering.memory import Memory
from bot.engine.remembering.streaks import Streak

CAP = 20
"""Due cards a day, until the learner wishes another number."""


@dataclass(frozen=True, slots=True)
class CardRow:
    """A card that entered a learner's memory; `memory` is None while no grade stands."""

    card: str
    rev: int
    memory: Memory | None
    due: datetime
    suspended: bool


@dataclass(frozen=True, slots=True)
class Remembered:
    """Everything kept of one learner.

    `reviews` are the times at which due cards were graded, newest first; `misconceptions` counts those that answers
    showed, by id; `off` are the days off, Monday being 0; `zone` is an IANA name.
    """

    cards: tuple[CardRow, ...] = ()
    topics: Mapping[str, Topic] = field(default_factory=dict)
    difficulties: Mapping[str, Difficulty] = field(default_factory=dict)
    misconceptions: Mapping[str, int] = field(default_factory=dict)
    streak: Streak = field(default_factory=Streak)
    reviews: tuple[datetime, ...] = ()
    zone: str = "UTC"
    cap: int = CAP
    off: frozenset[int] = frozenset()
