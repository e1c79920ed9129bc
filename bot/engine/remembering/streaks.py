"""Days in a row on which a learner practised, quietly: two missed days a week are forgiven, days off always.

Law: a day counts once, a clock that went back changes nothing, and nobody is told of a streak that ended.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from bot.engine.days import read, week_of

FREEZES = 2
"""Missed days a week that end no streak."""
_FARTHEST = 28
"""Days back beyond which no freezes reach."""


@dataclass(frozen=True, slots=True)
class Streak:
    """`days` of practice in a row, the last of them, and the `freezes` used in `week` (ISO)."""

    days: int = 0
    last_day: str = ""
    freezes: int = 0
    week: str = ""


def practised(streak: Streak, day: date, off: frozenset[int] = frozenset()) -> Streak:
    """Give the streak after practice on a day; `off` are the learner's days off, Monday being 0."""
    last = read(streak.last_day)
    if last is not None and day <= last:
        return streak
    used = _used(streak, last, day, off) if last else None
    days = streak.days + 1 if used is not None else 1
    week = week_of(day)
    return Streak(days, day.isoformat(), used[week] if used is not None else 0, week)


def shown(streak: Streak, today: date, off: frozenset[int] = frozenset()) -> int:
    """Give the days in a row as they stand today: 0 once no practice could go on with them any more."""
    last = read(streak.last_day)
    if last is None or streak.days == 0:
        return 0
    return streak.days if today <= last or _used(streak, last, today, off) is not None else 0


def _used(streak: Streak, last: date, day: date, off: frozenset[int]) -> Counter[str] | None:
    """Count the freezes a week that the days between need; None when a week has not so many."""
    if (day - last).days > _FARTHEST:
        return None
    used = Counter({streak.week: streak.freezes})
    missed = last + timedelta(days=1)
    while missed < day:
        if missed.weekday() not in off:
            used[week_of(missed)] += 1
            if used[week_of(missed)] > FREEZES:
                return None
        missed += timedelta(days=1)
    return used
