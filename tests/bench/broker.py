"""What the broker costs: an empty job's round trip over NATS beside the Unix socket, and jobs a second by runners.

The two round trips alternate in paired rounds of one process; the runners are stand-ins in processes of their own, two
slots each, and one bot gives them jobs of 64 learners: such that end at once, where the bot and the server are what
limits, and such that last 100 ms, where the runners should be. Then 10,000 jobs of 100 learners are queued at once,
and the wait for each learner's next answer is held against a fair round. The server syncs every write. JSON.
"""

import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "standins"), str(TESTS / "sandbox_runner" / "broker")]

from fleet import KEY, Fleet, fleet, job  # noqa: E402 - the tests' own folders are on the path only now
from stand_in import TIMES  # noqa: E402

from sandbox_runner.broker.line import Broker, connect  # noqa: E402
from sandbox_runner.broker.pulling import Puller  # noqa: E402
from sandbox_runner.broker.submitting import BrokerRunner  # noqa: E402
from sandbox_runner.client import RunnerClient  # noqa: E402
from sandbox_runner.dispatch import Rules  # noqa: E402
from sandbox_runner.testing import StandInRunner  # noqa: E402

ROUNDS = 30
BLOCK = 5
JOBS = {"say x": 300, "sleep 0.1": 120}
LEARNERS = 64
QUEUED, QUEUERS = 10_000, 100
SECRET = "only for this process"  # noqa: S105 - nobody else can reach the socket
RULES = Rules(a_minute=1_000_000, a_learner=64, keep_count=100)


async def block(runner: RunnerClient | BrokerRunner, numbers: list[int]) -> float:
    """Time a block of round trips, one after the other, in seconds each."""
    began = time.perf_counter()
    for number in numbers:
        async for _ in runner.submit(job(f"l{number}-1")):
            pass
    return (time.perf_counter() - began) / len(numbers)


@asynccontextmanager
async def both(folder: Path, server: str) -> AsyncIterator[dict[str, RunnerClient | BrokerRunner]]:
    """Give a runner behind each of the two, in this process."""
    async with AsyncExitStack() as stack:
        (folder / "socket").mkdir()
        (folder / "nats-runner").mkdir()
        near = await stack.enter_async_context(StandInRunner(folder / "socket", SECRET, RULES))
        far = StandInRunner(folder / "nats-runner", SECRET, RULES)
        line = await connect(Broker(server), "r0", inbox="_INBOX.r0")
        puller = Puller(line, "r0", "life", far.dispatcher, far._journal)
        await puller.start()
        client, bot = RunnerClient(str(near.path), SECRET), BrokerRunner(Broker(server), KEY)
        for end in (puller.close, client.close, bot.close):
            stack.push_async_callback(end)
        stack.push_async_callback(puller.drain, 0.0)
        await bot.capabilities()
        yield {"socket": client, "nats": bot}


async def round_trips(folder: Path, server: str) -> dict[str, list[float]]:
    """Time both in paired rounds of alternating order."""
    numbers = iter(range(10**9))
    times: dict[str, list[float]] = {"socket": [], "nats": []}
    async with both(folder, server) as runners:
        for _ in range(ROUNDS + 3):
            order = list(runners)
            random.shuffle(order)
            for name in order:
                times[name].append(await block(runners[name], [next(numbers) for _ in range(BLOCK)]))
    return {name: each[3:] for name, each in times.items()}


async def jobs_a_second(one: Fleet, runners: int, source: str) -> float:
    """Give the rate at which so many runners end jobs of this source."""
    bot = one.bot()
    for number in range(runners):
        one.launch(f"r{number + 1}")
    await one.lives(bot, 2 * runners)
    gate = asyncio.Semaphore(2 * LEARNERS)

    async def run(number: int) -> None:
        async with gate:
            await one.result(bot, job(f"l{number % LEARNERS}-{number}", source))

    began = time.perf_counter()
    await asyncio.gather(*(run(number) for number in range(JOBS[source])))
    rate = JOBS[source] / (time.perf_counter() - began)
    for number in range(runners):
        one.kill(f"r{number + 1}")
    await bot.close()
    return rate


async def fairness(one: Fleet) -> dict[str, float]:
    """Queue all jobs at once, and compare the wait for each learner's next answer with a round of all learners.

    Fair is that each learner is answered once a round: as many jobs as there are learners, at the rate that was seen.
    When half of them ended, somebody new sends one job.
    """
    bot = BrokerRunner(Broker(one.server.address), KEY, TIMES, most_a_learner=QUEUED // QUEUERS)
    one.bots.append(bot)
    for number in range(4):
        one.launch(f"r{number + 1}")
    await one.lives(bot, 8)
    ends: dict[int, list[float]] = {learner: [] for learner in range(QUEUERS)}
    half = asyncio.Event()
    clock = time.perf_counter
    began = clock()

    async def run(learner: int, number: int) -> None:
        await one.result(bot, job(f"q{learner}-{number}"))
        ends[learner].append(clock() - began)
        if sum(map(len, ends.values())) == QUEUED // 2:
            half.set()

    async def newcomer() -> float:
        await half.wait()
        came = clock()
        await one.result(bot, job("newcomer-1"))
        return clock() - came

    coming = asyncio.create_task(newcomer())
    await asyncio.gather(*(run(learner, number) for number in range(QUEUED // QUEUERS) for learner in range(QUEUERS)))
    took = clock() - began
    round_s = QUEUERS * took / QUEUED
    waits = sorted(later - before for each in ends.values() for before, later in pairwise(each))
    return {
        "jobs": QUEUED,
        "learners": QUEUERS,
        "seconds": round(took, 1),
        "fair_wait_s": round(round_s, 3),
        "wait_median_over_fair": round(statistics.median(waits) / round_s, 2),
        "wait_p99_over_fair": round(waits[int(len(waits) * 0.99)] / round_s, 2),
        "wait_longest_over_fair": round(waits[-1] / round_s, 2),
        "newcomer_over_fair": round(await coming / round_s, 2),
        "learners_last_ends_apart_in_rounds": round(
            (max(each[-1] for each in ends.values()) - min(each[-1] for each in ends.values())) / round_s, 2
        ),
    }


async def main() -> dict[str, object]:
    """Measure and summarise."""
    with tempfile.TemporaryDirectory() as name:
        async with fleet(Path(name)) as one:
            times = await round_trips(Path(name), one.server.address)
        rates: dict[str, dict[int, float]] = {source: {} for source in JOBS}
        for source, found in rates.items():
            for runners in (1, 2, 4):
                place = Path(name) / f"{len(source)}-{runners}"
                place.mkdir()
                async with fleet(place) as one:
                    found[runners] = await jobs_a_second(one, runners, source)
        place = Path(name) / "fair"
        place.mkdir()
        async with fleet(place) as one:
            fair = await fairness(one)
    medians = {each: statistics.median(seen) * 1e3 for each, seen in times.items()}
    ratios = sorted(far / near for far, near in zip(times["nats"], times["socket"], strict=True))
    return {
        "bench": "broker",
        "what": "round trip of an empty job over NATS (synced writes) beside the Unix socket; jobs a second by runners",
        "rounds": ROUNDS,
        "socket_ms": round(medians["socket"], 2),
        "nats_ms": round(medians["nats"], 2),
        "ratio": round(statistics.median(ratios), 1),
        "empty_jobs_a_second": _by_runners(rates["say x"]),
        "jobs_of_100_ms_a_second": _by_runners(rates["sleep 0.1"]),
        "queue": fair,
    }


def _by_runners(rates: dict[int, float]) -> dict[str, dict[str, float]]:
    """Give each rate with the efficiency of scaling: the rate a runner, as a part of one runner's alone."""
    return {
        str(runners): {"rate": round(rate, 1), "efficiency": round(rate / runners / rates[1], 2)}
        for runners, rate in rates.items()
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main())))
