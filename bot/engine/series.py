"""Items asked one after the other: begun, left in the middle, taken up again, gone through.

Law: at most one series is under way; a series left in the middle is put aside, never lost.
"""

from collections.abc import Sequence
from dataclasses import replace

from bot.engine.expects import Expects
from bot.engine.session import Series, Session

_MOST_ASIDE = 24
"""Series kept aside; the oldest is forgotten beyond that."""


def taken_up(session: Session, kind: str, lesson: str, ids: Sequence[str]) -> tuple[Session, bool]:
    """Make the series of this kind and lesson the one under way; tells whether it had been begun before."""
    present = session.series
    if present and (present.kind, present.lesson) == (kind, lesson) and present.ahead:
        return session, bool(present.done or present.missed or session.asked)
    aside = session.aside if present is None or not present.ahead else (*session.aside, present)
    before = next((each for each in aside if (each.kind, each.lesson) == (kind, lesson)), None)
    aside = tuple(each for each in aside if (each.kind, each.lesson) != (kind, lesson))[-_MOST_ASIDE:]
    series = before or Series(kind, lesson, tuple(ids))
    return session.unasked().with_(series=series, aside=aside), before is not None


def advanced(series: Series, *, credit: float) -> Series:
    """Count the item at hand as done; without full credit it is one to read up on."""
    missed = series.missed if credit >= 1 else (*series.missed, series.ahead[0])
    return replace(series, ahead=series.ahead[1:], done=series.done + 1, credit=series.credit + credit, missed=missed)


def requeued(series: Series) -> Series:
    """Put the item at hand behind the others; it counts once as missed."""
    first = series.ahead[0]
    missed = series.missed if first in series.missed else (*series.missed, first)
    return replace(series, ahead=(*series.ahead[1:], first), missed=missed)


def total(series: Series) -> int:
    """Give how many items the series has in all."""
    return series.done + len(series.ahead)


def finished(session: Session, key: str) -> Session:
    """End the series under way and count it as visited under its key, where it has one."""
    visited = session.visited if not key or key in session.visited else (*session.visited, key)
    return session.unasked().with_(series=None, expects=Expects.NOTHING.value, visited=visited)
