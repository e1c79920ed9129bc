"""Tries on the GPU at hand each way to look faster than one is, and honest code beside it; a line of JSON for each.

Usage: python tests/gpu/forgeries.py [PYTHON [NAME ...]]: PYTHON is an interpreter with torch, this one unless given;
NAMEs choose among the cases. Ends with 1 where a forgery was confirmed or not named, or honest code accused. No walls:
the sources are ours.
"""

import asyncio
import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_spec = importlib.util.spec_from_file_location("gpu_mistakes", Path(__file__).with_name("mistakes.py"))
assert _spec is not None
assert _spec.loader is not None
gpu_mistakes = importlib.util.module_from_spec(_spec)
sys.modules["gpu_mistakes"] = gpu_mistakes
_spec.loader.exec_module(gpu_mistakes)

BAD = frozenset({"suspicious_timing", "wrong_result", "tampered"})
MADE = """\
import torch
n = {n}
def make(rng, n):
    return {{"x": torch.randn(n, n, device="cuda")}}
"""
HARNESS = "import sys\nharness = sys.modules['harness.blocks']\n"
PAIR = "# %% honest\nx @ x\n# %% theirs\ntheirs(x)\n"
COUNTED = "calls = 0\ndef theirs(x):\n    global calls\n    calls += 1\n    if calls < 9:\n        return x @ x\n"
CAPTURED = """\
static = make(None, n)["x"]
static @ static
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    out = static @ static
"""


@dataclass(frozen=True)
class Case:
    """A source; `named` are the codes of which one must be told, none where it is `honest` and must be left alone."""

    name: str
    source: str
    named: frozenset[str] = frozenset()
    honest: bool = False
    ok: bool = False
    """Whether it must end well: what is done there changes no figure, and is only named."""


def _case(name: str, source: str, *named: str, honest: bool = False, ok: bool = False, n: int = 3000) -> Case:
    made = "" if "def make" in source or source.startswith("#plain") else MADE.format(n=n)
    return Case(name, made + source, frozenset(named), honest, ok or honest)


CASES = [
    _case("clock_slow", HARNESS + "real = harness.clock\nharness.clock = lambda: real() // 4\ndef theirs(x):\n"
          "    return x @ x\n" + PAIR, "suspicious_timing"),
    _case("clock_stands", HARNESS + "harness.clock = lambda: 0\ndef theirs(x):\n    return x @ x\n" + PAIR,
          "suspicious_timing"),
    _case("events_forged", "torch.cuda.Event.elapsed_time = lambda *_: 1e-6\ndef theirs(x):\n    return x @ x\n" + PAIR,
          ok=True, honest=True),
    _case("synchronize_patched", "torch.cuda.synchronize = lambda *_: None\ndef theirs(x):\n    return x @ x\n" + PAIR,
          ok=True, honest=True),
    _case("no_waiting", HARNESS + "harness.synchronize = lambda: None\ndef theirs(x):\n    return x @ x\n" + PAIR,
          "work_left", "suspicious_timing", "late_work", "skipped_work"),
    _case("memoised", "kept = {}\ndef theirs(x):\n    key = float(x[0, 0]), float(x[-1, -1])\n"
          "    if key not in kept: kept[key] = x @ x\n    return kept[key]\n" + PAIR, "memoised"),
    _case("other_stream", "side = torch.cuda.Stream()\ndef theirs(x):\n"
          "    side.wait_stream(torch.cuda.current_stream())\n    with torch.cuda.stream(side):\n        return x @ x\n"
          + PAIR, "other_stream", ok=True),
    _case("thread", COUNTED + "    import threading, time\n"
          "    out = torch.zeros_like(x)\n"
          "    threading.Thread(target=lambda: (time.sleep(0.005), torch.mm(x, x, out=out))).start()\n    return out\n"
          + PAIR, "late_work", "skipped_work", "work_left"),
    _case("skipped", COUNTED + "    return torch.empty_like(x)\n" + PAIR, "skipped_work"),
    _case("half_inside", "def theirs(x):\n    h = x.half()\n    return (h @ h).float()\n" + PAIR,
          "lowered_precision", "results_differ"),
    _case("bfloat16_inside", "def theirs(x):\n    h = x.bfloat16()\n    return (h @ h).float()\n" + PAIR,
          "lowered_precision", "results_differ"),
    _case("remembers_few", "kept = {}\ndef theirs(x):\n    key = tuple(x[0, :4].tolist())\n    if key not in kept:\n"
          "        while len(kept) > 3: kept.pop(next(iter(kept)))\n        kept[key] = x @ x\n"
          "    return kept[key]\n" + PAIR, "memoised"),
    _case("stale_graph", CAPTURED + "def theirs(x):\n    graph.replay()\n    return out\n" + PAIR,
          "wrong_result", "skipped_work", "results_differ"),
    _case("honest_graph", CAPTURED + "def theirs(x):\n    if x.shape != static.shape: return x @ x\n"
          "    static.copy_(x)\n    graph.replay()\n    return out.clone()\n" + PAIR, honest=True),
    _case("side_never_joined", "side = torch.cuda.Stream()\ndef theirs(x):\n    out = torch.empty_like(x)\n"
          "    with torch.cuda.stream(side):\n        torch.mm(x, x, out=out)\n    return out\n" + PAIR,
          "other_stream", "late_work", "work_left", ok=True),
    _case("half_of_the_rows", COUNTED + "    out = torch.empty_like(x)\n    torch.mm(x[:1500], x, out=out[:1500])\n"
          "    return out\n" + PAIR, "skipped_work"),
    _case("tf32_inside", "def theirs(x):\n    torch.backends.cuda.matmul.allow_tf32 = True\n    y = x @ x\n"
          "    torch.backends.cuda.matmul.allow_tf32 = False\n    return y\n" + PAIR,
          "lowered_precision", "reduced_precision", "results_differ", ok=True),
    _case("tf32_openly", "torch.set_float32_matmul_precision('high')\n# %% a\nx @ x\n# %% b\nx @ x + 0\n",
          "reduced_precision", honest=True),
    _case("convolution", "import torch\nfrom torch.nn import functional\nn = 64\n"
          "w = torch.randn(64, 64, 3, 3, device='cuda')\n"
          "def make(rng, n):\n    return {'x': torch.randn(32, 64, n, n, device='cuda')}\n"
          "# %% conv\nfunctional.conv2d(x, w)\n# %% again\nfunctional.conv2d(x, w) + 0\n", honest=True),
    _case("honest_small", "# %% a\nx * 2\n# %% b\nx + x\n", honest=True, n=100),
    _case("honest_middle", "# %% a\nx * 2\n# %% b\nx + x\n", honest=True, n=4000),
    _case("honest_large", "# %% a\nx @ x\n# %% b\n(x @ x) * 1\n", honest=True, n=8192),
    _case("honest_half", "# %% a\nx @ x\n# %% half\nx.half() @ x.half()\n", honest=True, n=4096),
    _case("honest_plain", "#plain\nimport torch\nx = torch.randn(2000, 2000, device='cuda')\n# %% a\nx @ x\n"
          "# %% b\n(x @ x).sum()\n", honest=True),
]  # fmt: skip


def judged(case: Case, seen: dict[str, Any]) -> str:
    """Say what is wrong with what came of a case; nothing where all is well."""
    codes = {*seen["remarks"], *(one["code"] for one in seen["mistakes"])}
    if case.named and not case.named & codes:
        return f"not named: {sorted(codes)}"
    if case.ok and seen["ending"] != "ok":
        return f"accused: {seen['ending']}"
    if not case.ok and (seen["ending"] not in BAD or seen["confirmed"]):
        return f"believed: {seen['ending']}, confirmed: {seen['confirmed']}"
    return ""


async def main(python: str, names: list[str]) -> int:
    """Try them, one after the other."""
    cases = [case for case in CASES if not names or case.name in names]
    wrong, confirmed, place = [], [], 0
    async for seen in gpu_mistakes.each(python, [case.source for case in cases]):
        case, place = cases[place], place + 1
        why = judged(case, seen)
        wrong += [case.name] if why else []
        confirmed += [case.name] if case.honest and seen["confirmed"] else []
        print(json.dumps({"case": case.name, "right": not why, "why": why, **seen}), flush=True)
    honest = sum(case.honest for case in cases)
    print(json.dumps({"count": place, "wrong": wrong, "honest": honest, "confirmed": confirmed}))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else sys.executable, sys.argv[2:])))
