"""How a GPU stood while something was measured, what is still at work on it, and what it was let to round."""

import asyncio
import random
from collections.abc import Iterator

import pytest

from sandbox_runner.asking import Named, Stopped
from sandbox_runner.checking import Checking
from sandbox_runner.gpus import Health, Strain, watch_strain
from sandbox_runner.hearing import Hearing, Left
from sandbox_runner.outerclock import OuterClock, Waited
from sandbox_runner.protocol import Ending, Flag

NAMED = (Named("a", 3, ("",)), Named("b", 5, ("",)))
EMPTY = [(100, 100_000)] * 20


def strained(*seen: Health) -> Strain:
    """Let one GPU be looked at, once for each thing to be seen."""
    looks = iter(seen)
    strain = Strain((lambda: next(looks),))
    for _ in seen:
        strain.mhz()
    return strain


def test_clock_and_temperature_are_told_as_they_were_first_last_and_at_the_lowest() -> None:
    told = strained(Health(1980, 40), Health(1200, 50), Health(1900, 55)).told()
    assert told == [Flag("gpu_state", {"mhz": 1900, "least_mhz": 1200, "celsius": 55, "celsius_before": 40})]


@pytest.mark.parametrize("why", ["power", "heat", "hardware", "power_brake"])
def test_what_held_the_clock_down_for_a_part_of_the_time_is_named(why: str) -> None:
    told = strained(Health(slowed=why), Health(), Health(slowed=why), Health()).told()
    assert told == [Flag(f"gpu_slowed_{why}", {"part": 0.5})]
    assert strained(Health(slowed=why), *[Health()] * 19).told() == []


def test_of_several_gpus_the_lowest_clock_counts_and_of_none_nothing_is_known() -> None:
    assert Strain((lambda: Health(1900), lambda: Health(1500), Health)).mhz() == 1500
    assert (Strain().mhz(), Strain().told()) == (None, [])


def test_a_host_without_a_gpu_is_watched_without_a_word(tmp_path_factory: pytest.TempPathFactory) -> None:
    assert watch_strain(dev=tmp_path_factory.mktemp("dev")).told() == []


def heard(blocks: Iterator[Waited], readings: list[int]) -> Hearing:
    """Look for work that was left, where blocks and readings of results take what is given."""

    async def block(variant: int, size: int) -> Waited:
        return next(blocks)

    async def read(variant: int) -> int:
        return readings.pop(0)

    async def empty(variant: int) -> Waited:
        return EMPTY[0]

    hearing = Hearing(OuterClock(empty=list(EMPTY)), block, empty, lambda: 0, lambda: 10.0)
    asyncio.run(hearing.look_for_late_work(read, [1]))
    return hearing


BLOCK = (1_000_000, 1_100_000)


def test_a_result_that_is_read_as_quickly_the_first_time_as_again_acquits() -> None:
    found = heard(iter([BLOCK]), [900_000, 850_000])
    assert (found.left, found.unsettled) == (None, False)
    interrupted = heard(iter([BLOCK, BLOCK]), [9_000_000, 800_000, 900_000, 850_000])
    assert (interrupted.left, interrupted.unsettled) == (None, False)


def test_work_that_goes_on_after_every_block_is_proven() -> None:
    found = heard(iter([BLOCK] * 6), [5_000_000, 800_000] * 6)
    assert found.left == Left(0, 4_200_000, 1_100_000)


def test_little_that_is_left_is_not_proven_and_not_confirmed() -> None:
    found = heard(iter([(9_900_000, 10_000_000)] * 6), [2_500_000, 800_000] * 6)
    assert (found.left, found.unsettled) == (None, True)


def test_what_looks_like_tf32_is_held_against_the_type_of_the_products() -> None:
    checking = Checking((), NAMED, random.Random(1), cuda=True)  # noqa: S311 - a test repeats itself
    checking.reduced = {1: 3e-4}
    checking.flags = [Flag("reduced_precision", {"name": "b"})]
    checking.hold_against({0: "float16", 1: "tf32"})
    checking.hold_against({})
    with pytest.raises(Stopped) as stopped:
        checking.hold_against({1: "float16"})
    assert stopped.value.ending is Ending.WRONG_RESULT
    (flag,) = stopped.value.flags
    assert (flag.code, flag.values["name"], flag.values["precision"]) == ("lowered_precision", "b", "float16")
    assert checking.flags == []
