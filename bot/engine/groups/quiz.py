"""A group's quiz as it stands, what is kept of each answer, and what a turn on it looks at; pure records.

Law: the quiz belongs to the group's own session and holds no name and no answer of anybody: those are rows of their
learners, and go with them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.engine.remembering.rows import Answered

SILENT = 2
"""Items in a row without an answer after which a quiz ends."""


@dataclass(frozen=True, slots=True)
class Quiz:
    """One quiz of a group.

    `asker` is the chat of the member who began it; `ahead` are the items not done yet, the one at hand first; `ask` is
    its id, `options` as shown, `at` when it was asked, `due` when it closes or (closed) when the quiz goes on, both in
    seconds since 1970. `most` answers close an item, 0 sets no such number; `silent` counts items in a row without an
    answer.
    """

    id: str
    asker: str
    ahead: tuple[str, ...]
    total: int
    seconds: int
    most: int = 0
    ask: str = ""
    rev: int = 0
    options: tuple[str, ...] = ()
    at: float = 0.0
    due: float = 0.0
    open: bool = False
    silent: int = 0
    over: bool = False

    @property
    def done(self) -> int:
        """Give the number of the item at hand, from 1; the last one's once all are done."""
        return self.total - len(self.ahead) + (1 if self.ahead else 0)

    @property
    def last(self) -> bool:
        """Tell whether nothing is asked behind the item at hand: there is none, or nobody answers any more."""
        return len(self.ahead) <= 1 or self.silent >= SILENT


@dataclass(frozen=True, slots=True)
class KeepGroupAnswer:
    """Keep the first answer of a member to an item of a group's quiz, as the member's own answer, too.

    `by` is the member's chat, `name` the one shown, `own` a fresh id of the answer as one of the member's own asks.
    """

    quiz: str
    ask: str
    by: str
    name: str
    own: str
    lesson: str
    item: str
    rev: int
    options: tuple[str, ...]
    course_hash: str
    asked_at: datetime
    answer: str
    points: int
    misconception: str
    learned: Answered


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows of a group's quiz a turn looks at: `by` is who pressed, `board` asks for everybody's points."""

    quiz: str = ""
    ask: str = ""
    by: str = ""
    board: bool = False


@dataclass(frozen=True, slots=True)
class Points:
    """What one member has in a quiz."""

    name: str
    points: int
    answers: int


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: the answer of whoever pressed (empty when none), how many chose what, and everybody's points."""

    mine: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    points: tuple[Points, ...] = ()
