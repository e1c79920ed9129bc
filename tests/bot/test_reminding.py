"""Digests sent by several bots at once, on each kind of database: once a day, whoever dies in between."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app import App, SystemDice
from bot.engine.events import ButtonPressed, DigestFellDue, Event, TextSent
from bot.engine.known import Needs
from bot.engine.reminders.wishes import MOST_UNANSWERED, Wishes
from bot.engine.wording import plain
from bot.errors import StoreAwayError
from bot.ports import Shown
from bot.posting.ports import Silent
from bot.reminding import LEASE, Reminder
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from tests.bot.databases import Database, SqliteFile

BEFORE = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
DUE = datetime(2026, 5, 1, 14, 0, tzinfo=UTC)
"""17:00 in Riyadh."""
DAY = timedelta(days=1)


class Dying:
    """A bot that dies at its first digests: before the turn, or after it and before it could say so."""

    def __init__(self, app: App, *deaths: str) -> None:
        self.deaths = list(deaths)
        self.taken: list[str] = []
        self._app = app

    async def take(self, chat: str, event: Event, key: str) -> bool:
        how = self.deaths.pop(0) if self.deaths else ""
        if how == "before":
            raise StoreAwayError(how)
        taken = await self._app.take(chat, event, key)
        self.taken.append(chat)
        if how == "after":
            raise StoreAwayError(how)
        return taken


class Bots:
    """Two bots on one database, with one clock."""

    def __init__(self, course: Course, stores: Sequence[SqlStore]) -> None:
        self.clock = StandStillClock(BEFORE)
        self.stores = stores
        self.apps = [
            App(
                course=course,
                store=store,
                runner=InstantRunner(),
                checker=ParsingChecker(),
                clock=self.clock,
                dice=SystemDice(),
                chat=RecordingChat(),
            )
            for store in stores
        ]

    async def learner(self, name: str, *said: str) -> str:
        row = await self.apps[0].enter("web", name)
        for text in said or ("تذكير الرياض",):
            await self.apps[0].take(row.id, TextSent(text), "")
        return row.id

    def reminder(self, bot: int, *deaths: str) -> Reminder:
        app = Dying(self.apps[bot], *deaths)
        return Reminder(app, self.stores[bot].reminding(), self.clock, f"bot{bot}", ("web",))

    async def tick(self, at: datetime) -> int:
        self.clock.at = at
        return sum(await asyncio.gather(*(self.reminder(bot).tick() for bot in range(2))))

    async def digests(self, chat: str) -> int:
        return sum("تذكير اليوم:" in said(one) for one in await self.apps[1].since(chat, 0))

    async def wishes(self, chat: str) -> Wishes:
        found = (await self.stores[0].load(chat, Needs(wishes=True))).wishes
        assert found is not None
        return found


def said(one: Shown) -> str:
    return " ".join(plain(block.spans) for block in one.reply.blocks if block.kind == "paragraph")


@pytest.fixture
async def bots(course: Course, store: SqlStore, database: Database) -> AsyncIterator[Bots]:
    async with _opened(database) as other:
        made = Bots(course, (store, other))
        for app in made.apps:
            await app.start(adopt=False)
        yield made
        for app in made.apps:
            await app.close()


@asynccontextmanager
async def _opened(database: Database) -> AsyncIterator[SqlStore]:
    store = database.open()
    yield store
    await store.close()


async def test_two_bots_that_tick_at_once_send_each_digest_once(bots: Bots) -> None:
    chats = [await bots.learner(f"learner{i}") for i in range(25)]
    assert await bots.tick(DUE - timedelta(seconds=1)) == 0
    assert await bots.tick(DUE) == 25
    assert await bots.tick(DUE + timedelta(hours=1)) == 0
    assert [await bots.digests(chat) for chat in chats] == [1] * 25
    assert await bots.tick(DUE + DAY) == 25
    assert [await bots.digests(chat) for chat in chats] == [2] * 25


@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_bot_that_dies_between_claim_and_turn_loses_no_digest_and_doubles_none(bots: Bots, how: str) -> None:
    chats = [await bots.learner(f"learner{i}") for i in range(3)]
    bots.clock.at = DUE
    await bots.reminder(0, how, how, how).tick()
    assert sum([await bots.digests(chat) for chat in chats]) == (3 if how == "after" else 0)
    assert await bots.tick(DUE + LEASE / 2) == 0
    await bots.tick(DUE + LEASE + timedelta(seconds=1))
    assert [await bots.digests(chat) for chat in chats] == [1] * 3


async def test_turns_of_two_bots_for_one_claim_tell_the_day_once(bots: Bots) -> None:
    """A lease ran out while its bot was only slow: both send, under the same key or another."""
    chat = await bots.learner("slow")
    bots.clock.at = DUE
    ((first,), second) = (
        await bots.stores[0].reminding().claim(DUE, "a", LEASE, ("web",), 9),
        await bots.stores[1].reminding().claim(DUE + 2 * LEASE, "b", LEASE, ("web",), 9),
    )
    assert [one.chat for one in second] == [first.chat]
    await asyncio.gather(*(app.take(chat, DigestFellDue(), f"key{i}") for i, app in enumerate(bots.apps)))
    assert await bots.digests(chat) == 1


async def test_after_three_digests_without_an_answer_none_comes_until_the_learner_does(bots: Bots) -> None:
    chat = await bots.learner("quiet")
    for n in range(6):
        await bots.tick(DUE + n * DAY)
    assert await bots.digests(chat) == MOST_UNANSWERED
    bots.clock.at = DUE + 6 * DAY - timedelta(hours=1)
    await bots.apps[0].take(chat, TextSent("مساعدة"), "back")
    await bots.tick(DUE + 6 * DAY)
    assert await bots.digests(chat) == MOST_UNANSWERED + 1


async def test_one_tap_on_a_digest_turns_them_off(bots: Bots) -> None:
    chat = await bots.learner("tap")
    await bots.tick(DUE)
    await bots.apps[1].take(chat, ButtonPressed("1:when:off.:"), "tap")
    assert await bots.tick(DUE + DAY) == 0
    assert not (await bots.wishes(chat)).reminders


async def test_a_learner_whom_nothing_reaches_is_not_reminded_until_they_return(bots: Bots) -> None:
    chat = await bots.learner("gone")
    outbox = bots.stores[0].outbox()
    await outbox.place(chat, "1")
    await outbox.write([Silent(chat, silent=True)])
    assert await bots.tick(DUE) == 1
    assert await bots.digests(chat) == 0
    assert (await bots.wishes(chat)).next_at is None
    await outbox.place(chat, "1")
    await bots.apps[0].take(chat, TextSent("مساعدة"), "back")
    await bots.tick(DUE + DAY)
    assert await bots.digests(chat) == 1


async def test_a_bot_reminds_on_its_own_platforms_only(bots: Bots) -> None:
    await bots.learner("here")
    bots.clock.at = DUE
    elsewhere = Reminder(Dying(bots.apps[0]), bots.stores[0].reminding(), bots.clock, "other", ("telegram",))
    assert await elsewhere.tick() == 0
    assert await bots.tick(DUE) == 1


async def test_a_digest_comes_where_the_learner_is_alone(bots: Bots) -> None:
    app = bots.apps[0]
    group = (await app.enter("web", "room/ali", "ali")).id
    await app.take(group, TextSent("تذكير الرياض"), "")
    assert await bots.tick(DUE) == 0
    private = (await app.enter("web", "ali", "ali")).id
    bots.clock.at = DUE + timedelta(minutes=1)
    await app.take(group, TextSent("وين وصلت"), "later")
    assert await bots.tick(DUE + timedelta(minutes=2)) == 1
    assert [await bots.digests(chat) for chat in (group, private)] == [0, 1]


async def test_a_lease_of_a_clock_that_jumped_ahead_binds_nobody(bots: Bots) -> None:
    chat = await bots.learner("jump")
    far = DUE + 3000 * DAY
    assert len(await bots.stores[0].reminding().claim(far, "lost", LEASE, ("web",), 9)) == 1
    assert await bots.tick(DUE) == 1
    assert await bots.digests(chat) == 1


async def test_a_tick_of_a_clock_ahead_does_not_silence_the_years_between(bots: Bots) -> None:
    chat = await bots.learner("ahead")
    await bots.tick(DUE + 3000 * DAY)
    count = await bots.digests(chat)
    await bots.tick(BEFORE)
    await bots.tick(DUE)
    assert await bots.digests(chat) == count + 1


async def test_a_digest_whose_turn_was_taken_but_left_due_does_not_come_for_ever(bots: Bots) -> None:
    chat = await bots.learner("stuck")
    bots.clock.at = DUE
    await bots.apps[0].take(chat, TextSent("مساعدة"), f"digest:{DUE.isoformat()}:{DUE.date()}")
    assert await bots.tick(DUE) == 1
    assert (await bots.wishes(chat)).next_at == DUE + DAY
    await bots.tick(DUE + DAY)
    assert await bots.digests(chat) == 1


async def test_who_is_due_is_found_by_the_index(tmp_path: Path) -> None:
    database = SqliteFile(tmp_path / "t.db")
    await database.migrate()
    plan = await database.execute(
        "EXPLAIN QUERY PLAN SELECT learner FROM wishes"
        " WHERE next_at <= '2026-05-01' OR next_at > '2026-05-18' ORDER BY next_at LIMIT 9"
    )
    assert "ix_wishes_next_at" in str(plan)
