"""The formula of deploy/CAPACITY.md against the small system: stand-in learners cause what it says, by count."""

import random
from dataclasses import replace

from bot.stores.sql import SqlStore
from content.schema import Course
from tests.bench.capacity import Costs, Habit, carried, lived, load, needed, told, waits

LEARNERS, EVENTS, RUNS = 4, 12, 3
CHANCE = random.Random(1)  # noqa: S311 - a simulation


async def test_the_small_system_takes_as_many_turns_and_transactions_as_the_formula_says(
    store: SqlStore, course: Course
) -> None:
    found = await lived(store, course, LEARNERS, EVENTS, RUNS)
    habit = Habit(active=1.0, events=EVENTS, runs=RUNS, timings=0.0)
    said = load(LEARNERS, habit, Costs())
    assert (found.events, found.runs) == (said.events, said.runs)
    assert found.turns == said.turns
    assert found.transactions == said.transactions
    assert found.replies >= found.events


def test_twice_the_learners_ask_for_twice_of_everything_and_the_least_carried_saturates_first() -> None:
    habit, costs = Habit(), Costs()
    once, twice = needed(1000, habit, costs), needed(2000, habit, costs)
    assert all(abs(twice[part] - 2 * once[part]) < 1e-9 for part in once)
    most = carried(habit, costs)
    first = next(iter(most))
    assert most[first] == min(most.values())
    assert needed(most[first], habit, costs)[first] <= 0.7
    assert all(each <= 0.7 for each in needed(most[first], habit, costs).values())


def test_runs_wait_where_slots_are_too_few_and_not_where_the_formula_gave_them() -> None:
    habit, costs = Habit(), Costs()
    slots = int(needed(100_000, habit, costs)["cpu_slots"] / 0.7) + 1
    assert waits(100_000, habit, costs, slots, CHANCE)["most_s"] < 60
    assert waits(100_000, habit, costs, slots // 3, CHANCE)["most_s"] > 600


def test_a_longer_measurement_costs_slots_and_gpus_and_no_database() -> None:
    habit, costs = Habit(), Costs()
    short, long = needed(1000, habit, costs), needed(1000, habit, replace(costs, timing_s=2 * costs.timing_s))
    assert long["cpu_slots"] > short["cpu_slots"]
    assert long["gpus"] > short["gpus"]
    assert long["sqlite_writers"] == short["sqlite_writers"]
    days = told(costs, habit, (100, 1_000_000))["days"]
    assert isinstance(days, list)
    assert days[-1]["needed"]["cpu_slots"] > days[0]["needed"]["cpu_slots"]
