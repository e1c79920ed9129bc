"""Placement: at most eight items, one a topic, each as hard as the answers so far suggest; its end is a suggestion.

Law: nothing is locked by it. The next item is a function of the answers so far and of what is known of the items.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.engine.remembering import mastery
from bot.engine.remembering.mastery import Difficulty
from content.schema import Course, Item, Lesson, WriteCode

MOST = 8
"""Items at most."""
_TRUSTED = 5
"""Answers from which an item's learned difficulty counts, rather than its place in the course."""
_SPREAD = 3.0
"""From the first lesson to the last, in units of b, while nothing was learned of an item."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item that may be asked: its lesson, and how hard it is held to be."""

    lesson: Lesson
    item: Item
    hard: float


def candidates(course: Course, known: Mapping[str, Difficulty]) -> tuple[Candidate, ...]:
    """Give every item that can be answered at once, in the course's order."""
    last = max(len(course.lessons) - 1, 1)
    found = []
    for at, lesson in enumerate(course.lessons):
        by_place = (at / last - 0.5) * _SPREAD
        for item in lesson.check:
            if isinstance(item, WriteCode):
                continue
            learned = known.get(item.id, Difficulty())
            found.append(Candidate(lesson, item, learned.value if learned.answers >= _TRUSTED else by_place))
    return tuple(found)


def following(
    course: Course, known: Mapping[str, Difficulty], asked: tuple[str, ...], missed: tuple[str, ...]
) -> Item | None:
    """Give the item to be asked next; None when the placement is at its end."""
    listed = candidates(course, known)
    if len(asked) >= MOST:
        return None
    level = ability(listed, asked, missed)
    topics = {each.item.topic for each in listed if each.item.id in asked}
    open_ones = [each for each in listed if each.item.topic not in topics]
    return min(open_ones, key=lambda each: abs(each.hard - level)).item if open_ones else None


def ability(listed: tuple[Candidate, ...], asked: tuple[str, ...], missed: tuple[str, ...]) -> float:
    """Estimate θ from the answers so far, in large steps that shrink."""
    hard = {each.item.id: each.hard for each in listed}
    level = 0.0
    for at, item in enumerate(asked):
        right = 0.0 if item in missed else 1.0
        level += 2.0 / (1.0 + 0.3 * at) * (right - mastery.chance(level, hard.get(item, 0.0)))
    return level


def suggested(course: Course, asked: tuple[str, ...], missed: tuple[str, ...]) -> Lesson | None:
    """Give the lesson to begin with: the first one missed, or not asked about with nothing right behind it.

    None when nothing was missed up to the last lesson.
    """
    verdicts = [_verdict(lesson, asked, missed) for lesson in course.lessons]
    for at, (lesson, known) in enumerate(zip(course.lessons, verdicts, strict=True)):
        if known is False or (known is None and True not in verdicts[at + 1 :]):
            return lesson
    return None


def _verdict(lesson: Lesson, asked: tuple[str, ...], missed: tuple[str, ...]) -> bool | None:
    own = [item.id for item in lesson.check if item.id in asked]
    return None if not own else not any(item in missed for item in own)
