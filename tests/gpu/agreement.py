"""Holds our timings on a GPU against Triton's do_bench and a kernel that sleeps, and prints a line of JSON for each.

Usage: python tests/gpu/agreement.py [PYTHON [PART]...]: an interpreter with torch and triton for the GPU, this one
unless given; the parts are sleep, values and works.
Ends with 1 where a work of at least 100 µs differs by more than 3 %, the time of `torch.cuda._sleep` is not linear
in its cycles within 3 %, or zeros are not told from random values. No walls: the snippets are ours.

`do_bench` empties the second-level cache before each call and we do not, so both time a work that empties it first.
do_bench is started before and after ours, because a GPU changes its clock with what it did before.
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

WORKS = {
    "bfloat16 product, 2048": ("x = torch.randn(2048, 2048, device='cuda', dtype=torch.bfloat16)", "x @ x"),
    "bfloat16 product, 4096": ("x = torch.randn(4096, 4096, device='cuda', dtype=torch.bfloat16)", "x @ x"),
    "float32 product, 3000": ("x = torch.randn(3000, 3000, device='cuda')", "x @ x"),
    "softmax": ("x = torch.randn(16384, 8192, device='cuda')", "torch.softmax(x, 1)"),
    "chain": ("x = torch.randn(1 << 27, device='cuda')", "torch.sin(x) * 2 + 1"),
    "bfloat16 product, 8192": ("x = torch.randn(8192, 8192, device='cuda', dtype=torch.bfloat16)", "x @ x"),
}
CYCLES = (1_000_000, 2_000_000, 4_000_000)
MOST_APART, LEAST_NS, CLEARED, MOST_LIMITED = 0.03, 100_000, 256 << 20, 0.5
WORK = """\
import torch
cleared = torch.empty({cleared}, dtype=torch.uint8, device="cuda")
{setup}
# %% work
cleared.zero_()
{expression}
"""
SLEEP = "import torch\ntorch.cuda.init()\n" + "".join(f"# %% {c}\ntorch.cuda._sleep({c})\n" for c in CYCLES)
VALUES = "import torch\nx = torch.{kind}(8192, 8192, device='cuda', dtype=torch.bfloat16)\nx @ x\n"
DO_BENCH = """
import json, sys, torch
from triton.testing import do_bench
cleared = torch.empty(int(sys.argv[1]), dtype=torch.uint8, device="cuda")
for setup, expression in json.loads(sys.argv[2]):
    names = {"torch": torch}
    exec(setup, names)
    code = compile(expression, "work", "eval")
    print(do_bench(lambda: (cleared.zero_(), eval(code, names)), warmup=250, rep=400, return_mode="median") * 1e6)
"""


async def triton_ns(python: str) -> list[float]:
    """Time the works with do_bench."""
    works = json.dumps(list(WORKS.values()))
    process = await asyncio.create_subprocess_exec(
        *(python, "-c", DO_BENCH, str(CLEARED), works), stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    return [float(line) for line in said.decode().split()]


async def works(python: str) -> bool:
    """Time works both ways. Where the power holds the clock down the two meet different clocks: told, not judged."""
    before = await triton_ns(python)
    sources = [WORK.format(cleared=CLEARED, setup=setup, expression=work) for setup, work in WORKS.values()]
    ours: list[dict[str, Any]] = [found async for found in gpu_mistakes.each(python, sources)]
    after, good = await triton_ns(python), True
    for name, found, *theirs in zip(WORKS, ours, before, after, strict=True):
        own = found["medians_ns"].get("work")
        apart = own / median(theirs) - 1 if own else None
        limited = found["remarks"].get("gpu_slowed_power", {}).get("part", 0.0) > MOST_LIMITED
        right = apart is not None and (median(theirs) < LEAST_NS or abs(apart) <= MOST_APART or limited)
        good = good and right
        told = {"work": name, "ours_ns": own, "do_bench_ns": theirs, "apart": apart, "limited": limited, "good": right}
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
    parts = {"sleep": sleep, "values": values, "works": works}
    good = [await parts[name](python) for name in sys.argv[2:] or parts]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
