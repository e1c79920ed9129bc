"""Runs the snippets that are marked `gpu`, and their twins, on the GPU at hand, and prints a line of JSON for each.

Usage: python tests/gpu/mistakes.py [PYTHON [NAME ...]]: PYTHON is an interpreter with torch, this one unless given;
NAMEs are folders of snippets (`45_launch_bound`, or one of the two: `45_launch_bound/twin`), all that are marked unless
given. Ends with 1 where a mistake was missed or a twin raised an alarm. No walls: the snippets are ours.
"""

import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "sandbox_runner")]

import mistake_data  # noqa: E402 - the path comes first

from sandbox_runner.channel import Channel  # noqa: E402
from sandbox_runner.measuring import measure  # noqa: E402
from sandbox_runner.outerclock import OuterClock  # noqa: E402
from sandbox_runner.protocol import Budget, Device, Job, JobKind, Limits  # noqa: E402
from sandbox_runner.stats import quantile  # noqa: E402

MINORS = tuple(int(one) for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one.isdigit())
"""The GPUs that the snippets see, for their clocks to be read from outside."""
BOOT = """
import sys
sys.path.insert(0, sys.argv[1])
from harness.timing import serve
from harness.wire import Line
del sys.path[0]
import torch
serve(Line(int(sys.argv[2])), sys.stdin.read(), "code.py")
"""
FAILING = {"cudagraph_overwritten"}
"""Mistakes that are an error."""
LIMITS = Limits(import_s=120, run_s=120, check_s=120, warmup_s=120, measure_s=120, compile_s=300)


clocks: list[OuterClock] = []
"""Every outer clock that was asked whether it confirms, for its figures to be printed."""
_confirms = OuterClock.confirms


def _seen(clock: OuterClock) -> bool:
    clocks.append(clock)
    return _confirms(clock)


setattr(OuterClock, "confirms", _seen)  # noqa: B010 - only this program looks at it from beside


def window() -> dict[str, object]:
    """Give what the last outer clock saw, in µs: what is hidden in empty blocks and in each variant's, and waits."""
    if not clocks:
        return {}
    clock, parts = clocks[-1], (0.25, 0.5, 0.9, 0.95, 0.99)

    def hidden(pairs: list[tuple[int, int]]) -> list[float]:
        return [round(quantile([wall - claim for claim, wall in pairs], part) / 1e3, 1) for part in parts]

    blocks = {
        variant: {"n": len(pairs), "hidden": hidden(pairs), "wall": round(quantile([w for _, w in pairs], 0.5) / 1e3)}
        for variant, pairs in clock.blocks.items()
        if pairs
    }
    claims = round(quantile([claim for claim, _ in clock.empty], 0.5) / 1e3, 1) if clock.empty else 0.0
    doubts = [doubt.variant for doubt in clock.doubts()]
    empty = hidden(clock.empty) if clock.empty else []
    return {"empty": len(clock.empty), "hidden": empty, "empty_claim": claims, "blocks": blocks, "doubts": doubts}


@dataclass(frozen=True)
class Started:
    """A harness in a process of its own that has torch loaded already, and its end of the channel."""

    source: str
    channel: Channel
    talking: "asyncio.Task[tuple[bytes, bytes]]"


async def started(python: str, source: str) -> Started:
    """Start a harness for a source; it waits to be asked."""
    ours, theirs = socket.socketpair()
    process = await asyncio.create_subprocess_exec(
        *(python, "-c", BOOT, str(ROOT / "sandbox_runner"), str(theirs.fileno())),
        pass_fds=[theirs.fileno()],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    theirs.close()
    return Started(source, Channel(ours), asyncio.create_task(process.communicate(source.encode())))


async def found_in(
    python: str, source: str, began: Started | None = None, budget: Budget = Budget.DEFAULT
) -> dict[str, object]:
    """Measure a source in a process of its own: its ending, fault, ratios, and the mistakes with their figures."""
    harness = began or await started(python, source)
    job = Job("gpu", JobKind.TIME, source, "nobody", device=Device.CUDA, budget=budget, limits=LIMITS)
    start = time.perf_counter()
    clocks.clear()
    rng = random.Random()  # noqa: S311 - seeded by the system
    try:
        seen = await measure(harness.channel, job, lambda _: None, rng=rng, gpus=MINORS)
    finally:
        harness.channel.close()
        _, err = await harness.talking
    return {
        "ending": None if seen.ending is None else seen.ending.value,
        "fault": seen.fault.last_line if seen.fault else "",
        "medians_ns": {variant.name: variant.median_ns for variant in seen.variants},
        "gpu_ns": {variant.name: round(variant.gpu_ns) for variant in seen.variants},
        "precisions": {variant.name: [variant.precision, variant.error] for variant in seen.variants},
        "blocks": {variant.name: [variant.block, variant.n] for variant in seen.variants},
        "checked": seen.checked,
        "confirmed": seen.confirmed,
        "noise": seen.noise,
        "window": window(),
        "remarks": {f.code: f.values for f in seen.flags if "mistake" not in f.values},
        "ratios": [[ratio.name, ratio.point, list(ratio.ci99)] for ratio in seen.ratios],
        "mistakes": [{"code": f.code, "line": f.line, **f.values} for f in seen.flags if "mistake" in f.values],
        "phases_ms": {phase: round(spent) for phase, spent in seen.phases_ms.items()},
        "seconds": round(time.perf_counter() - start, 1),
        "stderr": err.decode(errors="replace")[-300:] if seen.ending is None else "",
    }


async def each(python: str, sources: Sequence[str]) -> AsyncIterator[dict[str, object]]:
    """Measure sources one after the other; the process of the next loads torch meanwhile."""
    following = await started(python, sources[0]) if sources else None
    for place, source in enumerate(sources):
        now = following
        following = await started(python, sources[place + 1]) if place + 1 < len(sources) else None
        yield await found_in(python, source, now)


async def main(python: str, names: list[str]) -> int:
    """Run them, one after the other."""
    wanted = [
        (which, snippet)
        for which in ("mistake", "twin")
        for snippet in mistake_data.snippets(which)
        if snippet.device == "gpu" and (not names or {snippet.name, f"{snippet.name}/{which}"} & set(names))
    ]
    failed, place = [], 0
    async for seen in each(python, [snippet.source for _, snippet in wanted]):
        which, snippet = wanted[place]
        mistakes = seen["mistakes"]
        assert isinstance(mistakes, list)
        codes = {one["code"] for one in mistakes}
        right = snippet.code in codes if which == "mistake" else snippet.code not in codes
        right = right and (seen["ending"] == "ok" or (snippet.code in codes and snippet.code in FAILING))
        failed += [] if right else [f"{snippet.name}/{which}"]
        print(json.dumps({"snippet": f"{snippet.name}/{which}", "right": right, **seen}), flush=True)
        place += 1
    print(json.dumps({"count": place, "wrong": failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else sys.executable, sys.argv[2:])))
