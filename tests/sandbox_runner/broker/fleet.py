"""Runners in processes of their own, a broker and a bot's end, for tests that kill, freeze and restart them."""

import asyncio
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from nats.js.api import DiscardPolicy
from nats_server import PLAIN, NatsServer
from stand_in import TIMES

from sandbox_runner.broker.line import Broker, connect
from sandbox_runner.broker.streams import STREAMS
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.protocol import Finished, Job, JobKind, Result

KEY = b"the tests' own key, 32 bytes....."
PROGRAM = Path(__file__).with_name("stand_in.py")
ELSEWHEN = Path(__file__).with_name("elsewhen.py")


@dataclass(slots=True)
class Fleet:
    """What there is: a broker, runners by name, and bots' ends."""

    folder: Path
    server: NatsServer
    bots: list[BrokerRunner] = field(default_factory=list)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    answers: Counter[str] = field(default_factory=Counter)

    def bot(self) -> BrokerRunner:
        """Make another bot's end."""
        one = BrokerRunner(Broker(self.server.address), KEY, TIMES)
        self.bots.append(one)
        return one

    def launch(self, name: str, slots: int = 2, ahead_s: float = 0.0) -> None:
        """Start a runner, whose wall clock may be ahead."""
        host = [str(ELSEWHEN), str(ahead_s)] if ahead_s else []
        words = [sys.executable, *host, str(PROGRAM), self.server.address, name, str(self.folder), str(slots)]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(words, stdout=log, stderr=log)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a runner a signal."""
        os.kill(self.processes[name].pid, number)

    def kill(self, name: str) -> None:
        """End a runner as a power failure does."""
        self.processes[name].kill()
        self.processes[name].wait()

    async def lives(self, bot: BrokerRunner, count: int) -> None:
        """Wait until a bot knows so many runners' slots."""
        async with asyncio.timeout(30):
            while True:
                try:
                    if (await bot.capabilities()).slots >= count:
                        return
                except Exception:  # noqa: BLE001, S110 - none yet
                    pass
                await asyncio.sleep(0.05)

    async def result(self, bot: BrokerRunner, job: Job) -> Result:
        """Follow a job to its end, and count its answers."""
        result: Result | None = None
        async for event in bot.submit(job):
            if isinstance(event, Finished):
                result = event.result
                self.answers[job.id] += 1
        assert result is not None
        return result

    def begun(self, name: str) -> list[str]:
        """Name the attempts that a runner began, in order."""
        place = self.folder / f"{name}.begun"
        return [line.split()[1] for line in place.read_text().splitlines()] if place.exists() else []

    async def has_begun(self, name: str, count: int = 1) -> None:
        """Wait until a runner began so many attempts."""
        async with asyncio.timeout(30):
            while len(self.begun(name)) < count:  # noqa: ASYNC110 - another process has no event here
                await asyncio.sleep(0.01)


@asynccontextmanager
async def fleet(folder: Path, config: str = PLAIN) -> AsyncIterator[Fleet]:
    """Give a broker that runs, and end everything afterwards."""
    server = NatsServer(folder / "nats", config)
    await server.start()
    one = Fleet(folder, server)
    try:
        yield one
    finally:
        await asyncio.gather(*(bot.close() for bot in one.bots))
        for process in one.processes.values():
            process.kill()
            process.wait()
        server.kill()


@asynccontextmanager
async def full(one: Fleet, stream: str) -> AsyncIterator[None]:
    """Leave no room in a stream of the broker while it lasts."""
    shipped = next(each for each in STREAMS if each.name == stream)
    line = await connect(Broker(one.server.address), "operator")
    await line.jetstream().update_stream(replace(shipped, max_bytes=1, discard=DiscardPolicy.NEW))
    try:
        yield
        await line.jetstream().update_stream(shipped)
    finally:
        await line.close()


def job(job_id: str, source: str = "say x", learner: str = "") -> Job:
    """Make a job."""
    return Job(job_id, JobKind.RUN, source, learner or job_id.partition("-")[0])
