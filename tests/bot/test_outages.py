"""A database that is locked, stopped or killed under the bot: no answer lost, none counted twice."""

import asyncio
import contextlib
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import pytest

from bot.app import App, SystemDice
from bot.engine.effects import Turn
from bot.engine.events import CodeSent, TextSent
from bot.errors import StoreAwayError
from bot.ports import Runner, Shown, Store
from bot.testing import InstantRunner, MemoryStore, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from tests.bot.databases import PostgresServer, SqliteFile

OUTAGES_S = [1.5, pytest.param(10.0, marks=pytest.mark.soak)]


class Breaking(MemoryStore):
    """A store whose next commits break: before they are done, or after it, when nobody hears of it."""

    def __init__(self, *breaks: str) -> None:
        super().__init__()
        self.breaks = list(breaks)

    async def commit(self, chat: str, key: str, revision: int, turn: Turn, now: datetime) -> tuple[Shown, ...] | None:
        how = self.breaks.pop(0) if self.breaks else ""
        if how == "before":
            raise StoreAwayError(how)
        shown = await super().commit(chat, key, revision, turn, now)
        if how == "after":
            raise StoreAwayError(how)
        return shown


@asynccontextmanager
async def talking(course: Course, store: Store, runner: Runner | None = None) -> AsyncIterator[App]:
    app = App(
        course=course,
        store=store,
        runner=runner or InstantRunner(),
        checker=ParsingChecker(),
        clock=StandStillClock(),
        dice=SystemDice(),
        chat=RecordingChat(),
    )
    await app.start(adopt=False)
    await app.runner_asked()
    try:
        yield app
    finally:
        await app.close()


async def ask_five(app: App, chat: str) -> None:
    """Ask for help five times at once, each with a key of its own, and each of them once more."""
    taken = await asyncio.gather(*(app.take(chat, TextSent("وين وصلت"), f"k{i}") for i in range(5)))
    assert taken == [True] * 5
    again = await asyncio.gather(*(app.take(chat, TextSent("وين وصلت"), f"k{i}") for i in range(5)))
    assert again == [False] * 5


@pytest.mark.parametrize("seconds", OUTAGES_S)
async def test_turns_wait_for_a_file_that_another_program_locked(
    course: Course, tmp_path: Path, seconds: float
) -> None:
    database = SqliteFile(tmp_path / "t.db")
    await database.migrate()
    store = database.open()
    async with talking(course, store) as app:
        chat = (await app.enter("web", "ali")).id
        with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            asked = asyncio.create_task(ask_five(app, chat))
            await asyncio.sleep(seconds)
            assert not asked.done()
            other.execute("ROLLBACK")
            await asked
        assert len(await app.since(chat, 0)) == 1 + 5
    await store.close()


@pytest.mark.services
@pytest.mark.parametrize("seconds", OUTAGES_S)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
async def test_turns_wait_for_a_server_that_went_away(
    course: Course, postgres_server: PostgresServer, seconds: float, how: signal.Signals
) -> None:
    database = await asyncio.to_thread(postgres_server.emptied)
    store = database.open()
    async with talking(course, store) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, TextSent("الدروس"), "first")
        before = len(await app.since(chat, 0))
        await asyncio.to_thread(postgres_server.stop, how)
        asked = asyncio.create_task(ask_five(app, chat))
        await asyncio.sleep(seconds)
        assert not asked.done()
        await asyncio.to_thread(postgres_server.start)
        await asked
        assert len(await app.since(chat, 0)) == before + 5
    await store.close()


@pytest.mark.parametrize("key", ["k", ""])
@pytest.mark.parametrize("how", ["before", "after"])
async def test_a_commit_that_breaks_is_made_once_shown_and_carried_out(course: Course, key: str, how: str) -> None:
    store = Breaking()
    runner = InstantRunner()
    async with talking(course, store, runner) as app:
        chat = (await app.enter("web", "ali")).id
        store.breaks = ["", how]  # the second turn is the answer of the checker, which starts the run
        assert await app.take(chat, CodeSent("print(1)"), key)
        await app.idle()
        assert len(runner.submitted) == 1
        assert store.breaks == []
        shown = [one.number for _, one in app._chat.shown]  # type: ignore[attr-defined]
        assert set(shown) == {one.number for one in await app.since(chat, 0)}


async def test_a_store_that_stays_away_is_said_and_the_event_may_come_again(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.app.PAUSES_S", (0.01,) * 3)
    store = Breaking()
    async with talking(course, store) as app:
        chat = (await app.enter("web", "ali")).id
        store.breaks = ["before"] * 4
        with pytest.raises(StoreAwayError):
            await app.take(chat, TextSent("وين وصلت"), "k")
        assert len(await app.since(chat, 0)) == 1
        assert await app.take(chat, TextSent("وين وصلت"), "k")
        assert len(await app.since(chat, 0)) == 2
