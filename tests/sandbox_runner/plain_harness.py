"""A real harness in a plain process, without walls, and a source measured on it; for the tests of the measuring."""

import asyncio
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_runner.channel import Channel
from sandbox_runner.exercising import measure_exercise
from sandbox_runner.measuring import Measured, measure
from sandbox_runner.protocol import Budget, Device, Exercise, Job, JobKind, Limits, Progress

ROOT = Path(__file__).resolve().parents[2]
LEARNERS = Path(os.environ.get("TASREE_SANDBOX_PYTHON") or ROOT / ".venv-learners" / "bin" / "python")
PYTHON = str(LEARNERS if LEARNERS.exists() else sys.executable)
BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from harness.timing import serve
from harness.wire import Line
del sys.path[0]
serve(Line(int(sys.argv[2])), sys.stdin.read(), "code.py")
"""
QUICK = Limits(run_s=20, check_s=20, warmup_s=20, measure_s=20)


@dataclass
class Seen:
    """What was measured, and what the learner's code wrote."""

    measured: Measured
    stdout: str
    stderr: str
    progress: list[Progress] = field(default_factory=list)


@dataclass
class Child:
    """A harness in a process of its own, and the channel to it."""

    channel: Channel
    process: asyncio.subprocess.Process
    reading: "asyncio.Task[tuple[bytes, bytes]]"

    async def end(self) -> tuple[str, str]:
        """Close the channel, let the process end, and give what it wrote."""
        self.channel.close()
        if self.process.returncode is None and not self.reading.done():
            await asyncio.wait([self.reading], timeout=0.2)
        if self.process.returncode is None:
            self.process.kill()
        out, err = await self.reading
        return out.decode(), err.decode()


async def serve(source: str) -> Child:
    """Start a harness that serves `source`."""
    ours, theirs = socket.socketpair()
    process = await asyncio.create_subprocess_exec(
        *(PYTHON, "-c", BOOT, str(ROOT / "sandbox_runner"), str(theirs.fileno())),
        pass_fds=[theirs.fileno()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    theirs.close()
    return Child(Channel(ours), process, asyncio.create_task(process.communicate(source.encode())))


async def timed(  # noqa: PLR0913 - what a job may differ in
    source: str,
    *,
    budget: Budget = Budget.QUICK,
    limits: Limits = QUICK,
    seed: int = 1,
    cuda: bool = False,
    ceilings: dict[str, float] | None = None,
    cpu_s: Callable[[], float | None] = lambda: None,
) -> Seen:
    """Serve `source` and measure it."""
    child = await serve(source)
    progress: list[Progress] = []
    device = Device.CUDA if cuda else Device.CPU
    job = Job("j1", JobKind.TIME, source, "somebody", device, budget, limits)
    rng = random.Random(seed)  # noqa: S311 - a test repeats itself
    try:
        measured = await measure(child.channel, job, progress.append, rng=rng, ceilings=ceilings, cpu_s=cpu_s)
    finally:
        written = await child.end()
    return Seen(measured, *written, progress)


async def exercised(source: str, exercise: Exercise, *, budget: Budget = Budget.QUICK, limits: Limits = QUICK) -> Seen:
    """Measure a submission against an exercise's starter and reference, each served by a process of its own."""
    children = [await serve(one) for one in (exercise.starter, source, exercise.reference)]
    starter, submission, reference = (child.channel for child in children)
    job = Job("j1", JobKind.EXERCISE, source, "somebody", budget=budget, limits=limits, exercise=exercise)
    rng = random.Random(1)  # noqa: S311 - a test repeats itself
    progress: list[Progress] = []
    try:
        measured = await measure_exercise((starter, submission, reference), job, progress.append, rng=rng)
    finally:
        written = [await child.end() for child in children]
    return Seen(measured, *written[1], progress)
