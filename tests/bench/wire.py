"""What the daemon costs: the round trip of a job that does nothing, beside a bare echo of the same bytes.

Both go over a Unix socket in one process and event loop, in paired rounds of alternating order; one JSON document.
"""

import asyncio
import io
import json
import math
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from sandbox_runner.client import RunnerClient
from sandbox_runner.daemon import Daemon
from sandbox_runner.dispatch import Dispatcher, Rules
from sandbox_runner.frames import ASK_BYTES, TELL_BYTES, Submit, ToldFinished, pack
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal
from sandbox_runner.listening import unix_socket
from sandbox_runner.protocol import Ending, Finished, Job, JobKind, Result
from sandbox_runner.testing import CAPABILITIES, StandInWorker

ROUNDS = 40
BLOCK = 20
SOURCE = "say " + "x" * 996
SECRET = "only for this process"  # noqa: S105 - nobody else can reach the socket


def job(number: int) -> Job:
    """Make a job of a learner of its own."""
    return Job(f"j{number}", JobKind.RUN, SOURCE, f"l{number}")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each submit's bytes with a result's."""
    size = len(pack(Submit(job(1)), ASK_BYTES))
    answer = pack(ToldFinished("j1", Finished(Result("j1", JobKind.RUN, Ending.OK))), TELL_BYTES)
    try:
        while True:
            await reader.readexactly(size)
            writer.write(answer)
            await writer.drain()
    except asyncio.IncompleteReadError:
        writer.close()


async def block(one: Callable[[], Awaitable[None]]) -> float:
    """Time a block of round trips, one after the other, in seconds each."""
    began = time.perf_counter()
    for _ in range(BLOCK):
        await one()
    return (time.perf_counter() - began) / BLOCK


async def measure(folder: Path) -> dict[str, object]:
    """Run the rounds and summarise them."""
    journal = Journal(io.StringIO(), lambda: datetime.now(UTC), b"bench")
    clock = asyncio.get_running_loop().time
    rules = Rules(slots=1, keep_count=100)
    dispatcher = Dispatcher(
        StandInWorker(), CAPABILITIES, rules, lock=HostLock(folder / "lock"), clock=clock, journal=journal
    )
    daemon = Daemon(dispatcher, SECRET, journal)
    async with AsyncExitStack() as stack:
        for name, serve in (("runner", daemon.connected), ("echo", echo)):
            listener = stack.enter_context(unix_socket(folder / name))
            server = await asyncio.start_unix_server(serve, sock=listener)
            stack.callback(server.close)
        client = RunnerClient(str(folder / "runner"), SECRET)
        reader, writer = await asyncio.open_unix_connection(folder / "echo")
        numbers = iter(range(1, 10**9))
        ask = pack(Submit(job(1)), ASK_BYTES)
        answer_size = len(pack(ToldFinished("j1", Finished(Result("j1", JobKind.RUN, Ending.OK))), TELL_BYTES))

        async def run_job() -> None:
            async for _ in client.submit(job(next(numbers))):
                pass

        async def run_echo() -> None:
            writer.write(ask)
            await writer.drain()
            await reader.readexactly(answer_size)

        jobs: list[float] = []
        echoes: list[float] = []
        for _ in range(ROUNDS + 5):
            pair = [(run_job, jobs), (run_echo, echoes)]
            random.shuffle(pair)
            for one, times in pair:
                times.append(await block(one))
        together_began = time.perf_counter()
        await asyncio.gather(*(run_job() for _ in range(64)))
        together = (time.perf_counter() - together_began) / 64
        writer.close()
        await client.close()
        await daemon.close()
    return summary(jobs[5:], echoes[5:], together)


def summary(jobs: list[float], echoes: list[float], together: float) -> dict[str, object]:
    """Give medians and the ratio's 99 % interval by order statistics."""
    logs = sorted(math.log(a / b) for a, b in zip(jobs, echoes, strict=True))
    n = len(logs)
    reach = math.ceil(2.576 * math.sqrt(n) / 2)
    low, high = logs[max(0, n // 2 - reach)], logs[min(n - 1, n // 2 + reach)]
    return {
        "bench": "wire",
        "what": "round trip of a job that does nothing through the daemon, beside a bare echo over a Unix socket",
        "rounds": n,
        "job_us": round(statistics.median(jobs) * 1e6, 1),
        "echo_us": round(statistics.median(echoes) * 1e6, 1),
        "ratio": round(math.exp(statistics.median(logs)), 2),
        "ratio_ci99": [round(math.exp(low), 2), round(math.exp(high), 2)],
        "job_us_64_at_once": round(together * 1e6, 1),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="tasree-") as made:
        print(json.dumps(asyncio.run(measure(Path(made)))))
