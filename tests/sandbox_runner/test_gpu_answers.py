"""That the answer of a clean run on a GPU does not wait for its driver, and that the next job does.

No driver is at hand: what is cleared away for long is a stand-in; `test_warm_waiting.py` tries a program's own memory.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.gpus import Gpu, Sight
from sandbox_runner.gpuwork import GpuWorker
from sandbox_runner.harness.keeper import Keeper
from sandbox_runner.lending import Lender
from sandbox_runner.pooling import FreeLock, Pool
from sandbox_runner.protocol import Device, Ending, Job, JobKind, Machine, Progress, Result
from sandbox_runner.worker import Emit, GpuInside, SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

JOB = Job("test", JobKind.RUN, "print(1)", "learner", Device.CUDA)


@dataclass
class Log:
    """A log that keeps its events."""

    events: list[str] = field(default_factory=list)

    def note(self, event: str, **_: str | float | bool | None) -> None:
        self.events.append(event)


@dataclass
class Looked:
    """A GPU that notes, at each look, what of a job the host still has."""

    folder: str = "-"
    gpu: Gpu = field(default_factory=lambda: Gpu(0, "Stand-in GPU"))
    seen: list[list[int]] = field(default_factory=list)

    def look(self, *, at_work: bool = True) -> Sight:
        assert not at_work  # a clock is not what a job waits for
        self.seen.append(list(_of(self.folder)))
        return Sight(0, frozenset())

    def faults(self) -> tuple[str, ...]:
        return ()


class Inner(SandboxWorker):
    """Stands in for walls: gives its answer while something of the job is still being cleared away."""

    def __init__(self) -> None:
        self.machine, self.grace_s = Machine(), 0.3
        self.cleared: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def run_job(self, job: Job, slot: int, emit: Emit, gpu: GpuInside | None = None) -> Result:
        async def rest() -> bool:
            return await self.cleared

        assert gpu is not None
        assert gpu.later is not None
        gpu.later(rest())
        return Result(job.id, job.kind, Ending.OK, job.device, phases_ms={"run": 1.0})


def _of(folder: str) -> Iterator[int]:
    """Give the processes whose mounts are those of a job under that folder, zombies too."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if folder in (entry / "mountinfo").read_text() and int(entry.name) != os.getpid():
                yield int(entry.name)
        except OSError:
            continue


def _silent(_: Progress) -> None:
    """Nobody hears of the progress."""


def _worker(inner: SandboxWorker, looked: Looked) -> tuple[GpuWorker, Log]:
    log = Log()
    return GpuWorker(inner, Pool([(Lender(looked, log, settle_s=5.0), FreeLock())])), log


async def test_an_answer_is_told_while_its_job_is_cleared_away_and_the_gpu_is_lent_only_afterwards() -> None:
    inner, looked = Inner(), Looked()
    worker, log = _worker(inner, looked)
    result = await worker.run_job(JOB, 0, _silent)
    assert (result.ending, set(result.phases_ms)) == (Ending.OK, {"lend", "run"})
    second = asyncio.create_task(worker.run_job(JOB, 0, _silent))
    await asyncio.sleep(0.15)
    assert not second.done()
    assert len(looked.seen) == 1  # before the first: nobody looks at what is still being cleared away
    inner.cleared.set_result(True)
    assert (await second).ending is Ending.OK
    assert log.events == []


@pytest.mark.parametrize("fault", [None, OSError("no such group"), "late"])
async def test_what_outlives_a_job_or_is_long_cleared_away_puts_its_gpu_in_doubt(fault: OSError | str | None) -> None:
    inner = Inner()
    worker, log = _worker(inner, Looked())
    unwell: list[str] = []

    async def dismiss() -> None:
        unwell.append("dismissed")

    worker.unwell = dismiss
    await worker.run_job(JOB, 0, _silent)
    if fault is None:
        inner.cleared.set_result(False)
    elif isinstance(fault, str):
        await asyncio.sleep(0.4)
        inner.cleared.set_result(True)
    else:
        inner.cleared.set_exception(fault)
    async with asyncio.timeout(5):
        while "gpu_in_doubt" not in log.events:  # noqa: ASYNC110 - what it waits for tells nobody
            await asyncio.sleep(0.01)
    assert unwell == ["dismissed"]


async def test_a_timing_gives_its_gpu_back_before_its_answer_is_told() -> None:
    inner = Inner()
    worker, _ = _worker(inner, Looked())
    running = asyncio.create_task(worker.run_job(replace(JOB, kind=JobKind.TIME), 0, _silent))
    await asyncio.sleep(0.1)
    assert not running.done()
    inner.cleared.set_result(True)
    assert (await running).ending is Ending.OK


def test_a_process_that_may_still_run_a_line_is_told_from_one_that_has_left_its_program() -> None:
    keeper = object.__new__(Keeper)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert not keeper._leaves(process.pid)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert keeper._leaves(process.pid)
    assert not keeper._leaves(process.pid)
    assert not keeper._leaves(os.getpid())


ONE_THREAD_STAYS = """
import ctypes, platform, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print("begun", flush=True)
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[platform.machine()], 0)
"""
"""Its first thread ends by itself: the process looks dead to whoever asks only for that one."""


def test_a_process_whose_first_thread_has_ended_may_still_run_a_line() -> None:
    keeper = object.__new__(Keeper)
    with subprocess.Popen([sys.executable, "-c", ONE_THREAD_STAYS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        deadline = time.monotonic() + 10
        while _state(process.pid) != "Z" and time.monotonic() < deadline:
            time.sleep(0.005)
        assert _state(process.pid) == "Z"
        assert not keeper._leaves(process.pid)
        process.kill()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


KEEPS = "import pathlib\npathlib.Path('kept.txt').write_text('kept')\nprint('the end')"
LEAVES_A_CHILD = "import os, time\nif os.fork() == 0: time.sleep(30)\nprint('the end')"


@pytest.mark.sandbox
async def test_files_and_output_are_whole_and_nothing_is_there_when_the_gpu_is_looked_at(walls: "Walls") -> None:
    looked = Looked(str(walls.sandbox.host.folder))
    inner = SandboxWorker(walls.sandbox, walls.worker.machine, grace_s=5.0)
    worker, log = _worker(inner, looked)
    for source, files, notes in ((KEEPS, ["kept.txt"], []), (LEAVES_A_CHILD, [], ["left_processes"])):
        result = await worker.run_job(replace(JOB, source=source), 0, _silent)
        assert (result.ending, result.stdout.head) == (Ending.OK, "the end\n"), (result.notes, result.stderr)
        assert ([file.name for file in result.files], [note.code for note in result.notes]) == (files, notes)
        assert {"lend", "exit", "collect"} <= set(result.phases_ms)
    await worker.settle()
    assert len(looked.seen) == 4  # before and after each
    assert looked.seen[1] == looked.seen[3] == []
    assert log.events == []
    assert walls.survivors() == []
