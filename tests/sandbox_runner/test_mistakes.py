"""Mistakes of measuring behind real walls: each that a CPU can show is found, and its twin raises no alarm.

Those marked `gpu` are run by `tests/gpu/mistakes.py` on a machine that has one; here only their count is kept. No test
here depends on an absolute time.
"""

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import mistake_data
import pytest

from sandbox_runner.protocol import Budget, Claim, Ending, Flag, Job, JobKind, Limits, Progress, Result

if TYPE_CHECKING:
    from conftest import Walls
    from mistake_data import Snippet


pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(300)]
ROOMY = Limits(memory_bytes=2 << 30, run_s=60, check_s=60, warmup_s=60, measure_s=60, compile_s=60)
GPU_PROGRAM = Path(__file__).resolve().parents[1] / "gpu" / "mistakes.py"
MISTAKES, TWINS = list(mistake_data.snippets("mistake")), list(mistake_data.snippets("twin"))
COMPARED = {"cpu_autocast", "numpy64_torch32", "grad_differs", "train_mode_differs", "work_differs", "results_differ"}
"""Mistakes of one variant beside the first: between joined snippets they mean nothing."""
BY_VERDICT = {"cpu_autocast", "autotune_long"}
"""Mistakes that are told of only where one variant is proven slower, or no faster, than the other."""


async def timed(walls: "Walls", source: str, budget: Budget = Budget.QUICK) -> Result:
    """Time a source for a short while behind the walls."""

    def silent(_: Progress) -> None:
        return None

    job = Job("test", JobKind.TIME, source, "learner", budget=budget, limits=ROOMY)
    return await walls.worker.run_job(job, 0, silent)


def mistakes_of(result: Result) -> list[Flag]:
    """Give the flags that are mistakes."""
    return [flag for flag in result.flags if "mistake" in flag.values]


def named(snippets: "list[Snippet]") -> str:
    """Name a group for a test's id."""
    return "+".join(snippet.name[:2] for snippet in snippets)


def on_cpu(found: "list[Snippet]", *, alone: bool) -> "list[Snippet]":
    """Choose the snippets that run here, by themselves or joined."""
    return [snippet for snippet in found if snippet.device == "cpu" and snippet.alone is alone]


@pytest.mark.parametrize("group", list(mistake_data.batches(on_cpu(MISTAKES, alone=False))), ids=named)
async def test_each_joined_mistake_is_found(walls: "Walls", group: "list[Snippet]") -> None:
    missed = list(group)
    for _ in range(3):  # a busy machine may hide what is told by times
        result = await timed(walls, mistake_data.joined(missed))
        found = {(flag.values["mistake"], flag.values.get("name", "")) for flag in mistakes_of(result)}
        missed = [s for s in missed if not {(s.number, s.name), (s.number, "")} & found]
        if not missed:
            break
    assert not missed, (result.ending, result.fault, result.flags)


@pytest.mark.parametrize("group", list(mistake_data.batches(on_cpu(TWINS, alone=False))), ids=named)
async def test_no_joined_twin_raises_an_alarm(walls: "Walls", group: "list[Snippet]") -> None:
    result = await timed(walls, mistake_data.joined(group))
    assert result.variants, (result.ending, result.fault)
    assert not [flag for flag in mistakes_of(result) if flag.code not in COMPARED]


@pytest.mark.parametrize("snippet", on_cpu(MISTAKES, alone=True), ids=lambda snippet: snippet.name)
async def test_each_mistake_that_stands_alone_is_found(walls: "Walls", snippet: "Snippet") -> None:
    for budget in (Budget.QUICK, Budget.DEFAULT, Budget.THOROUGH):  # a busy machine may leave a verdict unclear
        result = await timed(walls, snippet.source, budget)
        found = mistakes_of(result)
        if snippet.code in {flag.code for flag in found}:
            break
    if snippet.code in BY_VERDICT and any(ratio.claim is Claim.UNCLEAR for ratio in result.ratios):
        return  # so busy that no budget brought a verdict: then nothing is to be said of it
    assert snippet.code in {flag.code for flag in found}, (result.ending, result.fault, result.flags)
    assert {flag.values["mistake"] for flag in found if flag.code == snippet.code} == {snippet.number}


@pytest.mark.parametrize("snippet", on_cpu(TWINS, alone=True), ids=lambda snippet: snippet.name)
async def test_no_twin_that_stands_alone_raises_an_alarm(walls: "Walls", snippet: "Snippet") -> None:
    result = await timed(walls, snippet.source)
    assert result.ending is Ending.OK, result.fault
    assert not mistakes_of(result)


def on_gpu() -> "list[Snippet]":
    """Choose the snippets that need a GPU."""
    return [snippet for snippet in (*MISTAKES, *TWINS) if snippet.device == "gpu"]


@pytest.mark.gpu
@pytest.mark.parametrize("snippet", on_gpu(), ids=lambda snippet: snippet.name)
def test_a_snippet_that_needs_a_gpu_is_right_there(learners_python: Path, snippet: "Snippet") -> None:
    program = [sys.executable, str(GPU_PROGRAM), str(learners_python), snippet.name]
    seen = subprocess.run(program, capture_output=True, text=True, check=False)
    assert seen.returncode == 0, seen.stdout
