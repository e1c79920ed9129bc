"""Holds our timings on a GPU against Triton's do_bench and a kernel that sleeps, and prints a line of JSON for each.

Usage: python tests/gpu/agreement.py [PYTHON]: an interpreter with torch and triton for the GPU, this one unless given.
Ends with 1 where a product of at least 100 µs differs by more than 3 %, or the time of `torch.cuda._sleep` is not
linear in its cycles within 3 %. No walls: the snippets are ours.
"""

import asyncio
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_spec = importlib.util.spec_from_file_location("gpu_mistakes", Path(__file__).with_name("mistakes.py"))
assert _spec is not None
assert _spec.loader is not None
gpu_mistakes = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gpu_mistakes)

SIZES = (2048, 4096, 8192)
CYCLES = (1_000_000, 2_000_000, 4_000_000)
MOST_APART, LEAST_NS = 0.03, 100_000
PRODUCT = "import torch\nx = torch.randn({n}, {n}, device='cuda', dtype=torch.bfloat16)\nx @ x\n"
SLEEP = "import torch\ntorch.cuda.init()\ntorch.cuda._sleep({cycles})\n"
DO_BENCH = """
import sys, torch
from triton.testing import do_bench
n = int(sys.argv[1])
x = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
print(do_bench(lambda: x @ x, warmup=250, rep=1000, return_mode="median") * 1e6)
"""


async def median_ns(python: str, source: str) -> float | None:
    """Time a source here; None where nothing was measured."""
    found: dict[str, Any] = await gpu_mistakes.found_in(python, source)
    print(json.dumps({"source": source.splitlines()[-1], **found}), flush=True)
    return next(iter(found["medians_ns"].values()), None)


async def product(python: str, n: int) -> bool:
    """Time a product both ways."""
    ours = await median_ns(python, PRODUCT.format(n=n))
    said = subprocess.run([python, "-c", DO_BENCH, str(n)], capture_output=True, text=True, check=True).stdout  # noqa: ASYNC221
    theirs = float(said)
    apart = ours / theirs - 1 if ours is not None else None
    good = apart is not None and (theirs < LEAST_NS or abs(apart) <= MOST_APART)
    print(json.dumps({"product": n, "ours_ns": ours, "do_bench_ns": theirs, "apart": apart, "good": good}), flush=True)
    return good


async def sleep(python: str) -> bool:
    """Time a kernel that sleeps for known cycles: twice as many must take twice as long."""
    times = [await median_ns(python, SLEEP.format(cycles=cycles)) for cycles in CYCLES]
    known = [time for time in times if time is not None]
    each = [time / cycles for time, cycles in zip(known, CYCLES, strict=False)]
    good = len(each) == len(CYCLES) and max(each) / min(each) - 1 <= MOST_APART
    print(json.dumps({"sleep_cycles": CYCLES, "ours_ns": times, "good": good}), flush=True)
    return good


async def main() -> int:
    """Hold everything against each other."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    good = [await product(python, n) for n in SIZES]
    good.append(await sleep(python))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
