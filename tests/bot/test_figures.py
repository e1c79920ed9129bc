"""Figures are shown with the digits that their interval allows."""

import math

import pytest

from bot.engine import figures


@pytest.mark.parametrize(
    ("ns", "low", "high", "shown"),
    [
        (12_345_678, 12_220_000, 12_470_000, "12.3 ms"),
        (12_345_678, 12_345_000, 12_346_000, "12.35 ms"),
        (157e6, 120e6, 190e6, "160 ms"),
        (950, 900, 1000, "950 ns"),
        (1.26e6, 1.25e6, 1.27e6, "1.26 ms"),
        (20_000, 19_600, 20_400, "20.0 µs"),
        (3.2e9, 3.1e9, 3.3e9, "3.2 s"),
        (0.4, 0.3, 0.5, "0.4 ns"),
    ],
)
def test_a_time_has_no_more_digits_than_its_interval(ns: float, low: float, high: float, shown: str) -> None:
    assert figures.duration_within(ns, low, high) == shown


@pytest.mark.parametrize(
    ("point", "low", "high", "shown"),
    [
        (125.3, 118, 131, "125"),
        (1253, 900, 1600, "1,300"),
        (1.0132, 1.005, 1.021, "1.013"),
        (2, 1.92, 2.06, "2.00"),
        (7850, 7820, 7880, "7,850"),
        (5, 5, 5, "5.000"),
        (0.5, 0, 40, "0.5"),
    ],
)
def test_a_ratio_has_no_more_digits_than_its_interval(point: float, low: float, high: float, shown: str) -> None:
    assert figures.within(point, low, high) == shown


def test_an_interval_shows_both_ends_alike() -> None:
    assert figures.interval(118.2, 131.4) == "118–131"
    assert figures.interval(0.9804, 1.0512) == "0.98–1.05"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.3, "0.3"), (2.5, "2.5"), (10, "10"), (999.6, "1,000"), (0, "0"), (1 / 3, "0.333"), (100, "100")],
)
def test_a_plain_figure_has_no_empty_digits(value: float, shown: str) -> None:
    assert figures.plain(value) == shown


@pytest.mark.parametrize(("count", "shown"), [(0, "0 B"), (1023, "1023 B"), (64 << 10, "64 KiB"), (2 << 30, "2 GiB")])
def test_sizes_have_their_unit(count: int, shown: str) -> None:
    assert figures.size(count) == shown


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 0.0, 1e300, 1e-300])
def test_no_figure_is_too_strange_to_be_shown(value: float) -> None:
    assert figures.duration(value)
    assert figures.duration_within(value, value, value)
    assert figures.within(value, 0.0, math.inf)
    assert figures.interval(value, value)
    assert figures.plain(value)
