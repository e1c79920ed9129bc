"""The learner's own days: they begin at 04:00 in the learner's zone, and weeks begin on Monday (ISO 8601).

Law: an unknown zone counts as UTC, and nothing here raises for what was stored.
"""

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

BEGINS = timedelta(hours=4)
"""After local midnight: who studies past twelve is still in yesterday."""


def day_of(at: datetime, zone: str) -> date:
    """Give the learner's day of a moment."""
    return (at.astimezone(_zone(zone)).replace(tzinfo=None) - BEGINS).date()


def start_of(day: date, zone: str) -> datetime:
    """Give the moment at which a learner's day begins, in UTC; of an hour that the clocks skip, the one after it."""
    local = datetime(day.year, day.month, day.day, tzinfo=_zone(zone)) + BEGINS  # wall time: 04:00 stays 04:00
    return local.astimezone(UTC)


def week_of(day: date) -> str:
    """Give the ISO week, as `2026-W07`."""
    year, week, _ = day.isocalendar()
    return f"{year:04d}-W{week:02d}"


def read(text: str) -> date | None:
    """Read a stored day, as `2026-02-28`; None when it is none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no such zone, not a name of one, or a folder of them
        return ZoneInfo("UTC")
