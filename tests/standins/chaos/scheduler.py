"""A program: bots' loops in processes of their own, one round at a word: digests, the sweep, the look for incidents.

Arguments: a folder (its file `course` is a pickled course), the database, names of bots. Each listens on
`<folder>/<name>.sock`; its id is in `<name>.pid`.

Law: the time is what stands in a file that all of them read. A word may name a point at which a process freezes itself
by SIGSTOP, once: `claimed` (after its claim), `read` (before its turn's commit), `saved` (after it).
"""

import asyncio
import json
import os
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from bot.app import App, SystemDice
from bot.engine.effects import Turn
from bot.figures import Figures
from bot.ports import DueDigest, Shown
from bot.reminding import Reminder
from bot.stores import postgres
from bot.stores.sql import SqlStore
from bot.sweeping import Sweeper
from bot.testing import InstantRunner, ParsingChecker, RecordingChat
from bot.watching import Watch
from content.schema import Course

ADMIN = "boss"
KEY = b"k" * 32


class Times:
    """The time as it stands in a file."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def now(self) -> datetime:
        """Give it."""
        return datetime.fromisoformat(self._place.read_text())


class Freezing:
    """Where this process freezes next."""

    def __init__(self) -> None:
        self.at = ""

    def pass_by(self, point: str) -> None:
        """Freeze here, if it is here."""
        if self.at == point:
            self.at = ""
            signal.raise_signal(signal.SIGSTOP)


class Store:
    """A store in whose work this process may freeze."""

    def __init__(self, inner: SqlStore, freezing: Freezing) -> None:
        self._inner = inner
        self._freezing = freezing
        self._due = inner.reminding()

    async def commit(self, chat: str, key: str, revision: int, turn: Turn, now: datetime) -> tuple[Shown, ...] | None:
        """Save a turn."""
        self._freezing.pass_by("read")
        shown = await self._inner.commit(chat, key, revision, turn, now)
        self._freezing.pass_by("saved")
        return shown

    async def claim(
        self, now: datetime, holder: str, lease: timedelta, platforms: Sequence[str], most: int
    ) -> tuple[DueDigest, ...]:
        """Claim digests."""
        found = await self._due.claim(now, holder, lease, platforms, most)
        self._freezing.pass_by("claimed")
        return found

    def __getattr__(self, name: str) -> object:
        return getattr(self._due if name in {"joined", "postpone"} else self._inner, name)


async def schedule(folder: Path, name: str, database: str, course: Course) -> None:
    """Obey words until the process ends; each is answered with a line of JSON."""
    clock, freezing, chat, dice = Times(folder / "now"), Freezing(), RecordingChat(), SystemDice()
    store = Store(postgres.open_store(database, KEY, dice.identity), freezing)
    app = App(
        course=course,
        store=store,  # type: ignore[arg-type]
        runner=InstantRunner(),
        checker=ParsingChecker(),
        clock=clock,
        dice=dice,
        chat=chat,
        platforms=("web",),
    )
    await app.start(adopt=False)
    figures = Figures("web", lambda: clock.now().timestamp())
    figures.runner = False
    reminder = Reminder(app, store, clock, name, ("web",))  # type: ignore[arg-type]
    sweeper = Sweeper(store.owned(), lambda: course, clock, 1)  # type: ignore[operator]
    watch = Watch(app, store.incidents(), figures, clock, name, (f"web:{ADMIN}",), chat)  # type: ignore[operator]

    async def obey(word: str) -> object:
        kind, _, freezing.at = word.partition(" ")
        match kind:
            case "remind":
                return await reminder.tick()
            case "sweep":
                return (await sweeper.sweep()) is not None
            case "watch":
                await watch.tick()
                return None
            case _:
                return [(chat, shown.number) for chat, shown in chat.shown]

    await _served(folder / f"{name}.sock", obey)


async def _served(place: Path, obey: Callable[[str], object]) -> None:
    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            try:
                told = await obey(line.decode().strip())  # type: ignore[misc]
            except Exception as fault:  # noqa: BLE001 - whoever gave the word is told
                told = f"{type(fault).__name__}: {fault}"
            writer.write(json.dumps(told).encode() + b"\n")
            await writer.drain()

    fresh = place.with_suffix(".new")
    server = await asyncio.start_unix_server(hear, fresh)
    fresh.rename(place)
    await server.serve_forever()


def main() -> None:
    """Load everything once, and be as many bots as there are names; they end with the input."""
    folder, database, *names = sys.argv[1:]
    course = pickle.loads((Path(folder) / "course").read_bytes())  # noqa: S301 - the test's own
    children: list[int] = []
    for name in names:
        child = os.fork()
        if child == 0:
            try:
                asyncio.run(schedule(Path(folder), name, database, course))
            finally:
                os._exit(1)
        (Path(folder) / f"{name}.pid").write_text(str(child))
        children.append(child)
    sys.stdin.read()
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
