"""The ways to confine for the tests of the walls, with limits scaled down, and a look at what outlives a job."""

import asyncio
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sandbox_runner.machine import read_machine
from sandbox_runner.protocol import Job, JobKind, Limits, Progress, Result
from sandbox_runner.sandbox.bubblewrap import Bubblewrap, open_bubblewrap
from sandbox_runner.sandbox.gvisor import Gvisor, open_gvisor
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.sandbox.watchdog import tree
from sandbox_runner.warm.parent import Nest, Parent, start_parent
from sandbox_runner.warm.proving import OnlyWaited, OnlyWarm
from sandbox_runner.worker import SandboxWorker

SMALL = Limits(
    run_s=10.0,
    memory_bytes=320 << 20,
    processes=40,
    disk_bytes=24 << 20,
    inodes=2000,
    output_ceiling_bytes=1 << 20,
)

OWN_UIDS = 700_000 + os.getpid() % 10_000 * 8
"""Beside a runner of the same host, so that its jobs are not taken for what is left of ours."""

WARM_SLOT = 7


@dataclass(frozen=True, slots=True)
class Walls:
    """A worker behind bubblewrap, and the host as a test may look at it."""

    sandbox: Bubblewrap | Gvisor
    worker: SandboxWorker
    small: Limits = SMALL
    base_uid: int = OWN_UIDS
    settled: frozenset[int] = frozenset()
    """Processes that are no job's: those of a warm parent."""

    async def run(self, source: str, limits: Limits = SMALL, kind: JobKind = JobKind.RUN, slot: int = 0) -> Result:
        """Run a source and give the result."""

        def silent(_: Progress) -> None:
            return None

        return await self.worker.run_job(Job("test", kind, source, "learner", limits=limits), slot, silent)

    def survivors(self) -> list[str]:
        """Name what is left of any job on the host: processes of the slots' uids, groups, mounts."""
        left = _processes(str(self.sandbox.host.folder), self.base_uid, self.settled)
        return [*left, *_groups(self.sandbox.host.names), *_mounts(str(self.sandbox.host.folder))]


def _processes(folder: str, base_uid: int, settled: frozenset[int]) -> Iterator[str]:
    uids = {str(base_uid + slot) for slot in range(8)}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            status = (entry / "status").read_text()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        uid = status.partition("\nUid:")[2].split()[0]
        ours = folder.encode() in command
        if int(entry.name) in settled or _dead_child_of(settled, status):
            continue
        if (os.geteuid() == 0 and uid in uids) or ours:
            yield f"process {entry.name} of uid {uid}"


def _dead_child_of(parents: frozenset[int], status: str) -> bool:
    """Whether a process has ended, and one of these will reap it in a moment."""
    return "\nState:\tZ" in status and int(status.partition("\nPPid:")[2].split(None, 1)[0]) in parents


def _groups(names: str) -> Iterator[str]:
    for folder in Path("/sys/fs/cgroup").rglob(f"{names}-*"):
        yield f"group {folder}"


def _mounts(folder: str) -> Iterator[str]:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        if folder in line:
            yield f"mount {line}"


@pytest.fixture(scope="session")
def walls(learners_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walls]:
    """Give real walls, opened once."""
    folder = tmp_path_factory.mktemp(f"tasree-runner-{os.getpid()}")
    settings = SandboxSettings(str(learners_python), base_uid=OWN_UIDS, folder=str(folder))
    sandbox = asyncio.run(open_bubblewrap(settings))
    found = sandbox.host.interpreter
    machine = read_machine(python=found.python, numpy=found.numpy, torch=found.torch)
    yield Walls(sandbox, SandboxWorker(sandbox, machine, walls=sandbox.walls, grace_s=1.0))
    asyncio.run(sandbox.close())


@pytest.fixture(scope="session")
def gvisor(walls: Walls, learners_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walls]:
    """Give gVisor's walls, opened once; only where its `runsc` is installed and we are root."""
    folder = tmp_path_factory.mktemp("runsc")
    settings = SandboxSettings(str(learners_python), base_uid=800_000 + os.getpid() % 10_000 * 8, folder=str(folder))
    sandbox = asyncio.run(open_gvisor(settings))
    worker = SandboxWorker(sandbox, walls.worker.machine, walls=sandbox.walls, grace_s=1.0)
    yield replace(walls, sandbox=sandbox, worker=worker)
    asyncio.run(sandbox.close())


@dataclass(frozen=True, slots=True)
class WarmWalls(Walls):
    """The same walls, whose jobs are children of a warm parent; a job that cannot be is a fault."""

    parent: Parent = None  # type: ignore[assignment]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def warm(walls: Walls, learners_python: Path) -> AsyncIterator[WarmWalls]:
    """Give real walls around children of one warm parent; tests of it share the session's loop with it."""
    base_uid = 870_000 + os.getpid() % 10_000 * 8
    # a folder of the sandbox's own: pytest shuts its folders to other users, and the parent is one
    sandbox = await open_bubblewrap(SandboxSettings(str(learners_python), base_uid=base_uid))
    parent = await start_parent(sandbox, Nest(slot=WARM_SLOT))
    worker = SandboxWorker(OnlyWarm(parent), walls.worker.machine, walls=sandbox.walls, grace_s=1.0)
    settled = frozenset(tree(parent.launcher))
    yield WarmWalls(sandbox, worker, walls.small, base_uid, settled, parent)
    await parent.end()
    await sandbox.close()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def waited(warm: WarmWalls) -> WarmWalls:
    """Give the same, where each child stood and waited before its job came."""
    worker = SandboxWorker(OnlyWaited(warm.parent), warm.worker.machine, walls=warm.sandbox.walls, grace_s=1.0)
    return replace(warm, worker=worker)


@dataclass(frozen=True, slots=True)
class OrdinaryUser:
    """A runner that a user without privileges starts, as a program of its own."""

    folder: Path
    python: Path
    uid: int

    def run(self, attacks: list[dict[str, Any]], limits: Limits, *, probe: bool, seconds: float) -> list[Any]:
        """Run attacks there; give the walls that its probe found, if asked, then each attack's result."""
        order = {"probe": probe, "limits": asdict(limits), "attacks": attacks}
        drop = ["setpriv", "--reuid", str(self.uid), "--regid", str(self.uid), "--clear-groups"]
        program = [str(self.python), "-B", str(self.folder / "attack_data.py")]
        done = subprocess.run(
            [*(drop if os.geteuid() == 0 else []), *program, str(self.python), str(self.folder / "own")],
            input=json.dumps(order).encode(),
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(self.folder), "HOME": str(self.folder / "own")},
            cwd="/",
            capture_output=True,
            check=False,
            timeout=seconds,
        )
        assert done.returncode == 0, done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def left(self) -> list[str]:
        """Name the processes of that user that are left."""
        return [
            folder.name
            for folder in Path("/proc").glob("[0-9]*")
            if (status := _status(folder)) and status.partition("\nUid:")[2].split()[0] == str(self.uid)
        ]


def _status(folder: Path) -> str:
    try:
        return (folder / "status").read_text()
    except OSError:
        return ""


@pytest.fixture(scope="session")
def ordinary_user(learners_python: Path, repository: Path) -> Iterator[OrdinaryUser]:
    """Lay out what that user needs where it can be read: our package, the filter's library, and the program."""
    if not all(folder.stat().st_mode & 0o001 for folder in learners_python.absolute().parents):
        pytest.skip("an ordinary user cannot read the learners' interpreter where it stands")
    here = Path(__file__).parent
    folder = Path(tempfile.mkdtemp(prefix="tasree-ordinary-"))  # pytest shuts its own folders to other users
    folder.chmod(0o755)
    ours = shutil.ignore_patterns("__pycache__")
    shutil.copytree(repository / "sandbox_runner", folder / "sandbox_runner", ignore=ours)
    shutil.copy(Path(sysconfig.get_path("purelib")) / "pyseccomp.py", folder)
    shutil.copytree(here / "attacks", folder / "attacks")
    shutil.copy(here / "attack_data.py", folder)
    (folder / "own").mkdir()
    uid = 780_000 + os.getpid() % 10_000
    if os.geteuid() == 0:
        os.chown(folder / "own", uid, uid)
    yield OrdinaryUser(folder, learners_python, uid)
    shutil.rmtree(folder)
