"""That a parent is replaced in time without a job being lost, and that a cold start is never silent.

The parents of these tests load nothing.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.protocol import Device, Ending, Job, JobKind, Machine, Phase, Progress, Result, Wall
from sandbox_runner.sandbox.bubblewrap import Bubblewrap, open_bubblewrap
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.sandbox.interpreter import Interpreter
from sandbox_runner.warm.environment import stamp
from sandbox_runner.warm.nursery import Improve, Nursery, Rules
from sandbox_runner.warm.parent import Nest, Parent
from sandbox_runner.warm.starting import WarmStart
from sandbox_runner.worker import SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox
QUICK = Rules(look_s=0.05, again_s=0.1)
WAITS = "import time\nprint('began', flush=True)\ntime.sleep(0.6)\nprint('done')"


@dataclass
class Kept:
    """A nursery that is kept, the worker over it, and what was written of both."""

    nursery: Nursery
    worker: SandboxWorker
    notes: list[tuple[str, dict[str, object]]] = field(default_factory=list)
    told: list[Wall] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    async def run(
        self, source: str, hear: Callable[[Progress], None] = lambda _: None, device: Device = Device.CPU
    ) -> Result:
        return await self.worker.run_job(Job("test", JobKind.RUN, source, "learner", device), 0, hear)

    async def until(self, event: str, times: int = 1) -> None:
        await soon(lambda: sum(name == event for name, _ in self.notes) >= times)

    def parent(self) -> int:
        return self.nursery.pids()[0]


async def soon(come: Callable[[], bool]) -> None:
    """Wait for what must come."""
    async with asyncio.timeout(30):
        while not come():  # noqa: ASYNC110 - what it waits for tells nobody
            await asyncio.sleep(0.01)


@asynccontextmanager
async def kept(
    sandbox: Bubblewrap,
    rules: Rules = QUICK,
    proof: Callable[[Parent], str] = lambda _: "",
    improve: Improve | None = None,
) -> AsyncIterator[Kept]:
    """Keep a nursery while it lasts."""

    def make() -> Nest:
        return Nest(slot=7, modules=())

    async def prove(parent: Parent) -> str:
        return proof(parent)

    def note(event: str, **values: object) -> None:
        found.notes.append((event, values))

    def failed(why: str) -> None:
        found.failed.append(why)

    quiet = contextlib.nullcontext
    nursery = Nursery(sandbox, make, prove, note, rules, quiet=quiet, failed=failed, improve=improve)
    found = Kept(nursery, SandboxWorker(WarmStart(sandbox, nursery, note), Machine(), grace_s=1.0))
    keeping = asyncio.create_task(nursery.keep(found.told.append, lambda: True))
    try:
        yield found
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await nursery.close()


@pytest.fixture
async def sandbox(walls: "Walls", learners_python: Path) -> AsyncIterator[Bubblewrap]:
    """Give a sandbox whose folder other users can see into."""
    base_uid = 950_000 + os.getpid() % 10_000 * 8
    opened = await open_bubblewrap(SandboxSettings(str(learners_python), base_uid=base_uid))
    yield opened
    await opened.close()


async def test_a_job_whose_parent_is_killed_is_run_again_cold_and_the_next_is_warm(sandbox: Bubblewrap) -> None:
    async with kept(sandbox) as found:
        early = await found.run("print(1)")
        await found.until("parent_ready")

        def kill(progress: Progress) -> None:
            if progress.phase is Phase.RUN and len(killed) == 0:
                killed.append(found.parent())
                os.kill(found.parent(), signal.SIGKILL)

        killed: list[int] = []
        result = await found.run(WAITS, kill)
        assert (result.ending, result.stdout.head) == (Ending.OK, "began\ndone\n")
        assert (early.start, result.start) == ("cold:no_parent", "cold:parent_died")
        assert "cold_start" in [name for name, _ in found.notes]
        await found.until("parent_ready", 2)
        after = await found.run("print(2)")
        assert (after.ending, after.start) == (Ending.OK, "warm")
        assert found.parent() not in killed
        assert found.told[-1].stands


async def test_a_parent_that_bore_enough_is_replaced_and_its_last_job_ends_in_peace(sandbox: Bubblewrap) -> None:
    async with kept(sandbox, replace(QUICK, births=1)) as found:
        await found.until("parent_ready")
        first = found.parent()
        await found.run("print(1)")
        long = asyncio.create_task(found.run(WAITS))
        await found.until("parent_ready", 2)
        assert found.parent() != first
        result = await long
        assert (result.ending, result.start, result.stdout.head) == (Ending.OK, "warm", "began\ndone\n")
        await soon(lambda: not Path("/proc", str(first)).exists())


async def test_a_parent_that_does_not_prove_itself_gives_no_child_and_the_wall_says_why(sandbox: Bubblewrap) -> None:
    async with kept(sandbox, proof=lambda _: "signals: process 7 can be signalled") as found:
        await found.until("parent_refused")
        result = await found.run("print(1)")
        assert (result.ending, result.start) == (Ending.OK, "cold:wall_missing"), found.notes
        assert found.nursery.pids() == ()
        assert (found.told[0].stands, found.told[0].matters) == (False, False)
        assert "process 7 can be signalled" in found.told[0].detail
        assert found.failed[0] == "signals: process 7 can be signalled"  # so that the next is made with less
        assert ("cold_start", {"why": "wall_missing"}) in found.notes


async def test_what_a_parent_lacks_is_made_in_steps_and_each_gives_another_parent(sandbox: Bubblewrap) -> None:
    steps = [False, True, True]

    async def improve() -> bool:
        return steps.pop()

    async with kept(sandbox, replace(QUICK, calm_s=0.0), improve=improve) as found:
        await found.until("parent_ready", 3)
        await soon(lambda: not steps)
        await asyncio.sleep(0.2)  # whoever asked once more would find no further step
        assert [values for name, values in found.notes if name == "parent_due"][1:] == [{"why": "better"}] * 2
        assert (await found.run("print(1)")).start == "warm"


async def test_a_parent_from_before_a_change_of_the_environment_gives_no_more_children(
    sandbox: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = ["before"]
    monkeypatch.setattr("sandbox_runner.warm.nursery.stamp", lambda _: now[0])
    gate = asyncio.Event()
    gate.set()

    @asynccontextmanager
    async def quiet() -> AsyncIterator[None]:
        await gate.wait()
        yield

    async with kept(sandbox) as found:
        found.nursery._quiet = quiet
        await found.until("parent_ready")
        gate.clear()
        now[0] = "after"
        await found.until("parent_due", 2)
        changed = await found.run("print(1)")
        gate.set()
        await found.until("parent_ready", 2)
        renewed = await found.run("print(2)")
        assert (changed.start, renewed.start) == ("cold:environment_changed", "warm")


def test_the_stamp_changes_with_a_package_of_the_environment(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    (packages / "torch").mkdir(parents=True)
    found = Interpreter("/env/bin/python", ((str(tmp_path), "/env"),), "", "", "", "")
    before = stamp(found)
    assert stamp(found) == before
    (packages / "numpy-2.dist-info").mkdir()
    after = stamp(found)
    assert after != before
    os.utime(packages / "torch", ns=(1, 1))
    assert stamp(found) != after


async def test_a_child_whose_walls_cannot_be_put_up_is_no_child_and_its_job_starts_cold(
    sandbox: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sandbox.order_child
    monkeypatch.setattr(sandbox, "order_child", lambda job: whole(job) | {"filter": ""})
    async with kept(sandbox) as found:
        await found.until("parent_ready")
        result = await found.run("print(1)")
        assert (result.ending, result.start) == (Ending.OK, "cold:wall_refused")
        assert [values["detail"] for name, values in found.notes if name == "not_born"] != []


ALONE = """
import asyncio, sys
from sandbox_runner.sandbox.bubblewrap import open_bubblewrap
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.warm.parent import Nest, start_parent

async def main():
    sandbox = await open_bubblewrap(SandboxSettings(sys.argv[1], base_uid=int(sys.argv[2])))
    parent = await start_parent(sandbox, Nest(slot=7, modules=()))
    await parent.expect()
    print(parent.pid, *parent.waiting, flush=True)
    await asyncio.sleep(99)

asyncio.run(main())
"""


def test_a_killed_runner_takes_its_parent_and_the_child_that_waits_along(
    walls: "Walls", learners_python: Path, repository: Path
) -> None:
    uid = str(970_000 + os.getpid() % 10_000 * 8)
    words = [sys.executable, "-c", ALONE, str(learners_python), uid]
    with subprocess.Popen(words, cwd=repository, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pids = [int(word) for word in process.stdout.readline().split()]
        assert len(pids) == 2
        process.kill()
    deadline = time.monotonic() + 20
    while any(running(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert [pid for pid in pids if running(pid)] == []


def running(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False
