"""Benchmarks the timing instrument: equal pairs, known differences, other instruments beside it, all again under load.

Prints one JSON object. `python tests/bench/timing.py [RUNS]`: RUNS of each equal pair and each known difference (5,
some minutes); `make soak` runs it with 200. The harness runs in a plain process of the learners' interpreter, without
walls: the walls' cost is their own bench's. torch's Timer is left out where the interpreter has no torch.
"""

import asyncio
import json
import math
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

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
_PYPERF_RUNS = 3


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


async def equal(runs: int) -> dict[str, object]:
    """Time equal pairs: how often the interval excludes 1 (1 in 100 may), how often the verdict is wrong (never)."""
    found: dict[str, object] = {}
    excluded = wrong = refused = 0
    for name, (setup, body) in EQUAL.items():
        source = f"{setup}\n# %% a\n{body}# %% b\n{body}"
        seen = [one for one in [await ratio(source) for _ in range(runs)] if one is not None]
        excludes = sum(not one.ci99[0] <= 1 <= one.ci99[1] for one in seen)
        verdicts = sum(one.claim in {Claim.FASTER, Claim.SLOWER} for one in seen)
        excluded, wrong, refused = excluded + excludes, wrong + verdicts, refused + runs - len(seen)
        found[name] = {
            "runs": runs,
            "excludes_1": excludes,
            "wrong_verdicts": verdicts,
            "claims": dict(Counter(one.claim.value for one in seen)),
            "median_half_width": round(median((r.ci99[1] - r.ci99[0]) / 2 for r in seen), 4) if seen else None,
        }
    most = allowed_exclusions(3 * runs)
    verdict = {"excludes_1": excluded, "most": most, "wrong_verdicts": wrong, "not_believed": refused}
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


async def injected(runs: int, most_bias: float = MOST_BIAS) -> dict[str, object]:
    """Time known differences: found, unclear, or wrong (never), and how often the interval covers the truth."""
    found: dict[str, object] = {}
    block = "for _ in range({}):\n    for v in x:\n        pass\n"
    covered = total = 0
    good = True
    for known, (more, less) in KNOWN.items():
        source = f"x = list(range(500))\n# %% more\n{block.format(more)}# %% less\n{block.format(less)}"
        seen = [one for one in [await ratio(source) for _ in range(runs)] if one is not None]
        claims = Counter(one.claim.value for one in seen)
        # 2 % is the least difference that is called one: no difference is no wrong verdict there.
        wrong = claims["slower"] + (claims["same"] if known > 1.02 else 0)
        covers = sum(one.ci99[0] <= known <= one.ci99[1] for one in seen)
        covered, total = covered + covers, total + len(seen)
        bias = median(one.point for one in seen) / known - 1 if seen else math.nan
        honest = claims["faster"] + claims["unclear"] >= LEAST_FOUND * len(seen) or known < 1.05
        good = good and wrong == 0 and honest and abs(bias) <= most_bias
        found[f"{known:.2f}"] = {
            "runs": len(seen),
            "claims": dict(claims),
            "wrong_verdicts": wrong,
            "bias": round(bias, 4),
            "covered": covers,
        }
    return {**found, "covered": covered, "of": total, "good": good}


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


async def timeit(runs: int) -> dict[str, object]:
    """Time equal pairs as people do with timeit, one after the other: how often and how far they seem apart."""
    found = {}
    for name, (setup, body) in EQUAL.items():
        program = TIMEIT.format(body=body, setup=setup)
        pairs = [[float(await _output(str(LEARNERS), "-c", program)) for _ in range(2)] for _ in range(runs)]
        apart = [abs(math.log(one / two)) for one, two in pairs]
        found[name] = {
            "runs": runs,
            "seem_different": sum(each > TIMEIT_DIFFERS for each in apart),
            "worst": round(math.exp(max(apart)) - 1, 3),
        }
    return dict(found)


async def pyperf(runs: int) -> dict[str, object]:
    """Time an equal pair with pyperf and let it compare: how often it calls them different."""
    setup, body = EQUAL["python loop"]
    different, worst = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for run in range(runs):
            files = [str(Path(folder, f"{run}{end}.json")) for end in "ab"]
            for file in files:
                program = [sys.executable, "-m", "pyperf", "timeit", "--fast", "-q", "-o", file, "-s", setup, body]
                await _output(*program)
            said = await _output(sys.executable, "-m", "pyperf", "compare_to", *files)
            different += "not significant" not in said.lower()
            times = re.search(r"([\d.]+)x (?:slower|faster)", said)
            worst = max(worst, float(times[1]) - 1 if times else 0.0)
    return {"runs": runs, "called_different": different, "worst": round(worst, 3)}


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


async def bench(runs: int) -> dict[str, object]:
    """Run everything, quietly and under load; `runs` of each equal pair and known difference."""
    few = max(2, min(runs // 2, 10))
    found: dict[str, object] = {
        "load_before": [round(each, 2) for each in os.getloadavg()],
        "lesson": await lesson(),
        "equal": await equal(runs),
        "injected": await injected(runs),
        "torch_timer": await torch_timer(few),
        "timeit": await timeit(few),
        "pyperf": await pyperf(min(few, _PYPERF_RUNS)),
    }
    async with load():
        loaded = {
            "equal": await equal(few),
            "injected": await injected(few, math.inf),
            "torch_timer": await torch_timer(few),
            "timeit": await timeit(few),
            "pyperf": await pyperf(min(few, _PYPERF_RUNS)),
        }
    return {**found, "under_load": loaded}


if __name__ == "__main__":
    RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(json.dumps({"timing": asyncio.run(bench(RUNS))}, indent=2))
