"""That a child that waits serves one job, fits it, is replaced, and is lent to the GPU's lender as ours and no more.

The parents of these tests load nothing, and the GPU is a stand-in: its nodes are not on this host.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.gpus import Gpu, Sight
from sandbox_runner.gpuwaiting import ours_of
from sandbox_runner.gpuwork import GpuWorker
from sandbox_runner.lending import SLACK_BYTES, Lender, Ours
from sandbox_runner.pooling import FreeLock, Pool
from sandbox_runner.protocol import Device, Ending, Job, JobKind, Limits, Machine, Progress, Result, limits_for
from sandbox_runner.sandbox.bubblewrap import Bubblewrap, open_bubblewrap
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.watchdog import tree
from sandbox_runner.warm.nursery import Nursery, Rules
from sandbox_runner.warm.parent import Nest, Parent, start_parent
from sandbox_runner.warm.starting import WarmStart
from sandbox_runner.worker import SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox
QUICK = Rules(look_s=0.05, again_s=0.1)
WHO = "import os\nprint(os.getuid(), __file__, os.path.basename(os.readlink('/proc/self/ns/mnt')))"
LIKE = [
    Staged("waiting", b"", "none.py", limits_for(Device.CUDA), slot, Device.CUDA, (0,)) for slot in (3, 4, 5)
]  # fmt: skip


@dataclass
class Looked:
    """A GPU as its lender is to see it."""

    gpu: Gpu = field(default_factory=lambda: Gpu(0, "Stand-in GPU", "1.2", 1 << 30))
    sight: Sight = field(default_factory=lambda: Sight(100 << 20, frozenset(), 0.0))

    def look(self, *, at_work: bool = True) -> Sight:
        return self.sight

    def faults(self) -> tuple[str, ...]:
        return ()


@dataclass
class Served:
    """A worker over a GPU's nursery that is kept, and what was written of them."""

    worker: GpuWorker
    nursery: Nursery
    lender: Lender
    held: list[int]
    notes: list[str]

    async def run(self, source: str, filename: str = "mine.py", **limits: float) -> Result:
        given = replace(limits_for(Device.CUDA), **limits)  # type: ignore[arg-type]
        job = Job("test", JobKind.RUN, source, "learner", Device.CUDA, limits=given, filename=filename)
        return await self.worker.run_job(job, 0, _silent)

    async def waits(self) -> int:
        async with asyncio.timeout(30):
            while not self.nursery.waiting():  # noqa: ASYNC110 - what it waits for tells nobody
                await asyncio.sleep(0.01)
        return self.nursery.waiting()[0]


def running(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


def there(pid: int) -> bool:
    """Say whether a process is still there, run or not."""
    return Path("/proc", str(pid)).exists()


def _silent(_: Progress) -> None:
    """Nobody hears of the progress."""


@asynccontextmanager
async def served(sandbox: Bubblewrap) -> AsyncIterator[Served]:
    """Serve GPU jobs from a nursery while it lasts."""
    lender = Lender(Looked(), _Log(), settle_s=0.2, hang_s=0.3)
    pool = Pool([(lender, FreeLock())])
    held: list[int] = []
    notes: list[str] = []

    async def right(_: Parent) -> str:
        return ""

    @asynccontextmanager
    async def hold() -> AsyncIterator[str]:
        held.append(len(held))
        async with lender._lock:
            yield ""

    def note(event: str, **_: object) -> None:
        notes.append(event)

    def make() -> Nest:
        return Nest(slot=7, modules=(), gpus=(0,))

    nothing = contextlib.nullcontext
    nursery = Nursery(sandbox, make, right, note, QUICK, quiet=nothing, like=LIKE, hold=hold)
    on_cpu = Nursery(sandbox, make, right, note, QUICK, quiet=nothing)
    worker = GpuWorker(SandboxWorker(WarmStart(sandbox, on_cpu, note, {(0,): nursery}), Machine(), grace_s=1.0), pool)
    worker.unwell = nursery.dismiss
    keeping = asyncio.create_task(nursery.keep(lambda _: None, lambda: True))
    try:
        yield Served(worker, nursery, lender, held, notes)
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await worker.settle()
        await nursery.close()


class _Log:
    def note(self, event: str, **values: str | float | bool | None) -> None:
        """Nobody reads."""


@pytest.fixture
async def sandbox(walls: "Walls", learners_python: Path) -> AsyncIterator[Bubblewrap]:
    """Give a sandbox whose folder other users can see into."""
    base_uid = 980_000 + os.getpid() % 10_000 * 8
    opened = await open_bubblewrap(SandboxSettings(str(learners_python), base_uid=base_uid))
    yield opened
    await opened.close()


async def test_a_child_that_waits_serves_one_job_and_another_takes_its_place(sandbox: Bubblewrap) -> None:
    async with served(sandbox) as found:
        uids, pids = [], []
        for _ in range(3):
            pids.append(await found.waits())
            result = await found.run(WHO)
            assert (result.ending, result.start) == (Ending.OK, "warm"), result.stderr
            uids.append(int(result.stdout.head.split()[0]) - sandbox.host.uid_of(0) if sandbox.host.root else 3)
            assert result.stdout.head.split()[1] == "/code/mine.py"
        assert len(set(pids)) == 3
        assert set(uids) <= {3, 4, 5}
        assert await found.lender.take(_right) == ""
        assert [pid for pid in pids if running(pid)] == []
        await found.lender.give_back("")
        assert len(found.held) >= 3


async def test_whoever_waits_for_a_child_to_be_ready_takes_no_word_that_is_meant_for_its_job(
    sandbox: Bubblewrap,
) -> None:
    parent = await start_parent(sandbox, Nest(slot=7, modules=()))
    try:
        child = await parent.expect()
        bearing = asyncio.create_task(parent.bear(Staged("test", b"print(1)", "mine.py", Limits()), child))
        for _ in range(20):
            await asyncio.sleep(0)
        await child.lines.hear_ready()
        jailed = await bearing
        await jailed.kill()
        await jailed.wait()
    finally:
        await parent.end()


async def test_a_job_whose_walls_are_others_gets_a_fork_and_leaves_the_child_waiting(sandbox: Bubblewrap) -> None:
    async with served(sandbox) as found:
        pid = await found.waits()
        source = "import os\nprint(os.statvfs('/box').f_blocks * os.statvfs('/box').f_frsize >> 20)"
        result = await found.run(source, disk_bytes=8 << 20)
        assert (result.start, result.stdout.head) == ("warm", "8\n")
        assert pid in found.nursery.waiting()


async def test_what_a_job_may_use_is_lowered_in_the_child_before_its_code(sandbox: Bubblewrap) -> None:
    async with served(sandbox) as found:
        await found.waits()
        source = "import resource as r\nprint([r.getrlimit(k)[1] for k in (r.RLIMIT_NPROC, r.RLIMIT_CPU)])"
        result = await found.run(source, processes=20, cpu_s=30.0)
        processes, cpu_s = result.stdout.head.strip("[]\n").split(", ")
        assert int(processes) == 20 + sandbox.host.spare_processes + (sandbox.host.cgroups is not None)
        assert 31 <= int(cpu_s) <= 40 + len(os.sched_getaffinity(0))


LEAVES_MUCH = """
import mmap, sys
sys.held = held = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, 1 << 30, 4096): held[place] = 1
print("the end")
"""


async def test_an_answer_does_not_wait_until_the_kernel_has_cleared_its_job_away(sandbox: Bubblewrap) -> None:
    async with served(sandbox) as found:
        pid = await found.waits()
        result = await found.run(LEAVES_MUCH, memory_bytes=2 << 30, run_s=60.0)
        assert there(pid)  # its keeper, which ends when nothing is left
        assert (result.ending, result.start, result.stdout.head) == (Ending.OK, "warm", "the end\n"), result.stderr
        assert result.notes == ()
        assert await found.lender.take(_right) == ""
        assert not there(pid)
        await found.lender.give_back("")


async def test_a_gpu_in_doubt_keeps_no_child(sandbox: Bubblewrap) -> None:
    async with served(sandbox) as found:
        first = await found.waits()
        await found.run("print(1)", disk_bytes=8 << 20)  # a fork: the child goes on waiting
        assert first in found.nursery.waiting()
        result = await found.run("import os\nos.kill(os.getpid(), 11)", disk_bytes=8 << 20)
        assert result.ending is Ending.CRASH
        assert not running(first)


async def test_code_that_sets_what_a_library_reads_when_it_is_loaded_starts_cold(sandbox: Bubblewrap) -> None:
    async with served(sandbox) as found:
        for source in (
            "import os\nos.environ['CUDA_LAUNCH_BLOCKING'] = '1'",
            'import os\nos.environ.setdefault("OMP_NUM_THREADS", "1")',
            "import os\nos.environ.update({'TORCH_LOGS': ''})",
        ):
            assert (await found.run(source)).start == "cold:environment"
        assert (await found.run("import os\nprint(os.environ['OMP_NUM_THREADS'])")).start == "warm"


async def test_what_comes_of_a_job_may_hold_a_gpu_and_whoever_only_looks_at_it_does_not(
    sandbox: Bubblewrap, monkeypatch: pytest.MonkeyPatch
) -> None:
    may = sandbox.host.may_be_jobs
    for as_root in {sandbox.host.root, False}:  # an ordinary user's jobs are told by their namespaces
        monkeypatch.setattr(sandbox.host, "root", as_root)
        assert not may(os.getpid())
        assert may(2**22 + 1)  # gone, or never there
    monkeypatch.undo()
    parent = await start_parent(sandbox, Nest(slot=7, modules=()))
    try:
        child = await parent.expect()
        for as_root in {sandbox.host.root, False}:
            monkeypatch.setattr(sandbox.host, "root", as_root)
            assert all(may(pid) for pid in (parent.pid, *tree(child.lines.pid)))
        monkeypatch.undo()
    finally:
        await parent.end()


async def test_the_lender_knows_the_children_that_wait_by_their_pids_and_bytes(sandbox: Bubblewrap) -> None:
    async with served(sandbox) as found:
        pid = await found.waits()
        (child,) = found.nursery.children()
        assert ours_of(found.nursery) == Ours(frozenset(tree(pid)), None)
        child.bytes = 7
        assert ours_of(found.nursery) == Ours(frozenset(tree(pid)), 7)
        await found.nursery.dismiss()
        assert ours_of(found.nursery) == Ours()


async def _right() -> str:
    return ""


@pytest.mark.parametrize(
    ("sight", "why"),
    [
        (Sight(700 << 20, frozenset({5, 6})), ""),
        (Sight(700 << 20, frozenset({5, 7})), "held by process 7"),
        (Sight((700 << 20) + 2 * SLACK_BYTES, frozenset({5, 6})), "128 MiB of its memory are still in use"),
    ],
)
async def test_a_gpu_may_keep_what_waits_by_our_will_and_nothing_else(sight: Sight, why: str) -> None:
    watch = Looked()
    lender = Lender(watch, _Log(), settle_s=0.05)
    assert await lender.take(_right) == ""
    lender.ours = lambda: Ours(frozenset({5, 6}), 600 << 20)
    watch.sight = sight
    await lender.give_back("")
    assert lender.quarantine == why


async def test_when_a_child_is_gone_its_memory_must_be_too() -> None:
    watch = Looked()
    lender = Lender(watch, _Log(), settle_s=0.05)
    assert await lender.take(_right) == ""
    watch.sight = Sight(700 << 20, frozenset({5}))
    lender.ours = lambda: Ours(frozenset({5}), 0)
    weighed = await lender.weigh()
    assert weighed == 600 << 20
    lender.ours = lambda: Ours(frozenset({5}), weighed)
    await lender.give_back("")
    assert (lender.quarantine, await lender.take(_right)) == ("", "")
    lender.ours = Ours  # a job took the child, and it has ended
    watch.sight = Sight(700 << 20)
    await lender.give_back("")
    assert lender.quarantine == "600 MiB of its memory are still in use"


def test_limits_of_a_job_for_the_processor_are_those_that_a_child_waits_for() -> None:
    assert limits_for(Device.CPU) == Limits()
