"""No false alarm: ordinary snippets and the lessons' own examples, looked at by every rule and every pass.

Nothing is timed here: the real harness, in a process of its own, is asked for its findings only. What an example has
on purpose, because its lesson is about it, is listed, and must be found.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mistake_data
import pytest
import warm_python
import yaml

from sandbox_runner.asking import Done, Harness, Made, Parsed, Pinned, SetUp
from sandbox_runner.channel import Channel
from sandbox_runner.mistakes import MISTAKES, Mistakes, arranged
from sandbox_runner.protocol import Limits, Phase

if TYPE_CHECKING:
    from mistake_data import Snippet
    from warm_python import WarmPython

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]
ON_PURPOSE = {
    "list-or-array": {"loop_over_array"},
    "three-ways": {"loop_over_array"},
    "false-friends": {"np_vectorize"},
    "standardise": {"loop_over_array"},
    "inside": {"creation_timed"},
}
"""What a lesson's example shows on purpose, by the example's id."""
BY_MACHINE = {"in_cache", "casts_cost"}
"""What is so on one machine and not on another: whether data fits in a cache, what a cast costs beside a product."""


@pytest.fixture(scope="module")
def warm(learners_python: Path) -> Iterator["WarmPython"]:
    """Give the learners' interpreter with numpy and torch imported once; each harness is a fork of it."""
    with warm_python.warm_python(learners_python) as python:
        yield python


async def inspected(warm: "WarmPython", source: str) -> list[tuple[str, Any]]:
    """Look at a source in a process of its own, and give the code and the variant of each mistake."""
    ours = warm.serve(source, ROOT / "sandbox_runner")
    channel = Channel(ours)
    harness = Harness(channel, Limits(import_s=100, run_s=100, check_s=100), lambda _: None)
    try:
        with harness.phase(Phase.IMPORT):
            await harness.ask(Pinned, "pin", threads=1, cores=[max(os.sched_getaffinity(0))])
            parsed, _, _ = await harness.ask(Parsed, "parse")
            mistakes = Mistakes(harness, parsed.variants, source.count("\n") + 1)
            await mistakes.look()
            await harness.ask(Done, "imports")
        with harness.phase(Phase.RUN):
            setup, _, _ = await harness.ask(SetUp, "setup")
            if setup.makes:
                await harness.ask(Made, "fresh", seed=1, n=setup.n)
        await mistakes.instrument(setup.n)
    finally:
        channel.close()
    return [(flag.code, flag.values.get("name", "")) for flag in arranged(mistakes.flags())]


def innocent_groups() -> list[list["Snippet"]]:
    """Divide the ordinary snippets into sources of at most eight variants."""
    return list(mistake_data.batches(list(mistake_data.innocents()), 8))


def examples() -> Iterator[Any]:
    """Give the lessons' examples that are timed and need no GPU."""
    for path in sorted((ROOT / "content" / "lessons").glob("*/lesson.yaml")):
        for example in yaml.safe_load(path.read_text(encoding="utf-8")).get("examples", ()):
            source = (path.parent / example["file"]).read_text(encoding="utf-8")
            compiles = "torch.compile" in source  # a compiler in a test's budget is another test's matter
            if example["kind"] == "time" and example.get("device", "cpu") != "cuda" and not compiles:
                only_gpu = "cpu" not in example.get("devices", ("cpu",))
                needs = only_gpu or "raise SystemExit" in source or re.search(r"""device="cuda"|to\("cuda"\)""", source)
                marks = [pytest.mark.gpu] if needs else []
                yield pytest.param(example["id"], source, id=example["id"], marks=marks)


def test_there_are_enough_ordinary_snippets() -> None:
    assert sum(len(group) for group in innocent_groups()) >= 30


@pytest.mark.parametrize("group", innocent_groups(), ids=lambda group: group[0].name)
async def test_an_ordinary_snippet_raises_no_alarm(warm: "WarmPython", group: list["Snippet"]) -> None:
    found = await inspected(warm, mistake_data.joined(group))
    between = {"grad_differs", "work_differs", "numpy64_torch32"}  # of one snippet beside another: joined, no meaning
    assert not [each for each in found if each[0] not in between]


def spelt(kind: str) -> list[list["Snippet"]]:
    """Divide the learners' spellings that a call shows into sources; what compares variants stands alone."""
    found = list(mistake_data.spelt("watched", kind))
    joined = list(mistake_data.batches([each for each in found if not each.alone], 8))
    return [*joined, *([each] for each in found if each.alone)]


@pytest.mark.parametrize("group", spelt("mistake"), ids=lambda group: group[0].name)
async def test_a_mistake_that_a_call_shows_is_found_in_a_learner_s_spelling(
    warm: "WarmPython", group: list["Snippet"]
) -> None:
    source = group[0].source if group[0].alone else mistake_data.joined(group)
    missed = list(group)
    for _ in range(3):  # a busy machine may hide what a share of time tells
        found = {(MISTAKES[code].number, name) for code, name in await inspected(warm, source)}
        told = {number for number, _ in found} if group[0].alone else set()
        missed = [each for each in missed if not ({(each.number, each.name)} & found or each.number in told)]
        if not missed:
            break
    assert not missed


@pytest.mark.parametrize("group", spelt("twin"), ids=lambda group: group[0].name)
async def test_a_call_of_a_learner_s_honest_spelling_raises_no_such_alarm(
    warm: "WarmPython", group: list["Snippet"]
) -> None:
    source = group[0].source if group[0].alone else mistake_data.joined(group)
    found = {(MISTAKES[code].number, name) for code, name in await inspected(warm, source)}
    told = {number for number, _ in found} if group[0].alone else set()
    assert not [each for each in group if (each.number, each.name) in found or each.number in told]


@pytest.mark.parametrize(("name", "source"), list(examples()))
async def test_a_lesson_s_example_raises_only_the_alarms_it_is_about(
    warm: "WarmPython", name: str, source: str
) -> None:
    found = await inspected(warm, source)
    found = [each for each in found if each[0] not in BY_MACHINE]
    assert {code for code, _ in found} == ON_PURPOSE.get(name, set()), found
