"""The shell with the real SQLite store: what is saved, in what order, and what a killed process leaves."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.app import App, SystemDice
from bot.engine.buttons import Op, encode
from bot.engine.events import ButtonPressed, CodeSent, TextSent
from bot.engine.known import Needs
from bot.engine.replies import Choices
from bot.ports import Runner, Shown
from bot.stores import sqlite
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import (
    Accepted,
    Capabilities,
    Device,
    Ending,
    Event,
    Finished,
    Job,
    JobKind,
    Phase,
    Progress,
    Result,
    Stream,
)

CAPABLE = Capabilities(kinds=tuple(JobKind), devices=(Device.CPU,), slots=1)


class SlowRunner:
    """A runner whose jobs end when told; it remembers which were sent and which were cancelled."""

    def __init__(self) -> None:
        self.sent: list[Job] = []
        self.cancelled: list[str] = []
        self.go = asyncio.Event()

    async def capabilities(self) -> Capabilities:
        return CAPABLE

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        self.sent.append(job)
        yield Accepted(0, 0.0)
        yield Progress(Phase.RUN)
        await self.go.wait()
        ending = Ending.CANCELLED if job.id in self.cancelled else Ending.OK
        yield Finished(Result(job.id, job.kind, ending, stdout=Stream(head="وصل الناتج", bytes=10)))

    async def cancel(self, job_id: str) -> None:
        self.cancelled.append(job_id)
        self.go.set()


class LostRunner:
    """A runner that answers once and is gone when a job comes."""

    async def capabilities(self) -> Capabilities:
        return CAPABLE

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        yield Accepted(0, 0.0)
        message = "gone"
        raise UnavailableError(message)

    async def cancel(self, job_id: str) -> None:
        raise UnavailableError(job_id)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    sqlite.migrate(tmp_path / "t.db")
    opened = sqlite.open_store(tmp_path / "t.db", b"k" * 32, SystemDice().identity)
    yield opened
    await opened.close()


@asynccontextmanager
async def talking(course: Course, store: SqlStore, runner: Runner, *, adopt: bool = False) -> AsyncIterator[App]:
    app = App(
        course=course,
        store=store,
        runner=runner,
        checker=ParsingChecker(),
        clock=StandStillClock(),
        dice=SystemDice(),
        chat=RecordingChat(),
    )
    await app.start(adopt=adopt)
    await app.runner_asked()
    try:
        yield app
    finally:
        await app.close()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - the condition is the test's own
            await asyncio.sleep(0.01)


def said(shown: tuple[Shown, ...]) -> str:
    return repr([one.reply for one in shown])


async def test_a_new_chat_is_greeted_once(course: Course, store: SqlStore) -> None:
    async with talking(course, store, InstantRunner()) as app:
        first = await app.enter("web", "ali")
        assert await app.enter("web", "ali") == first
        assert len(await app.since(first.id, 0)) == 1


async def test_an_event_sent_twice_is_answered_once(course: Course, store: SqlStore) -> None:
    async with talking(course, store, InstantRunner()) as app:
        chat = (await app.enter("web", "ali")).id
        taken = await asyncio.gather(*(app.take(chat, TextSent("مساعدة"), "same") for _ in range(8)))
        assert sorted(taken) == [False] * 7 + [True]


async def test_two_taps_at_once_answer_a_question_once(course: Course, store: SqlStore) -> None:
    async with talking(course, store, InstantRunner()) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, ButtonPressed(encode(Op.QUIZ, course.lessons[0].slug)), "quiz")
        buttons = [
            choice.payload
            for one in await app.since(chat, 1)
            for block in one.reply.blocks
            if isinstance(block, Choices)
            for choice in block.choices
            if choice.payload.startswith("1:ans:")
        ]
        before = len(await app.since(chat, 0))
        taps = [app.take(chat, ButtonPressed(buttons[0]), f"tap{i}") for i in range(2)]
        assert await asyncio.gather(*taps) == [True, True]
        ask = buttons[0].split(":")[2]
        known = await store.load(chat, Needs(ask=ask))
        assert known.ask is not None
        assert known.ask.closed or known.ask.tries == 1
        assert len(await app.since(chat, 0)) > before


async def test_a_run_killed_half_way_is_taken_up_again(course: Course, store: SqlStore) -> None:
    slow = SlowRunner()
    async with talking(course, store, slow) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, CodeSent("print(1)"), "code")
        await until(lambda: bool(slow.sent))
    assert [run.job.id for run in await store.unfinished()] == [slow.sent[0].id]
    again = SlowRunner()
    again.go.set()
    async with talking(course, store, again, adopt=True) as app:
        await app.idle()
        assert [job.id for job in again.sent] == [slow.sent[0].id]
        assert "وصل الناتج" in said(await app.since(chat, 0))
    assert await store.unfinished() == ()


async def test_a_result_that_was_kept_but_not_told_is_told_without_running(course: Course, store: SqlStore) -> None:
    slow = SlowRunner()
    async with talking(course, store, slow) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, CodeSent("print(1)"), "code")
        await until(lambda: bool(slow.sent))
    job = slow.sent[0]
    kept = Result(job.id, job.kind, Ending.OK, stdout=Stream(head="محفوظ من قبل", bytes=12))
    await store.finish(job.id, kept, StandStillClock().now())
    again = SlowRunner()
    async with talking(course, store, again, adopt=True) as app:
        await app.idle()
        assert again.sent == []
        assert "محفوظ من قبل" in said(await app.since(chat, 0))


async def test_a_check_killed_half_way_is_taken_up_again(course: Course, store: SqlStore) -> None:
    class Never(ParsingChecker):
        async def check(self, check: str, candidates: object) -> object:  # type: ignore[override]
            return await asyncio.Event().wait()

    app = App(
        course=course,
        store=store,
        runner=InstantRunner(),
        checker=Never(),  # type: ignore[arg-type]
        clock=StandStillClock(),
        dice=SystemDice(),
        chat=RecordingChat(),
    )
    await app.start(adopt=False)
    chat = (await app.enter("web", "ali")).id
    await app.take(chat, CodeSent("print(1)"), "code")
    await app.close()
    assert [one.chat for one in await store.unchecked()] == [chat]
    async with talking(course, store, InstantRunner(), adopt=True) as again:
        await again.idle()
    assert await store.unchecked() == ()


async def test_a_runner_that_is_gone_is_said_and_costs_nothing_else(course: Course, store: SqlStore) -> None:
    async with talking(course, store, LostRunner()) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, CodeSent("print(1)"), "code")
        await app.idle()
        assert await store.unfinished() == ()
        assert await app.take(chat, TextSent("مساعدة"), "next")


async def test_a_cancelled_run_is_told_to_the_runner(course: Course, store: SqlStore) -> None:
    slow = SlowRunner()
    async with talking(course, store, slow) as app:
        chat = (await app.enter("web", "ali")).id
        await app.take(chat, CodeSent("while True: pass"), "code")
        await until(lambda: bool(slow.sent))
        await app.take(chat, ButtonPressed(encode(Op.CANCEL, slow.sent[0].id)), "stop")
        await app.idle()
        assert slow.cancelled == [slow.sent[0].id]


async def test_a_caller_that_goes_away_leaves_no_half_turn(course: Course, store: SqlStore) -> None:
    slow = SlowRunner()
    async with talking(course, store, slow) as app:
        chat = (await app.enter("web", "ali")).id
        for i in range(20):
            caller = asyncio.create_task(app.take(chat, CodeSent(f"print({i})"), f"k{i}"))
            for _ in range(i):
                await asyncio.sleep(0)
            caller.cancel()
        slow.go.set()
        await asyncio.sleep(0.05)
        await app.idle()
        taken = [await store.open(chat, f"k{i}") is None for i in range(20)]
        assert not await store.unchecked()
        assert len(slow.sent) <= sum(taken)
    assert await store.unfinished() == ()


async def test_a_turn_that_fails_says_so_and_keeps_the_session(
    course: Course, store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(course, store, InstantRunner()) as app:
        chat = (await app.enter("web", "ali")).id
        before = await store.open(chat, "")

        def broken(*_: object) -> None:
            message = "a fault of ours"
            raise RuntimeError(message)

        monkeypatch.setattr("bot.app.take_turn", broken)
        assert await app.take(chat, TextSent("مرحبا"), "k")
        after = await store.open(chat, "")
        assert before is not None
        assert after is not None
        assert after.session == before.session
        assert len(await app.since(chat, 1)) == 1


async def test_many_learners_at_once_are_answered_each_in_order(course: Course, store: SqlStore) -> None:
    async with talking(course, store, InstantRunner()) as app:
        chats = [(await app.enter("web", f"l{i}")).id for i in range(12)]

        async def learn(chat: str) -> None:
            for step in ("الدروس", "1", "التالي", "التالي", "السابق"):
                await app.take(chat, TextSent(step), f"{step}{asyncio.get_running_loop().time()}")

        await asyncio.gather(*(learn(chat) for chat in chats))
        talks = {tuple(said((one,)) for one in await app.since(chat, 0)) for chat in chats}
        assert len(talks) == 1
