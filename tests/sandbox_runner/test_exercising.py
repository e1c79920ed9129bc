"""A submission against starter and reference, each in a process of its own: right first, then how fast."""

from typing import TYPE_CHECKING

import plain_harness
import pytest

from sandbox_runner.protocol import Budget, Check, Claim, Ending, Exercise, Job, JobKind

if TYPE_CHECKING:
    from conftest import Walls

exercised = plain_harness.exercised

MAKE = "import numpy as np\ndef make(rng, n):\n    return {'x': rng.normal(size=n), 'scale': 2.0}\n"
STARTER = MAKE + "def solve(x, scale):\n    return np.array([scale * v for v in x])\n"
REFERENCE = MAKE + "MARK = 'zzq-secret'\ndef solve(x, scale):\n    return x * scale\n"
TASK = Exercise(STARTER, REFERENCE, (Check(1, 1, 1e-12), Check(501, 2, 1e-12), Check(3000, 3, 1e-12)))


async def test_a_right_and_fast_submission_gets_its_ratio_and_its_share_of_the_reference() -> None:
    for _ in range(4):
        seen = await exercised("import numpy as np\ndef solve(x, scale):\n    return scale * x\n", TASK)
        if {ratio.claim for ratio in seen.measured.ratios} == {Claim.FASTER}:
            break
    measured = seen.measured
    assert measured.ending is Ending.OK
    assert [variant.name for variant in measured.variants] == ["starter", "submission", "reference"]
    assert [(ratio.name, ratio.against) for ratio in measured.ratios] == [
        ("submission", "starter"),
        ("reference", "starter"),
    ]
    assert [ratio.claim for ratio in measured.ratios] == [Claim.FASTER, Claim.FASTER]
    assert measured.share > 0
    assert [check.n for check in measured.checks] == [1, 501, 3000, 3001]
    assert all(check.passed for check in measured.checks)
    assert measured.checked == "fresh_inputs"


@pytest.mark.parametrize(
    ("body", "ending", "whys"),
    [
        ("return x * scale * (1 + 1e-9)", Ending.WRONG_RESULT, ["differ"] * 4),
        ("return x * scale if len(x) < 1000 else x", Ending.WRONG_RESULT, ["", "", "differ", "differ"]),
        ("return (x * scale)[:1]", Ending.WRONG_RESULT, ["", "shape", "shape", "shape"]),
        ("return list(x * scale)[0]", Ending.WRONG_RESULT, ["shape"] * 4),
        ("return (v * scale for v in x)", Ending.WRONG_RESULT, ["lazy"] * 4),
        ("return {'x': x}", Ending.WRONG_RESULT, ["type"] * 4),
        ("return x * np.nan", Ending.NONFINITE, ["nonfinite"] * 4),
        ("return (x.astype(np.float32) * scale).astype(float)", Ending.WRONG_RESULT, ["differ"] * 4),
        ("return x[600] if len(x) > 400 else x * scale", Ending.PY_ERROR, ["", "raised"]),
    ],
)
async def test_a_wrong_submission_is_told_which_checks_failed_and_why(
    body: str, ending: Ending, whys: list[str]
) -> None:
    seen = (await exercised(f"import numpy as np\ndef solve(x, scale):\n    {body}\n", TASK)).measured
    assert (seen.ending, [check.why for check in seen.checks]) == (ending, whys)
    assert seen.variants == ()
    assert seen.ratios == ()


async def test_answers_known_by_heart_fail_the_check_on_a_seed_that_nobody_knew() -> None:
    source = (
        "import numpy as np\nknown = {}\nfor n, seed in ((1, 1), (501, 2), (3000, 3)):\n"
        "    x = np.random.default_rng(seed).normal(size=n)\n    known[float(x[0])] = x * 2.0\n"
        "def solve(x, scale):\n    return known.get(float(x[0]), x)\n"
    )
    seen = (await exercised(source, TASK)).measured
    assert [check.passed for check in seen.checks] == [True, True, True, False]
    assert seen.ending is Ending.WRONG_RESULT


async def test_work_skipped_once_the_checks_are_over_is_named() -> None:
    source = (
        "import numpy as np\ncalls = 0\ndef solve(x, scale):\n    global calls\n    calls += 1\n"
        "    return x * scale if calls < 20 else x\n"
    )
    seen = (await exercised(source, TASK)).measured
    assert (seen.ending, seen.flags[-1].code) == (Ending.SUSPICIOUS_TIMING, "skipped_work")
    assert seen.flags[-1].values["name"] == "submission"
    assert seen.variants == ()


@pytest.mark.parametrize(
    ("source", "ending", "fault"),
    [
        ("x = 1\n", Ending.PY_ERROR, "NameError: name 'solve' is not defined"),
        ("def solve(x):\n  return x +\n", Ending.SYNTAX_ERROR, "SyntaxError: invalid syntax"),
        (
            "def solve(x):\n    return x\n",
            Ending.PY_ERROR,
            "TypeError: solve() got an unexpected keyword argument 'scale'",
        ),
    ],
)
async def test_a_submission_that_cannot_be_called_is_told_why(source: str, ending: Ending, fault: str) -> None:
    seen = (await exercised(source, TASK)).measured
    assert seen.fault is not None
    assert (seen.ending, seen.fault.last_line) == (ending, fault)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("    return np.vectorize(lambda v: v * scale)(x)\n", "np_vectorize"),
        ("    print('.' * 4000)\n    return x * scale\n", "print_timed"),
        (
            "    noise = np.random.default_rng(1).random(len(x))\n    return x * scale + 0 * noise.sum()\n",
            "creation_timed",
        ),
    ],
)
async def test_a_submission_is_told_its_own_mistakes_beside_the_verdict(body: str, code: str) -> None:
    seen = (await exercised(f"import numpy as np\ndef solve(x, scale):\n{body}", TASK)).measured
    assert seen.ending is Ending.OK
    mistakes = [flag for flag in seen.flags if "mistake" in flag.values]
    assert {flag.code for flag in mistakes} == {code}
    assert seen.flags[0] == mistakes[0]
    assert mistakes[0].values["name"] == "submission"


async def test_a_good_submission_is_told_of_no_mistake() -> None:
    seen = (await exercised("import numpy as np\ndef solve(x, scale):\n    return scale * x\n", TASK)).measured
    assert [flag for flag in seen.flags if "mistake" in flag.values] == []


async def test_a_wrong_submission_is_told_what_its_source_shows_all_the_same() -> None:
    source = "import numpy as np\ndef solve(x, scale):\n    return np.vectorize(lambda v: v + scale)(x)\n"
    seen = (await exercised(source, TASK)).measured
    assert seen.ending is Ending.WRONG_RESULT
    assert [flag.code for flag in seen.flags if "mistake" in flag.values] == ["np_vectorize"]


@pytest.mark.parametrize("broken", ["starter", "reference"])
async def test_a_fault_of_starter_or_reference_is_ours(broken: str) -> None:
    wrong = MAKE + "def solve(x, scale):\n    return x / scale[0]\n"
    task = Exercise(
        wrong if broken == "starter" else STARTER, wrong if broken == "reference" else REFERENCE, TASK.checks
    )
    seen = (await exercised("def solve(x, scale):\n    return x * scale\n", task)).measured
    assert seen.ending is Ending.INFRA_ERROR
    assert [flag.code for flag in seen.flags] == ["exercise_broken"]
    assert seen.fault is None


async def test_nothing_of_the_reference_is_in_the_submissions_process_or_result() -> None:
    source = (
        "import gc, sys\nmark = 'zzq' + chr(45) + 'secret'\ndef solve(x, scale):\n"
        "    seen = [o for o in gc.get_objects() if type(o) in (dict, list, tuple) and o is not seen_before]\n"
        "    frame = sys._getframe()\n    while frame:\n        seen.append(dict(frame.f_locals))\n"
        "        frame = frame.f_back\n"
        "    print(sum(v == mark or type(v) is str and v is not mark and mark in v for o in seen\n"
        "        for v in (o.values() if type(o) is dict else o) if type(v) is str and v is not mark))\n"
        "    return x * scale\nseen_before = []\n"
    )
    seen = await exercised(source, TASK)
    assert seen.stdout.split() == ["0"]
    assert "zzq" not in repr(seen.measured)


async def test_what_a_submission_prints_is_shown_once() -> None:
    source = "print('set up')\ndef solve(x, scale):\n    print('called')\n    return x * scale\n"
    assert (await exercised(source, TASK)).stdout.split() == ["set", "up", "called"]


@pytest.mark.sandbox
async def test_an_exercise_is_measured_behind_the_walls_and_leaves_nothing(walls: "Walls") -> None:
    job = Job(
        "exercise", JobKind.EXERCISE, "def solve(x, scale):\n    return x * scale\n", "learner",
        budget=Budget.QUICK, limits=walls.small, exercise=TASK,
    )  # fmt: skip
    result = await walls.worker.run_job(job, 0, lambda _: None)
    assert result.ending is Ending.OK
    assert all(check.passed for check in result.checks)
    assert result.share > 0
    assert walls.survivors() == []


@pytest.mark.sandbox
async def test_an_exercise_whose_reference_does_not_start_is_a_fault_of_ours(walls: "Walls") -> None:
    task = Exercise(STARTER, "raise SystemExit\n", TASK.checks)
    job = Job("exercise", JobKind.EXERCISE, "def solve(x, scale):\n    return x\n", "learner", exercise=task)
    result = await walls.worker.run_job(job, 0, lambda _: None)
    assert result.ending is Ending.INFRA_ERROR
    assert result.fault is None
    assert walls.survivors() == []
