"""What a warm start saves: everything from submitting to the result, beside the same code in a bare cold sandbox.

Prints one JSON object of medians and ratios, taken side by side in one run. `python tests/bench/warm.py [ROUNDS]` (5,
some minutes). Jobs go through a daemon over a Unix socket, a queue, a worker and real walls; cold is bubblewrap and
the learners' interpreter alone; the bare parent is the least that forks inside bubblewrap: namespaces, a tmpfs, a sum.
"""

import asyncio
import contextlib
import io
import json
import os
import secrets
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sandbox_runner.assembly import assemble, prepare_examples  # noqa: E402 - the path first
from sandbox_runner.client import RunnerClient  # noqa: E402
from sandbox_runner.daemon import Daemon  # noqa: E402
from sandbox_runner.dispatch import Dispatcher, Rules  # noqa: E402
from sandbox_runner.gauging import EQUAL  # noqa: E402
from sandbox_runner.hostlock import HostLock  # noqa: E402
from sandbox_runner.journal import Journal  # noqa: E402
from sandbox_runner.listening import unix_socket  # noqa: E402
from sandbox_runner.protocol import Ending, Finished, Job, JobKind, Result  # noqa: E402
from sandbox_runner.sandbox.watchdog import tree  # noqa: E402
from sandbox_runner.serving import Assembled  # noqa: E402
from sandbox_runner.settings import Settings, read_settings  # noqa: E402

LEARNERS = Path(os.environ.get("TASREE_SANDBOX_PYTHON") or ROOT / ".venv-learners" / "bin" / "python")
SECRET = "only for this process"  # noqa: S105 - nobody else can reach the socket
TRIVIAL = "import torch\nprint(torch.ones(3).sum().item())\n"
EXAMPLE = ROOT / "content" / "lessons" / "compile" / "check_install.py"
UNSEEN = """
import torch
@torch.compile
def f(x):
    return (torch.sin(x) * {number} + torch.exp(-x * x)).relu() / (x.abs() + {number})
print(f(torch.ones(4096))[0].item() > 0)
"""
PARENT = """
import ctypes, gc, os, sys
import numpy, torch
torch.set_num_threads(1)
libc = ctypes.CDLL(None)
gc.collect(); gc.freeze()
print("ready", flush=True)
for _ in sys.stdin:
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        libc.unshare(0x20000 | 0x20000000 | 0x08000000 | 0x04000000)
        libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None)
        libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, b"size=64m")
        if (inner := os.fork()) == 0:
            libc.mount(b"proc", b"/proc", b"proc", 0, None)
            os.write(w, b"%d" % int(torch.ones(3).sum().item()))
            os._exit(0)
        os.waitpid(inner, 0); os._exit(0)
    os.close(w)
    os.read(r, 200); os.waitpid(child, 0); os.close(r)
    print("done", flush=True)
"""


def cold_argv(*more: str) -> list[str]:
    """Give the least of bubblewrap around the learners' interpreter."""
    venv = LEARNERS.absolute().parent.parent
    argv = ["bwrap", "--unshare-all", "--cap-add", "CAP_SYS_ADMIN", "--die-with-parent", "--clearenv"]
    for name, value in (("HOME", "/tmp"), ("USER", "learner"), ("PATH", "/usr/bin:/bin"), ("OMP_NUM_THREADS", "1")):  # noqa: S108
        argv += ["--setenv", name, value]
    argv += ["--ro-bind", "/usr", "/usr", "--ro-bind", str(venv), str(venv), "--proc", "/proc", "--dev", "/dev"]
    for name in ("lib", "lib64", "bin"):
        argv += ["--symlink", f"usr/{name}", f"/{name}"]
    return [*argv, "--tmpfs", "/tmp", "--chdir", "/tmp", str(LEARNERS.absolute()), *more]  # noqa: S108 - inside


async def cold(source: str) -> None:
    """Run a source as a whole process; raises when it fails."""
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*cold_argv("-c", source), stdout=quiet, stderr=quiet)
    if await process.wait():
        message = f"a cold run ended with {process.returncode}"
        raise RuntimeError(message)


async def timed(one: Callable[[], Awaitable[object]]) -> float:
    """Time one, in seconds."""
    began = time.perf_counter()
    await one()
    return time.perf_counter() - began


class Runner:
    """A runner served over a socket in this process, and a client of it."""

    def __init__(self, client: RunnerClient, assembled: Assembled) -> None:
        self.client = client
        self.assembled = assembled
        self.overheads: list[float] = []
        self.starts: set[str] = set()

    async def run(self, source: str, kind: JobKind = JobKind.RUN, learner: str = "bench") -> Result:
        """Run a job to its end; what is not its own time goes to `overheads`, in seconds."""
        began = time.perf_counter()
        async for event in self.client.submit(Job(secrets.token_hex(8), kind, source, learner)):
            if isinstance(event, Finished):
                result = event.result
                break
        took = time.perf_counter() - began
        if result.ending is not Ending.OK:
            message = f"a job ended as {result.ending}: {result.stderr.head} {result.notes}"
            raise RuntimeError(message)
        self.starts.add(result.start)
        phases = result.phases_ms
        self.overheads.append(took - sum(phases.get(name, 0.0) for name in ("start", "import", "run")) / 1e3)
        return result


@asynccontextmanager
async def served(settings: Settings, folder: Path, *, warm: bool) -> AsyncIterator[Runner]:
    """Serve a runner; a warm one keeps its parent meanwhile."""
    assembled = await assemble(replace(settings, warm=warm), 2)
    journal = Journal(io.StringIO(), lambda: datetime.now(UTC), b"bench")
    rules = Rules(slots=2, keep_count=100, a_learner=100, a_minute=100_000)
    clock = asyncio.get_running_loop().time
    dispatcher = Dispatcher(
        assembled.worker, assembled.capabilities, rules, lock=HostLock(settings.lock), clock=clock, journal=journal
    )
    daemon = Daemon(dispatcher, SECRET, journal)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(assembled.close)
        listener = stack.enter_context(unix_socket(folder / f"runner-{warm}"))
        server = await asyncio.start_unix_server(daemon.connected, sock=listener)
        stack.callback(server.close)
        stack.push_async_callback(daemon.close)
        client = RunnerClient(str(folder / f"runner-{warm}"), SECRET)
        stack.push_async_callback(client.close)
        if (nursery := assembled.nursery) is not None:
            keeping = asyncio.create_task(nursery.keep(lambda _: None, lambda: False))
            stack.callback(keeping.cancel)
            await come(lambda: nursery.wall().stands, 120)
        yield Runner(client, assembled)


@asynccontextmanager
async def bare_parent() -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Give what forks and runs once in a bare parent."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*cold_argv("-c", PARENT), stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    assert process.stdout is not None
    await process.stdout.readline()

    async def once() -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        await process.stdout.readline()

    yield once
    process.stdin.close()
    await process.wait()


async def measure(settings: Settings, folder: Path, rounds: int) -> dict[str, object]:
    """Run the rounds and summarise them."""
    example = EXAMPLE.read_text(encoding="utf-8")
    told = await prepare_examples(settings, {EXAMPLE.name: example})
    async with served(settings, folder, warm=True) as warm, bare_parent() as fork:
        found = await starts(warm, fork, rounds)
        found |= await compiled(warm, example, max(2, rounds // 2))
        found |= {"prepared": told[EXAMPLE.name], "start": sorted(warm.starts)}
        found |= await memory(warm)
        async with served(settings, folder, warm=False) as plain:
            found |= await alike(warm, plain, rounds)
    return found


async def starts(warm: Runner, fork: Callable[[], Awaitable[None]], rounds: int) -> dict[str, object]:
    """Time a trivial snippet: warm, cold and in the bare parent; then many at once."""
    for _ in range(3):
        await warm.run(TRIVIAL)
    warm.overheads.clear()
    jobs, colds, forks = [], [], []
    for _ in range(rounds):
        colds.append(await timed(lambda: cold(TRIVIAL)))
        for _ in range(20):
            jobs.append(await timed(lambda: warm.run(TRIVIAL)))
            forks.append(await timed(fork))
    together = await timed(lambda: asyncio.gather(*(warm.run(TRIVIAL) for _ in range(40))))
    cold_together = await timed(lambda: asyncio.gather(*(cold(TRIVIAL) for _ in range(2))))
    job, whole = statistics.median(jobs), statistics.median(colds)
    overheads = sorted(warm.overheads[: len(jobs)])
    p99 = overheads[int(len(overheads) * 0.99)]
    return {
        "trivial_ms": round(job * 1e3, 2),
        "trivial_p99_ms": round(sorted(jobs)[int(len(jobs) * 0.99)] * 1e3, 2),
        "cold_ms": round(whole * 1e3, 1),
        "cold_over_warm": round(whole / job, 1),
        "rate_over_cold_rate": round((40 / together) / (2 / cold_together), 1),
        "jobs_a_second": round(40 / together, 1),
        "overhead_p50_ms": round(statistics.median(overheads) * 1e3, 2),
        "overhead_p99_ms": round(p99 * 1e3, 2),
        "bare_fork_p50_ms": round(statistics.median(forks) * 1e3, 2),
        "bare_fork_p99_ms": round(sorted(forks)[int(len(forks) * 0.99)] * 1e3, 2),
        "overhead_over_bare_fork": round(p99 / sorted(forks)[int(len(forks) * 0.99)], 2),
    }


async def compiled(warm: Runner, example: str, rounds: int) -> dict[str, object]:
    """Time an example of the course that was prepared, and code that was never seen, against whole cold processes."""
    seen: list[float] = []
    seen_cold: list[float] = []
    unseen: list[float] = []
    unseen_cold: list[float] = []
    for number in range(rounds):
        for source, times, colds in (
            (example, seen, seen_cold),
            (UNSEEN.format(number=number + secrets.randbelow(10**9)), unseen, unseen_cold),
        ):
            times.append(await timed(lambda source=source: warm.run(source)))  # type: ignore[misc]
            colds.append(await timed(lambda source=source: cold(source)))  # type: ignore[misc]
    return {
        "example_ms": round(statistics.median(seen) * 1e3, 1),
        "example_cold_over_warm": round(statistics.median(seen_cold) / statistics.median(seen), 1),
        "unseen_ms": round(statistics.median(unseen) * 1e3, 1),
        "unseen_cold_over_warm": round(statistics.median(unseen_cold) / statistics.median(unseen), 1),
    }


async def memory(warm: Runner) -> dict[str, object]:
    """Say what a child that waits holds for itself, and what the parent holds."""
    nursery = warm.assembled.nursery
    assert nursery is not None
    await come(nursery.waiting, 10)
    private = sum(private_kib(pid) for pid in tree(nursery.waiting()[0]))
    return {"waiting_private_mb": round(private / 1024, 1), "parent": nursery.wall().detail}


def private_kib(pid: int) -> int:
    """Memory that a process shares with nobody, in KiB."""
    rollup = Path("/proc", str(pid), "smaps_rollup").read_text(encoding="ascii")
    return sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))


async def come(true: Callable[[], object], seconds: float) -> None:
    """Wait until something is so; raises when it is not in time."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - what it waits for tells nobody
            await asyncio.sleep(0.05)


async def alike(warm: Runner, plain: Runner, rounds: int) -> dict[str, object]:
    """Time equal work: cold with nothing beside, and warm while another learner keeps the pool at work."""
    noise: dict[str, list[float]] = {"quiet": [], "pool": []}
    wrong = 0
    for _ in range(rounds):
        for name, runner in (("quiet", plain), ("pool", warm)):
            beside = asyncio.create_task(_keep_busy(warm)) if name == "pool" else None
            result = await runner.run(EQUAL, JobKind.TIME)
            if beside is not None:
                beside.cancel()
                await asyncio.gather(beside, return_exceptions=True)
            noise[name].append(result.noise)
            wrong += any(ratio.claim in {"faster", "slower"} for ratio in result.ratios)
    quiet, pool = statistics.median(noise["quiet"]), statistics.median(noise["pool"])
    return {
        "equal_noise_quiet": round(quiet, 5),
        "equal_noise_with_pool": round(pool, 5),
        "equal_noise_ratio": round(pool / quiet, 2) if quiet else 0.0,
        "equal_called_different": wrong,
    }


async def _keep_busy(runner: Runner) -> None:
    while True:
        with contextlib.suppress(RuntimeError):
            await runner.run(TRIVIAL, learner="another")


def main() -> None:
    """Print the one JSON object."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory(prefix="tasree-") as made:
        settings = replace(read_settings(), python=str(LEARNERS), lock=Path(made) / "lock")
        found = asyncio.run(measure(settings, Path(made), rounds))
    print(json.dumps({"bench": "warm", "rounds": rounds} | found))


if __name__ == "__main__":
    main()
