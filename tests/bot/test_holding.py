"""Runs held by one bot under a lease: no other takes them while it lasts, one does afterwards, each is told once."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.app import App, SystemDice
from bot.engine.effects import RunCode, Turn
from bot.engine.events import CodeChecked, CodeSent
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from sandbox_runner.protocol import Accepted, Ending, Event, Finished, Job, JobKind, Result, Stream
from tests.bot.databases import Database, PostgresServer

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE_S = 0.6


class Waiting(InstantRunner):
    """Gives results once it is told to; a job's text says by whom it was run."""

    def __init__(self, name: str = "x") -> None:
        super().__init__(lambda job: Result(job.id, job.kind, Ending.OK, stdout=Stream(f"ran by {name}\n", bytes=9)))
        self.go = asyncio.Event()

    async def submit(self, job: Job) -> AsyncIterator[Event]:
        self.submitted.append(job)
        yield Accepted(0, 0.0)
        await self.go.wait()
        yield Finished(self.answer(job))


def bot(course: Course, store: SqlStore, runner: InstantRunner, **more: Any) -> App:  # noqa: ANN401 - what App takes
    return App(
        course=course,
        store=store,
        runner=runner,
        checker=more.pop("checker", ParsingChecker()),
        clock=more.pop("clock", StandStillClock()),
        dice=SystemDice(),
        chat=RecordingChat(),
        **more,
    )


async def killed(app: App) -> None:
    """End a bot as a power failure does: nothing of what it holds is given back."""
    for task in (*app._tasks, *app._lasting):
        task.cancel()
    await asyncio.gather(*app._tasks, *app._lasting, return_exceptions=True)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - the condition is the test's own
            await asyncio.sleep(0.01)


async def begun(store: SqlStore, *runs: str, platform: str = "web") -> str:
    chat = (await store.enter(platform, "ali", NOW)).id
    for run in runs:
        opened = await store.open(chat, "")
        assert opened is not None
        turn = Turn(opened.session, (RunCode(Job(run, JobKind.RUN, "1", "h"), f"slot {run}"),))
        assert await store.commit(chat, "", opened.revision, turn, NOW) is not None
    return chat


@asynccontextmanager
async def two(database: Database) -> AsyncIterator[tuple[SqlStore, SqlStore]]:
    stores = database.open(), database.open()
    for store in stores:
        store.lease_s = LEASE_S
    try:
        yield stores
    finally:
        for store in stores:
            await store.close()


async def taken(store: SqlStore, *platforms: str) -> list[str]:
    return [run.job.id for run in await store.take_up(platforms, first=False)]


async def test_a_run_that_is_held_is_nobody_elses_until_its_lease_lapses(database: Database) -> None:
    async with two(database) as (first, second):
        await begun(first, "r1", "r2")
        assert await taken(second) == []
        await asyncio.sleep(LEASE_S / 2)
        assert await first.renew(["r1", "r2"]) == {"r1", "r2"}
        await asyncio.sleep(LEASE_S * 0.7)
        assert await taken(second) == []
        await asyncio.sleep(LEASE_S / 2)
        assert await taken(second) == ["r1", "r2"]
        assert await taken(second) == []
        assert await first.renew(["r1", "r2"]) == frozenset()
        assert await second.renew(["r1", "r2"]) == {"r1", "r2"}


async def test_a_run_that_was_left_is_taken_at_once(database: Database) -> None:
    async with two(database) as (first, second):
        await begun(first, "r1")
        await first.let_go()
        assert await taken(second) == ["r1"]


async def test_of_two_that_take_at_once_each_run_goes_to_one(database: Database) -> None:
    async with two(database) as (first, second):
        names = [f"r{n}" for n in range(20)]
        await begun(first, *names)
        await first.let_go()
        both = [*await asyncio.gather(taken(first), taken(second)), await taken(first), await taken(second)]
        assert sorted(run for each in both for run in each) == sorted(names)


async def test_a_run_is_taken_only_by_a_bot_that_reaches_its_chat(database: Database) -> None:
    async with two(database) as (first, second):
        await begun(first, "r1", platform="telegram")
        await first.let_go()
        assert await taken(second, "discord", "web") == []
        assert await taken(second, "web", "telegram") == ["r1"]


async def test_a_run_that_was_told_is_taken_by_nobody(database: Database) -> None:
    async with two(database) as (first, second):
        await begun(first, "r1")
        result = Result("r1", JobKind.RUN, Ending.OK)
        assert await first.finish("r1", result, NOW) == result
        assert await second.finish("r1", Result("r1", JobKind.RUN, Ending.CRASH), NOW) == result
        await first.close_run("r1")
        await first.let_go()
        assert await taken(second) == []


async def test_a_run_of_a_later_release_is_left_to_its_bots(database: Database) -> None:
    async with two(database) as (first, second):
        await begun(first, "r1", "r2")
        await database.execute("UPDATE runs SET job = replace(job, '\"source\"', '\"sauce\"') WHERE id = 'r1'")
        await first.let_go()
        assert await taken(second) == ["r2"]


@pytest.mark.services
async def test_a_dead_bots_run_is_told_once_by_another_and_by_no_bot_twice(
    course: Course, postgres_server: PostgresServer
) -> None:
    database = await asyncio.to_thread(postgres_server.emptied)
    async with two(database) as (first, second):
        runners = Waiting("first"), Waiting("second")
        gone = bot(course, first, runners[0], platforms=("web",))
        await gone.start(adopt=True)
        chat = (await gone.enter("web", "ali")).id
        await gone.take(chat, CodeSent("print(1)"), "code")
        await until(lambda: bool(runners[0].submitted))
        late = StandStillClock(datetime(2099, 1, 1, tzinfo=UTC))  # a bot whose clock is wrong takes nothing early
        other = bot(course, second, runners[1], clock=late, platforms=("web",))
        await other.start(adopt=True)
        await asyncio.sleep(2 * LEASE_S)
        assert runners[1].submitted == []
        await killed(gone)
        await until(lambda: bool(runners[1].submitted))
        runners[1].go.set()
        await other.idle()
        told = repr([one.reply for one in await second.since(chat, 0)])
        assert told.count("ran by second") == 1
        assert await second.unfinished() == ()
        await other.close()


@pytest.mark.services
async def test_a_bot_that_froze_hears_that_its_run_is_anothers_and_follows_it_no_more(
    course: Course, postgres_server: PostgresServer
) -> None:
    database = await asyncio.to_thread(postgres_server.emptied)
    async with two(database) as (first, second):
        runners = Waiting("first"), Waiting("second")
        frozen = bot(course, first, runners[0])
        await frozen.start(adopt=True)
        chat = (await frozen.enter("web", "ali")).id
        await frozen.take(chat, CodeSent("print(1)"), "code")
        await until(lambda: bool(runners[0].submitted))
        frozen._lasting[1].cancel()
        other = bot(course, second, runners[1])
        await other.start(adopt=True)
        await until(lambda: bool(runners[1].submitted))
        frozen._lasting[1] = asyncio.create_task(frozen._holding.keep(None))
        await frozen.idle()
        runners[1].go.set()
        await other.idle()
        assert "ran by second" in repr([one.reply for one in await second.since(chat, 0)])
        await frozen.close()
        await other.close()


@pytest.mark.services
async def test_a_check_whose_bot_is_gone_is_made_by_another(course: Course, postgres_server: PostgresServer) -> None:
    class Never(ParsingChecker):
        async def check(self, check: str, candidates: object) -> CodeChecked:
            await asyncio.Event().wait()
            raise AssertionError

    database = await asyncio.to_thread(postgres_server.emptied)
    async with two(database) as (first, second):
        runner = InstantRunner()
        other = bot(course, second, runner)
        await other.start(adopt=True)
        gone = bot(course, first, InstantRunner(), checker=Never())
        await gone.start(adopt=True)
        chat = (await gone.enter("web", "ali")).id
        await gone.take(chat, CodeSent("print(1)"), "code")
        await killed(gone)
        async with asyncio.timeout(20):
            while await second.unchecked():  # noqa: ASYNC110 - another bot has no event here
                await asyncio.sleep(0.02)
        await other.idle()
        assert await second.unchecked() == ()
        assert len(runner.submitted) == 1
        assert await second.unfinished() == ()
        await other.close()


async def test_a_run_that_could_not_be_told_is_taken_up_again_by_the_same_bot(
    course: Course, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = database.open()
    store.lease_s = LEASE_S
    runner = Waiting()
    app = bot(course, store, runner)
    await app.start(adopt=True)
    chat = (await app.enter("web", "ali")).id
    await app.take(chat, CodeSent("print(1)"), "code")
    await until(lambda: bool(runner.submitted))
    told = app._tell
    failed: list[Result] = []

    async def failing(chat: str, result: Result) -> None:
        if not failed:
            failed.append(result)
            raise TimeoutError
        await told(chat, result)

    monkeypatch.setattr(app, "_tell", failing)
    runner.go.set()
    async with asyncio.timeout(20):
        while await store.unfinished():  # noqa: ASYNC110 - the store has no event
            await asyncio.sleep(0.02)
    assert len(runner.submitted) == 1
    assert repr([one.reply for one in await store.since(chat, 0)]).count("ran by x") == 1
    await app.close()
    await store.close()
