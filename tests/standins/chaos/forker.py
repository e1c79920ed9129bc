"""A program that starts bots and runners again and again in processes of their own, to be killed at any point.

It loads everything once, then forks: a line of JSON on its input names what to start, and its process id is printed.
"""

import asyncio
import ctypes
import json
import os
import re
import signal
import sys
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from bot.adapters.telegram import serve
from bot.adapters.telegram.serve import TelegramChat, TelegramSettings
from bot.adapters.telegram.webhook import Webhook
from bot.app import App, SystemClock, SystemDice
from bot.posting.pacing import Limits
from bot.stores import postgres
from bot.testing import ParsingChecker
from content.loader import load_course
from content.schema import Course
from sandbox_runner.broker.line import Broker
from sandbox_runner.broker.names import Times
from sandbox_runner.broker.pulling import attach
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.dispatch import Dispatcher, Emit, Rules
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal
from sandbox_runner.protocol import Ending, Job, Phase, Progress, Result, Stream
from sandbox_runner.testing import CAPABILITIES

KEY = b"k" * 32
QUICK = Limits(chat=(1000, 1.0), group=(1000, 1.0), overall=(1000, 1.0))
TIMES = Times(beat_s=0.2, gone_s=1.5, ack_wait_s=1.5, bound_s=30.0, cancel_s=1.0)
LEASE_S = 2.0
SLOTS = 2
_NEW_NETWORK = 0x40000000


@dataclass(frozen=True, slots=True)
class Start:
    """What to start: a bot or a runner, where everything is, and the network it lives in (a path; empty: this one)."""

    kind: str
    name: str
    folder: str
    broker: str
    authority: str
    database: str = ""
    api: str = ""
    token: str = ""
    network: str = ""


class Scripted:
    """A worker that runs nothing: it sleeps as long as the code says, and prints what the code prints."""

    def __init__(self, place: Path) -> None:
        self._place = place

    async def run_job(self, job: Job, slot: int, emit: Emit) -> Result:
        """Do what the source says, and write down that it was begun."""
        with self._place.open("a") as begun:
            begun.write(f"{time.time()} {job.id}\n")
        emit(Progress(Phase.RUN))
        seconds = re.search(r"sleep\(([\d.]+)\)", job.source)
        await asyncio.sleep(float(seconds[1]) if seconds else 0.0)
        printed = re.search(r'print\("([^"]*)"\)', job.source)
        text = printed[1] + "\n" if printed else ""
        return Result(job.id, job.kind, Ending.OK, stdout=Stream(text, bytes=len(text)))


async def run(call: Start) -> None:
    """Take jobs until SIGTERM."""
    folder = Path(call.folder)
    loop = asyncio.get_running_loop()
    journal = Journal(sys.stderr, lambda: datetime.now(UTC), b"tests")
    dispatcher = Dispatcher(
        Scripted(folder / f"{call.name}.begun"),
        replace(CAPABILITIES, slots=SLOTS),
        Rules(slots=SLOTS, a_minute=100_000, a_learner=64),
        lock=HostLock(folder / f"{call.name}.lock"),
        clock=loop.time,
        journal=journal,
    )
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    broker = Broker(call.broker, authority=Path(call.authority))
    puller = await attach(broker, call.name, dispatcher, journal, stop, TIMES)
    if puller is not None:
        await stop.wait()
        await puller.drain(5.0)
        await puller.close()


async def talk(call: Start, course: Course) -> None:
    """Serve learners behind a webhook until SIGTERM; the port is written to a file."""
    settings = TelegramSettings(
        call.token, call.api, QUICK, edit_every_s=0.05, join_s=0.05, read_s=5.0, again_s=0.1, lease_s=LEASE_S
    )
    chat = TelegramChat(settings, course)
    dice = SystemDice()
    store = postgres.open_store(call.database, KEY, dice.identity, lease_s=LEASE_S)
    await chat.attach(store)
    runner = BrokerRunner(Broker(call.broker, authority=Path(call.authority)), KEY, TIMES)
    app = App(
        course=course,
        store=store,
        runner=runner,
        checker=ParsingChecker(),
        clock=SystemClock(),
        dice=dice,
        chat=chat,
        platforms=("telegram",),
    )
    await app.start(adopt=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    hook = Webhook("https://bot.example/telegram", "127.0.0.1", 0, serve.secret(KEY))
    async with chat.serving(app, hook) as serving:
        fresh = Path(call.folder) / f"{call.name}.port.new"
        fresh.write_text(str(serving.port))
        fresh.replace(fresh.with_suffix(""))
        await stop.wait()
    await app.close()
    await runner.close()
    await chat.aclose()
    await store.close()


def born(call: Start, course: Course) -> None:
    """Be the process that was asked for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    log = os.open(Path(call.folder) / f"{call.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    if call.network:
        network = os.open(call.network, os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(network, _NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "setns", call.network)
    asyncio.run(talk(call, course) if call.kind == "bot" else run(call))


def main() -> None:
    """Obey the lines of the input; children end with it."""
    course = load_course()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them: the kernel takes them away
    print("ready", flush=True)  # noqa: T201 - whoever started this reads it
    children: list[int] = []
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                born(Start(**json.loads(line)), course)
            finally:
                os._exit(1)
        children.append(child)
        print(child, flush=True)  # noqa: T201
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
