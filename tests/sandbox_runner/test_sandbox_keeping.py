"""That a job cannot outlive its runner, however the runner ended."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sandbox_runner.sandbox.cgroup import NoCgroupError, find_cgroups

pytestmark = pytest.mark.sandbox

RUNNER = """
import asyncio, sys
from sandbox_runner.protocol import Job, JobKind, Machine, Phase
from sandbox_runner.sandbox.bubblewrap import open_bubblewrap
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.worker import SandboxWorker

async def main():
    sandbox = await open_bubblewrap(SandboxSettings(sys.argv[1], base_uid=int(sys.argv[2]), folder=sys.argv[3]))
    source = "import os, time\\nos.fork()\\nos.setsid() if os.getpid() > 3 else 0\\ntime.sleep(99)"
    def hear(progress):
        if progress.phase is Phase.RUN: print("running", flush=True)
    await SandboxWorker(sandbox, Machine()).run_job(Job("a", JobKind.RUN, source, "learner"), 0, hear)

asyncio.run(main())
"""


def _keepers(folder: str) -> list[int]:
    """The pids of the job's keeper and whatever its mount namespace holds: none when all of it is gone."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if folder in (entry / "mountinfo").read_text() or folder.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def test_a_killed_runner_takes_its_jobs_along(learners_python: Path, tmp_path: Path, repository: Path) -> None:
    uid = 790_000 + os.getpid() % 10_000
    tmp_path.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(learners_python), str(uid), str(tmp_path)],
        cwd=repository,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"running\n"
    assert _keepers(str(tmp_path)) != []
    process.send_signal(signal.SIGKILL)
    process.wait()
    deadline = time.monotonic() + 20
    while _keepers(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _keepers(str(tmp_path)) == []
    with contextlib.suppress(NoCgroupError):
        find_cgroups()  # as a runner does at its start: sweeps what a killed one left
    assert list(Path("/sys/fs/cgroup").rglob(f"tasree-{process.pid}-*")) == []
