"""Benchmarks the timing instrument on real processes: its cost beside its budget, equal pairs, a known difference.

Prints one JSON object. `python tests/bench/timing.py [RUNS]`: RUNS of each equal pair and of the injected 5 % (10).
The harness runs in a plain process of the learners' interpreter, without walls: the walls' cost is their own bench's.
"""

import asyncio
import json
import os
import random
import socket
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from sandbox_runner.channel import Channel  # noqa: E402 - the path first
from sandbox_runner.measuring import Measured, measure  # noqa: E402
from sandbox_runner.protocol import Budget, Claim, Job, JobKind  # noqa: E402
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
n = 1_000_000
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
KNOWN = 1.05


async def timed(source: str, budget: Budget = Budget.DEFAULT) -> Measured:
    """Serve `source` in a process of its own, and measure it."""
    ours, theirs = socket.socketpair()
    process = await asyncio.create_subprocess_exec(
        *(str(LEARNERS), "-c", BOOT, str(ROOT / "sandbox_runner"), str(theirs.fileno()), source),
        pass_fds=[theirs.fileno()],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    theirs.close()
    channel = Channel(ours)
    job = Job("bench", JobKind.TIME, source, "bench", budget=budget)
    try:
        return await measure(channel, job, lambda _: None, rng=random.SystemRandom())
    finally:
        channel.close()
        await process.wait()


async def lesson() -> dict[str, object]:
    """Time a lesson-like example: its whole wall beside the measuring budget, and what came of it."""
    begin = time.perf_counter()
    measured = await timed(LESSON)
    wall = time.perf_counter() - begin
    (ratio,) = measured.ratios
    budget = BUDGET_S[Budget.DEFAULT]
    return {
        "wall_s": round(wall, 3),
        "budget_s": budget,
        "wall_over_budget": round(wall / budget, 2),
        "phases_ms": {phase: round(spent) for phase, spent in measured.phases_ms.items()},
        "ratio": round(ratio.point, 1),
        "ci99": [round(end, 1) for end in ratio.ci99],
        "claim": ratio.claim,
        "rounds": ratio.n,
        "few": ratio.few,
        "confirmed": measured.confirmed,
        "flags": [flag.code for flag in measured.flags],
    }


async def equal(runs: int) -> dict[str, object]:
    """Time equal pairs: how often the interval excludes 1 (1 in 100 may), how often the verdict is wrong (never)."""
    found = {}
    for name, (setup, body) in EQUAL.items():
        ratios = [(await timed(f"{setup}\n# %% a\n{body}# %% b\n{body}")).ratios[0] for _ in range(runs)]
        found[name] = {
            "runs": runs,
            "excludes_1": sum(not ratio.ci99[0] <= 1 <= ratio.ci99[1] for ratio in ratios),
            "wrong_verdicts": sum(ratio.claim in {Claim.FASTER, Claim.SLOWER} for ratio in ratios),
            "claims": dict(Counter(ratio.claim.value for ratio in ratios)),
            "median_half_width": round(median((r.ci99[1] - r.ci99[0]) / 2 for r in ratios), 4),
        }
    return dict(found)


async def injected(runs: int) -> dict[str, object]:
    """Time a known difference of 5 %: found, unclear, or wrong (never)."""
    block = "for _ in range({}):\n    for v in x:\n        pass\n"
    source = f"x = list(range(500))\n# %% more\n{block.format(42)}# %% less\n{block.format(40)}"
    seen = [(await timed(source)).ratios[0] for _ in range(runs)]
    claims = Counter(ratio.claim.value for ratio in seen)
    return {
        "runs": runs,
        "true": KNOWN,
        "claims": dict(claims),
        "wrong_verdicts": claims["slower"] + claims["same"],
        "bias": round(median(ratio.point for ratio in seen) / KNOWN - 1, 4),
        "covered": sum(ratio.ci99[0] <= KNOWN <= ratio.ci99[1] for ratio in seen),
    }


async def main(runs: int) -> None:
    """Run all, print one JSON object."""
    load = os.getloadavg()[0]
    found = {"lesson": await lesson(), "equal": await equal(runs), "injected": await injected(runs)}
    print(json.dumps({"timing": {**found, "load_before": round(load, 2)}}, indent=2))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
