"""Each way to look faster than one is comes back named and with no figure; precisions are told by their errors.

What needs an NVIDIA GPU is marked so, and counted where it cannot run.
"""

from dataclasses import replace

import plain_harness
import pytest

from sandbox_runner import agreement
from sandbox_runner.measuring import Measured
from sandbox_runner.protocol import Budget, Claim, Ending, Flag, Limits, Variant
from sandbox_runner.rounds import break_even

timed = plain_harness.timed


def named(seen: Measured) -> str:
    """Give the flag that says why nothing is believed."""
    assert seen.variants == ()
    assert seen.ratios == ()
    return seen.flags[-1].code


MAKE = "import numpy as np\nn = 300\ndef make(rng, n):\n    return {'x': rng.random(n)}\n"
PAIR = "# %% honest\nx * 2\n# %% theirs\ntheirs(x)\n"


@pytest.mark.parametrize(
    ("cheat", "ending", "code"),
    [
        pytest.param(
            "calls = 0\ndef theirs(x):\n    global calls\n    calls += 1\n    return x * 2 if calls < 9 else x\n",
            Ending.SUSPICIOUS_TIMING,
            "skipped_work",
            id="only the first calls are honest",
        ),
        pytest.param(
            "kept = []\ndef theirs(x):\n    kept or kept.append(x * 2)\n    return kept[0]\n",
            Ending.WRONG_RESULT,
            "results_differ",
            id="an answer kept whatever is asked",
        ),
        pytest.param(
            "kept = {}\ndef theirs(x):\n    if x.shape not in kept: kept[x.shape] = x * 2\n    return kept[x.shape]\n",
            Ending.SUSPICIOUS_TIMING,
            "skipped_work",
            id="memoised by shape",
        ),
        pytest.param(
            "calls = 0\ndef theirs(x):\n    global calls\n    calls += 1\n"
            "    return x * 2 if calls < 9 else np.empty_like(x)\n",
            Ending.SUSPICIOUS_TIMING,
            "skipped_work",
            id="memory that may hold an old answer",
        ),
        pytest.param(
            "import threading, time\ncalls = 0\ndef theirs(x):\n    global calls\n    calls += 1\n"
            "    if calls < 9: return x * 2\n    out = x.copy()\n"
            "    threading.Thread(target=lambda: (time.sleep(0.001), np.multiply(x, 2, out=out))).start()\n"
            "    return out\n",
            Ending.SUSPICIOUS_TIMING,
            "late",
            id="work left in a thread",
        ),
        pytest.param(
            "def theirs(x):\n    return (v * 2 for v in x)\n", Ending.WRONG_RESULT, "results_lazy", id="a generator"
        ),
        pytest.param(
            "class Lazy(np.ndarray):\n    pass\ndef theirs(x):\n    return x.view(Lazy)\n",
            Ending.WRONG_RESULT,
            "results_type",
            id="a lazy subclass",
        ),
        pytest.param(
            "def theirs(x):\n    return (x.astype(np.float32) * 2).astype(np.float64)\n",
            Ending.WRONG_RESULT,
            "lowered_precision_or_differ",
            id="a lowered precision",
        ),
    ],
)
async def test_a_cheat_is_named_and_no_figure_is_believed(cheat: str, ending: Ending, code: str) -> None:
    seen = (await timed(MAKE + cheat + PAIR)).measured
    assert seen.ending is ending
    expected = {
        "late": {"late_work", "skipped_work"},
        "lowered_precision_or_differ": {"lowered_precision", "results_differ"},
    }
    assert named(seen) in expected.get(code, {code})


MEMO = """\
import numpy as np
n = 1_000_000
def make(rng, n):
    return {"x": rng.random(n)}
kept = {}
def theirs(x):
    key = KEY
    if key not in kept:
        kept[key] = float(np.sort(x)[0])
    return kept[key]
# %% honest
float(np.sort(x)[0])
# %% theirs
theirs(x)
"""


@pytest.mark.parametrize("key", ["(float(x[0]), float(x[-1]))", "hash(x[:100].tobytes())"])
async def test_what_remembers_its_answers_is_named(key: str) -> None:
    limits = Limits(run_s=60, check_s=60, warmup_s=60, measure_s=60)
    for seed in range(3):
        seen = (await timed(MEMO.replace("KEY", key), limits=limits, seed=seed)).measured
        if seen.ending is not Ending.OK:
            break
        # So slow a machine that each call was a block, on values of its own, wins nothing; so busy a one that nobody
        # can tell confirms nothing.
        assert not seen.confirmed or all(ratio.claim is not Claim.FASTER for ratio in seen.ratios)
    if seen.ending is Ending.OK:
        return
    assert (seen.ending, named(seen)) == (Ending.SUSPICIOUS_TIMING, "memoised")


LAST = MEMO.replace("1_000_000", "8_000").replace(
    """    key = KEY
    if key not in kept:
        kept[key] = float(np.sort(x)[0])
    return kept[key]
""",
    """    key = float(x[0])
    if key not in kept:
        while len(kept) >= SLOTS:
            del kept[next(iter(kept))]
        kept[key] = float(np.sort(x)[0])
    return kept[key]
""",
)


@pytest.mark.parametrize("slots", [1, 64])
async def test_what_remembers_its_last_answers_alone_is_named_or_not_confirmed(slots: int) -> None:
    limits = Limits(run_s=60, check_s=60, warmup_s=60, measure_s=60)
    seen = []
    for seed in range(3):  # on a busy machine making seems slow, and fewer values are then taken by turns
        seen.append((await timed(LAST.replace("SLOTS", str(slots)), limits=limits, seed=seed)).measured)
        if seen[-1].ending is not Ending.OK:
            break
    named_or_not = (seen[-1].ending, named(seen[-1])) == (Ending.SUSPICIOUS_TIMING, "memoised")
    assert named_or_not or not any(one.confirmed for one in seen)


@pytest.mark.parametrize("key", ["id(x)", "x.ctypes.data", "(x.shape, x.dtype)"])
async def test_what_remembers_by_place_or_shape_is_wrong_or_named(key: str) -> None:
    small = MEMO.replace("KEY", key).replace("1_000_000", "20_000")
    seen = (await timed(small)).measured
    assert seen.ending in {Ending.SUSPICIOUS_TIMING, Ending.WRONG_RESULT}
    assert named(seen) in {"memoised", "skipped_work", "results_differ"}


CHEAP = """\
import functools
import numpy as np
n = 2000
def make(rng, n):
    return {"x": rng.random(n)}
def least(x):
    return float(np.sort(x)[7])
HOW
# %% honest
least(x)
# %% theirs
theirs(x)
"""


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("def theirs(x, kept={}):\n    k = float(x[0])\n    if k not in kept: kept[k] = least(x)\n"
                     "    return kept[k]", id="in a default argument"),
        pytest.param("def asks():\n    kept = {}\n    x = yield\n    while True:\n"
                     "        k = x.sum()\n        if k not in kept: kept[k] = least(x)\n        x = yield kept[k]\n"
                     "asking = asks()\nnext(asking)\ntheirs = asking.send", id="in a generator"),
        pytest.param("now = [None]\n@functools.lru_cache(None)\ndef kept(key): return least(now[0])\n"
                     "def theirs(x):\n    now[0] = x\n    return kept(float(x[0]))", id="by lru_cache"),
        pytest.param("kept = {}\ndef theirs(x):\n    k = float(x[0])\n    times, v = kept.get(k, (0, None))\n"
                     "    v = least(x) if times % 9 == 0 else v\n    kept[k] = times + 1, v\n    return v",
                     id="for some calls in a row"),
    ],
)  # fmt: skip
async def test_a_short_call_that_remembers_its_answers_is_named_or_not_confirmed(how: str) -> None:
    seen = (await timed(CHEAP.replace("HOW", how))).measured
    assert (seen.ending, seen.flags[-1].code) == (Ending.SUSPICIOUS_TIMING, "memoised") or not seen.confirmed


async def test_calls_left_out_but_the_last_are_not_confirmed() -> None:
    last = (
        "import dis, sys\nleft = {}\n"
        "def theirs(x):\n    frame = sys._getframe(1)\n"
        "    while frame and frame.f_code.co_name != 'block': frame = frame.f_back\n"
        "    if frame is None: return least(x)\n    place = frame.f_lasti\n"
        "    if place not in left:\n"
        "        after = [i.opname for i in dis.get_instructions(frame.f_code) if i.offset > place]\n"
        "        left[place] = after[:1] == ['POP_TOP']\n"
        "    return 0.0 if left[place] else least(x)\n"
    )
    seen = (await timed(CHEAP.replace("HOW", last).replace("n = 2000", "n = 5000"))).measured
    assert seen.ending is Ending.SUSPICIOUS_TIMING or not seen.confirmed


async def test_an_answer_kept_aside_by_make_is_wrong() -> None:
    kept = "kept = []\ndef make(rng, n):\n    x = rng.random(n)\n    kept[:] = [least(x)]\n    return {'x': x}\n"
    source = CHEAP.replace("HOW", kept + "def theirs(x): return kept[0]")
    seen = (await timed(source)).measured
    assert (seen.ending, named(seen)) == (Ending.WRONG_RESULT, "results_differ")


async def test_a_make_that_keeps_something_aside_for_all_is_not_accused() -> None:
    kept = "w = []\ndef make(rng, n):\n    w[:] = [rng.random(n)]\n    return {'x': rng.random(n)}\n"
    source = "import numpy as np\nn = 2000\n" + kept + "# %% a\nx * w[0]\n# %% b\nnp.multiply(w[0], x)\n"
    seen = (await timed(source)).measured
    assert (seen.ending, seen.checked) == (Ending.OK, "fresh_inputs")


async def test_honest_variants_on_fresh_values_are_not_accused() -> None:
    for seed in range(3):
        seen = (await timed(MAKE + "def theirs(x):\n    return x + x\n" + PAIR, seed=seed)).measured
        assert (seen.ending, seen.checked) == (Ending.OK, "fresh_inputs")


async def test_a_variant_that_changes_its_inputs_is_named_and_its_times_are_not_confirmed() -> None:
    source = MAKE + "# %% honest\nx * 2\n# %% in place\nx *= 2\nx\n"
    seen = (await timed(source)).measured
    assert seen.ending is Ending.OK
    assert not seen.confirmed
    assert [flag.values["name"] for flag in seen.flags if flag.code == "input_changed"] == ["in place"]


async def test_a_buffer_that_is_only_filled_is_no_changed_input_and_its_results_are_compared() -> None:
    made = "    x = rng.random(n)\n    return {'x': x, 'out': np.empty(n)}\n"
    source = "import numpy as np\nn = 300\ndef make(rng, n):\n" + made + "# %% honest\nx * 2\n# %% filled\n"
    seen = (await timed(source + "np.multiply(x, 2, out=out)\nout\n")).measured
    assert (seen.ending, seen.checked) == (Ending.OK, "fresh_inputs")
    assert "input_changed" not in _codes(seen.flags)
    wrong = (await timed(source + "np.multiply(x, 3, out=out)\nout\n")).measured
    assert wrong.ending is Ending.WRONG_RESULT


async def test_no_expected_value_is_ever_in_the_childs_memory() -> None:
    hunt = (
        "import gc\n"
        "def theirs(x):\n"
        "    found = [o for o in gc.get_objects() if type(o) is np.ndarray and o.shape == x.shape and o is not x]\n"
        "    right = [o for o in found if abs(o - 2 * x).max() == 0]\n"
        "    return right[0] if right else x * 3\n"
    )
    seen = (await timed(MAKE + hunt + "# %% theirs\ntheirs(x)\n# %% honest\nx * 2\n")).measured
    assert seen.ending is Ending.WRONG_RESULT


async def test_a_job_that_used_more_cores_than_it_was_given_is_named_and_not_confirmed() -> None:
    used = iter((0.0, 1e6))
    seen = (await timed("x = list(range(1000))\nsum(x)\n", cpu_s=lambda: next(used))).measured
    assert seen.ending is Ending.OK
    assert "more_cores" in _codes(seen.flags)
    assert not seen.confirmed


MATRIX = "import torch\nn = 90\ndef make(rng, n):\n    return {'x': torch.randn(n, n), 'w': torch.randn(n, n)}\n"


@pytest.mark.sandbox
async def test_the_precision_that_ran_is_named() -> None:
    expressions = {
        "x @ w": "float32",
        "x @ w + 0": "float32",
        "x.double() @ w.double()": "float64",
        "x.bfloat16() @ w.bfloat16()": "bfloat16",
        "x.half() @ w.half()": "float16",
    }
    cells = "".join(f"# %% {i}\n{expression}\n" for i, expression in enumerate(expressions))
    seen = (await timed(MATRIX + cells, limits=Limits(run_s=60))).measured
    assert [variant.precision for variant in seen.variants] == list(expressions.values())
    assert all(variant.error <= agreement.PRECISION_LIMITS[variant.precision] for variant in seen.variants)


@pytest.mark.sandbox
@pytest.mark.parametrize("cast", ["half", "bfloat16"])
async def test_a_precision_lowered_inside_is_named(cast: str) -> None:
    source = MATRIX + f"# %% single\nx @ w\n# %% other\n(x.{cast}() @ w.{cast}()).float()\n"
    seen = (await timed(source, limits=Limits(run_s=60))).measured
    assert (seen.ending, named(seen)) == (
        Ending.WRONG_RESULT,
        "lowered_precision" if cast == "half" else "results_differ",
    )


@pytest.mark.parametrize(
    ("dtype", "error", "cuda", "precision"),
    [
        ("float32", 2.6e-7, False, "float32"),
        ("float32", 2.9e-4, True, "tf32"),
        ("float32", 3.6e-4, False, "float16"),
        ("float16", 3.6e-4, True, "float16"),
        ("bfloat16", 2.9e-3, False, "bfloat16"),
        ("float32", 2.9e-3, True, "bfloat16"),
        ("float64", 1e-15, False, "float64"),
        ("float64", 1e-7, False, "float32"),
        ("float32", 0.5, False, ""),
        ("int64", 0.0, False, ""),
    ],
)
def test_precisions_are_told_apart_by_their_errors(dtype: str, error: float, *, cuda: bool, precision: str) -> None:
    assert agreement.precision_of(dtype, error, cuda=cuda) == precision


SELF = """\
import time
x = list(range(3000))
t0 = time.perf_counter()
total = 0
for v in x:
    total += v
t1 = time.perf_counter()
print("mine", t1 - t0 > 0)
t0 = time.time()
total = sum(x)
print("again", time.time() - t0 >= 0)
"""


async def test_a_source_that_times_itself_runs_as_it_is_and_is_told_what_its_number_missed() -> None:
    seen = await timed(SELF)
    assert seen.stdout.splitlines() == ["mine True", "again True"]
    assert seen.measured.ending is Ending.OK
    assert [(variant.name, variant.block > 1) for variant in seen.measured.variants] == [
        ("total = 0", True),
        ("total = sum(x)", True),
    ]
    codes = [flag.code for flag in seen.measured.flags]
    assert {"own_wall_clock", "own_module_loop"} <= set(codes)
    own = [flag for flag in seen.measured.flags if flag.code in {"own_differs", "own_agrees"}]
    assert [flag.line for flag in own] == [4, 10]
    assert all(isinstance(flag.values["own_ns"], int | float) and flag.values["own_ns"] > 0 for flag in own)


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("import time\ni = iter('ab')\nt = time.perf_counter()\na = next(i), next(i)\nprint(time.perf_counter() - t)",
         ["own_clock", "own_once_only"]),
        ("from time import perf_counter as pc\ndef f():\n    a = pc()\n    return pc() - a\nprint(f())", ["own_clock"]),
        ("import time\nfor _ in [1]:\n    t = time.time()\n    u = time.time() - t\n", ["own_wall_clock", "own_clock"]),
    ],
)  # fmt: skip
async def test_what_cannot_be_timed_again_has_run_as_it_is(source: str, codes: list[str]) -> None:
    seen = (await timed(source)).measured
    assert (seen.ending, seen.variants) == (Ending.OK, ())
    assert [flag.code for flag in seen.flags] == codes


async def test_a_timeit_line_times_the_names_as_they_are_at_its_place() -> None:
    source = "x = list(range(20))\n%timeit len(x) + sum(x)\nx = list(range(20000))\n%timeit -n 5 -r 2 len(x) + sum(x)\n"
    seen = (await timed(source, budget=Budget.DEFAULT)).measured
    assert [variant.name for variant in seen.variants] == ["len(x) + sum(x)", "len(x) + sum(x) (2)"]
    assert seen.variants[0].median_ns * 20 < seen.variants[1].median_ns


def _codes(flags: tuple[Flag, ...]) -> list[str]:
    return [flag.code for flag in flags]


@pytest.mark.gpu
async def test_work_left_on_another_stream_is_waited_for() -> None:
    source = (
        "import torch\nn = 2000\nside = torch.cuda.Stream()\n"
        "def make(rng, n):\n    return {'x': torch.randn(n, n, device='cuda')}\n"
        "def theirs(x):\n    side.wait_stream(torch.cuda.current_stream())\n"
        "    with torch.cuda.stream(side):\n        return x @ x\n"
        "# %% honest\nx @ x\n# %% theirs\ntheirs(x)\n"
    )
    seen = (await timed(source, limits=Limits(run_s=60))).measured
    assert seen.ending in {Ending.OK, Ending.SUSPICIOUS_TIMING}
    assert all(ratio.point < 1.2 for ratio in seen.ratios)


@pytest.mark.gpu
async def test_a_forged_event_time_changes_nothing() -> None:
    source = (
        "import torch\nn = 1000\ntorch.cuda.Event.elapsed_time = lambda *_: 1e-6\n"
        "def make(rng, n):\n    return {'x': torch.randn(n, n, device='cuda')}\n# %% a\nx @ x\n# %% b\nx @ x\n"
    )
    seen = (await timed(source, limits=Limits(run_s=60))).measured
    assert seen.ending is Ending.OK
    assert all(0.8 < ratio.point < 1.25 for ratio in seen.ratios)


@pytest.mark.gpu
async def test_tf32_is_named_on_a_gpu() -> None:
    source = (
        "import torch\nn = 512\ntorch.set_float32_matmul_precision('high')\n"
        "def make(rng, n):\n    return {'x': torch.randn(n, n, device='cuda')}\n# %% a\nx @ x\n# %% b\nx @ x + 0\n"
    )
    seen = (await timed(source, limits=Limits(run_s=60), cuda=True)).measured
    assert seen.ending is Ending.OK
    (named, _) = [flag for flag in seen.flags if flag.code == "reduced_precision"]
    assert named.values["precision"] == "tf32"


def test_compiling_pays_after_as_many_calls_as_it_took_and_saves() -> None:
    eager = Variant("eager", 3e6, 3e6, (3e6, 3e6), 20, 1, 3e6)
    compiled = Variant("compiled", 1e6, 1e6, (1e6, 1e6), 20, 1, 9e9, compile_ns=8e9)
    assert break_even(compiled, eager) == 4000
    assert break_even(eager, compiled) == 0
    assert break_even(replace(compiled, median_ns=4e6), eager) == 0


@pytest.mark.sandbox
async def test_a_compiled_variant_is_warmed_until_nothing_compiles_and_its_compiling_is_told() -> None:
    source = (
        "import torch\nn = 64\ndef make(rng, n):\n    return {'x': torch.randn(n, n)}\n"
        "def f(x):\n    return torch.sin(x) * 2 + torch.cos(x)\n"
        "g = torch.compile(f, backend='aot_eager')\n# %% eager\nf(x)\n# %% compiled\ng(x)\n"
    )
    seen = (await timed(source, limits=Limits(run_s=90, check_s=60, warmup_s=60))).measured
    assert (seen.ending, seen.checked) == (Ending.OK, "fresh_inputs")
    eager, compiled = seen.variants
    assert eager.compile_ns == 0
    assert compiled.compile_ns > 0
    assert "recompiles" not in _codes(seen.flags)
