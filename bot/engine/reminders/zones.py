"""Zones as learners name them: IANA names, cities in Arabic or English; and the ones that buttons offer.

Law: the names are those of the time zone database (the package tzdata), and cities' Arabic names those of the CLDR.
"""

import difflib
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from babel.dates import get_timezone_location

from bot.engine.letters import fold

COMMON = (
    "Asia/Riyadh",
    "Africa/Cairo",
    "Asia/Baghdad",
    "Asia/Amman",
    "Asia/Damascus",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Kuwait",
    "Asia/Qatar",
    "Asia/Dubai",
    "Asia/Muscat",
    "Asia/Aden",
    "Africa/Khartoum",
    "Africa/Tripoli",
    "Africa/Tunis",
    "Africa/Algiers",
    "Africa/Casablanca",
    "Africa/Nouakchott",
)
"""From east of the Red Sea to the Atlantic; every other zone is typed."""
_NEAR = 0.6
_MOST_NEAR = 3
_OTHER_NAMES = {
    "مكة": "Asia/Riyadh",
    "جدة": "Asia/Riyadh",
    "السعودية": "Asia/Riyadh",
    "مصر": "Africa/Cairo",
    "العراق": "Asia/Baghdad",
    "الأردن": "Asia/Amman",
    "سوريا": "Asia/Damascus",
    "لبنان": "Asia/Beirut",
    "فلسطين": "Asia/Gaza",
    "القدس": "Asia/Hebron",
    "البحرين": "Asia/Bahrain",
    "الإمارات": "Asia/Dubai",
    "أبوظبي": "Asia/Dubai",
    "عمان": "Asia/Amman",
    "سلطنة عمان": "Asia/Muscat",
    "اليمن": "Asia/Aden",
    "صنعاء": "Asia/Aden",
    "السودان": "Africa/Khartoum",
    "ليبيا": "Africa/Tripoli",
    "الدوحة": "Asia/Qatar",
    "المغرب": "Africa/Casablanca",
    "الرباط": "Africa/Casablanca",
    "موريتانيا": "Africa/Nouakchott",
    "غرينتش": "UTC",
    "gmt": "UTC",
    "utc": "UTC",
}
"""Countries, capitals and usual names that the database does not have."""


def exists(name: str) -> bool:
    """Tell whether there is a zone of this very name."""
    return name in available()


def find(text: str) -> str:
    """Give the zone that a text names, as the database writes it, in other letters or by its city; else empty."""
    return _by_name().get(fold(text), "")


def near(text: str) -> tuple[str, ...]:
    """Give zones that were perhaps meant, the likeliest first."""
    names = _by_name()
    wanted = fold(text.rpartition("/")[2]) or fold(text)
    found = [names[each] for each in difflib.get_close_matches(wanted, names, n=_MOST_NEAR, cutoff=_NEAR)]
    return tuple(dict.fromkeys(found))


def city(zone: str) -> str:
    """Give a zone's city in Arabic; the zone's own name where there is none."""
    return _cities().get(zone, zone)


def local(at: datetime, zone: str) -> datetime:
    """Give a moment on the learner's clock."""
    return at.astimezone(info(zone))


@lru_cache(maxsize=1)
def available() -> frozenset[str]:
    """Give every zone's name, read once."""
    return frozenset(name for name in available_timezones() if name not in {"Factory", "localtime", "posixrules"})


@lru_cache(maxsize=1024)
def info(name: str) -> ZoneInfo:
    """Give the rules of a zone; an unknown one counts as UTC."""
    return ZoneInfo(name if exists(name) else "UTC")


@lru_cache(maxsize=1)
def _cities() -> dict[str, str]:
    placed = [name for name in available() if "/" in name and not name.startswith(("Etc/", "SystemV/", "US/"))]
    return {name: get_timezone_location(name, locale="ar", return_city=True) for name in sorted(placed)}


@lru_cache(maxsize=1)
def _by_name() -> dict[str, str]:
    """Give folded names to zones; of two zones with one name, the common one, else the first of the alphabet."""
    names: dict[str, str] = {}
    for zone in (*COMMON, *sorted(available())):
        for name in (zone, zone.rpartition("/")[2], _cities().get(zone, "")):
            if fold(name):
                names.setdefault(fold(name), zone)
    return names | {fold(name): zone for name, zone in _OTHER_NAMES.items()}
