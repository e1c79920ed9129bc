"""What admins are told of the installation: once an incident and once its end, however many bots; and figures."""

import asyncio
import contextlib
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app import App, SystemDice
from bot.engine.effects import RunCode, Say, Turn
from bot.engine.events import IncidentTold, TextSent, Trouble
from bot.engine.incidents import worded
from bot.engine.replies import Reply
from bot.engine.wording import Wording, plain
from bot.errors import StoreAwayError
from bot.figures import CountedRunner, Figures, LogCount
from bot.logs import JsonLines
from bot.ports import Backlog
from bot.stores.incidents import SqlIncidents
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from bot.watching import LATE, LEASE, WELL, Watch, seen
from content.schema import Course, Phrase
from sandbox_runner.protocol import Device, Ending, Job, JobKind, Note, Result
from tests.bot.databases import Database

BEGAN = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ROOT = Path(__file__).resolve().parents[2]


class Platform(RecordingChat):
    """A platform that can speak without the store, and says when it is not connected."""

    def __init__(self) -> None:
        super().__init__()
        self.called: list[tuple[str, str]] = []
        self.wrong = ""

    async def call_out(self, chat: str, address: str, reply: Reply) -> None:
        self.called.append((address, text_of(reply)))

    def trouble(self) -> str:
        return self.wrong


class Flaky:
    """The store's view of incidents, which can be away."""

    def __init__(self, inner: SqlIncidents) -> None:
        self._inner = inner
        self.away = False

    async def backlog(self, platform: str, now: datetime, settled: timedelta) -> Backlog:
        if self.away:
            message = "away"
            raise StoreAwayError(message)
        return await self._inner.backlog(platform, now, settled)

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)


class Bots:
    """Two bots on one database, with one clock; each has its own runner to look for."""

    def __init__(self, course: Course, stores: Sequence[SqlStore], platform: str = "telegram") -> None:
        self.clock = StandStillClock(BEGAN)
        self.stores = stores
        self.chats = [Platform() for _ in stores]
        self.runners = [InstantRunner() for _ in stores]
        self.flaky = [Flaky(store.incidents()) for store in stores]
        self.figures = [Figures(platform, self.seconds) for _ in stores]
        self.course = course
        self.apps = [
            App(
                course=course,
                store=store,
                runner=CountedRunner(runner, figures),
                checker=ParsingChecker(),
                clock=self.clock,
                dice=SystemDice(),
                chat=chat,
                figures=figures,
            )
            for store, chat, runner, figures in zip(stores, self.chats, self.runners, self.figures, strict=True)
        ]
        self.watches = [self.watch(bot) for bot in range(len(stores))]

    def seconds(self) -> float:
        return self.clock.at.timestamp()

    def watch(self, bot: int) -> Watch:
        admins = ("telegram:boss", "discord:boss", "telegram:never-wrote")
        flaky, figures, chat = self.flaky[bot], self.figures[bot], self.chats[bot]
        return Watch(self.apps[bot], flaky, figures, self.clock, f"bot{bot}", admins, chat)  # type: ignore[arg-type]

    async def looked(self, *bots: int, after: timedelta = MINUTE) -> None:
        self.clock.at += after
        for bot in bots:
            await self.watches[bot].tick()

    async def told(self, chat: str) -> list[str]:
        return [text_of(one.reply) for one in await self.stores[0].since(chat, 0) if "incident" not in one.slot]


def text_of(reply: Reply) -> str:
    return " ".join(plain(block.spans) for block in reply.blocks if block.kind == "paragraph")


@pytest.fixture
async def bots(course: Course, store: SqlStore, database: Database) -> AsyncIterator[Bots]:
    other = database.open()
    made = Bots(course, (store, other))
    yield made
    for app in made.apps:
        await app.close()
    await other.close()


async def admin_of(bots: Bots) -> str:
    return (await bots.apps[0].enter("telegram", "boss", greet=False)).id


async def test_two_bots_tell_an_admin_once_that_runners_are_gone_and_once_that_they_are_back(bots: Bots) -> None:
    chat = await admin_of(bots)
    other = (await bots.apps[0].enter("telegram", "learner", greet=False)).id
    bots.figures[0].runner = bots.figures[1].runner = False
    await bots.looked(0, 1)
    assert await bots.told(chat) == []  # what passes within two minutes is none
    for _ in range(4):
        await bots.looked(0, 1)
    assert len(await bots.told(chat)) == 1
    assert "لا مُشغِّل يجيب منذ 2026-05-01 09:01" in (await bots.told(chat))[0]
    bots.figures[0].runner = bots.figures[1].runner = True
    await bots.looked(0, 1)
    assert len(await bots.told(chat)) == 1
    for _ in range(3):
        await bots.looked(0, 1)
    told = await bots.told(chat)
    assert len(told) == 2
    assert "عاد المُشغِّل يجيب" in told[1]
    assert await bots.told(other) == []


async def test_a_bot_that_is_started_anew_repeats_nothing_and_closes_what_a_dead_one_left(bots: Bots) -> None:
    chat = await admin_of(bots)
    bots.figures[0].runner = False
    for _ in range(4):
        await bots.looked(0)
    bots.figures[1].runner = True
    for _ in range(3):
        await bots.looked(1, after=timedelta(seconds=20))
    assert len(await bots.told(chat)) == 1  # the first bot sees no runner still, and it looks after the incident
    bots.watches[0] = bots.watch(0)
    await bots.looked(0, after=timedelta(seconds=20))
    assert len(await bots.told(chat)) == 1
    await bots.looked(1, after=LEASE + MINUTE)  # now it is gone
    assert len(await bots.told(chat)) == 2


async def test_a_lease_of_a_clock_that_jumped_ahead_binds_nobody(bots: Bots) -> None:
    chat = await admin_of(bots)
    bots.figures[0].runner = False
    bots.clock.at += timedelta(days=900)
    for _ in range(4):
        await bots.looked(0)
    bots.clock.at = BEGAN
    bots.figures[1].runner = True
    await bots.looked(1)
    await bots.looked(1, after=WELL)
    assert len(await bots.told(chat)) == 2


async def test_runs_that_wait_replies_that_are_late_and_a_shut_gpu_are_told_each_once(bots: Bots) -> None:
    chat = await admin_of(bots)
    learner = (await bots.apps[0].enter("telegram", "learner", greet=False)).id
    opened = await bots.stores[0].open(learner, "")
    assert opened is not None
    job = Job("r00000000001", JobKind.RUN, "print('سر المتعلم')", opened.session.learner)
    said = Say(worded(Wording({}), IncidentTold(Trouble.GPU, BEGAN)))
    await bots.stores[0].outbox().place(learner, "17")
    assert await bots.stores[0].commit(learner, "", 0, Turn(opened.session, (said, RunCode(job, "run"))), bots.clock.at)
    bots.figures[1].ended(job, None)
    gpu = Job("r00000000002", JobKind.RUN, "", "x", Device.CUDA)
    bots.figures[1].begun(gpu)
    shut = (Note("gpu_quarantined", {"detail": "x"}),)
    bots.figures[1].ended(gpu, Result(gpu.id, gpu.kind, Ending.INFRA_ERROR, Device.CUDA, notes=shut))
    await bots.looked(0, 1, after=LATE + MINUTE)
    await bots.looked(0, 1)
    told = await bots.told(chat)
    assert [sum(word in one for one in told) for word in ("تشغيل واحدة تنتظر", "لا يصلها الرد", "رسوميات موقوفة")] == [
        1,
        1,
        1,
    ]
    assert len(told) == 3
    assert "سر" not in " ".join(told)
    assert bots.figures[0].backlog.runs == bots.figures[0].backlog.behind == 1
    await bots.stores[0].finish(job.id, Result(job.id, job.kind, Ending.OK), bots.clock.at)
    bots.figures[0].begun(gpu)
    bots.figures[0].ended(gpu, Result(gpu.id, gpu.kind, Ending.OK, Device.CUDA))  # another bot's evidence is enough
    for _ in range(3):
        await bots.looked(0, 1)
    assert sum(one.startswith("عاد") for one in await bots.told(chat)) == 2
    assert bots.figures[0].incidents == {"outbox:telegram"}


async def test_that_the_store_is_away_is_said_once_without_it_and_once_when_it_is_back(bots: Bots) -> None:
    chat = await admin_of(bots)
    await bots.stores[0].outbox().place(chat, "4711")
    await bots.looked(0, 1)  # the first of them has the word
    for one in bots.flaky:
        one.away = True
    for _ in range(4):
        await bots.looked(0, 1)
    assert [address for address, _ in bots.chats[0].called] == ["4711"]
    assert "قاعدة البيانات لا تجيب" in bots.chats[0].called[0][1]
    assert bots.chats[1].called == []
    assert bots.figures[0].ready()[0] is False
    for one in bots.flaky:
        one.away = False
    for _ in range(3):
        await bots.looked(0, 1)
    assert len(await bots.told(chat)) == 1
    assert "عادت قاعدة البيانات" in (await bots.told(chat))[0]
    assert bots.figures[0].ready()[0] is True


async def test_a_bot_is_ready_when_store_and_platform_answer_and_its_figures_name_nobody(bots: Bots) -> None:
    chat = await admin_of(bots)
    assert bots.figures[0].ready() == (False, "the store was not asked yet\ntelegram: not connected yet\n")
    bots.chats[0].wrong = "no updates can be had"
    await bots.looked(0)
    assert bots.figures[0].ready() == (False, "telegram: no updates can be had\n")
    bots.chats[0].wrong = ""
    await bots.looked(0)
    assert bots.figures[0].ready() == (True, "ready\n")
    await bots.apps[0].start(adopt=False)
    await bots.apps[0].runner_asked()
    await bots.apps[0].take(chat, TextSent("كلام لا يظهر"), "")
    job = Job("r00000000009", JobKind.TIME, "x = 1", "someone")
    assert [event async for event in CountedRunner(bots.runners[0], bots.figures[0]).submit(job)]
    text = bots.figures[0].page()[1]
    assert 'tasree_bot_turn_seconds_count{event="TextSent"} 1' in text
    assert 'tasree_bot_runs_total{kind="time",ending="ok"} 1' in text
    assert 'tasree_bot_runner_up{platform="telegram"} 1' in text
    assert all(word not in text for word in ("r00000000009", "someone", "كلام", chat, "boss"))


@pytest.mark.parametrize("trouble", list(Trouble))
def test_each_trouble_is_worded_with_a_next_step_and_an_end(trouble: Trouble, phrases: dict[str, Phrase]) -> None:
    words = Wording(phrases)
    began = worded(words, IncidentTold(trouble, BEGAN, where="telegram", count=3, age_s=660))
    over = worded(words, IncidentTold(trouble, BEGAN, BEGAN + timedelta(hours=2), "telegram"))
    assert len(began.blocks) == 2
    assert "120 دقيقة" in text_of(over)
    assert "incident." not in text_of(began) + text_of(over)
    assert "{" not in text_of(began) + text_of(over)


async def test_warnings_are_counted_by_logger_and_never_repeated() -> None:
    figures = Figures("web", lambda: 0.0)
    async with seen("", figures):
        logging.getLogger("tasree.store").warning("secret %s", "words")
        logging.getLogger("aiohttp").error("other words")
        logging.getLogger("tasree.store").info("nothing")
    logging.getLogger("tasree.store").warning("after")
    text = figures.page()[1]
    assert 'tasree_bot_log_lines_total{level="warning",logger="tasree.store"} 1' in text
    assert 'tasree_bot_log_lines_total{level="error",logger="other"} 1' in text
    assert "words" not in text
    assert not any(isinstance(one, LogCount) for one in logging.getLogger().handlers)


def test_a_line_of_the_json_log_is_one_object_with_its_fault() -> None:
    try:
        _ = 1 / 0
    except ZeroDivisionError:
        record = logging.LogRecord("tasree.app", logging.ERROR, "x", 1, "a turn\nfailed %s", ("هنا",), sys.exc_info())
    written = JsonLines().format(record)
    assert "\n" not in written
    told = json.loads(written)
    assert (told["level"], told["logger"], told["said"]) == ("error", "tasree.app", "a turn\nfailed هنا")
    assert told["fault"] == "ZeroDivisionError"
    assert "\n" in told["trace"]


async def asked(port: int, path: str) -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer


async def test_a_served_bot_shows_its_figures_and_that_it_is_ready_and_logs_as_json(
    tmp_path: Path, app_python: Path
) -> None:
    (tmp_path / "secret").write_text("a secret that is long enough")
    environment = {
        "PATH": "/usr/bin:/bin",
        "TASREE_DATA": str(tmp_path / "data"),
        "TASREE_WEB_PORT": "0",
        "TASREE_METRICS": "127.0.0.1:0",
        "TASREE_LOG": "json",
        "TASREE_RUNNER": f"unix:{tmp_path}/nobody",
        "TASREE_RUNNER_SECRET_FILE": str(tmp_path / "secret"),
    }
    served = await asyncio.create_subprocess_exec(
        app_python, "-m", "bot", "web", cwd=ROOT, env=environment, stdout=-1, stderr=-1
    )
    assert served.stderr is not None
    assert served.stdout is not None
    try:
        port = 0
        async with asyncio.timeout(60):
            while not port:
                told = json.loads(await served.stderr.readline())
                found = re.search(r"http://127.0.0.1:([0-9]+)/metrics", told["said"])
                port = int(found[1]) if found else 0
            assert (await asked(port, "/health/live")).endswith("ok\n")
            await served.stdout.readline()
            answer = ""
            while not answer.startswith("HTTP/1.1 200"):
                answer = await asked(port, "/health/ready")
        assert answer.endswith("ready\n")
        assert 'tasree_bot_store_up{platform="web"} 1' in await asked(port, "/metrics")
    finally:
        with contextlib.suppress(ProcessLookupError):
            served.terminate()
        await served.wait()
