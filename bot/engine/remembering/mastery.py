"""How well a learner knows a topic: an Elo-style estimate, its status, and how hard items are.

Law: `seen` alone says what is shown and what the status is, so that the two never disagree.
Source of the rule: Elo ratings as used for adaptive practice, R. Pelánek, "Applications of the Elo rating system in
adaptive educational systems", Computers & Education 98 (2016): θ and b move by K (y - p), K falling with the answers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum

SURE = 0.8
"""The chance of answering rightly from which a topic counts as mastered."""
FIRSTS = 3
"""Successes at the first try that mastery needs, too."""
DAYS = 2
"""Days on which they must have been."""
BOUND = 6.0
"""θ and b stay within: σ(6) is 0.9975."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What is known of a learner in a topic.

    `answers` counts all, `firsts` those right at the first try without help, `days` the days on which there was one;
    `last_day` is the last of these (ISO, empty when there was none).
    """

    theta: float = 0.0
    answers: int = 0
    firsts: int = 0
    days: int = 0
    last_day: str = ""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How hard an item is: `value` is b, from the first tries of `answers` learners' answers."""

    value: float = 0.0
    answers: int = 0


class Status(StrEnum):
    """What a topic is to a learner."""

    NEW = "new"
    GROWING = "growing"
    MASTERED = "mastered"


@dataclass(frozen=True, slots=True)
class Seen:
    """What is shown of a topic: the chance of a right first answer (0 to 1), and the status."""

    chance: float
    status: Status


def chance(theta: float, difficulty: float) -> float:
    """Give p = σ(θ - b)."""
    return 1.0 / (1.0 + math.exp(difficulty - theta))


def step(answers: int) -> float:
    """Give K after so many answers: max(.15, .8 / (1 + .1 n))."""
    return max(0.15, 0.8 / (1.0 + 0.1 * max(answers, 0)))


def answered(topic: Topic, item: Difficulty, *, first: bool, day: date) -> tuple[Topic, Difficulty]:
    """Give both after an answer; `first`: right at the first try, without help."""
    surprise = (1.0 if first else 0.0) - chance(topic.theta, item.value)
    known = replace(topic, theta=_bounded(topic.theta + step(topic.answers) * surprise), answers=topic.answers + 1)
    hard = Difficulty(_bounded(item.value - step(item.answers) * surprise), item.answers + 1)
    if not first:
        return known, hard
    # A clock that went back gives no day twice.
    another = day.isoformat() > known.last_day
    days, last = (known.days + 1, day.isoformat()) if another else (known.days, known.last_day)
    return replace(known, firsts=known.firsts + 1, days=days, last_day=last), hard


def seen(topic: Topic | None, difficulty: float = 0.0) -> Seen:
    """Give what is shown of a topic whose items are on the whole so hard, and its status."""
    if topic is None or topic.answers == 0:
        return Seen(0.0, Status.NEW)
    likely = chance(topic.theta, difficulty)
    mastered = likely >= SURE and topic.firsts >= FIRSTS and topic.days >= DAYS
    return Seen(likely, Status.MASTERED if mastered else Status.GROWING)


def typical(items: Mapping[str, Difficulty], ids: tuple[str, ...]) -> float:
    """Give how hard a topic's items are on the whole; an item that nobody answered counts as b = 0."""
    return sum(items.get(each, Difficulty()).value for each in ids) / len(ids) if ids else 0.0


def _bounded(value: float) -> float:
    return min(max(value, -BOUND), BOUND)
