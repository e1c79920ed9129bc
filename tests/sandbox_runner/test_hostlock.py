import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_runner.errors import SetupError
from sandbox_runner.hostlock import HostLock, gpu_lock, until_wanted


class Entries:
    """Who holds a lock, in the order in which they came to hold it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.came: list[str] = []
        self.inside: set[str] = set()

    async def hold(self, name: str, *, alone: bool, until: asyncio.Event) -> None:
        async with HostLock(self.path).held(alone=alone):
            self.came.append(name)
            self.inside.add(name)
            assert not alone or self.inside == {name}
            await until.wait()
            self.inside.discard(name)

    async def inside_are(self, *names: str) -> None:
        async with asyncio.timeout(20):
            while self.inside != set(names):  # noqa: ASYNC110 - the kernel's lock has no event
                await asyncio.sleep(0.005)


@pytest.fixture
def entries(tmp_path: Path) -> Entries:
    return Entries(tmp_path / "lock")


async def test_runs_share_the_host_and_a_measurement_has_it_alone(entries: Entries) -> None:
    go = {name: asyncio.Event() for name in ("run1", "run2", "time", "run3")}
    tasks = [asyncio.create_task(entries.hold(name, alone=False, until=go[name])) for name in ("run1", "run2")]
    await entries.inside_are("run1", "run2")
    tasks.append(asyncio.create_task(entries.hold("time", alone=True, until=go["time"])))
    await asyncio.sleep(0.1)
    tasks.append(asyncio.create_task(entries.hold("run3", alone=False, until=go["run3"])))
    go["run1"].set()
    await asyncio.sleep(0.1)
    assert entries.inside == {"run2"}
    go["run2"].set()
    await entries.inside_are("time")
    go["time"].set()
    await entries.inside_are("run3")
    go["run3"].set()
    await asyncio.gather(*tasks)
    assert entries.came[2:] == ["time", "run3"]


def test_a_gpu_belongs_to_one_runner_at_a_time_and_another_gpu_to_another(tmp_path: Path) -> None:
    ours, theirs = gpu_lock(tmp_path / "lock", 0), gpu_lock(tmp_path / "lock", 0)
    assert ours.take()
    assert not theirs.take()
    assert gpu_lock(tmp_path / "lock", 1).take()
    ours.let_go()
    ours.let_go()
    assert theirs.take()
    theirs.let_go()


async def test_a_wait_that_is_cancelled_leaves_no_lock(entries: Entries) -> None:
    go = asyncio.Event()
    holding = asyncio.create_task(entries.hold("run", alone=False, until=go))
    await entries.inside_are("run")
    waiting = asyncio.create_task(entries.hold("time", alone=True, until=go))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    other = asyncio.create_task(entries.hold("run2", alone=False, until=go))
    await entries.inside_are("run", "run2")
    go.set()
    await asyncio.gather(holding, other)


async def test_a_killed_process_holds_nothing(entries: Entries) -> None:
    code = (
        "import asyncio, sys, pathlib; from sandbox_runner.hostlock import HostLock\n"
        "async def main():\n"
        "    async with HostLock(pathlib.Path(sys.argv[1])).held(alone=True):\n"
        "        print('held', flush=True); await asyncio.sleep(3600)\n"
        "asyncio.run(main())\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(entries.path)], stdout=subprocess.PIPE)  # noqa: ASYNC220
    assert other.stdout is not None
    assert await asyncio.to_thread(other.stdout.readline) == b"held\n"
    go = asyncio.Event()
    waiting = asyncio.create_task(entries.hold("run", alone=False, until=go))
    await asyncio.sleep(0.1)
    assert entries.inside == set()
    other.kill()
    other.stdout.close()
    await asyncio.to_thread(other.wait)
    await entries.inside_are("run")
    go.set()
    await waiting


async def test_a_lock_that_is_a_link_or_in_no_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "target")
    for path in (tmp_path / "lock", tmp_path / "nowhere" / "lock"):
        with pytest.raises(SetupError, match="cannot be opened"):
            async with HostLock(path).held(alone=True):
                pass
    assert (tmp_path / "target").read_text() == "mine"


async def test_who_holds_the_room_sees_that_a_measurement_waits_for_it(entries: Entries) -> None:
    lock, go = HostLock(entries.path), asyncio.Event()
    async with lock.held(alone=False):
        assert not lock.wanted()
        waiting = asyncio.create_task(entries.hold("time", alone=True, until=go))
        async with asyncio.timeout(20):
            await until_wanted((lock,))
    await entries.inside_are("time")
    go.set()
    await waiting
    assert not lock.wanted()


def test_who_holds_a_gpu_sees_that_a_job_waits_for_it(tmp_path: Path) -> None:
    ours, theirs = gpu_lock(tmp_path / "lock", 0), gpu_lock(tmp_path / "lock", 0)
    assert ours.take()
    assert not ours.wanted()
    theirs.want()
    theirs.want()
    assert ours.wanted()
    assert not gpu_lock(tmp_path / "lock", 1).wanted()
    theirs.want_no_more()
    theirs.want_no_more()
    assert not ours.wanted()
    ours.let_go()
