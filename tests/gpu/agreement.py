"""Holds our timings on a GPU against Triton's do_bench and a kernel that sleeps, and prints a line of JSON for each.

Usage: python tests/gpu/agreement.py [PYTHON]: an interpreter with torch and triton for the GPU, this one unless given.
Ends with 1 where a product of at least 100 µs differs by more than 3 %, the time of `torch.cuda._sleep` is not linear
in its cycles within 3 %, or zeros are not told from random values. No walls: the snippets are ours.

`do_bench` empties the second-level cache before each call; so do we, by inputs that are rotated (`make`). Each is
started before and after the other, because a GPU at its power limit changes its clock with what it did before.
"""

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

_spec = importlib.util.spec_from_file_location("gpu_mistakes", Path(__file__).with_name("mistakes.py"))
assert _spec is not None
assert _spec.loader is not None
gpu_mistakes = importlib.util.module_from_spec(_spec)
sys.modules["gpu_mistakes"] = gpu_mistakes
_spec.loader.exec_module(gpu_mistakes)

SIZES = (2048, 4096, 8192)
CYCLES = (1_000_000, 2_000_000, 4_000_000)
MOST_APART, LEAST_NS = 0.03, 100_000
PRODUCT = """\
import torch
n = {n}
def make(rng, n):
    return {{"x": torch.randn(n, n, device="cuda", dtype=torch.bfloat16)}}
# %% product
x @ x
"""
SLEEP = "import torch\ntorch.cuda.init()\n" + "".join(f"# %% {c}\ntorch.cuda._sleep({c})\n" for c in CYCLES)
VALUES = "import torch\nx = torch.{kind}(8192, 8192, device='cuda', dtype=torch.bfloat16)\nx @ x\n"
DO_BENCH = """
import sys, torch
from triton.testing import do_bench
for n in map(int, sys.argv[1:]):
    x = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
    print(do_bench(lambda: x @ x, warmup=250, rep=600, return_mode="median") * 1e6)
"""


async def triton_ns(python: str) -> list[float]:
    """Time the products with do_bench."""
    process = await asyncio.create_subprocess_exec(
        *(python, "-c", DO_BENCH, *map(str, SIZES)), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return [float(line) for line in said.decode().split()]


async def products(python: str) -> bool:
    """Time products both ways."""
    before = await triton_ns(python)
    ours: list[dict[str, Any]] = [
        found async for found in gpu_mistakes.each(python, [PRODUCT.format(n=n) for n in SIZES])
    ]
    after, good = await triton_ns(python), True
    for n, found, *theirs in zip(SIZES, ours, before, after, strict=True):
        own = found["medians_ns"].get("product")
        apart = own / median(theirs) - 1 if own else None
        right = apart is not None and (median(theirs) < LEAST_NS or abs(apart) <= MOST_APART)
        good = good and right
        told = {"product": n, "ours_ns": own, "do_bench_ns": theirs, "apart": apart, "good": right}
        print(json.dumps({**told, "seen": found}), flush=True)
    return good


async def sleep(python: str) -> bool:
    """Time a kernel that sleeps for known cycles: twice as many must take twice as long."""
    found: dict[str, Any] = await gpu_mistakes.found_in(python, SLEEP)
    known = [found["medians_ns"].get(str(cycles), 0.0) for cycles in CYCLES]
    each = [time / cycles for time, cycles in zip(known, CYCLES, strict=True)]
    good = bool(min(each) > 0) and max(each) / min(each) - 1 <= MOST_APART
    print(json.dumps({"sleep_cycles": CYCLES, "ours_ns": known, "good": good, "seen": found}), flush=True)
    return good


async def values(python: str) -> bool:
    """Zeros must be told from random values, and random values must not be called constant."""
    good, kinds = True, ("zeros", "randn")
    place = 0
    async for found in gpu_mistakes.each(python, [VALUES.format(kind=kind) for kind in kinds]):
        told = [one for one in found["mistakes"] if one["code"] == "constant_inputs"]
        right = bool(told) == (kinds[place] == "zeros")
        good = good and right
        print(json.dumps({"values": kinds[place], "told": told, "good": right, "seen": found}), flush=True)
        place += 1
    return good


async def main() -> int:
    """Hold everything against each other."""
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    good = [await sleep(python), await values(python), await products(python)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
