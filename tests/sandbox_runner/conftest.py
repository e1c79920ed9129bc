"""Bubblewrap for the tests of the walls, with limits scaled down, and a look at what outlives a job."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox_runner.machine import read_machine
from sandbox_runner.protocol import Job, JobKind, Limits, Progress, Result
from sandbox_runner.sandbox.bubblewrap import Bubblewrap, open_bubblewrap
from sandbox_runner.sandbox.gvisor import Gvisor
from sandbox_runner.sandbox.host import SandboxSettings
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


@dataclass(frozen=True, slots=True)
class Walls:
    """A worker behind bubblewrap, and the host as a test may look at it."""

    sandbox: Bubblewrap | Gvisor
    worker: SandboxWorker
    small: Limits = SMALL

    async def run(self, source: str, limits: Limits = SMALL, kind: JobKind = JobKind.RUN, slot: int = 0) -> Result:
        """Run a source and give the result."""

        def silent(_: Progress) -> None:
            return None

        return await self.worker.run_job(Job("test", kind, source, "learner", limits=limits), slot, silent)

    def survivors(self) -> list[str]:
        """Name what is left of any job on the host: processes of the slots' uids, groups, mounts."""
        return [*_processes(str(self.sandbox.host.folder)), *_groups(), *_mounts(str(self.sandbox.host.folder))]


def _processes(folder: str) -> Iterator[str]:
    uids = {str(OWN_UIDS + slot) for slot in range(8)}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            status = (entry / "status").read_text()
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        uid = status.partition("\nUid:")[2].split()[0]
        ours = folder.encode() in command
        if (os.geteuid() == 0 and uid in uids) or ours:
            yield f"process {entry.name} of uid {uid}"


def _groups() -> Iterator[str]:
    for folder in Path("/sys/fs/cgroup").rglob(f"tasree-{os.getpid()}-*"):
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
