"""Bots in processes of their own with one PostgreSQL, one frozen past its lease: what falls due is done once."""

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import chaos.scheduler
import pytest
from chaos.scheduler import ADMIN

from bot.app import App, SystemDice
from bot.engine.events import TextSent
from bot.engine.wording import plain
from bot.ports import Shown
from bot.reminding import LEASE
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from tests.bot.databases import PostgresServer

pytestmark = pytest.mark.services

PROGRAM = Path(chaos.scheduler.__file__)
BEFORE = datetime(2026, 5, 1, 9, 0, tzinfo=UTC)
DUE = datetime(2026, 5, 1, 14, 0, tzinfo=UTC)
"""17:00 in Riyadh."""
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
MANY = 5


@dataclass(frozen=True, slots=True)
class Bots:
    """Two bots, `a` and `b`, in processes of their own, and one here that only looks."""

    folder: Path
    app: App
    clock: StandStillClock

    def at(self, now: datetime) -> None:
        """Let it be a time, everywhere."""
        self.clock.at = now
        fresh = self.folder / "now.new"
        fresh.write_text(now.isoformat())
        fresh.replace(self.folder / "now")

    async def told(self, name: str, word: str) -> object:
        """Give a bot a word, and its answer."""
        reader, writer = await asyncio.open_unix_connection(self.folder / f"{name}.sock")
        writer.write(f"{word}\n".encode())
        async with asyncio.timeout(30):
            answer = json.loads(await reader.readline())
        writer.close()
        return answer

    async def both(self, word: str) -> list[object]:
        """Give both bots a word at once."""
        return list(await asyncio.gather(self.told("a", word), self.told("b", word)))

    async def frozen(self, word: str) -> "asyncio.Task[object]":
        """Give the bot `a` a word during which it freezes."""
        task = asyncio.create_task(self.told("a", word))
        async with asyncio.timeout(30):
            while not self._is_frozen():  # noqa: ASYNC110 - the kernel tells nobody
                await asyncio.sleep(0.01)
        assert not task.done()
        return task

    def thawed(self) -> None:
        """Let it go on."""
        os.kill(self._pid("a"), signal.SIGCONT)

    def _is_frozen(self) -> bool:
        return Path(f"/proc/{self._pid('a')}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def _pid(self, name: str) -> int:
        return int((self.folder / f"{name}.pid").read_text())

    async def learner(self, name: str, *said: str) -> str:
        """Give the chat of a learner who said something."""
        row = await self.app.enter("web", name)
        for text in said:
            await self.app.take(row.id, TextSent(text), "")
        return row.id

    async def said(self, chat: str, words: str) -> int:
        """Count the replies of a chat in which these words stand."""
        return sum(words in text_of(one) for one in await self.app.since(chat, 0))

    async def digests(self, chats: Sequence[str]) -> list[int]:
        """Count the digests of each chat."""
        return [await self.said(chat, "تذكير اليوم:") for chat in chats]


def text_of(one: Shown) -> str:
    return " ".join(plain(block.spans) for block in one.reply.blocks if block.kind == "paragraph")


@asynccontextmanager
async def _served(folder: Path, place: str) -> AsyncIterator[None]:
    words = [sys.executable, str(PROGRAM), str(folder), place, "a", "b"]
    process = await asyncio.create_subprocess_exec(*words, stdin=subprocess.PIPE)
    try:
        async with asyncio.timeout(90):
            while not all((folder / f"{name}.sock").exists() for name in "ab"):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.02)
        yield
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


@pytest.fixture
async def bots(course: Course, postgres_server: PostgresServer, tmp_path: Path) -> AsyncIterator[Bots]:
    database = await asyncio.to_thread(postgres_server.emptied)
    store = database.open()
    clock = StandStillClock(BEFORE)
    app = App(
        course=course,
        store=store,
        runner=InstantRunner(),
        checker=ParsingChecker(),
        clock=clock,
        dice=SystemDice(),
        chat=RecordingChat(),
    )
    await app.start(adopt=False)
    (tmp_path / "course").write_bytes(pickle.dumps(course))
    made = Bots(tmp_path, app, clock)
    made.at(BEFORE)
    async with _served(tmp_path, database.place):
        yield made
    await app.close()
    await store.close()


async def test_what_falls_due_is_done_once_by_two_bots_at_once_and_by_one_that_froze_past_its_lease(
    bots: Bots,
) -> None:
    chats = [await bots.learner(f"learner{i}", "تذكير الرياض") for i in range(MANY)]
    admin = await bots.learner(ADMIN)
    for day, point in enumerate(("", "claimed", "read", "saved")):
        due = DUE + day * DAY
        bots.at(due)
        if not point:
            counts = await bots.both("remind")
            assert sum(int(str(count)) for count in counts) == MANY
        else:
            task = await bots.frozen(f"remind {point}")
            bots.at(due + LEASE + MINUTE)
            await bots.told("b", "remind")
            bots.thawed()
            await task
            await bots.both("remind")
        assert await bots.digests(chats) == [day + 1] * MANY, point
        for chat in chats:  # who answers nothing for three days is reminded no more
            await bots.app.take(chat, TextSent("مساعدة"), f"back{day}")
    shown = [(str(chat), number) for name in "ab" for chat, number in await bots.told(name, "shown")]  # type: ignore[attr-defined]
    assert len(shown) == len(set(shown)) == MANY * 4

    swept = await bots.both("sweep")
    assert sorted(map(str, swept)) == ["False", "True"]

    bots.at(DUE + 4 * DAY)
    await bots.both("watch")
    bots.at(DUE + 4 * DAY + 3 * MINUTE)
    task = await bots.frozen("watch read")
    bots.at(DUE + 4 * DAY + 9 * MINUTE)
    await bots.told("b", "watch")
    bots.thawed()
    await task
    await bots.both("watch")
    assert await bots.said(admin, "لا مُشغِّل يجيب") == 1
