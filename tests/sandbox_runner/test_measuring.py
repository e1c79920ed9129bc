"""A real harness in a plain process, driven from outside: figures that hold, faults by name, and no forgery believed.

No test here asserts speed or an absolute time: ratios are of work that differs by what the source says.
"""

import asyncio
import os
import sys

import plain_harness
import pytest

from sandbox_runner.measuring import Measured
from sandbox_runner.protocol import Budget, Claim, Ending, Limits, Phase

timed = plain_harness.timed


MANY = """\
x = list(range(1000))
# %% once
sum(x)
# %% often
for _ in range(30):
    sum(x)
sum(x)
"""


async def clear(source: str) -> Measured:
    """Measure until the machine is quiet enough for a claim, at most five times."""
    for seed in range(5):
        seen: Measured = (await timed(source, budget=Budget.DEFAULT if seed else Budget.QUICK, seed=seed)).measured
        if all(ratio.claim is not Claim.UNCLEAR for ratio in seen.ratios):
            break
    return seen


async def test_more_work_is_found_with_an_interval_and_the_figures_fit_each_other() -> None:
    seen = await clear(MANY)
    assert seen.ending is Ending.OK
    assert [variant.name for variant in seen.variants] == ["once", "often"]
    (ratio,) = seen.ratios
    assert (ratio.name, ratio.against, ratio.claim, ratio.few) == ("often", "once", Claim.SLOWER, False)
    assert ratio.ci99[0] < ratio.point < ratio.ci99[1]
    assert 1 / 100 < ratio.point < 1 / 10
    assert ratio.n >= 8
    for variant in seen.variants:
        assert variant.min_ns <= variant.ci99_ns[0] <= variant.median_ns <= variant.ci99_ns[1]
        assert variant.n >= 16
        assert variant.block > 1
        assert variant.first_call_ns > 0
    assert seen.checked == "time_only"
    assert set(seen.phases_ms) == {"import", "run", "check", "warmup", "measure"}
    assert not [flag for flag in seen.flags if flag.code.startswith("results")]


async def test_the_same_work_twice_is_never_called_different() -> None:
    source = "x = list(range(5000))\n# %% a\nsum(x)\n# %% b\nsum(x)\n"
    ratios = [ratio for seed in range(3) for ratio in (await timed(source, seed=seed)).measured.ratios]
    assert ratios
    assert {ratio.claim for ratio in ratios} <= {Claim.SAME, Claim.UNCLEAR}


async def test_one_variant_is_timed_alone_without_a_ratio_and_without_cells_the_last_expression_is() -> None:
    seen = (await timed("x = list(range(2000))\nsum(x)\n")).measured
    assert (seen.ending, seen.ratios) == (Ending.OK, ())
    assert [variant.name for variant in seen.variants] == ["sum(x)"]


async def test_more_than_two_variants_are_each_compared_with_the_first() -> None:
    more = "for _ in range({}): sum(x)\nsum(x)\n"
    source = "x = list(range(2000))\n# %% a\nsum(x)\n# %% b\n" + more.format(20) + "# %% c\n" + more.format(30)
    seen = await clear(source)
    assert [(ratio.name, ratio.against) for ratio in seen.ratios] == [("b", "a"), ("c", "a")]
    assert [ratio.claim for ratio in seen.ratios] == [Claim.SLOWER, Claim.SLOWER]


async def test_progress_names_the_phases_in_order_and_counts_rounds() -> None:
    progress = (await timed(MANY, budget=Budget.DEFAULT)).progress
    phases = list(dict.fromkeys(step.phase for step in progress))
    assert phases == [Phase.IMPORT, Phase.RUN, Phase.CHECK, Phase.WARMUP, Phase.MEASURE]
    counted = [step for step in progress if step.total]
    assert counted
    assert all(0 < step.done <= step.total for step in counted)


MADE = """\
import random
n = 400
def make(rng, n):
    return {"x": [float(v) for v in rng.random(n)]} if hasattr(rng, "bit_generator") else {"x": [rng.random()] * n}
# %% loop
total = 0.0
for v in x:
    total += v
# %% built in
total = sum(x)
"""


async def test_results_that_agree_on_fresh_inputs_and_an_odd_size_are_checked() -> None:
    seen = (await timed(MADE)).measured
    assert (seen.ending, seen.checked) == (Ending.OK, "fresh_inputs")


@pytest.mark.parametrize(
    ("change", "ending", "code"),
    [
        ("total = sum(x) * 1.001", Ending.WRONG_RESULT, "results_differ"),
        ("total = sum(x) if len(x) % 2 == 0 else 0.0", Ending.WRONG_RESULT, "results_differ"),
        ("total = x", Ending.WRONG_RESULT, "results_differ"),
        ("total = float('nan')", Ending.NONFINITE, "results_nonfinite"),
    ],
)
async def test_no_correct_result_no_figure(change: str, ending: Ending, code: str) -> None:
    seen = (await timed(MADE.replace("total = sum(x)", change))).measured
    assert seen.ending is ending
    assert not seen.ratios
    assert not seen.variants
    assert [(flag.code, flag.values["name"]) for flag in seen.flags] == [(code, "built in")]


async def test_memoised_answers_are_wrong_on_fresh_inputs() -> None:
    source = MADE.replace("import random", "import random\nkept = []").replace(
        "total = sum(x)", "kept or kept.append(sum(x))\ntotal = kept[0]"
    )
    assert (await timed(source)).measured.ending is Ending.WRONG_RESULT


async def test_results_that_differ_on_given_inputs_are_flagged_beside_the_figures() -> None:
    source = MANY.removesuffix("sum(x)\n") + "sum(x) + 1\n"
    seen = (await timed(source)).measured
    assert seen.ending is Ending.OK
    assert seen.checked == "time_only"
    assert [(flag.code, flag.line) for flag in seen.flags if flag.code.startswith("results")] == [("results_differ", 4)]


async def test_what_cannot_be_compared_is_said() -> None:
    seen = (await timed("x = [1]\n# %% a\ny = {1: x}\ny\n# %% b\nz = {1: x}\nz\n")).measured
    assert seen.ending is Ending.OK
    assert "results_incomparable" in [flag.code for flag in seen.flags]


@pytest.mark.parametrize(
    ("source", "ending", "name", "line"),
    [
        ("x = 1\n# %% a\nx +\n", Ending.SYNTAX_ERROR, "SyntaxError", 3),
        ("x = 1\n# %% a\nreturn x\n", Ending.SYNTAX_ERROR, "SyntaxError", 3),
        ("x = 1\ny = x / 0\n# %% a\nx\n", Ending.PY_ERROR, "ZeroDivisionError", 2),
        ("import nowhere_to_be_found\n# %% a\n1\n", Ending.PY_ERROR, "ModuleNotFoundError", 1),
        ("x = 1\n# %% a\nx\n# %% b\n\ny = [][x]\n", Ending.PY_ERROR, "IndexError", 6),
        ("import sys\nsys.exit(0)\n1\n", Ending.NO_RESULT, "SystemExit", 2),
        ("import sys\nsys.exit(3)\n1\n", Ending.EXIT_NONZERO, "SystemExit", 2),
        ("x = 1\nraise MemoryError\nx\n", Ending.OOM_HOST, "MemoryError", 2),
        ("def make(rng, n):\n    return 5\n# %% a\nx\n", Ending.PY_ERROR, "TypeError", 1),
        ("def make(rng, n):\n    return {'x': y}\n# %% a\nx\n", Ending.PY_ERROR, "NameError", 2),
        ("t = [0]\n# %% a\nt[0] += 1\nif t[0] > 40: raise KeyError(t[0])\n", Ending.PY_ERROR, "KeyError", 4),
    ],
)
async def test_the_learners_faults_come_back_with_their_line(source: str, ending: Ending, name: str, line: int) -> None:
    seen = (await timed(source)).measured
    assert seen.fault is not None
    assert (seen.ending, seen.fault.name, seen.fault.line) == (ending, name, line)
    assert seen.fault.last_line.startswith(name)


async def test_the_traceback_on_standard_error_has_the_learners_frames_only() -> None:
    seen = await timed("def f():\n    raise ValueError('here')\n# %% a\nf()\n")
    assert 'File "code.py", line 4, in a' in seen.stderr
    assert 'File "code.py", line 2, in f' in seen.stderr
    assert seen.stderr.strip().endswith("ValueError: here")
    assert "timing.py" not in seen.stderr


async def test_output_is_shown_once_for_the_first_call_and_dropped_while_timing() -> None:
    seen = await timed("import os\nprint('set up')\n# %% a\nprint('called')\nos.system('echo child')\n")
    assert seen.stdout.split() == ["set", "up", "called", "child"]


@pytest.mark.parametrize(
    ("source", "limits", "ending", "limit"),
    [
        ("while True: pass\n1\n", Limits(run_s=0.5), Ending.TIMEOUT_RUN, "run_s"),
        ("x = 1\n# %% a\nx\n# %% b\nwhile True: pass\n", Limits(check_s=0.5), Ending.TIMEOUT_RUN, "check_s"),
        (
            "from time import sleep\nt = [0]\n# %% a\nt[0] += 1\nif t[0] > 1: sleep(60)\n",
            Limits(warmup_s=0.5),
            Ending.TIMEOUT_RUN,
            "warmup_s",
        ),
    ],
)
async def test_what_never_ends_is_a_timeout_that_names_its_limit(
    source: str, limits: Limits, ending: Ending, limit: str
) -> None:
    seen = (await timed(source, limits=limits)).measured
    assert seen.reached is not None
    assert (seen.ending, seen.reached.name, seen.reached.value) == (ending, limit, getattr(limits, limit))


async def test_a_timeout_while_measuring_keeps_what_was_measured() -> None:
    source = (
        "import gc, random, time\nmeasuring = []\nx = list(range(5000))\n"
        "# %% a\ntime.sleep(random.random() / 100)\nsum(x)\n# %% b\n"  # uneven, so that it does not stop early
        "if not gc.isenabled(): measuring.append(time.monotonic())\n"
        "while measuring and time.monotonic() - measuring[0] > 3: pass\nsum(x)\n"
    )
    seen = (await timed(source, budget=Budget.THOROUGH, limits=Limits(measure_s=8))).measured
    assert seen.ending is Ending.TIMEOUT_RUN
    assert [variant.name for variant in seen.variants] == ["a", "b"]
    assert len(seen.ratios) == 1


async def test_eight_rounds_are_tried_beyond_the_budget_and_it_is_said() -> None:
    source = "import time\n# %% a\ntime.sleep(0.02)\n# %% b\ntime.sleep(0.02)\n"
    seen = (await timed(source)).measured
    assert "stretched" in [flag.code for flag in seen.flags]
    (ratio,) = seen.ratios
    assert (ratio.few, ratio.n) == (False, 8)


async def test_what_is_too_slow_for_eight_rounds_gets_a_range_and_is_said_to_be_few() -> None:
    source = "import time\n# %% a\ntime.sleep(0.3)\n# %% b\ntime.sleep(0.1)\n"
    seen = (await timed(source, limits=Limits(measure_s=2.5))).measured
    (ratio,) = seen.ratios
    assert (ratio.few, ratio.claim) == (True, Claim.FASTER)
    assert ratio.n < 8
    assert "few_runs" in [flag.code for flag in seen.flags]
    assert ratio.ci99[0] <= ratio.point <= ratio.ci99[1]


async def test_what_does_not_fit_into_the_limit_even_once_is_a_timeout_beside_what_was_measured() -> None:
    source = "import time\n# %% a\nsum(range(1000))\n# %% b\ntime.sleep(0.6)\n"
    seen = (await timed(source, limits=Limits(measure_s=0.5))).measured
    assert seen.reached is not None
    assert (seen.ending, seen.reached.name, seen.ratios) == (Ending.TIMEOUT_RUN, "measure_s", ())
    assert [variant.name for variant in seen.variants] == ["a"]


@pytest.mark.sandbox
async def test_tensors_are_compared_and_their_other_precision_is_named() -> None:
    torch = "import torch\ndef make(rng, n):\n    return {'x': torch.randn(n, 8), 'w': torch.randn(8, 8)}\n"
    source = torch + "n = 64\n# %% single\nx @ w\n# %% half\n(x.bfloat16() @ w.bfloat16())\n"
    seen = (await timed(source, limits=Limits(run_s=60))).measured
    assert (seen.ending, seen.checked) == (Ending.OK, "fresh_inputs")
    (flag,) = [flag for flag in seen.flags if flag.code == "dtypes_differ"]
    assert flag.values == {"name": "half", "dtype": "bfloat16", "against": "float32"}


HARNESS = "import sys\nharness = sys.modules['harness.blocks']\n"


@pytest.mark.parametrize(
    "patch",
    [
        "import time\ntime.perf_counter = time.perf_counter_ns = time.time = lambda: 0\n",
        "import time, random\ntime.perf_counter_ns = lambda: random.getrandbits(40)\n",
        "import gc\ngc.collect = gc.freeze = gc.disable = None\n",
        "import os\nos.read = os.write = os.dup = os.dup2 = os.close = os.open = None\n",
        "import json, struct\njson.loads = json.dumps = struct.pack = struct.unpack = None\n",
        "import sys\nsys.stdout = sys.stderr = None\n",
        "import builtins, itertools\nitertools.repeat = None\n",
    ],
)
async def test_what_the_learner_patches_does_not_reach_the_harness(patch: str) -> None:
    seen = (await timed(patch + MANY)).measured
    assert seen.ending is Ending.OK
    assert 1 / 100 < seen.ratios[0].point < 1 / 10


@pytest.mark.parametrize(
    "forgery",
    [
        pytest.param("harness.clock = lambda: 0\n", id="the clock stands still"),
        pytest.param("real = harness.clock\nharness.clock = lambda: real() // 4\n", id="the clock is slow"),
        pytest.param("real = harness.clock\nharness.clock = lambda: real() * 3\n", id="the clock is fast"),
        pytest.param(
            "real = harness.block\n"
            "harness.block = lambda s, n, k: (real(s, n, k)[0] // (2 if 'often' in s[0][1].__name__ else 1), None)\n",
            id="one of the two is made to look faster",
        ),
        pytest.param(
            "real = harness.block\n"
            "harness.block = lambda s, n, k: (real(s, n, k)[0] * (2 if 'once' in s[0][1].__name__ else 1), None)\n",
            id="the baseline is made to look slower",
        ),
        pytest.param("harness.block = lambda s, n, k: (1000 * k, None)\n", id="nothing runs at all but figures come"),
    ],
)
async def test_a_forged_clock_is_named_and_no_figure_is_believed(forgery: str) -> None:
    for seed in range(3):  # so busy a machine that nobody can tell accuses nobody, and confirms nothing
        seen = (await timed(HARNESS + forgery + MANY, seed=seed)).measured
        assert not seen.confirmed
        if seen.ending is not Ending.OK:
            break
    assert seen.ending is Ending.SUSPICIOUS_TIMING
    assert "suspicious_timing" in [flag.code for flag in seen.flags]
    assert seen.variants == ()
    assert seen.ratios == ()


FIND_LINE = "import os, socket\nfd = next(i for i in range(3, 256) if os.path.exists(f'/proc/self/fd/{i}') and "
FIND_LINE += "os.readlink(f'/proc/self/fd/{i}').startswith('socket'))\n"


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param("os.write(fd, b'all is well, believe me')\n", id="garbage"),
        pytest.param("os.write(fd, bytes(64))\n", id="zeros"),
        pytest.param('b = b\'{"nonce":"0"}\'\nos.write(fd, bytes([0,0,0,len(b),0,0,0,0]) + b)\n', id="a guessed nonce"),
    ],
)
async def test_a_snippet_that_answers_in_the_harness_place_is_tampering(attack: str) -> None:
    seen = (await timed(FIND_LINE + attack + MANY)).measured
    assert seen.ending is Ending.TAMPERED
    assert seen.ratios == ()


async def test_a_nonce_stolen_from_the_harness_frames_gives_an_answer_too_many() -> None:
    source = FIND_LINE + (
        "import sys, json\n"
        "def steal():\n"
        "    frame = sys._getframe()\n"
        "    while 'nonce' not in frame.f_locals: frame = frame.f_back\n"
        "    b = json.dumps({'nonce': frame.f_locals['nonce'], 'ns': [5]}).encode()\n"
        "    os.write(fd, bytes([0, 0, 0, len(b), 0, 0, 0, 0]) + b)\n"
        "t = [0]\n# %% a\nt[0] += 1\nif t[0] == 2: steal()\n"
    )
    assert (await timed(source)).measured.ending is Ending.TAMPERED


@pytest.mark.parametrize("how", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.close(fd)"])
async def test_a_process_that_goes_away_leaves_the_ending_to_its_wait_status(how: str) -> None:
    source = FIND_LINE + f"t = [0]\n# %% a\nt[0] += 1\nif t[0] > 3: {how}\n"
    seen = (await timed(source)).measured
    assert seen.ending is None
    assert seen.ratios == ()


async def test_honest_code_is_not_accused_on_a_busy_machine() -> None:
    spin = (sys.executable, "-c", "while True: pass")
    busy = [await asyncio.create_subprocess_exec(*spin) for _ in range(2 * (os.cpu_count() or 1))]
    source = MANY + "# %% nothing\nx\n"
    try:
        for seed in range(2):
            seen = (await timed(source, seed=seed)).measured
            assert seen.ending is Ending.OK
            assert seen.ratios[0].claim in {Claim.SLOWER, Claim.UNCLEAR}
    finally:
        for process in busy:
            process.kill()
            await process.wait()


OWN_N = """\
n = 5000
def make(rng, n):
    return {"x": rng.random(n).tolist()}
# %% sorted
y = sorted(x)[n // 2]
# %% last of half
y = sorted(x)[-n:][n // 2]
"""
OWN_MAKE = "def make():\n    return list(range(1000))\nxs = make()\n# %% a\nsum(xs)\n# %% b\nsum(list(xs))\n"
HIDDEN = "import torch\nx = torch.randn(1000)\n# %% a\ny = float(x.sum())\n# %% b\ny = float(x.double().sum())\n"


@pytest.mark.parametrize(
    ("source", "checked"), [(OWN_N, "fresh_inputs"), (OWN_MAKE, "time_only"), (HIDDEN, "time_only")]
)
async def test_a_size_a_maker_and_a_rounding_of_the_learners_own_are_no_fault(source: str, checked: str) -> None:
    seen = await timed(source)
    assert (seen.measured.ending, seen.measured.checked) == (Ending.OK, checked)
    assert not {"results_differ", "results_close"} & {flag.code for flag in seen.measured.flags}
