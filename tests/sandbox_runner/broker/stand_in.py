"""A runner at a broker with the worker that runs nothing and short times: a program for the tests to start.

Arguments: the broker's address, the runner's name, a folder of its own, the slots, and what it does wrong, if anything.
"""

import asyncio
import signal
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from sandbox_runner.broker.line import Broker
from sandbox_runner.broker.names import Times
from sandbox_runner.broker.pulling import attach
from sandbox_runner.dispatch import Dispatcher, Emit, Rules
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal
from sandbox_runner.protocol import Job, Result
from sandbox_runner.testing import CAPABILITIES, StandInWorker

TIMES = Times(beat_s=0.15, gone_s=1.5, ack_wait_s=1.5, bound_s=30.0, cancel_s=1.0)


class Writing(StandInWorker):
    """Also writes down what it began, for tests that count.

    `die` ends this process; the first attempt at `hang at first` never ends.
    """

    def __init__(self, place: Path) -> None:
        super().__init__()
        self._place = place

    async def run_job(self, job: Job, slot: int, emit: Emit) -> Result:
        """Do what the source says."""
        with self._place.open("a") as begun:
            begun.write(f"{time.monotonic()} {job.id}\n")
        if job.source == "die":
            signal.raise_signal(signal.SIGKILL)
        if job.source == "hang at first" and job.id.endswith("-1"):
            await asyncio.sleep(3600)
        return await super().run_job(job, slot, emit)


async def live(address: str, name: str, folder: Path, slots: int) -> None:
    """Take jobs until SIGTERM."""
    journal = Journal(sys.stderr, lambda: datetime.now(UTC), b"tests")
    loop = asyncio.get_running_loop()
    dispatcher = Dispatcher(
        Writing(folder / f"{name}.begun"),
        replace(CAPABILITIES, slots=slots, machine=replace(CAPABILITIES.machine, name=name)),
        Rules(slots=slots, a_minute=100_000, a_learner=64),
        lock=HostLock(folder / f"{name}.lock"),
        clock=loop.time,
        journal=journal,
    )
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    puller = await attach(Broker(address), name, dispatcher, journal, stop, TIMES)
    if puller is not None:
        await stop.wait()
        await puller.drain(5.0)
        await puller.close()


if __name__ == "__main__":
    asyncio.run(live(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])))
