"""When a digest falls due: once a day of the learner's, at the hour wished, never in quiet hours nor on a day off.

Law: everything is decided on the learner's clock and given in UTC. A time that clocks skip becomes the one after it, of
a time that comes twice the first counts; a stored day that lies ahead (a clock that jumped) binds nobody.
"""

from datetime import UTC, date, datetime, time, timedelta
from itertools import chain

from bot.engine import days
from bot.engine.reminders import zones
from bot.engine.reminders.wishes import MOST_UNANSWERED, Wishes

_LONGEST = 25 * 60
"""Minutes of a day on which the clocks go back."""
_BEGINS = days.BEGINS // timedelta(minutes=1)
_HORIZON = 16
"""Days looked at: a fortnight of days off is more than a week can have."""
FARTHEST = timedelta(days=_HORIZON + 1)
"""Nothing falls due later than this: what does was worked out by a clock that had jumped ahead."""
_STEP = timedelta(minutes=1)


def next_at(wishes: Wishes, now: datetime) -> datetime | None:
    """Give the next moment for a digest, later than `now`; None when none is wished, or none is answered any more."""
    if not wishes.reminders or not zones.exists(wishes.zone) or wishes.unanswered >= MOST_UNANSWERED:
        return None
    today = days.day_of(now, wishes.zone)
    told = days.read(wishes.last_day)
    told = told if told is not None and told <= today else None
    for ahead in range(_HORIZON):
        day = today + timedelta(days=ahead)
        if day == told or day.weekday() in wishes.off:
            continue
        at = _on(day, wishes, now)
        if at is not None:
            return at
    return None


def fits(wishes: Wishes, now: datetime) -> bool:
    """Tell whether the digest that fell due may be sent now: on its own day, and not in quiet hours."""
    if wishes.next_at is None or wishes.next_at > now or not wishes.reminders or not zones.exists(wishes.zone):
        return False
    today = days.day_of(now, wishes.zone)
    told = days.read(wishes.last_day)
    return (
        days.day_of(wishes.next_at, wishes.zone) == today
        and told != today
        and today.weekday() not in wishes.off
        and wishes.unanswered < MOST_UNANSWERED
        and not quiet(wishes, now)
    )


def quiet(wishes: Wishes, at: datetime) -> bool:
    """Tell whether a moment lies in the learner's quiet hours."""
    local = zones.local(at, wishes.zone)
    return in_quiet(wishes, local.hour * 60 + local.minute)


def in_quiet(wishes: Wishes, minute: int) -> bool:
    """Tell whether a minute of the day lies in the quiet hours."""
    begin, end = wishes.quiet_from, wishes.quiet_to
    if begin <= end:
        return begin <= minute < end
    return minute >= begin or minute < end


def _on(day: date, wishes: Wishes, now: datetime) -> datetime | None:
    """Give the moment of a learner's day: the hour wished; in quiet hours where they end, or the first good minute."""
    wished = _moment(day, wishes.minute, wishes.zone)
    candidates = chain((wished,))
    if quiet(wishes, wished):
        begin = days.start_of(day, wishes.zone)
        candidates = chain((_moment(day, wishes.quiet_to, wishes.zone),), (begin + _STEP * n for n in range(_LONGEST)))
    good = (at for at in candidates if not quiet(wishes, at) and days.day_of(at, wishes.zone) == day)
    at = next(good, None)
    return at if at is not None and at > now else None


def _moment(day: date, minute: int, zone: str) -> datetime:
    """Give the moment at which a learner's day comes to a minute of the clock; the day begins at 04:00."""
    on = day if minute >= _BEGINS else day + timedelta(days=1)
    return datetime.combine(on, time(minute // 60, minute % 60), zones.info(zone)).astimezone(UTC)
