"""How many learners what carries: measured constants, a formula of counts, and a simulated day of up to a million.

The formula says what learners' habits ask of each part; the constants are measured here, on the small system; the
simulated day finds how long runs wait with the machines that the formula asks for. `--no-runner` starts no runner and
takes the times of runs from `Costs`. deploy/CAPACITY.md explains the figures.
"""

import argparse
import asyncio
import contextlib
import json
import math
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bot.app import App, SystemClock, SystemDice
from bot.engine.events import CodeSent, TextSent
from bot.stores.doors import Door
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker, RecordingChat
from content.loader import load_course
from content.schema import Course
from sandbox_runner.client import EmbeddedRunner
from sandbox_runner.errors import RunnerError
from sandbox_runner.protocol import Budget, Device, Ending, Finished, Job, JobKind, limits_for

DAY_S, HOUR_S, MINUTES = 86_400, 3_600, 1_440
LEARNERS = (100, 1_000, 10_000, 100_000, 1_000_000)
SCRIPT = ("الدروس", "1", "التالي", "التالي", "اختبار", "لا أعرف", "ليش numpy أسرع من الحلقة؟", "التالي", "أين كنت")
CODE = "print(sum(range(100)))\n"
TIMED = "# %% setup\nimport numpy as np\n\nx = np.arange(20_000.0)\n\n# %% loop\nsum(x)\n\n# %% whole\nx.sum()\n"
FULL = 0.7
"""A part is filled to this share in its busiest hour: above it, waits grow without bound."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What learners do: assumptions, to be replaced by one's own figures (`tasree_bot_*` of a month).

    `active`: share that comes on a day; `events`: texts and presses of theirs that day, `runs` of them begin a run and
    `timings` a measurement; `on_gpu`: share of both for a GPU; `busy`: share of the day's events in its busiest hour.
    """

    active: float = 0.1
    events: float = 60.0
    runs: float = 3.0
    timings: float = 2.0
    on_gpu: float = 0.2
    busy: float = 0.12


@dataclass(frozen=True, slots=True)
class Shape:
    """What the program makes of it, by count: turns a run beside the one that began it, and transactions beside turns.

    A run is accepted, enters a phase and ends (three turns), its result is kept and it is closed (two transactions). A
    text with code is checked by a child, whose answer is a turn.
    """

    turns_a_run: float = 3.0
    transactions_a_run: float = 2.0
    turns_a_code: float = 1.0


@dataclass(frozen=True, slots=True)
class Load:
    """What a day asks for."""

    events: float
    turns: float
    transactions: float
    runs: float
    gpu_runs: float
    run_seconds: float
    gpu_seconds: float


@dataclass(frozen=True, slots=True)
class Costs:
    """What one of each costs, in seconds of a core, of a database's writer, and of a slot; and in bytes.

    The defaults are of a machine of two cores (deploy/CAPACITY.md); `measured` puts those of this one in their place.
    """

    turn_core_s: float = 0.008
    sqlite_s: float = 0.004
    postgres_s: float = 0.0005
    event_bytes: float = 3_000.0
    run_s: float = 0.5
    timing_s: float = 12.0
    gpu_start_s: float = 5.0
    """More that a job on a GPU takes, which starts cold: seen on an H200 host, never measured here."""
    replies_an_event: float = 1.3


PLATFORM_CALLS_S = 30.0
"""What Telegram takes of one bot in a second (core.telegram.org/bots/faq)."""
BROKER_JOBS_S = 900.0
"""What one NATS server with every write on the disk took in a second on two cores."""
KEEP_DAYS = 30


def load(learners: float, habit: Habit, costs: Costs, shape: Shape = Shape()) -> Load:
    """Give what so many learners ask for on a day."""
    comers = learners * habit.active
    events, plain, timed = (comers * each for each in (habit.events, habit.runs, habit.timings))
    runs = plain + timed
    turns = events + runs * (shape.turns_a_run + shape.turns_a_code)
    seconds = plain * costs.run_s + timed * costs.timing_s
    return Load(
        events=events,
        turns=turns,
        transactions=turns + runs * shape.transactions_a_run,
        runs=runs,
        gpu_runs=runs * habit.on_gpu,
        run_seconds=seconds * (1 - habit.on_gpu),
        gpu_seconds=(seconds + runs * costs.gpu_start_s) * habit.on_gpu,
    )


def needed(learners: float, habit: Habit, costs: Costs) -> dict[str, float]:
    """Give how much of each part the busiest hour fills; 1 is one whole core, writer, slot, GPU, bot or server."""
    day = load(learners, habit, costs)
    hour = habit.busy / HOUR_S
    return {
        "bot_cores": day.turns * hour * costs.turn_core_s,
        "sqlite_writers": day.transactions * hour * costs.sqlite_s,
        "postgres_servers": day.transactions * hour * costs.postgres_s,
        "telegram_bots": day.events * costs.replies_an_event * hour / PLATFORM_CALLS_S,
        "broker_servers": day.runs * hour / BROKER_JOBS_S,
        "cpu_slots": day.run_seconds * hour,
        "gpus": day.gpu_seconds * hour,
    }


def carried(habit: Habit, costs: Costs) -> dict[str, int]:
    """Give how many learners one of each part carries, filled to FULL: the least of them saturates first."""
    one = needed(1.0, habit, costs)
    return {part: int(FULL / each) for part, each in sorted(one.items(), key=lambda pair: -pair[1])}


def waits(learners: int, habit: Habit, costs: Costs, slots: int, chance: random.Random) -> dict[str, float]:
    """Simulate a day of runs on the processor, minute by minute: how long one that comes waits."""
    day = load(learners, habit, costs)
    each_s = day.run_seconds / max(1.0, day.runs * (1 - habit.on_gpu))
    swing = min(1.0, habit.busy * 24 - 1)
    backlog_s, waited = 0.0, []
    for minute in range(MINUTES):
        rate = day.runs * (1 - habit.on_gpu) / MINUTES * (1 + swing * math.sin(2 * math.pi * minute / MINUTES))
        came = max(0.0, chance.gauss(rate, math.sqrt(max(rate, 1e-9))))
        backlog_s = max(0.0, backlog_s + came * each_s - slots * 60)
        waited += [backlog_s / slots] * (1 if came else 0)
    ordered = sorted(waited)
    return {"p50_s": round(ordered[len(ordered) // 2], 1), "most_s": round(ordered[-1], 1)}


class CountedDoor(Door):
    """A writer's door that counts the transactions which pass it."""

    passed = 0

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[object]:  # type: ignore[override]
        """Count one."""
        self.passed += 1
        async with super().begin() as connection:
            yield connection


@dataclass(slots=True)
class Small:
    """The small system after stand-in learners lived a day in it, by count and by cost."""

    events: int = 0
    turns: int = 0
    transactions: int = 0
    runs: int = 0
    replies: int = 0
    core_s: float = 0.0

    def turned(self, event: str, took_s: float) -> None:
        """Count a turn."""
        del event, took_s
        self.turns += 1


async def lived(store: SqlStore, course: Course, learners: int, events: int, runs: int) -> Small:
    """Let stand-in learners live a day: so many events each, so many of which send code that runs."""
    found = Small()
    door = CountedDoor(store._writer._engine)
    store._writer = door
    chat = RecordingChat()
    app = App(
        course=course,
        store=store,
        runner=InstantRunner(),
        checker=ParsingChecker(),
        clock=SystemClock(),
        dice=SystemDice(),
        chat=chat,
        figures=found,
    )
    await app.start(adopt=False)
    await app.runner_asked()
    rows = [await app.enter("bench", f"learner{number}", greet=False) for number in range(learners)]
    door.passed, began = 0, time.process_time()
    for row in rows:
        for step in range(events):
            coded = step < runs
            event = CodeSent(CODE) if coded else TextSent(SCRIPT[(step - runs) % len(SCRIPT)])
            await app.take(row.id, event, f"bench:{step}")
            if coded:
                await app.idle()
                found.runs += 1
            found.events += 1
    await app.idle()
    found.core_s, found.transactions = time.process_time() - began, door.passed
    found.replies = len(chat.shown)
    await app.close()
    return found


async def measured(course: Course, *, with_runner: bool) -> Costs:
    """Measure what one of each costs here; what cannot be measured (no PostgreSQL, no sandbox) keeps its default."""
    from bot.stores import sqlite  # noqa: PLC0415 - the bench alone needs it

    costs = Costs()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        sqlite.migrate(path)
        store = sqlite.open_store(path, b"k" * 32, SystemDice().identity)
        began = time.perf_counter()
        small = await lived(store, course, 10, 40, 2)
        wall_s = time.perf_counter() - began
        await store.close()
        size = sum(file.stat().st_size for file in path.parent.iterdir())
    costs = replace(
        costs,
        turn_core_s=small.core_s / small.turns,
        sqlite_s=min(wall_s / small.transactions, await _commit_s()),
        event_bytes=size / small.events,
        replies_an_event=small.replies / small.events,
    )
    with contextlib.suppress(AssertionError, OSError, TimeoutError):
        costs = replace(costs, postgres_s=await asyncio.to_thread(_postgres_s))
    if with_runner:
        with contextlib.suppress(RunnerError, OSError):
            run_s, timing_s = await _run_times()
            costs = replace(costs, run_s=run_s, timing_s=timing_s)
    return costs


async def _commit_s(rounds: int = 300) -> float:
    """Time a bare writing transaction of SQLite through the store's door."""
    from bot.stores import sqlite  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        sqlite.migrate(path)
        store = sqlite.open_store(path, b"k" * 32, SystemDice().identity)
        began = time.perf_counter()
        for number in range(rounds):
            await store.enter("bench", str(number), SystemClock().now())
        took = time.perf_counter() - began
        await store.close()
    return took / rounds


def _postgres_s(rounds: int = 600, at_once: int = 8) -> float:
    """Time a writing transaction of PostgreSQL with eight under way, on a server of our own."""
    from tests.bot.databases import served  # noqa: PLC0415

    async def many(place: SqlStore) -> float:
        began = time.perf_counter()

        async def some(first: int) -> None:
            for number in range(first, rounds, at_once):
                await place.enter("bench", str(number), SystemClock().now())

        await asyncio.gather(*(some(first) for first in range(at_once)))
        took = time.perf_counter() - began
        await place.close()
        return took / rounds

    with served() as server:
        database = server.bare()
        asyncio.run(database.migrate())
        return asyncio.run(_opened(database, many))


async def _opened(database: object, work: object) -> float:
    return float(await work(database.open()))  # type: ignore[attr-defined, operator]


async def _run_times() -> tuple[float, float]:
    """Time a plain run and a measurement on a runner of our own, warm where it can be."""
    embedded = EmbeddedRunner(os.environ)
    client = await embedded.start()
    try:
        await asyncio.sleep(8)  # for the warm parent
        took = []
        for number, (kind, source) in enumerate([(JobKind.RUN, CODE)] * 3 + [(JobKind.TIME, TIMED)]):
            job = Job(f"bench{number}", kind, source, "bench", Device.CPU, Budget.DEFAULT, limits_for(Device.CPU))
            began = time.perf_counter()
            ends = [event.result.ending async for event in client.submit(job) if isinstance(event, Finished)]
            assert ends == [Ending.OK], ends
            took.append(time.perf_counter() - began)
        return min(took[:3]), took[3]
    finally:
        await embedded.close()


def told(costs: Costs, habit: Habit, sizes: Sequence[int]) -> dict[str, object]:
    """Put everything together."""
    chance = random.Random(7)  # noqa: S311 - a simulation
    rows = []
    for learners in sizes:
        parts = needed(learners, habit, costs)
        day = load(learners, habit, costs)
        slots = max(1, math.ceil(parts["cpu_slots"] / FULL))
        rows.append(
            {
                "learners": learners,
                "events_a_day": round(day.events),
                "turns_a_second_busy": round(day.turns * habit.busy / HOUR_S, 2),
                "transactions_a_second_busy": round(day.transactions * habit.busy / HOUR_S, 2),
                "runs_a_day": round(day.runs),
                "gpu_hours_a_day": round(day.gpu_seconds / HOUR_S, 1),
                "gib_kept": round(day.events * costs.event_bytes * KEEP_DAYS / 2**30, 1),
                "needed": {part: max(1, math.ceil(each / FULL)) for part, each in parts.items()},
                "run_waits": waits(learners, habit, costs, slots, chance),
            }
        )
    return {
        "benchmark": "capacity",
        "habit": asdict(habit),
        "costs": {name: round(value, 6) for name, value in asdict(costs).items()},
        "carried_by_one": carried(habit, costs),
        "days": rows,
    }


async def main() -> None:
    """Measure, work out, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-runner", action="store_true")
    parser.add_argument("--learners", type=int, nargs="*", default=list(LEARNERS))
    call = parser.parse_args()
    costs = await measured(load_course(), with_runner=not call.no_runner)
    print(json.dumps(told(costs, Habit(), call.learners)))


if __name__ == "__main__":
    asyncio.run(main())
