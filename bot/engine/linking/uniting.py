"""What two logs of one learner make when they are one: cards graded anew in the order of time, topics, streak, wishes.

Law: pure; the order of the two arguments changes nothing but what is wished, which is the first's. Every grade counts;
of two first answers to the same question only the earlier does. A log that does not reach back to what is known (its
questions left the course) is carried on from what is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.engine import days
from bot.engine.remembering import mastery, memory, streaks
from bot.engine.remembering.kept import CardRow
from bot.engine.remembering.mastery import Difficulty, Topic
from bot.engine.remembering.memory import Grade, Memory
from bot.engine.remembering.streaks import Streak
from bot.engine.reminders import schedule
from bot.engine.reminders.wishes import Wishes


@dataclass(frozen=True, slots=True)
class Review:
    """One grade of a card that stands; `before` is the memory that it met."""

    id: str
    learner: str
    rev: int
    grade: Grade
    at: datetime
    before: Memory | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to an item that closed its ask; `first`: right at the first try, without help."""

    learner: str
    item: str
    rev: int
    first: bool
    at: datetime


def card(mine: CardRow, other: CardRow, reviews: Iterable[Review]) -> tuple[CardRow, tuple[Review, ...]]:
    """Give a card that both have met, and its reviews with the memories that they meet in the united log."""
    ordered = sorted(reviews, key=lambda each: (each.at, each.id))
    kept = _seed((mine, other), ordered)
    met: list[Review] = []
    for each in ordered:
        met.append(replace(each, before=kept))
        kept = memory.graded(kept, each.grade, each.rev, each.at)
    rev = max(mine.rev, other.rev)
    due = kept.due if kept else min(mine.due, other.due)
    return CardRow(mine.card, kept.rev if kept else rev, kept, due, mine.suspended), tuple(met)


def _seed(rows: Sequence[CardRow], ordered: Sequence[Review]) -> Memory | None:
    """Give the memory that was there before the log begins: of a card that took a retired one's place."""
    begun = {each.learner: each.before for each in reversed(ordered)}
    carried = [one for one in begun.values() if one is not None]
    if not ordered:
        carried = [row.memory for row in rows if row.memory is not None]
    return max(carried, key=lambda one: (one.grades, one.graded_at), default=None)


def counted(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    """Give the answers in order, without the later of two learners' first answers to the same question."""
    ordered = sorted(answers, key=lambda each: (each.at, each.learner, each.item))
    firsts: dict[tuple[str, int], str] = {}
    seen: set[tuple[str, int, str]] = set()
    kept: list[Answer] = []
    for each in ordered:
        question, who = (each.item, each.rev), (each.item, each.rev, each.learner)
        anew = who not in seen
        seen.add(who)
        if anew and firsts.setdefault(question, each.learner) != each.learner:
            continue
        kept.append(each)
    return tuple(kept)


def topic(
    rows: Sequence[tuple[str, Topic]], answers: Iterable[Answer], hard: Mapping[str, Difficulty], zone: str
) -> Topic:
    """Give what is known of a topic that both have answered in; `rows` are by learner, `answers` of this topic.

    How hard items are is everybody's, and stays as it is.
    """
    log = tuple(answers)
    lasting = Topic()
    for learner, known in rows:
        own = sum(each.learner == learner for each in log)
        if own < known.answers and known.answers > lasting.answers:
            lasting, log = known, tuple(each for each in log if each.learner != learner)
    for each in counted(log):
        day = days.day_of(each.at, zone)
        lasting, _ = mastery.answered(lasting, hard.get(each.item, Difficulty()), first=each.first, day=day)
    return lasting


def streak(kept: Sequence[Streak], moments: Iterable[datetime], zone: str, off: frozenset[int]) -> Streak:
    """Give the days in a row of both together; `moments` are when either practised."""
    united = Streak()
    for day in sorted({days.day_of(at, zone) for at in moments}):
        united = streaks.practised(united, day, off)
    newest = max((each.last_day for each in (united, *kept)), default="")
    return max((each for each in (united, *kept) if each.last_day == newest), key=lambda each: each.days)


def wishes(mine: Wishes | None, other: Wishes | None, now: datetime) -> Wishes | None:
    """Give the wishes of the first, or of the other where the first never told any; no day is told twice."""
    chosen = mine if mine is not None and mine.zone else other or mine
    if chosen is None:
        return None
    told = max((each.last_day for each in (mine, other) if each is not None), default="")
    united = chosen.with_(last_day=told, unanswered=0)
    return united.with_(next_at=schedule.next_at(united, now))
