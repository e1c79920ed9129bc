"""When a digest falls due, in every zone and across every change of clocks; and how hours and zones are read."""

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bot.engine import days
from bot.engine.buttons import LIMIT
from bot.engine.reminders import clock, schedule, zones
from bot.engine.reminders.asking import _payload
from bot.engine.reminders.wishes import MOST_UNANSWERED, Wishes

NAMES = sorted(zones.available())
WITHOUT_A_DAY = {"Pacific/Apia", "Pacific/Fakaofo"}
"""They went over the date line in 2011, and had no 30 December."""
MINUTES = st.integers(0, 24 * 60 - 1)
MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 1)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001
WISHES = st.builds(
    Wishes,
    zone=st.sampled_from(NAMES),
    reminders=st.just(value=True),
    minute=MINUTES,
    quiet_from=MINUTES,
    quiet_to=MINUTES,
    off=st.sets(st.integers(0, 6), max_size=6).map(lambda found: tuple(sorted(found))),
)


def local(at: datetime, wishes: Wishes) -> datetime:
    return at.astimezone(ZoneInfo(wishes.zone))


def in_quiet(wishes: Wishes, at: datetime) -> bool:
    """Say it another way than the code under test: minute by minute from where the quiet begins."""
    there = local(at, wishes)
    minute = there.hour * 60 + there.minute
    length = (wishes.quiet_to - wishes.quiet_from) % (24 * 60)
    return (minute - wishes.quiet_from) % (24 * 60) < length


def assert_good(wishes: Wishes, now: datetime, at: datetime) -> None:
    assert at > now
    assert not in_quiet(wishes, at)
    day = days.day_of(at, wishes.zone)
    assert day.isoformat() != wishes.last_day
    assert day.weekday() not in wishes.off
    assert schedule.fits(wishes.with_(next_at=at), at)


@given(WISHES, MOMENTS)
@settings(max_examples=400, deadline=None)
def test_a_digest_is_never_in_quiet_hours_never_on_a_day_off_and_always_ahead(wishes: Wishes, now: datetime) -> None:
    at = schedule.next_at(wishes, now)
    assert at is not None
    assert_good(wishes, now, at)


@given(WISHES, MOMENTS)
@settings(max_examples=60, deadline=None)
def test_digests_that_are_told_come_once_a_day_and_miss_no_day(wishes: Wishes, now: datetime) -> None:
    assume(wishes.off == ())
    at = schedule.next_at(wishes, now)
    told: list[date] = []
    for _ in range(5):
        assert at is not None
        told.append(days.day_of(at, wishes.zone))
        wishes = wishes.with_(last_day=told[-1].isoformat(), next_at=at)
        assert not schedule.fits(wishes, at)
        at = schedule.next_at(wishes, at)
    longest = timedelta(days=2 if wishes.zone in WITHOUT_A_DAY else 1)
    assert all(timedelta(days=1) <= later - earlier <= longest for earlier, later in pairwise(told))


@pytest.mark.parametrize("name", NAMES)
def test_a_year_in_a_zone_has_a_digest_a_day_at_the_hour_wished(name: str) -> None:
    """Look at the days around each change of the clocks in a year, and a few others."""
    zone = ZoneInfo(name)
    wishes = Wishes(zone=name, reminders=True)
    begin = datetime(2026, 1, 1, 3, tzinfo=UTC)
    offsets = [(begin + timedelta(days=n)).astimezone(zone).utcoffset() for n in range(366)]
    changes = [n for n in range(1, 366) if offsets[n] != offsets[n - 1]]
    for n in (0, 180, *changes):
        now = begin + timedelta(days=n - 1)
        for _ in range(3):
            at = schedule.next_at(wishes, now)
            assert at is not None
            assert_good(wishes, now, at)
            assert (local(at, wishes).hour, local(at, wishes).minute) == (17, 0)
            wishes, now = wishes.with_(last_day=days.day_of(at, name).isoformat()), at


def at_in(zone: str, *when: int) -> datetime:
    return datetime(*when, tzinfo=ZoneInfo(zone)).astimezone(UTC)  # type: ignore[misc, arg-type]


def test_an_hour_that_the_clocks_skip_becomes_the_one_after_it() -> None:
    wishes = Wishes(zone="Europe/Berlin", reminders=True, minute=2 * 60 + 30, quiet_from=0, quiet_to=0)
    at = schedule.next_at(wishes, at_in("Europe/Berlin", 2026, 3, 28, 12))
    assert at == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    assert local(at, wishes).hour == 3


def test_an_hour_that_comes_twice_brings_one_digest() -> None:
    wishes = Wishes(zone="Europe/Berlin", reminders=True, minute=2 * 60 + 30, quiet_from=0, quiet_to=0)
    at = schedule.next_at(wishes, at_in("Europe/Berlin", 2026, 10, 24, 12))
    assert at == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    told = wishes.with_(last_day=days.day_of(at, wishes.zone).isoformat(), next_at=at)
    assert not schedule.fits(told, at + timedelta(hours=1))
    assert schedule.next_at(told, at) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)


def test_an_hour_in_quiet_hours_waits_for_their_end() -> None:
    wishes = Wishes(zone="Asia/Riyadh", reminders=True, minute=6 * 60)
    at = schedule.next_at(wishes, at_in("Asia/Riyadh", 2026, 5, 1, 5))
    assert at == at_in("Asia/Riyadh", 2026, 5, 1, 8)


def test_a_bot_that_slept_tells_on_the_same_day_only_and_not_at_night() -> None:
    due = at_in("Asia/Riyadh", 2026, 5, 1, 17)
    wishes = Wishes(zone="Asia/Riyadh", reminders=True, next_at=due)
    for now, fits in (
        (due - timedelta(seconds=1), False),
        (due + timedelta(hours=4), True),
        (due + timedelta(hours=6), False),
        (due + timedelta(hours=15), False),
    ):
        assert schedule.fits(wishes, now) is fits, now


def test_a_day_that_a_zone_left_out_has_no_digest() -> None:
    wishes = Wishes(zone="Pacific/Apia", reminders=True, last_day="2011-12-29")
    at = schedule.next_at(wishes, at_in("Pacific/Apia", 2011, 12, 29, 18))
    assert at == at_in("Pacific/Apia", 2011, 12, 31, 17)


def test_a_day_told_that_lies_ahead_binds_nobody_when_the_clock_is_set_back() -> None:
    now = at_in("Asia/Riyadh", 2026, 5, 1, 12)
    wishes = Wishes(zone="Asia/Riyadh", reminders=True, last_day="2031-01-01")
    assert schedule.next_at(wishes, now) == at_in("Asia/Riyadh", 2026, 5, 1, 17)


@pytest.mark.parametrize(
    "wishes",
    [
        Wishes(zone="Asia/Riyadh"),
        Wishes(zone="", reminders=True),
        Wishes(zone="Mars/Olympus", reminders=True),
        Wishes(zone="../../etc/passwd", reminders=True),
        Wishes(zone="Asia/Riyadh", reminders=True, unanswered=MOST_UNANSWERED),
        Wishes(zone="Asia/Riyadh", reminders=True, off=(0, 1, 2, 3, 4, 5, 6)),
    ],
)
def test_nothing_falls_due_where_nothing_may(wishes: Wishes) -> None:
    assert schedule.next_at(wishes, datetime(2026, 5, 1, tzinfo=UTC)) is None


def test_a_naive_time_is_refused() -> None:
    naive = datetime(2026, 5, 1)  # noqa: DTZ001 - the mistake under test
    with pytest.raises(TypeError):
        schedule.next_at(Wishes(zone="Asia/Riyadh", reminders=True), naive)


@pytest.mark.parametrize(
    ("text", "minute"),
    [
        ("18:30", 18 * 60 + 30),
        ("٦:١٥ م", 18 * 60 + 15),
        ("12 ص", 0),
        ("12 م", 12 * 60),
        ("7 صباحًا", 7 * 60),
        ("الساعة 7", 7 * 60),
        ("7pm", 19 * 60),
        ("كل يوم الساعة ٨ مساءً", 20 * 60),
        ("في ٩ الصبح يوميًا", 9 * 60),
        ("12 الظهر", 12 * 60),
        ("every day at 8 pm", 20 * 60),
        ("كل يوم", None),
        ("0", 0),
        ("24:00", None),
        ("13 م", None),
        ("7:60", None),
        ("سبعة", None),
        ("7" * 50, None),
        ("", None),
    ],
)
def test_hours_are_read_as_learners_write_them(text: str, minute: int | None) -> None:
    assert clock.read(text) == minute
    assert minute is None or clock.read(clock.shown(minute)) == minute


@given(st.text(max_size=90))
@settings(max_examples=200, deadline=None)
def test_no_text_makes_the_reading_of_hours_and_zones_fail(text: str) -> None:
    clock.read(text)
    clock.read_span(text)
    zones.near(text)
    assert zones.find(text) in {"", *NAMES}


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("Asia/Riyadh", "Asia/Riyadh"),
        ("asia/riyadh", "Asia/Riyadh"),
        ("الرياض", "Asia/Riyadh"),
        ("دار البيضاء", ""),
        ("الدار البيضاء", "Africa/Casablanca"),
        ("القدس", "Asia/Hebron"),
        ("New York", "America/New_York"),
        ("UTC", "UTC"),
        ("Asia", ""),
        ("posix/Asia/Riyadh", ""),
        ("Mars/Olympus", ""),
    ],
)
def test_zones_are_found_by_their_names_and_cities(text: str, zone: str) -> None:
    assert zones.find(text) == zone


def test_every_zone_that_a_button_offers_exists_has_an_arabic_city_and_fits_its_payload() -> None:
    for zone in zones.COMMON:
        assert zones.exists(zone)
        assert any("\u0621" <= letter <= "\u064a" for letter in zones.city(zone))
        assert len(_payload("zone", zone.replace("/", "."), "when:" + "x" * 12)) <= LIMIT
