"""Turns samples of time into medians, ratios, intervals and a claim; pure, standard library only.

Law: no sample is ever dropped, and no assumption is made about how times are distributed. A ratio is the time of
`against` divided by the time of `name`, so more than 1 means that `name` is faster; swapping the two negates its
logarithm exactly.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from sandbox_runner.protocol import Claim

ALPHA, ALPHA_NOISY = 0.01, 0.001
NOISY = 0.05
LEAST_ROUNDS = 8
LEAST_DIFFERENCE = math.log(1.02)
MOST_SAME = math.log(1.04)
FEW_DIFFERENCE = math.log(1.25)
_MAD_TO_SD = 1.4826
_DECILE_TO_SD = 1.6449


@dataclass(frozen=True, slots=True)
class Interval:
    """A median and the interval that holds the true one with probability 99 %; the range where `few`."""

    point: float
    low: float
    high: float
    few: bool = False

    @property
    def half_width(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


def order_rank(n: int, alpha: float = ALPHA) -> int:
    """Give the largest k such that the k-th smallest and k-th largest of n enclose the median with 1 - alpha; 0: none.

    By the sign test: P(Binomial(n, 1/2) < k) <= alpha / 2. 99 % needs n >= 8.
    """
    below, rank = 0.0, 0
    for j in range(n // 2):
        below += math.comb(n, j) / 2**n
        if below > alpha / 2:
            break
        rank = j + 1
    return rank


def enclose(samples: Sequence[float], alpha: float = ALPHA) -> Interval:
    """Give the median of `samples` with its 99 % order-statistic interval; of fewer than 8, with their range.

    Another `alpha` gives another interval: 0.001 needs 11 samples.

    Raises:
        ValueError: there are no samples.
    """
    if not samples:
        message = "no samples"
        raise ValueError(message)
    ordered = sorted(samples)
    rank = order_rank(len(ordered), alpha)
    if not rank:
        return Interval(median(ordered), ordered[0], ordered[-1], few=True)
    return Interval(median(ordered), ordered[rank - 1], ordered[-rank])


def log_ratio(against: Sequence[float], name: Sequence[float]) -> float:
    """Compare the two blocks of each in one round, in time per call: positive where `name` is faster."""
    return math.log(sum(against) / sum(name))


def noise(nulls: Sequence[float]) -> float:
    """Estimate the relative standard deviation of one block from ln(first / second) of equal blocks in a round.

    The larger of what the middle and what the tail say (median and 9th decile of the deviations, each as a normal
    deviation would have it): a busy machine leaves most blocks alone and doubles the rest.
    """
    if not nulls:
        return 0.0
    middle = median(nulls)
    deviations = [abs(null - middle) for null in nulls]
    return max(_MAD_TO_SD * median(deviations), quantile(deviations, 0.9) / _DECILE_TO_SD) / math.sqrt(2)


def threshold(block_noise: float, n: int) -> float:
    """Give the smallest |ln ratio| that is called a difference: 2 %, or more where this run itself was noisy."""
    return max(LEAST_DIFFERENCE, 3 * block_noise / math.sqrt(n))


def judged(samples: Sequence[float], block_noise: float) -> Interval:
    """Give the interval that a claim is made from: the shown one, or a wider one (99.9 %) where the run was noisy."""
    return enclose(samples, ALPHA if block_noise <= NOISY else ALPHA_NOISY)


def claim(logs: Interval, block_noise: float, n: int, least: float = 0.0) -> Claim:
    """Say what an interval of the log ratio allows to be said; what is under `least` is no difference at all.

    "Same" never stretches with the noise beyond 4 %: what a noisy run cannot see is unclear, not absent.
    """
    if logs.few:
        delta, same = max(FEW_DIFFERENCE, threshold(block_noise, n)), -1.0
    else:
        delta = max(threshold(block_noise, n), least)
        same = min(delta, MOST_SAME)
    if logs.low > delta:
        return Claim.FASTER
    if logs.high < -delta:
        return Claim.SLOWER
    if -same <= logs.low and logs.high <= same:
        return Claim.SAME
    return Claim.UNCLEAR


def few_interval(against: Sequence[float], name: Sequence[float]) -> Interval:
    """Enclose the log ratio of a handful of blocks by its extremes: every block of one against every of the other.

    Raises:
        ValueError: one of the two has no block.
    """
    if not against or not name:
        message = "no samples"
        raise ValueError(message)
    low, high = math.log(min(against) / max(name)), math.log(max(against) / min(name))
    return Interval(math.log(median(against) / median(name)), low, high, few=True)


def quantile(samples: Sequence[float], share: float) -> float:
    """Give the smallest sample that at least `share` of all do not exceed.

    Raises:
        ValueError: there are no samples.
    """
    if not samples:
        message = "no samples"
        raise ValueError(message)
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def significant(point: float, interval: tuple[float, float], most: int = 3) -> str:
    """Write `point` with only the digits that `interval` allows: the last one is where its half-width begins.

    At most `most` significant digits; plain notation, Western digits. `467.3, (455, 480)` gives `470`.
    """
    if point == 0 or not math.isfinite(point):
        return str(point)
    leading = math.floor(math.log10(abs(point)))
    half = (interval[1] - interval[0]) / 2
    place = leading - most + 1
    if half > 0 and math.isfinite(half):
        place = max(place, min(math.floor(math.log10(half)), leading))
    return f"{round(point, -place):.{max(0, -place)}f}"
