"""Every example, answer and exercise of the lessons, run by the learners' interpreter and compared with the text."""

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
import warm_python

from content import drafts, loader, schema, snippets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warm_python import WarmPython


pytestmark = pytest.mark.sandbox

LESSONS = sorted(path.parent for path in (loader.HERE / "lessons").glob("*/lesson.yaml"))
DRAFTS = {folder.name: drafts.read_draft(folder, folder.name) for folder in LESSONS}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


Part = TypeVar("Part", schema.Example, schema.PredictOutput, schema.WriteCode, schema.Exercise)


def parts(kind: type[Part]) -> list[tuple[str, Part]]:
    """Give the lessons' parts of a type; what only a GPU can run is run by the script in tests/gpu."""
    found = [(slug, part) for slug, draft in DRAFTS.items() for _, part in draft.each(kind)]
    return [(slug, part) for slug, part in found if "cpu" in getattr(part, "devices", ("cpu",))]


def named(found: list[tuple[str, Part]]) -> list[object]:
    return [pytest.param(slug, part, id=f"{slug}-{part.id}") for slug, part in found]


@pytest.fixture(scope="module")
def warm(learners_python: Path) -> "Iterator[WarmPython]":
    """Give the learners' interpreter with numpy and torch imported once; each program is a fork of it."""
    with warm_python.warm_python(learners_python) as python:
        yield python


def run(warm: "WarmPython", file: Path, *, source: str | None = None) -> str:
    ran = warm.run(file.read_text(encoding="utf-8"), file=str(file)) if source is None else warm.run(source)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return str(ran.stdout)


def same(printed: str, expected: str, rel: float) -> bool:
    """Compare word by word: numbers within `rel`, all else exactly."""
    if rel == 0:
        return printed == expected
    if NUMBER.sub("#", printed) != NUMBER.sub("#", expected):
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(expected), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=rel) for a, b in pairs)


# The cells of a timed example are run by the test below, which compares what they give.
RUN = [each for each in parts(schema.Example) if each[1].kind == "run"]


@pytest.mark.parametrize(("slug", "example"), named(RUN))
def test_an_example_prints_what_its_file_says(slug: str, example: schema.Example, warm: "WarmPython") -> None:
    folder = loader.HERE / "lessons" / slug
    printed = run(warm, folder / example.file)
    if example.expected and not example.expected.varies:
        expected = (folder / example.expected.file).read_text()
        assert same(printed, expected, example.expected.rel), printed


VALUES = """
import ast
import numpy as np
cells = {cells!r}
shared = {{}}
tight = {{"bfloat16": 2e-2, "float16": 3e-3, "float32": 1e-5}}  # as the runner compares
def plain(value):
    name = str(getattr(value, "dtype", "")).rpartition(".")[2]
    value = value.detach().cpu().double() if hasattr(value, "detach") else value
    return np.array(value, dtype=np.float64), tight.get(name, 1e-12)
exec(cells[0], shared)
def results():
    found = []
    for text in cells[1:]:
        tree = ast.parse(text)
        last = tree.body.pop()
        names = dict(shared)
        exec(compile(tree, "cell", "exec"), names)
        found.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    return found
sizes = [None] + ([7, 1001] if "make" in shared else [])
for n in sizes:
    if n is not None:
        shared.update(shared["make"](np.random.default_rng(n), n))
    (first, allowed), *others = map(plain, results())
    for other, its in others:
        assert other.shape == first.shape, (n, other.shape, first.shape)
        error = np.linalg.norm(other - first) / np.linalg.norm(first)
        assert error <= max(allowed, its), (n, error)
print("same")
"""


@pytest.mark.parametrize(("slug", "example"), named([each for each in parts(schema.Example) if each[1].kind == "time"]))
def test_the_variants_of_a_timed_example_agree_on_fresh_inputs(
    slug: str, example: schema.Example, warm: "WarmPython"
) -> None:
    source = (loader.HERE / "lessons" / slug / example.file).read_text()
    lines = source.splitlines(keepends=True)
    starts = [line - 1 for _, line in snippets.cells(source)] + [len(lines)]
    cells = ["".join(lines[a:b]) for a, b in pairwise(starts)]
    for cell in cells[1:]:
        assert isinstance(ast.parse(cell).body[-1], ast.Expr), "a variant ends in its result"
    script = VALUES.format(cells=cells)
    assert run(warm, Path(), source=script) == "same\n"


@pytest.mark.parametrize(("slug", "item"), named(parts(schema.PredictOutput)))
def test_a_prediction_is_what_the_code_prints(slug: str, item: schema.PredictOutput, warm: "WarmPython") -> None:
    printed = run(warm, loader.HERE / "lessons" / slug / item.code)
    assert printed.strip() == item.answer


@pytest.mark.parametrize(("slug", "item"), named(parts(schema.WriteCode)))
def test_the_check_of_a_written_answer_prints_what_is_expected_for_the_reference(
    slug: str, item: schema.WriteCode, warm: "WarmPython"
) -> None:
    folder = loader.HERE / "lessons" / slug
    source = f"{(folder / item.reference).read_text()}\n{(folder / item.check).read_text()}"
    assert same(run(warm, Path(), source=source), (folder / item.expect).read_text(), item.rel)


EXERCISE = """
import importlib.util, sys
import numpy as np
def load(name, file):
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
starter, reference = load("starter", {starter!r}), load("reference", {reference!r})
for n, seed, rel in {checks!r}:
    given = starter.make(np.random.default_rng(seed), n)
    again = reference.make(np.random.default_rng(seed), n)
    assert given.keys() == again.keys()
    slow, fast = starter.solve(**given), reference.solve(**again)
    assert np.shape(slow) == np.shape(fast)
    assert np.asarray(slow).dtype == np.asarray(fast).dtype
    assert np.linalg.norm(slow - fast) <= rel * max(np.linalg.norm(slow), 1e-300), (n, seed)
print("same")
"""


@pytest.mark.parametrize(("slug", "exercise"), named(parts(schema.Exercise)))
def test_starter_and_reference_of_an_exercise_agree(slug: str, exercise: schema.Exercise, warm: "WarmPython") -> None:
    folder = loader.HERE / "lessons" / slug
    checks = [(check.n, check.seed, check.rel) for check in exercise.checks]
    starter, reference = str(folder / exercise.starter), str(folder / exercise.reference)
    script = EXERCISE.format(starter=starter, reference=reference, checks=checks)
    assert run(warm, Path(), source=script) == "same\n"


def test_numbers_are_compared_within_the_stated_tolerance_and_words_exactly() -> None:
    assert same("1.0005e+03\n", "1000.5\n", 1e-6)
    assert not same("x 1.0\n", "y 1.0\n", 1e-6)
    assert not same("1.01\n", "1.0\n", 1e-6)
    assert not same("1.0 \n", "1.0\n", 0)
