"""A PostgreSQL whose disk is full: what learners said, runs' ends and digests wait, in order, and none is lost."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from botapi.person import seen
from botapi.place import Place
from botapi.server import serving
from botapi.world import World
from discordsim.place import served

import bot.app
from bot.adapters.discord import places
from bot.adapters.discord.parse import Heard
from bot.engine.events import CodeSent, TextSent
from bot.errors import StoreAwayError
from bot.reminding import LEASE, Reminder
from bot.stores.sql import SqlStore
from bot.testing import StandStillClock
from content.schema import Course
from tests.bot.apps import talking
from tests.bot.databases import PostgresDatabase, PostgresServer, full
from tests.bot.test_holding import LEASE_S, Waiting, until

pytestmark = pytest.mark.services

ASKED = ("ما معنى broadcasting", "الدروس", "وين وصلت")
ANSWERED = ("فُهم هذا السؤال", "خريطة الدروس", "لم تبدأ القراءة بعد")
WRITES = ("INSERT ON arrivals", "INSERT ON replies")


@pytest.fixture
async def database(postgres_server: PostgresServer) -> PostgresDatabase:
    return await asyncio.to_thread(postgres_server.emptied)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a turn give up soon, as when the disk stays full for long."""
    monkeypatch.setattr(bot.app, "PAUSES_S", (0.01,))
    for module in ("bot.posting.lanes", "bot.posting.shared", "bot.adapters.discord.hearing"):
        monkeypatch.setattr(f"{module}.AWAY_S", 0.1)


def leased(database: PostgresDatabase) -> SqlStore:
    """Open the database with short leases."""
    store = database.open()
    store.lease_s = LEASE_S
    return store


@pytest.mark.usefixtures("impatient")
async def test_on_discord_what_was_said_meanwhile_is_answered_in_order(
    course: Course, database: PostgresDatabase, tmp_path: Path
) -> None:
    async with served(course, tmp_path / "d.db", database=database.place) as one:
        sara = one.env.create_user("sara")
        await sara.send_dm("ابدأ")
        await one.idle()
        assert one.chat.hearing is not None
        for write in WRITES:
            before = [each.id for each in sara.dm_channel.history()]
            async with full(database, write):
                for number, text in enumerate(ASKED):  # as the client gives it; the simulator waits for no database
                    who = places.private(sara.dm_channel.id, sara.id)
                    await one.chat.hearing.hear(Heard(who, f"dc:{write} {number}", text), None)
                await asyncio.sleep(0.3)
                assert [each.id for each in sara.dm_channel.history()] == before
            await one.idle()
            said = [each.content for each in sara.dm_channel.history() if each.id not in before]
            assert [words in text for words, text in zip(ANSWERED, said, strict=True)] == [True] * len(ASKED)


@pytest.mark.usefixtures("impatient")
async def test_on_telegram_what_was_said_meanwhile_is_answered_in_order(
    course: Course, database: PostgresDatabase, tmp_path: Path
) -> None:
    world = World()
    async with serving(world) as server:
        place = Place(world, server, course, tmp_path / "t.db", database.place)
        ali = place.person()
        async with place.bot() as one:
            ali.send("ابدأ")
            await until(lambda: bool(ali.screen()))
            await one.idle()
            for write in WRITES:
                before = len(ali.screen())
                async with full(database, write):
                    for text in ASKED:
                        ali.send(text)
                    await asyncio.sleep(0.3)
                    assert len(ali.screen()) == before
                await until(lambda: len(ali.screen()) >= before + len(ASKED))  # noqa: B023 - awaited here
                await one.idle()
                said = [seen(note.text) for note in ali.screen()[before:]]
                assert [words in text for words, text in zip(ANSWERED, said, strict=True)] == [True] * len(ASKED)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("write", ["UPDATE ON runs", "INSERT ON replies"])
async def test_a_run_that_ended_meanwhile_is_told_once(course: Course, database: PostgresDatabase, write: str) -> None:
    runner = Waiting()
    async with talking(course, leased(database), runner) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, CodeSent("print(1)"), "code")
        await until(lambda: bool(runner.submitted))
        async with full(database, write):
            runner.go.set()
            await asyncio.sleep(2 * LEASE_S)
        async with asyncio.timeout(20):
            while await database.execute("SELECT 1 FROM runs WHERE NOT told"):  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.05)
        assert repr([one.reply for one in await app.since(chat, 0)]).count("ran by x") == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("write", ["UPDATE ON wishes", "INSERT ON replies"])
async def test_a_digest_that_fell_due_meanwhile_comes_once(
    course: Course, database: PostgresDatabase, write: str
) -> None:
    clock = StandStillClock(datetime(2026, 5, 1, 9, 0, tzinfo=UTC))
    store = leased(database)
    async with talking(course, store, clock=clock) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, TextSent("تذكير الرياض"), "")
        reminder = Reminder(app, store.reminding(), clock, "x", ("web",))
        clock.at = datetime(2026, 5, 1, 14, 0, tzinfo=UTC)
        async with full(database, write):
            with suppress(StoreAwayError):
                await reminder.tick()
        for _ in range(3):
            clock.at += LEASE
            await reminder.tick()
        assert repr([one.reply for one in await app.since(chat, 0)]).count("تذكير اليوم:") == 1
