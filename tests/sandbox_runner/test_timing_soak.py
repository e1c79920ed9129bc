"""The long form of the timing bench, as a soak test whose result is kept."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[1] / "bench" / "timing.py"
RUNS, SECONDS = 200, 1380.0

_spec = importlib.util.spec_from_file_location("bench_timing", BENCH)
assert _spec is not None
assert _spec.loader is not None
bench_timing = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(bench_timing)


def test_thirteen_of_six_hundred_equal_pairs_may_be_taken_for_different() -> None:
    assert bench_timing.allowed_exclusions(600) == 13
    assert bench_timing.allowed_exclusions(15) == 2


@pytest.mark.soak
async def test_the_instrument_is_honest_over_hundreds_of_runs(
    record_property: Any,  # noqa: ANN401 - pytest's own type is not exported
) -> None:
    found = await bench_timing.bench(RUNS, SECONDS)
    record_property("timing", found)
    assert found["equal"]["wrong_verdicts"] == 0
    assert found["equal"]["excludes_1"] <= found["equal"]["most"]
    for kept in (found["injected"], found["under_load"]["injected"]):
        assert all(kept[known]["wrong_verdicts"] == 0 for known in ("1.02", "1.05", "1.10", "1.25"))
    assert found["under_load"]["equal"]["wrong_verdicts"] == 0
