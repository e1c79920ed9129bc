"""Updates through the whole path on Telegram, beside a bare echo of python-telegram-bot on the same stand-in.

Updates are counted per second of the bot's own processor time (so: per core); the wait is from an update's coming to
the first call that answers its chat, when all learners write at once and when they write one after the other. The
flood: so many learners write at once, every tenth of them twice, with the platform's limits kept; its ratios are the
least time that our limits, and the platform's own, allow to the time that it took.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "standins"))

from botapi.person import Person
from botapi.server import serving
from botapi.world import Flood, World
from telegram import Update
from telegram.ext import Application, ContextTypes, MessageHandler, filters

from bot.adapters.telegram.serve import TelegramChat, TelegramSettings
from bot.app import App, SystemClock, SystemDice
from bot.codecheck import LimitedChild
from bot.posting.pacing import Limits
from bot.stores import sqlite
from bot.testing import InstantRunner
from content.loader import load_course

LEARNERS = int(os.environ.get("TASREE_BENCH_LEARNERS", "100"))
FLOODED = int(os.environ.get("TASREE_BENCH_FLOOD", "1000"))
ROUNDS = 5
OPEN = Limits(chat=(10**6, 1.0), group=(10**6, 1.0), overall=(10**6, 1.0))
KEEPING = Limits()
SAID = "أين كنت"


async def converse(folder: Path, url: str, token: str, *, keeping: bool) -> None:
    """Serve the real thing: engine, course and SQLite."""
    path = folder / "bench.db"
    sqlite.migrate(path)
    settings = TelegramSettings(token, url, KEEPING if keeping else OPEN, edit_every_s=0.0, poll_s=5)
    chat = TelegramChat(settings, load_course())
    store = sqlite.open_store(path, b"k" * 32, SystemDice().identity)
    await chat.attach(store)
    app = App(
        course=load_course(),
        store=store,
        runner=InstantRunner(),
        checker=LimitedChild(),
        clock=SystemClock(),
        dice=SystemDice(),
        chat=chat,
    )
    await app.start(adopt=False)
    await app.runner_asked()
    async with chat.serving(app):
        print("ready", flush=True)
        await asyncio.Event().wait()


async def echo(url: str, token: str) -> None:
    """Serve a bare echo, as the library's own example is written, with updates handled at once."""

    async def answer(update: Update, _: ContextTypes.DEFAULT_TYPE) -> None:
        if update.message is not None:
            await update.message.reply_text(str(update.message.text))

    application = Application.builder().token(token).base_url(f"{url}/bot").concurrent_updates(256).build()
    application.add_handler(MessageHandler(filters.TEXT, answer))
    await application.initialize()
    await application.start()
    assert application.updater is not None
    await application.updater.start_polling(timeout=5)
    print("ready", flush=True)
    await asyncio.Event().wait()


@asynccontextmanager
async def bot(what: str, folder: Path, url: str, token: str) -> AsyncIterator[int]:
    """Start one of the bots in a process of its own; gives the process."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, what, str(folder), url, token, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        assert (await process.stdout.readline()).strip() == b"ready"
        yield process.pid
    finally:
        process.kill()
        await process.wait()


def processor_seconds(pid: int) -> float:
    """Give the user and system time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def answered(world: World, learners: list[Person], each: int) -> None:
    """Wait until each learner has so many replies."""
    while any(len(learner.screen()) < each for learner in learners[-1:]) or len(world.notes) < 2 * each * len(learners):  # noqa: ASYNC110 - the world is another's
        await asyncio.sleep(0.01)


async def load(what: str, folder: Path) -> dict[str, float]:
    """Put the load on one bot: every learner writes, and again when all were answered."""
    world = World()
    async with serving(world) as server, bot(what, folder, server.url, world.token) as pid:
        learners = [Person(world, user) for user in range(1000, 1000 + LEARNERS)]
        for learner in learners:  # the first words make a chat: they are not counted
            learner.send(SAID)
        await answered(world, learners, 1)
        before, start = processor_seconds(pid), time.perf_counter()
        waits: list[float] = []
        for number in range(2, ROUNDS + 2):
            came = asyncio.get_running_loop().time()
            world.calls.clear()
            for learner in learners:
                learner.send(SAID)
            await answered(world, learners, number)
            waits += [at - came for at, method, _ in world.calls if method == "sendMessage"]
        wall, processor = time.perf_counter() - start, processor_seconds(pid) - before
        alone = [await waited(world, learner, ROUNDS + 2) for learner in learners]
    updates = LEARNERS * ROUNDS
    return {
        "updates": updates,
        "wall_s": round(wall, 2),
        "bot_cpu_s": round(processor, 2),
        "updates_per_s": round(updates / wall, 1),
        "updates_per_s_per_core": round(updates / processor, 1),
        "first_call_ms_p50": round(statistics.median(waits) * 1e3, 1),
        "first_call_ms_p99": round(statistics.quantiles(waits, n=100)[98] * 1e3, 1),
        "alone_first_call_ms_p50": round(statistics.median(alone) * 1e3, 1),
        "alone_first_call_ms_p99": round(statistics.quantiles(alone, n=100)[98] * 1e3, 1),
    }


async def waited(world: World, learner: Person, each: int) -> float:
    """Write as the only one, and give the seconds until the first call that answers."""
    world.calls.clear()
    came = asyncio.get_running_loop().time()
    learner.send(SAID)
    while len(learner.screen()) < each:  # noqa: ASYNC110 - the world is another's
        await asyncio.sleep(0.001)
    return next(at for at, method, chat in world.calls if method == "sendMessage" and chat == learner.chat) - came


async def flood(folder: Path) -> dict[str, float]:
    """Let many learners write at once, with the limits on."""
    world = World(flood=Flood())
    async with serving(world) as server, bot("keeping", folder, server.url, world.token):
        learners = [Person(world, user) for user in range(1000, 1000 + FLOODED)]
        start = time.perf_counter()
        for learner in learners:
            learner.send("ضضض0")
        for learner in learners[::10]:
            learner.send("ضضض1")
        texts = len(learners) + len(learners[::10])
        while len(world.notes) < 2 * texts:  # noqa: ASYNC110 - the world is another's
            await asyncio.sleep(0.01)
        took = time.perf_counter() - start
        shown = [[n for note in one.screen() for n in (0, 1) if f"ضضض{n}" in note.text] for one in learners]
    most, seconds = KEEPING.overall
    least = max(0.0, (texts / most - 1) * seconds)
    platform = max(0.0, (texts / Flood().overall[0] - 1) * Flood().overall[1])
    return {
        "learners": FLOODED,
        "texts": texts,
        "lost_doubled_or_out_of_order": sum(
            numbers != ([0, 1] if at % 10 == 0 else [0]) for at, numbers in enumerate(shown)
        ),
        "seconds": round(took, 1),
        "least_seconds": round(least, 1),
        "ratio": round(least / took, 3),
        "platform_least_seconds": round(platform, 1),
        "platform_ratio": round(platform / took, 3),
        "refused": world.flood.breaches if world.flood else 0,
    }


async def main() -> None:
    """Measure both and print the ratio."""
    found: dict[str, Any] = {"benchmark": "telegram", "learners": LEARNERS}
    for what in ("conversation", "echo"):
        with tempfile.TemporaryDirectory() as name:
            found[what] = await load(what, Path(name))
    per_core = [found[what]["updates_per_s_per_core"] for what in ("conversation", "echo")]
    found["ratio_updates_per_s_per_core"] = round(per_core[0] / per_core[1], 4)
    with tempfile.TemporaryDirectory() as name:
        found["flood"] = await flood(Path(name))
    print(json.dumps(found))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["conversation" | "keeping" as word, where, url, token]:
            asyncio.run(converse(Path(where), url, token, keeping=word == "keeping"))
        case ["echo", _, url, token]:
            asyncio.run(echo(url, token))
        case _:
            asyncio.run(main())
