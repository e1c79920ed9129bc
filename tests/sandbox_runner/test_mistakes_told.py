"""Which mistakes are told of, and in which order; what a forged finding can do: nothing."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from sandbox_runner import mistakes
from sandbox_runner.asking import Named
from sandbox_runner.mistakes import MISTAKES, Found, Looked, Mistakes, arranged
from sandbox_runner.protocol import Claim, Flag, Phase, Ratio, Variant

NAMED = (Named("a", 3, ("",)), Named("b", 5, ("",)))


class ScriptedHarness:
    """A harness that answers what it was told to."""

    def __init__(self, *found: Found) -> None:
        self.found = found

    async def ask(self, kind: type[Looked], op: str, **fields: object) -> tuple[Looked, bytes, int]:
        return Looked(self.found), b"", 0

    def phase(self, phase: Phase) -> None:
        raise NotImplementedError


def looked(*found: Found, cuda: bool = False) -> Mistakes:
    """Give a search to which a harness has told some findings."""
    search = Mistakes(ScriptedHarness(*found), NAMED, 10, cuda)  # type: ignore[arg-type]
    asyncio.run(search.look())
    return search


def variant(name: str, median_ns: float, compile_ns: float = 0.0) -> Variant:
    return Variant(name, median_ns, median_ns, (median_ns, median_ns), 20, 1, median_ns, compile_ns)


def phrases() -> Iterator[str]:
    text = (Path(__file__).resolve().parents[2] / "content" / "phrases.yaml").read_text(encoding="utf-8")
    yield from yaml.safe_load(text)


def test_every_mistake_of_the_47_has_a_code_and_every_code_its_sentence() -> None:
    assert {mistake.number for mistake in MISTAKES.values()} == set(range(1, 48))
    assert {f"flag.{code}" for code in MISTAKES} <= set(phrases())
    assert all(0 < mistake.weight <= 1 for mistake in MISTAKES.values())


def test_every_mistake_of_the_47_has_a_snippet_and_a_twin() -> None:
    folders = [path for path in (Path(__file__).parent / "mistakes").iterdir() if path.name[:2].isdigit()]
    assert {int(path.name[:2]) for path in folders} == set(range(1, 48))
    assert all((path / name).exists() for path in folders for name in ("mistake.py", "twin.py"))


def test_the_mistake_that_changes_the_number_most_comes_first_and_other_remarks_last() -> None:
    flags = [
        Flag("noisy", {"noise": 0.2}),
        Flag("print_timed", {"name": "a", "share": 0.2}, 3),
        Flag("creation_timed", {"name": "a", "share": 0.62}),
        Flag("np_vectorize", {"name": "b", "what": "vectorize"}),
        Flag("in_cache", {"name": "b", "times": 4.0}),
    ]
    found = arranged(flags)
    assert [flag.code for flag in found] == ["np_vectorize", "in_cache", "creation_timed", "print_timed", "noisy"]
    assert [flag.values.get("mistake") for flag in found] == [32, 4, 35, 36, None]


def test_a_mistake_found_twice_is_told_of_once_with_its_size() -> None:
    flags = [Flag("print_timed", {}, 4), Flag("print_timed", {"name": "a", "share": 0.4}, 4)]
    (flag,) = arranged(flags)
    assert flag.values == {"name": "a", "share": 0.4, "mistake": 36}
    assert [
        flag.code for flag in arranged([Flag("generator", {"name": "a"}), Flag("results_lazy", {"name": "a"})])
    ] == ["results_lazy"]


@pytest.mark.parametrize(
    "forged",
    [
        Found("no_such_code", 1),
        Found("h2d_copy", 11, {"share": 0.5}, 0),
        Found("h2d_copy", 0, {"share": 0.5}, 0),
        Found("h2d_copy", 1, {"share": 1.5}, 0),
        Found("h2d_copy", 1, {"share": -0.5}, 0),
        Found("h2d_copy", 1, {"share": 0.5}, 2),
        Found("h2d_copy", 1, {"share": 0.5}, -2),
        Found("h2d_copy", 1, {"mistake": 1.0}, 0),
        Found("promoted", 1, {"what": "x" * 81}, 0),
        Found("promoted", 1, {"what": "a\u202eb"}, 0),
        Found("promoted", 1, {"name": "c"}, 0),
    ],
)
def test_a_finding_that_cannot_be_is_not_told_of(forged: Found) -> None:
    assert looked(forged).flags() == []


def test_a_flood_of_findings_is_cut() -> None:
    assert len(looked(*[Found("no_sync", 1)] * 1000).found) == mistakes._MOST_FOUND


def test_a_source_s_own_first_call_is_told_of_only_where_the_processor_worked_all_the_while() -> None:
    times = [variant("a", 1e6)]
    busy, idle = Found("own_cpu", None, {"cpu_ns": 90e6}, 0), Found("own_cpu", None, {"cpu_ns": 1.2e6}, 0)
    compiled = Found("compiled_frames", None, {"count": 1})
    assert [flag.code for flag in looked(busy).flags(times, (), (100_000_000,))] == ["first_call_timed"]
    assert [flag.code for flag in looked(busy, compiled).flags(times, (), (100_000_000,))] == ["compile_timed"]
    assert looked(idle, compiled).flags(times, (), (100_000_000,)) == []
    assert looked(busy).flags(times, (), (3_000_000,)) == []


def test_a_number_far_under_ours_on_a_gpu_was_read_before_the_work_had_ended() -> None:
    assert [flag.code for flag in looked(cuda=True).flags([variant("a", 1e6)], (), (50_000,))] == ["no_sync"]
    assert looked().flags([variant("a", 1e6)], (), (50_000,)) == []


def test_autotuning_that_does_not_pay_is_told_of_with_what_it_cost() -> None:
    times = [variant("a", 2e6), variant("b", 1e6, compile_ns=9e9)]
    faster = Ratio("b", "a", 2.0, (1.9, 2.1), Claim.FASTER, 20, break_even=9000.0)
    (flag,) = looked(Found("uses_autotune", 2)).flags(times, (faster,))
    assert (flag.code, flag.values) == ("autotune_long", {"name": "b", "compile_ns": 9e9, "count": 9000})
    soon = Ratio("b", "a", 2.0, (1.9, 2.1), Claim.FASTER, 20, break_even=90.0)
    assert looked(Found("uses_autotune", 2)).flags(times, (soon,)) == []


def test_an_overwritten_output_of_a_cuda_graph_is_known_by_its_error() -> None:
    said = "RuntimeError: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run"
    assert [flag.code for flag in looked().flags(fault=said)] == ["cudagraph_overwritten"]


def test_full_precision_beside_half_is_no_fair_baseline_on_a_gpu() -> None:
    full, half = Found("uses_full_fp32", 3, {}, 0), Found("uses_half", 5, {}, 1)
    assert [flag.code for flag in looked(full, half, cuda=True).flags()] == ["tf32_off"]
    assert looked(full, cuda=True).flags() == []


@pytest.mark.parametrize(
    ("median_ns", "gpu_ns", "told"),
    [(1e6, 0.2e6, ["launch_bound"]), (1e6, 0.9e6, []), (1e6, 0.0, []), (9e3, 2e3, []), (1e6, 1.2e6, [])],
)
def test_a_host_that_takes_much_longer_than_its_gpu_works_is_bound_by_launches(
    median_ns: float, gpu_ns: float, told: list[str]
) -> None:
    found = looked(cuda=True).flags([replace(variant("b", median_ns), gpu_ns=gpu_ns)])
    assert [flag.code for flag in found] == told
    assert [flag.values["share"] for flag in found] == [1 - gpu_ns / median_ns] * len(told)


def test_a_gpu_that_waits_for_data_is_not_said_to_wait_for_launches_too() -> None:
    found = looked(Found("gpu_idle", 5, {"share": 0.8}, 1), cuda=True)
    flags = found.flags([replace(variant("b", 1e6), gpu_ns=0.2e6)])
    assert [flag.code for flag in flags] == ["gpu_idle"]
