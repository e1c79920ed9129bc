"""Intervals cover what they say, ratios are antisymmetric, and a claim is never turned round by noise."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_runner.protocol import Claim
from sandbox_runner.stats import (
    Interval,
    claim,
    enclose,
    few_interval,
    judged,
    log_ratio,
    noise,
    order_rank,
    quantile,
    significant,
    threshold,
)

times = st.floats(1.0, 1e9, allow_nan=False)
blocks = st.lists(times, min_size=2, max_size=2)
logs = st.lists(st.floats(-20, 20), min_size=1, max_size=80)


def rounds(n: int, true_log: float, spread: float, rng: random.Random) -> list[float]:
    """Skewed, heavy-tailed rounds: what a busy machine gives."""
    return [true_log + spread * (rng.gauss() + (rng.expovariate(1) * 5 if rng.random() < 0.1 else 0)) for _ in range(n)]


def test_the_ranks_are_those_of_the_sign_test() -> None:
    assert [order_rank(n) for n in (0, 1, 7, 8, 11, 20, 24, 300)] == [0, 0, 0, 1, 1, 4, 6, 128]


@pytest.mark.parametrize("n", [8, 20, 60])
def test_the_interval_misses_the_true_median_as_seldom_as_it_says(n: int) -> None:
    rng = random.Random(n)  # noqa: S311 - samples, no secrets
    missed = 0
    for _ in range(2000):
        found = enclose([rng.lognormvariate(0, 0.3) for _ in range(n)])
        missed += not found.low <= 1 <= found.high
    assert missed <= 2000 * 0.01 + 3 * math.sqrt(2000 * 0.01)


def test_no_equal_pair_gets_a_verdict_of_different_and_a_true_tenth_is_never_turned_round() -> None:
    rng = random.Random(7)  # noqa: S311 - samples, no secrets
    for spread in (0.002, 0.02, 0.1):
        for _ in range(300):
            equal = rounds(24, 0.0, spread, rng)
            assert claim(enclose(equal), noise([2 * e for e in equal]), 24) in {Claim.SAME, Claim.UNCLEAR}
            tenth = rounds(24, math.log(1.1), spread, rng)
            said = claim(enclose(tenth), noise([2 * (t - math.log(1.1)) for t in tenth]), 24)
            assert said in {Claim.FASTER, Claim.UNCLEAR}


@given(blocks, blocks)
def test_swapping_the_two_negates_the_log_of_the_ratio(a: list[float], b: list[float]) -> None:
    assert log_ratio(a, b) == pytest.approx(-log_ratio(b, a), abs=1e-12)


@given(logs, st.floats(0, 0.5))
def test_swapping_the_two_swaps_the_claim(values: list[float], block_noise: float) -> None:
    swapped = {Claim.FASTER: Claim.SLOWER, Claim.SLOWER: Claim.FASTER}
    one = claim(enclose(values), block_noise, len(values))
    two = claim(enclose([-value for value in values]), block_noise, len(values))
    assert two is swapped.get(one, one)


@given(logs)
def test_the_interval_holds_its_point_and_never_leaves_the_samples(values: list[float]) -> None:
    found = enclose(values)
    assert min(values) <= found.low <= found.point <= found.high <= max(values)
    assert found.few == (len(values) < 8)


@given(logs, st.randoms())
def test_the_order_of_rounds_does_not_matter(values: list[float], rng: random.Random) -> None:
    shuffled = values.copy()
    rng.shuffle(shuffled)
    assert enclose(shuffled) == enclose(values)


@given(st.lists(times, min_size=1, max_size=6), st.lists(times, min_size=1, max_size=6))
def test_the_range_of_few_blocks_holds_the_ratio_of_every_two(a: list[float], b: list[float]) -> None:
    found = few_interval(a, b)
    assert found.few
    for x in a:
        for y in b:
            assert found.low - 1e-9 <= math.log(x / y) <= found.high + 1e-9


@pytest.mark.parametrize(
    ("low", "high", "few", "said"),
    [
        (0.05, 0.10, False, Claim.FASTER),
        (-0.10, -0.05, False, Claim.SLOWER),
        (-0.01, 0.01, False, Claim.SAME),
        (0.01, 0.10, False, Claim.UNCLEAR),
        (0.20, 0.30, True, Claim.UNCLEAR),
        (0.23, 0.30, True, Claim.FASTER),
        (-0.30, -0.23, True, Claim.SLOWER),
        (0.0, 0.0, True, Claim.UNCLEAR),
    ],
)
def test_a_claim_needs_its_whole_interval(low: float, high: float, *, few: bool, said: Claim) -> None:
    assert claim(Interval((low + high) / 2, low, high, few), 0.0, 20) is said


def test_a_noisy_run_raises_what_counts_as_a_difference_but_never_calls_a_twentieth_the_same() -> None:
    assert threshold(0.0, 20) == math.log(1.02)
    assert threshold(0.2, 9) == pytest.approx(0.2)
    assert claim(Interval(0.1, 0.05, 0.15), 0.2, 9) is Claim.UNCLEAR
    assert claim(Interval(0.03, 0.0, math.log(1.05)), 0.2, 9) is Claim.UNCLEAR


def test_noise_is_the_standard_deviation_of_one_block() -> None:
    rng = random.Random(3)  # noqa: S311 - samples, no secrets
    nulls = [rng.gauss(0, 0.05) - rng.gauss(0, 0.05) for _ in range(4000)]
    assert noise(nulls) == pytest.approx(0.05, rel=0.1)
    assert noise([]) == 0.0


def test_a_noisy_run_needs_more_rounds_for_the_same_claim() -> None:
    logs = [0.1 + i / 1000 for i in range(9)]
    assert claim(judged(logs, 0.01), 0.01, 9) is Claim.FASTER
    assert claim(judged(logs, 0.1), 0.01, 9) is Claim.UNCLEAR
    assert claim(judged([log + 0.2 for log in logs], 0.1), 0.01, 9) is Claim.FASTER
    assert order_rank(10, 0.001) == 0
    assert order_rank(11, 0.001) == 1


def test_a_tail_of_interrupted_blocks_counts_as_noise() -> None:
    assert noise([0.0] * 16 + [0.7, -0.7, 0.9, -0.9]) > 0.2


def test_quantiles_are_samples() -> None:
    assert [quantile([5, 1, 4, 2, 3], share) for share in (0.0, 0.2, 0.5, 0.99, 1.0)] == [1, 1, 3, 5, 5]


@pytest.mark.parametrize(
    ("point", "ci", "text"),
    [
        (467.3, (455.0, 480.0), "470"),
        (1.5234, (1.50, 1.54), "1.52"),
        (1.5234, (1.2, 1.9), "1.5"),
        (292.34, (282.3, 299.0), "292"),
        (123456.0, (123455.0, 123457.0), "123000"),
        (0.01234, (0.0120, 0.0126), "0.0123"),
        (3.4, (0.1, 90.0), "3"),
        (2.0, (2.0, 2.0), "2.00"),
        (0.0, (0.0, 0.0), "0.0"),
    ],
)
def test_only_the_digits_that_the_interval_allows_are_written(point: float, ci: tuple[float, float], text: str) -> None:
    assert significant(point, ci) == text


@pytest.mark.parametrize("call", [lambda: enclose([]), lambda: quantile([], 0.5), lambda: few_interval([], [1.0])])
def test_nothing_cannot_be_summed_up(call: "object") -> None:
    assert callable(call)
    with pytest.raises(ValueError, match="no samples"):
        call()


@settings(max_examples=200)
@given(st.floats(1e-6, 1e9), st.floats(0, 1e9))
def test_what_is_written_lies_well_within_the_interval_or_half_of_its_last_digit(point: float, half: float) -> None:
    written = float(significant(point, (point - half, point + half)))
    leading = 10.0 ** math.floor(math.log10(point))
    assert (
        abs(written - point) <= max(half, leading / 100) / 2 * 1.0001 + 1e-12
        or abs(written - point) <= leading / 2 * 1.0001
    )


def test_few_rounds_of_a_noisy_run_claim_only_what_stands_out_of_its_noise() -> None:
    apart = Interval(0.8, 0.5, 1.2, few=True)
    assert claim(apart, 0.0, 8) is Claim.FASTER
    assert claim(apart, 1.0, 8) is Claim.UNCLEAR
