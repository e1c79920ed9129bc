"""A thousand jobs, honest and hostile, of twenty learners through a real daemon: none lost, none mixed up, all fair.

`TASREE_SOAK_JOBS` gives another number of jobs.
"""

import asyncio
import os
import random
import signal
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox_runner.client import Backoff, RunnerClient
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Accepted, Finished, Job, JobKind, Limits, Progress, Result

pytestmark = [pytest.mark.soak, pytest.mark.sandbox]
JOBS = int(os.environ.get("TASREE_SOAK_JOBS", "1000"))
LEARNERS, SLOTS = 20, 2
SECRET = "correct horse battery staple"  # noqa: S105 - the test's own
LIMITS = Limits(run_s=3.0, memory_bytes=256 << 20, processes=32, disk_bytes=16 << 20, inodes=1000)
READY_S = 60.0
REST_S, STILL = 120.0, 5
"""So long a runner may take to come to rest, and so many looks, a second apart, must tell the same."""
POOL_THREADS = (os.cpu_count() or 1) + 4

Record = Callable[[str, object], None]

HONEST = {
    "value": ("print('MARK')\n6 * 7", {"ok"}),
    "figures": ("import numpy as np\nprint('MARK', np.arange(10).sum())", {"ok"}),
    "file": ("open('a.txt', 'w').write('MARK')\nprint('MARK')", {"ok"}),
    "error": ("print('MARK')\n1 / 0", {"py_error"}),
    "wrong syntax": ("print('MARK'", {"syntax_error"}),
}
HOSTILE = {
    "fork bomb": ("import os\nprint('MARK', flush=True)\nwhile True: os.fork()", {"proc_limit", "py_error"}),
    "daemon": (
        "import os, time\nprint('MARK', flush=True)\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)",
        {"ok"},
    ),
    "memory bomb": ("print('MARK', flush=True)\nheld = [b'x' * (8 << 20) for _ in range(99)]", {"oom_host"}),
    "flood": ("print('MARK')\nwhile True: print('x' * 1000)", {"output_limit"}),
    "disk": ("print('MARK', flush=True)\nopen('x', 'wb').write(bytes(64 << 20))", {"file_limit"}),
    "forged answer": ("import os\nprint('MARK', flush=True)\nos.write(3, b'\\xff' * 64)", {"tampered"}),
    "suicide": ("import os\nprint('MARK', flush=True)\nos.kill(os.getpid(), 9)", {"killed_by_own_signal"}),
    "massacre": ("import os\nprint('MARK', flush=True)\nos.kill(-1, 9)", {"killed_by_own_signal"}),
    "crash": ("import os\nprint('MARK', flush=True)\nos.abort()", {"crash"}),
    "sleep": ("import time\nprint('MARK', flush=True)\ntime.sleep(99)", {"timeout_wall"}),
    "loop": ("print('MARK', flush=True)\nwhile True: pass", {"timeout_run"}),
}
RARE = {"sleep", "loop", "memory bomb"}
"""These take their whole time: fewer of them."""


@dataclass(slots=True)
class Sent:
    """A job, when it was sent, when it began and ended (monotonic seconds), and what came of it."""

    learner: int
    what: str
    sent: float
    began: float = 0.0
    ended: float = 0.0
    result: Result | None = None


@dataclass(slots=True)
class Runner:
    """A real daemon, and its host as it is seen from outside."""

    process: asyncio.subprocess.Process
    address: str
    base_uid: int
    log: Path
    clients: list[RunnerClient] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """Count what must not grow."""
        pid = self.process.pid
        return {
            "processes": sum(1 for _ in _pids_of(self.base_uid)) + len(_children(pid)),
            "threads": len(list(Path(f"/proc/{pid}/task").iterdir())),
            "descriptors": len(list(Path(f"/proc/{pid}/fd").iterdir())),
            "mounts": len(Path(f"/proc/{pid}/mountinfo").read_text().splitlines()),
            "host mounts": len(Path("/proc/self/mountinfo").read_text().splitlines()),
            "groups": sum(1 for _ in Path("/sys/fs/cgroup").rglob(f"tasree-{pid}-*")),
            "files": sum(1 for folder in Path("/tmp").glob(f"tasree-runner-{pid}-*") for _ in folder.rglob("*")),  # noqa: S108 - where runners keep theirs
        }

    def resident_bytes(self) -> int:
        """Give the daemon's memory."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def _pids_of(base_uid: int) -> list[str]:
    uids = {str(base_uid + slot) for slot in range(8)}
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            uid = (folder / "status").read_text().partition("\nUid:")[2].split()[0]
        except (OSError, IndexError):
            continue
        found += [folder.name] if uid in uids else []
    return found


def _children(pid: int) -> list[str]:
    return [word for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]


@pytest.fixture
async def runner(tmp_path: Path, learners_python: Path, repository: Path) -> AsyncIterator[Runner]:
    base_uid = 900_000 + os.getpid() % 10_000 * 8
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "secret").chmod(0o600)
    environment = {
        "PATH": os.environ["PATH"],
        "TASREE_SANDBOX_PYTHON": str(learners_python),
        "TASREE_RUNNER_BASE_UID": str(base_uid),
        "TASREE_RUNNER_SECRET_FILE": str(tmp_path / "secret"),
        "TASREE_RUNNER_SOCKET": str(tmp_path / "runner"),
        "TASREE_RUNNER_LOCK": str(tmp_path / "lock"),
        "TASREE_RUNNER_SLOTS": str(SLOTS),
        "TASREE_RUNNER_JOBS_A_MINUTE": "100000",
    }
    log = tmp_path / "log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "sandbox_runner", "serve", cwd=repository, env=environment, stderr=errors
        )
    one = Runner(process, f"unix:{tmp_path}/runner", base_uid, log)
    one.clients = [RunnerClient(one.address, SECRET, backoff=Backoff(bound_s=READY_S)) for _ in range(3)]
    await _ready(one)
    yield one
    for client in one.clients:
        await client.close()
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    assert await process.wait() == 0, log.read_text()[-2000:]
    assert _pids_of(base_uid) == []


async def _ready(runner: Runner) -> None:
    async with asyncio.timeout(READY_S):
        while True:
            try:
                await runner.clients[0].capabilities()
            except UnavailableError:
                assert runner.process.returncode is None, runner.log.read_text()
                await asyncio.sleep(0.2)
            else:
                return


def _plan(jobs: int) -> list[list[str]]:
    """Choose what each learner sends: the same every time, two honest ones to a hostile one."""
    dice = random.Random(20)  # noqa: S311 - a plan, no secret
    names = [*HONEST] * 4 + [name for name in HOSTILE for _ in range(1 if name in RARE else 2)]
    return [[dice.choice(names) for _ in range(jobs // LEARNERS)] for _ in range(LEARNERS)]


async def _learn(runner: Runner, learner: int, names: list[str], sent: list[Sent]) -> None:
    """Send a learner's jobs, always two under way."""
    gate = asyncio.Semaphore(2)

    async def one(number: int, name: str) -> None:
        async with gate:
            source, _ = (HONEST | HOSTILE)[name]
            mark = f"learner-{learner}-job-{number}"
            job = Job(mark, JobKind.RUN, source.replace("MARK", mark), f"l{learner}", limits=LIMITS)
            mine = Sent(learner, name, time.monotonic())
            sent.append(mine)
            async for event in runner.clients[learner % len(runner.clients)].submit(job):
                match event:
                    case Progress() if not mine.began:
                        mine.began = time.monotonic()
                    case Finished(result):
                        mine.ended, mine.result = time.monotonic(), result
                    case Accepted() | Progress():
                        pass
            _check(mark, mine)

    await asyncio.gather(*(one(number, name) for number, name in enumerate(names)))


def _check(mark: str, mine: Sent) -> None:
    """See that the result is this job's and no other's."""
    result, (_, endings) = mine.result, (HONEST | HOSTILE)[mine.what]
    assert result is not None, f"{mark} was lost"
    assert result.job_id == mark
    assert result.ending.value in endings, (mark, mine.what, result.ending, result.notes, result.stderr)
    if mine.what != "wrong syntax":
        assert result.stdout.head.split()[0] == mark, (mine.what, result.stdout.head[:200])


def _unfair(sent: list[Sent]) -> list[str]:
    """Name the waits of more than twice the median during which another learner held two slots."""
    waits = [one.began - one.sent for one in sent]
    bound = 2 * statistics.median(waits)
    found = []
    for one, wait in zip(sent, waits, strict=True):
        if wait <= bound:
            continue
        late = one.sent + bound
        for other in range(LEARNERS):
            runs = [
                (max(run.began, late), min(run.ended, one.began)) for run in sent if run.learner == other != one.learner
            ]
            edges = sorted(
                [(a, 1) for a, b in runs if a < b] + [(b, -1) for a, b in runs if a < b], key=lambda e: (e[0], e[1])
            )
            held = 0
            for _, step in edges:
                held += step
                if held >= SLOTS:
                    found.append(
                        f"learner {one.learner} waited {wait:.1f} s (bound {bound:.1f}) while {other} held two"
                    )
                    break
    return found


async def _at_rest(runner: Runner, wanted: dict[str, int] | None = None) -> dict[str, int]:
    """Count once the warm parent stands and nothing moves for a while; later, until it is as it was or time is up."""
    counts: dict[str, int] = {}
    still = 0
    deadline = time.monotonic() + REST_S
    while time.monotonic() < deadline:
        await asyncio.sleep(1.0)
        now = runner.counts()
        still = still + 1 if now == counts else 0
        counts = now
        if wanted is not None and all(counts[name] == wanted[name] for name in wanted.keys() - {"threads"}):
            break
        if wanted is None and still >= STILL and '"parent_ready"' in runner.log.read_text():
            break
    return counts


async def test_a_thousand_jobs_of_twenty_learners_are_all_answered_rightly_and_leave_nothing(
    runner: Runner, record_property: Record
) -> None:
    sent: list[Sent] = []
    await asyncio.gather(
        *(_learn(runner, learner, ["value", "daemon"], []) for learner in range(LEARNERS, LEARNERS + 4))
    )
    before, resident = await _at_rest(runner), runner.resident_bytes()
    began = time.monotonic()
    await asyncio.gather(*(_learn(runner, learner, names, sent) for learner, names in enumerate(_plan(JOBS))))
    seconds = time.monotonic() - began
    after = await _at_rest(runner, before)
    waits = [one.began - one.sent for one in sent]
    means = [
        statistics.fmean(one.began - one.sent for one in sent if one.learner == learner) for learner in range(LEARNERS)
    ]
    record_property("jobs", len(sent))
    record_property("jobs_seconds", round(seconds, 1))
    record_property("endings", dict(Counter(one.result.ending.value for one in sent if one.result is not None)))
    record_property("wait_s", {"median": statistics.median(waits), "most": max(waits), "most_mean": max(means)})
    record_property("counts", {"before": dict(before), "after": dict(after)})
    record_property("grown_bytes", runner.resident_bytes() - resident)
    assert len(sent) == JOBS // LEARNERS * LEARNERS
    # The pool of threads grows to its bound when jobs happen to end together, and no further.
    assert after.pop("threads") <= before.pop("threads") + POOL_THREADS
    assert after == before
    assert max(means) <= 2 * statistics.median(means)
    assert _unfair(sent) == []
