"""That many jobs leave the runner and its host as they were: descriptors, tasks, groups, mounts, folders."""

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.protocol import Ending

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox
SOURCES = (
    "print(1)",
    "1/0",
    "import os\nos.abort()",
    "import os\nif os.fork() == 0:\n    import time\n    time.sleep(99)",
    "import os\nos.write(3, b'\\xff' * 8)",
    "while True: print('x' * 100)",
    "open('a.txt', 'w').write('x')",
)


def _counts(walls: "Walls") -> dict[str, int]:
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
        "groups": sum(1 for _ in Path("/sys/fs/cgroup").rglob(f"{walls.sandbox.host.names}-*")),
        "files": sum(1 for _ in walls.sandbox.host.folder.rglob("*")),
        "tasks": len(asyncio.all_tasks()),
    }


async def test_jobs_of_every_kind_leave_nothing_behind(walls: "Walls") -> None:
    await asyncio.gather(*(walls.run("print(0)", slot=slot) for slot in range(2)))
    before = _counts(walls)
    for _ in range(2):
        await asyncio.gather(*(walls.run(source, slot=slot % 2) for slot, source in enumerate(SOURCES[:2])))
        for source in SOURCES:
            await walls.run(source)
    assert {name: count for name, count in _counts(walls).items() if count > before[name]} == {}
    assert walls.survivors() == []


async def test_a_job_cancelled_at_any_moment_of_its_start_leaves_nothing(walls: "Walls") -> None:
    await walls.run("print(0)")
    before = _counts(walls)
    for step in range(14):
        running = asyncio.create_task(walls.run("import time\ntime.sleep(99)"))
        await asyncio.sleep(step * 0.01)
        running.cancel()
        try:
            assert (await running).ending is Ending.CANCELLED
        except asyncio.CancelledError:
            continue
    assert walls.survivors() == []
    assert {name: count for name, count in _counts(walls).items() if count > before[name]} == {}


def _spared(score: str) -> str:
    """Set how far this process is spared, where the kernel lets it; give what it was."""
    own = Path("/proc/self/oom_score_adj")
    before = own.read_text()
    with contextlib.suppress(PermissionError):
        own.write_text(score or before)
    return before


async def test_no_job_is_spared_with_its_runner_when_the_host_runs_out_of_memory(walls: "Walls") -> None:
    before = _spared("")
    _spared("-100")
    try:
        result = await walls.run("print(open('/proc/1/oom_score_adj').read(), open('/proc/self/oom_score_adj').read())")
    finally:
        _spared(before)
    init, job = map(int, result.stdout.head.split())
    assert init >= 0
    assert job == 1000
