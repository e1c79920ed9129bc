"""A GPU's clock that falls costs rounds, never single blocks, and only where enough are left."""

import math
import random
from collections.abc import Sequence

import pytest

from sandbox_runner.asking import Harness, Seat
from sandbox_runner.channel import Channel
from sandbox_runner.protocol import Limits
from sandbox_runner.rounds import Pair, Round, Rounds, _alike


class NoChannel(Channel):
    """A channel that nobody asks anything."""

    def __init__(self) -> None:
        return


def measured(clocks: Sequence[int | None]) -> Rounds:
    """Give a measuring of two variants in which a round took as long as its clock was low."""
    harness = Harness(NoChannel(), Limits(), lambda _: None)
    rounds = Rounds((Seat(harness, 0), Seat(harness, 1)), lambda: 0, random.Random(1), 1.0, [1.0, 1.0])  # noqa: S311
    pair = Pair(0, 1)
    rounds.pairs, rounds.samples = [pair], {0: [], 1: []}
    for mhz in clocks:
        each = 1000.0 / (mhz or 1000)
        times = {0: [2 * each, 2 * each], 1: [each, each]}
        rounds._rounds.append(Round(mhz, (pair,), times))
        pair.logs.append(math.log(2 if mhz != 500 else 9))
        for variant, taken in times.items():
            rounds.samples[variant] += taken
    rounds._drop_slow_clocks()
    return rounds


def test_rounds_under_three_quarters_of_the_best_clock_are_dropped_and_it_is_said() -> None:
    rounds = measured([1000] * 10 + [500] * 3 + [800])
    assert len(rounds.pairs[0].logs) == 11
    assert rounds.pairs[0].logs == pytest.approx([math.log(2)] * 11)
    assert sorted(set(rounds.samples[1])) == [1.0, 1.25]
    (flag,) = rounds.flags
    assert (flag.code, flag.values) == ("gpu_clock_fell", {"part": 0.5, "rounds": 3})


def test_where_too_few_would_be_left_none_is_dropped_and_it_is_said() -> None:
    rounds = measured([1000] * 5 + [500] * 5)
    assert len(rounds.pairs[0].logs) == 10
    assert len(rounds.samples[0]) == 20
    assert [flag.values["rounds"] for flag in rounds.flags] == [0]


@pytest.mark.parametrize("clocks", [[None] * 9, [1000] * 9, [None] + [900] * 9])
def test_a_steady_clock_and_none_at_all_change_nothing(clocks: list[int | None]) -> None:
    rounds = measured(clocks)
    assert len(rounds.pairs[0].logs) == len(clocks)
    assert rounds.flags == []


def test_variants_of_nearly_equal_time_get_blocks_of_one_size() -> None:
    assert _alike([140.0, 100.0, 1000.0, 1400.0, 149.0]) == [100.0, 100.0, 1000.0, 1000.0, 100.0]
    assert _alike([100.0, 151.0]) == [100.0, 151.0]
