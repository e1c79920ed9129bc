"""What a turn asks to be kept of a learner's memory and knowledge: rows of `effects.Record`, written with the session.

Law: a row says what happened; the store reads what was before under its own lock and lets `memory`, `mastery` and
`streaks` say what comes of it, so that two devices of one learner lose nothing.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.engine.remembering.memory import Grade


@dataclass(frozen=True, slots=True)
class Answered:
    """What the answer that closes an ask shows of a topic; `first`: right at the first try, without help."""

    topic: str
    item: str
    rev: int
    first: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The grade that closes the ask of a card; `review` is a fresh id, by which it can be undone."""

    review: str
    card: str
    rev: int
    grade: Grade
    at: datetime


Learned = Answered | Reviewed
"""Counted once: with the closing of its ask, and only where that was still open."""


@dataclass(frozen=True, slots=True)
class UndoReview:
    """Take a grade back: the card is as before, and its ask is open again."""

    review: str
    ask: str


@dataclass(frozen=True, slots=True)
class SuspendCard:
    """Hold a card back from reviews, or let it come again."""

    card: str
    rev: int
    suspended: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class MoveCard:
    """Carry what is remembered of a retired card over to its heir of this `rev`; what the heir has of its own stays."""

    card: str
    heir: str
    rev: int


@dataclass(frozen=True, slots=True)
class SetCap:
    """Keep how many due cards a day the learner wishes at most."""

    cap: int


@dataclass(frozen=True, slots=True)
class Complain:
    """Tell the teacher of a mistake in a card or item; the same words twice count once."""

    complaint: str
    item: str
    rev: int
    text: str


@dataclass(frozen=True, slots=True)
class Visited:
    """Keep that a stop of a lesson was visited, by its key."""

    stop: str


Row = UndoReview | SuspendCard | MoveCard | SetCap | Complain | Visited
