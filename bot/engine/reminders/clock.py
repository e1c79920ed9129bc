"""Hours as learners write them, and as they are shown: 24 hours, digits 0-9.

Law: reading never raises; what is no hour of a day is None.
"""

import re

from bot.engine.letters import plain_digits, stripped

_HOUR = re.compile(
    r"(\d{1,2})(?:\s*[:.،]\s*(\d{2}))?\s*(ص|م|صباحا|الصبح|مساء|مساءا|المسا|المساء|الظهر|ظهرا|العصر|عصرا|am|pm)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:-|–|—|إلى|الى|to)\s*", re.IGNORECASE)
_EVENING = frozenset({"م", "مساء", "مساءا", "المسا", "المساء", "الظهر", "ظهرا", "العصر", "عصرا", "pm"})
_HOURS = 24
_NOON = 12
_MINUTES = 60
_TASHKEEL = re.compile(r"[\u064b-\u0652]")
_AROUND = re.compile(
    r"^(?:(?:كل يوم|يوميا|الساعة|الساعه|عالساعة|على|في|من|every day|daily|at)\s+)+"
    r"|\s+(?:كل يوم|يوميا|every day|daily)$",
    re.IGNORECASE,
)
"""Words round an hour that change nothing of it: a digest comes daily."""
_LIMIT = 40


def read(text: str) -> int | None:
    """Read an hour of the day, as minutes from midnight: `18:30`, `٦:١٥ مساءً`, `كل يوم الساعة 7`."""
    if len(text) > _LIMIT:
        return None
    bare = _TASHKEEL.sub("", plain_digits(stripped(text))).strip()
    found = _HOUR.fullmatch(_AROUND.sub("", bare).strip())
    if found is None:
        return None
    hour, minute, half = int(found[1]), int(found[2] or 0), (found[3] or "").lower()
    if half and not 1 <= hour <= _NOON:
        return None
    if half:
        hour = hour % _NOON + (_NOON if half in _EVENING else 0)
    return hour * _MINUTES + minute if hour < _HOURS and minute < _MINUTES else None


def read_span(text: str) -> tuple[int, int] | None:
    """Read from when to when: `22:00-08:00`, `من 11 م إلى 7 ص`."""
    parts = _BETWEEN.split(stripped(text).strip()) if len(text) <= 2 * _LIMIT else []
    ends = [read(part) for part in parts]
    match ends:
        case [int(begin), int(end)]:
            return begin, end
        case _:
            return None


def shown(minute: int) -> str:
    """Write a minute of the day as `17:05`."""
    return f"{minute // _MINUTES:02d}:{minute % _MINUTES:02d}"
