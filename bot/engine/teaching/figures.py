"""Figures of items and stops, from what learners answered: difficulty, discrimination, options, misconceptions, time.

Law: only the first closed ask of an item counts for a learner, so that practice makes no item easy; a figure that too
few answers carry is None, never a guess.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median

ENOUGH = 10
"""Learners from which a correlation is told."""
OTHERS = 2
"""Other items that a learner must have answered, for their share of credit to say anything."""
_LONGEST_S = 3600.0
"""Seconds from which an answer was given after coming back, so that its time is none."""
_MOST_TIMES = 20_000
SKIPPED = "_skip"
"""The answer of «I do not know»."""


@dataclass(frozen=True, slots=True)
class First:
    """The first closed ask of an item by one learner; `total` and `count` are of all the learner's first asks.

    `alone` says that it was right at the first try and without help; `seconds` is from the question to the answer.
    """

    item: str
    rev: int
    credit: float
    alone: bool
    answer: str
    seconds: float
    total: float
    count: int


@dataclass(frozen=True, slots=True)
class ItemFigures:
    """One item in one revision; `current` while the course asks it so.

    `difficulty` is the share that did not get it alone at the first try. `discrimination` is the point-biserial
    correlation of that with the learner's mean credit in the other items; None under `ENOUGH` learners or where either
    does not vary. `options` counts every answer that was given, `median_s` is in seconds.
    """

    lesson: str
    item: str
    rev: int
    kind: str
    current: bool
    question: str
    answered: int
    difficulty: float
    credit: float
    discrimination: float | None
    skipped: int
    options: Mapping[str, int]
    misconceptions: Mapping[str, int]
    median_s: float | None


@dataclass(slots=True)
class Tally:
    """Adds up the first asks of one item in one revision."""

    answered: int = 0
    alone: int = 0
    credit: float = 0.0
    skipped: int = 0
    times: list[float] = field(default_factory=list)
    _n: int = 0
    _right: int = 0
    _rest: float = 0.0
    _rest_squared: float = 0.0
    _rest_right: float = 0.0

    def add(self, first: First) -> None:
        """Add one."""
        self.answered += 1
        self.alone += first.alone
        self.credit += first.credit
        self.skipped += first.answer == SKIPPED
        if 0 <= first.seconds <= _LONGEST_S and len(self.times) < _MOST_TIMES:
            self.times.append(first.seconds)
        if first.count - 1 >= OTHERS:
            rest = (first.total - first.credit) / (first.count - 1)
            self._n += 1
            self._right += first.alone
            self._rest += rest
            self._rest_squared += rest * rest
            self._rest_right += rest * first.alone

    def discrimination(self) -> float | None:
        """Give the point-biserial correlation (Pearson's, of a 0-or-1 variable); None where it says nothing."""
        n, right = self._n, self._right
        if n < ENOUGH or right in {0, n}:
            return None
        spread = self._rest_squared / n - (self._rest / n) ** 2
        if spread <= 1e-12:  # noqa: PLR2004 - what rounding leaves of no variance at all
            return None
        share = right / n
        covariance = self._rest_right / n - share * self._rest / n
        return max(-1.0, min(1.0, covariance / math.sqrt(spread * share * (1 - share))))

    def median_s(self) -> float | None:
        """Give the median time of an answer in seconds."""
        return median(self.times) if self.times else None


@dataclass(frozen=True, slots=True)
class StopFigures:
    """A stop of a lesson: learners who visited it, and of those the ones who came no further in the lesson."""

    lesson: str
    stop: str
    learners: int
    ended_here: int


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A question that the lessons did not answer, or whose offers were left alone; `learner` is a hash."""

    text: str
    band: str
    offered: tuple[str, ...]
    chosen: str
    unmatched: tuple[str, ...]
    asked_at: datetime
    learner: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """A mistake that a learner reported; `learner` is a hash."""

    item: str
    rev: int
    text: str
    made_at: datetime
    learner: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything at one time. `bands` counts questions; `led_astray` those whose answer was left for a near one."""

    made_at: datetime
    learners: int
    items: tuple[ItemFigures, ...] = ()
    stops: tuple[StopFigures, ...] = ()
    bands: Mapping[str, int] = field(default_factory=dict)
    led_astray: int = 0
    unanswered: tuple[Unanswered, ...] = ()
    unmatched: tuple[tuple[str, int], ...] = ()
    complaints: tuple[Complaint, ...] = ()


def counted(words: Iterable[Iterable[str]], most: int) -> tuple[tuple[str, int], ...]:
    """Count in how many questions a word stands; the commonest first, and by the alphabet where that is equal."""
    counts = Counter(word for listed in words for word in set(listed))
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:most])
