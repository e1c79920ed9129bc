"""Benchmarks the timing instrument: equal pairs, known differences, other instruments beside it, all again under load.

Prints one JSON object. `python tests/bench/timing.py [RUNS [SECONDS]]`: RUNS of each equal pair and each known
difference (5), as far as they fit into SECONDS (600, of which most parts need less); `make soak` runs it with 200 in 23
minutes. How many runs each part came to is told. The harness runs in a plain process of the learners' interpreter,
without walls: the walls' cost is their own bench's. torch's Timer is left out where the interpreter has no torch.
"""

import asyncio
import json
import math
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import fmean, median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sandbox_runner.channel import Channel  # noqa: E402 - the path first
from sandbox_runner.measuring import Measured, measure  # noqa: E402
from sandbox_runner.pinning import place_on  # noqa: E402
from sandbox_runner.protocol import Budget, Claim, Job, JobKind, Ratio  # noqa: E402
from sandbox_runner.rounds import BUDGET_S  # noqa: E402

LEARNERS = Path(os.environ.get("TASREE_SANDBOX_PYTHON") or ROOT / ".venv-learners" / "bin" / "python")
BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from harness.timing import serve
from harness.wire import Line
del sys.path[0]
serve(Line(int(sys.argv[2])), sys.argv[3], "code.py")
"""
LESSON = """
import numpy as np
n = 200_000
def make(rng, n):
    x = rng.random(n)
    return {"x": x, "values": x.tolist()}
# %% loop
total = 0.0
for value in values:
    total += value * value
# %% numpy
total = x @ x
"""
EQUAL = {
    "python loop": ("x = list(range(2000))", "s = 0\nfor v in x:\n    s += v\n"),
    "numpy sin": ("import numpy as np\nx = np.ones(100_000)", "np.sin(x)\n"),
    "numpy multiply": ("import numpy as np\nx = np.ones(1_000_000)\nout = x.copy()", "np.multiply(x, x, out=out)\n"),
}
KNOWN = {1.02: (51, 50), 1.05: (42, 40), 1.10: (44, 40), 1.25: (50, 40)}
MOST_BIAS, MOST_DISAGREEMENT, LEAST_FOUND = 0.005, 0.05, 0.9
TIMER = """
import json, sys, torch
from torch.utils.benchmark import Timer
torch.set_num_threads(1)
x = torch.ones(1_000_000)
print(json.dumps(Timer("torch.sin(x)", globals={"x": x, "torch": torch}).blocked_autorange(min_run_time=1).median))
"""
TIMEIT = "import timeit\nt = timeit.Timer({body!r}, {setup!r})\nn, _ = t.autorange()\nprint(min(t.repeat(5, n)) / n)\n"
TIMEIT_DIFFERS = 0.02
_PYPERF_RUNS, _LOADED_RUNS, _LEAST_RUNS = 3, 4, 2


async def timed(source: str, budget: Budget = Budget.DEFAULT) -> Measured:
    """Serve `source` in a process of its own, and measure it."""
    ours, theirs = socket.socketpair()
    process = await asyncio.create_subprocess_exec(
        *(str(LEARNERS), "-c", BOOT, str(ROOT / "sandbox_runner"), str(theirs.fileno()), source),
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    channel = Channel(ours)
    job = Job("bench", JobKind.TIME, source, "bench", budget=budget)
    try:
        return await measure(channel, job, lambda _: None, rng=random.SystemRandom())
    finally:
        channel.close()
        await process.wait()


async def ratio(source: str) -> Ratio | None:
    """Give the only ratio of a source; None where the outer clock would not believe a figure."""
    found = (await timed(source)).ratios
    return found[0] if found else None


async def lesson() -> dict[str, object]:
    """Time a lesson-like example: its whole wall beside the measuring budget, and what came of it."""
    begin = time.perf_counter()
    measured = await timed(LESSON)
    wall = time.perf_counter() - begin
    found: dict[str, object] = {
        "wall_s": round(wall, 3),
        "budget_s": BUDGET_S[Budget.DEFAULT],
        "phases_ms": {phase: round(spent) for phase, spent in measured.phases_ms.items()},
        "ending": measured.ending,
        "confirmed": measured.confirmed,
        "flags": [flag.code for flag in measured.flags],
    }
    for one in measured.ratios:
        found |= {"ratio": round(one.point, 1), "ci99": [round(end, 1) for end in one.ci99], "rounds": one.n}
    return found


async def repeated(sources: Mapping[str, str], runs: int, until: float) -> dict[str, list[Ratio | None]]:
    """Measure sources in turn, `runs` times each, or while there is time (`until`, by the monotonic clock)."""
    found: dict[str, list[Ratio | None]] = {name: [] for name in sources}
    for run in range(runs):
        for name, source in sources.items():
            if run < _LEAST_RUNS or time.monotonic() < until:
                found[name].append(await ratio(source))
    return found


async def equal(runs: int, until: float = math.inf) -> dict[str, object]:
    """Time equal pairs: how often the interval excludes 1 (1 in 100 may), how often the verdict is wrong (never)."""
    found: dict[str, object] = {}
    excluded = wrong = refused = total = 0
    sources = {name: f"{setup}\n# %% a\n{body}# %% b\n{body}" for name, (setup, body) in EQUAL.items()}
    for name, tried in (await repeated(sources, runs, until)).items():
        seen = [one for one in tried if one is not None]
        excludes = sum(not one.ci99[0] <= 1 <= one.ci99[1] for one in seen)
        verdicts = sum(one.claim in {Claim.FASTER, Claim.SLOWER} for one in seen)
        excluded, wrong, refused = excluded + excludes, wrong + verdicts, refused + len(tried) - len(seen)
        total += len(tried)
        found[name] = {
            "runs": len(tried),
            "excludes_1": excludes,
            "wrong_verdicts": verdicts,
            "claims": dict(Counter(one.claim.value for one in seen)),
            "median_half_width": round(median((r.ci99[1] - r.ci99[0]) / 2 for r in seen), 4) if seen else None,
        }
    most = allowed_exclusions(total)
    verdict = {"runs": total, "excludes_1": excluded, "most": most, "wrong_verdicts": wrong, "not_believed": refused}
    return {**found, **verdict, "good": excluded <= most and wrong == 0 and refused == 0}


def allowed_exclusions(runs: int) -> int:
    """Give how many of `runs` intervals a perfect 99 % instrument excludes 1 in at most, but once in 200 tries.

    13 of 600; of a handful of runs, one.
    """
    below, most = 0.0, 0
    while below < 1 - 1 / 200:
        below += math.comb(runs, most) * 0.01**most * 0.99 ** (runs - most)
        most += 1
    return most - 1


async def injected(runs: int, until: float = math.inf, most_bias: float = MOST_BIAS) -> dict[str, object]:
    """Time known differences: found, unclear, or wrong (never), and how often the interval covers the truth."""
    found: dict[str, object] = {}
    covered = total = refused = 0
    good = True
    sources = {f"{known:.2f}": "{}\n# %% more\n{}# %% less\n{}".format(*difference(known)) for known in KNOWN}
    measured = await repeated(sources, runs, until)
    for known in KNOWN:
        tried = measured[f"{known:.2f}"]
        seen = [one for one in tried if one is not None]
        claims = Counter(one.claim.value for one in seen)
        # 2 % is the least difference that is called one: no difference is no wrong verdict there.
        wrong = claims["slower"] + (claims["same"] if known > 1.02 else 0)
        covers = sum(one.ci99[0] <= known <= one.ci99[1] for one in seen)
        covered, total, refused = covered + covers, total + len(seen), refused + len(tried) - len(seen)
        bias = median(one.point for one in seen) / known - 1 if seen else math.nan
        honest = claims["faster"] + claims["unclear"] >= LEAST_FOUND * len(seen) or known < 1.05
        good = good and wrong == 0 and honest and abs(bias) <= most_bias
        found[f"{known:.2f}"] = {
            "runs": len(tried),
            "claims": dict(claims),
            "wrong_verdicts": wrong,
            "bias": round(bias, 4),
            "covered": covers,
        }
    share = round(covered / total, 4) if total else None
    return {**found, "covered": covered, "of": total, "coverage": share, "not_believed": refused, "good": good}


def difference(known: float) -> tuple[str, str, str]:
    """Give set-up and two bodies of which the first takes `known` times as long as the second."""
    block = "for _ in range({}):\n    for v in x:\n        pass\n"
    more, less = KNOWN[known]
    return "x = list(range(500))", block.format(more), block.format(less)


async def torch_timer(runs: int) -> dict[str, object]:
    """Time work of some milliseconds here and with torch's Timer, in turn, each in a process and on the same core."""
    source = "import torch\nx = torch.ones(1_000_000)\ntorch.sin(x)\n"
    place, environment = place_on(os.sched_getaffinity(0)), {**os.environ, "OMP_NUM_THREADS": "1"}
    pin = ["taskset", "-c", ",".join(map(str, place.inner))] if place.inner else []
    ours, theirs = [], []
    for _ in range(runs):
        measured = await timed(source)
        if measured.variants:
            ours.append(measured.variants[0].median_ns)
        said = await _output(*pin, str(LEARNERS), "-c", TIMER, env=environment)
        if not said:
            return {"left_out": "this interpreter has no torch"}
        theirs.append(float(said) * 1e9)
    apart = median(ours) / median(theirs) - 1
    return {
        "runs": runs,
        "ours_ns": round(median(ours)),
        "timer_ns": round(median(theirs)),
        "apart": round(apart, 4),
        "good": abs(apart) <= MOST_DISAGREEMENT,
    }


async def timeit(runs: int, until: float = math.inf) -> dict[str, object]:
    """Time the same pairs as people do with timeit, one after the other: how often and how far they seem apart."""

    async def compared(setup: str, one: str, two: str) -> tuple[float, bool]:
        spent = [
            float(await _output(str(LEARNERS), "-c", TIMEIT.format(body=body, setup=setup))) for body in (one, two)
        ]
        return spent[0] / spent[1], abs(math.log(spent[0] / spent[1])) > TIMEIT_DIFFERS

    return await _others(compared, runs, until)


async def pyperf(runs: int, until: float = math.inf) -> dict[str, object]:
    """Time the same pairs with pyperf and let it compare: how often it calls them different, and by how much."""

    async def compared(setup: str, one: str, two: str) -> tuple[float, bool]:
        with tempfile.TemporaryDirectory() as folder:
            files = [str(Path(folder, f"{end}.json")) for end in "ab"]
            for file, body in zip(files, (one, two), strict=True):
                program = [sys.executable, "-m", "pyperf", "timeit", "--fast", "-q", "-o", file, "-s", setup, body]
                await _output(*program)
            means = [_mean(Path(file)) for file in files]
            said = await _output(sys.executable, "-m", "pyperf", "compare_to", *files)
        return means[0] / means[1], "not significant" not in said.lower()

    return await _others(compared, runs, until)


def _mean(file: Path) -> float:
    """Give the mean of what a file of pyperf's has measured, its warm-up left out."""
    kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    values = [value for run in kept["benchmarks"][0]["runs"] for value in run.get("values", ())]
    return fmean(values)


async def _others(
    compared: Callable[[str, str, str], Awaitable[tuple[float, bool]]], runs: int, until: float
) -> dict[str, object]:
    """Compare each equal pair, and each known difference, with another instrument, in turn."""
    pairs = {name: (setup, body, body) for name, (setup, body) in EQUAL.items()}
    pairs |= {f"{known:.2f}": difference(known) for known in KNOWN}
    seen: dict[str, list[tuple[float, bool]]] = {name: [] for name in pairs}
    for run in range(runs):
        for name, pair in pairs.items():
            if not run or time.monotonic() < until:
                seen[name].append(await compared(*pair))
    equal: dict[str, object] = {
        name: {
            "runs": len(seen[name]),
            "called_different": sum(different for _, different in seen[name]),
            "worst": round(math.exp(max(abs(math.log(times)) for times, _ in seen[name])) - 1, 4),
        }
        for name in EQUAL
    }
    known: dict[str, object] = {
        name: {
            "runs": len(seen[name]),
            "called_different": sum(different for _, different in seen[name]),
            "bias": round(median(times for times, _ in seen[name]) / float(name) - 1, 4),
            "worst": round(max(abs(times / float(name) - 1) for times, _ in seen[name]), 4),
        }
        for name in (f"{each:.2f}" for each in KNOWN)
    }
    return {"equal": equal, "injected": known}


def _tell(what: str, begin: float) -> None:
    print(f"{time.monotonic() - begin:7.0f} s  {what}", file=sys.stderr, flush=True)


async def _output(*program: str, env: dict[str, str] | None = None) -> str:
    process = await asyncio.create_subprocess_exec(
        *program, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=env
    )
    out, _ = await process.communicate()
    return out.decode().strip()


@asynccontextmanager
async def load() -> AsyncIterator[None]:
    """Keep every core busy with something else meanwhile."""
    spin = (sys.executable, "-c", "while True: pass")
    busy = [await asyncio.create_subprocess_exec(*spin) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            await process.wait()


async def bench(runs: int, seconds: float = 600.0) -> dict[str, object]:
    """Run everything, quietly and under load; `runs` of each equal pair and known difference, as far as they fit."""
    few, begin = max(2, min(runs // 2, 10)), time.monotonic()
    load_before = [round(each, 2) for each in os.getloadavg()]

    def until(share: float) -> float:
        _tell(f"the next part, until {share * seconds:.0f} s at most", begin)
        return begin + share * seconds

    found: dict[str, object] = {
        "load_before": load_before,
        "lesson": await lesson(),
        "equal": await equal(runs, until(0.48)),
        "injected": await injected(runs, until(0.72)),
        "torch_timer": await torch_timer(few),
        "timeit": await timeit(few, until(0.78)),
        "pyperf": await pyperf(min(few, _PYPERF_RUNS), until(0.82)),
    }
    async with load():
        loaded = {
            "equal": await equal(few, until(0.87)),
            "injected": await injected(few, until(0.93), math.inf),
            "torch_timer": await torch_timer(min(few, _LOADED_RUNS)),
            "timeit": await timeit(few, until(0.96)),
            "pyperf": await pyperf(min(few, _PYPERF_RUNS), until(0.98)),
        }
    return {**found, "under_load": loaded, "seconds": round(time.monotonic() - begin)}


if __name__ == "__main__":
    RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 600.0
    print(json.dumps({"timing": asyncio.run(bench(RUNS, SECONDS))}, indent=2))
