"""Tries what learners' code is compiled by, inside the walls: torch.compile on each device, and a kernel in Triton.

Law: a compiler counts when what it made gave the right result there. None of them is a wall, so none matters by itself;
the first compilation on a host may take a minute, which is why `serve` does without this. Texts are for operators.
"""

import json
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from sandbox_runner.protocol import Device, Ending, Job, JobKind, Result, Wall, limits_for

COMPILE = """
import json
import time
import torch
def chain(x):
    return torch.sin(x) * 2 + 1
x = torch.linspace(0, 1, 4096, device="@DEVICE@")
begin = time.perf_counter()
y = torch.compile(chain)(x)
total = float(y.sum())
seconds = time.perf_counter() - begin
print(json.dumps({"right": bool(torch.allclose(y, chain(x))), "seconds": seconds, "version": torch.__version__}))
"""
TRITON = """
import json
import time
import torch
import triton
import triton.language as tl
@triton.jit
def add(x, y, out, n, block: tl.constexpr):
    at = tl.program_id(0) * block + tl.arange(0, block)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)
x = torch.arange(1000, device="cuda", dtype=torch.int32)
out = torch.empty_like(x)
begin = time.perf_counter()
add[(4,)](x, x, out, 1000, 256)
right = bool((out == 2 * x).all())
print(json.dumps({"right": right, "seconds": time.perf_counter() - begin, "version": triton.__version__}))
"""
_CPU = "torch.compile needs a C++ compiler inside the walls: install g++ under /usr (Debian: apt install g++)."
_CUDA = "torch.compile for a GPU needs Triton beside torch, gcc under /usr, and libcuda.so.1 in `ldconfig -p`."
_RUN_S, _COMPILE_S = 150.0, 150.0

Attempt = Callable[[Job, int], Awaitable[Result]]
"""Runs a job of ours inside the walls, in a slot, and gives its result."""


async def compilers(attempt: Attempt, devices: Sequence[Device]) -> tuple[Wall, ...]:
    """Try every compiler that the devices need, one after the other; up to minutes where nothing is kept yet."""
    found = []
    for device in devices:
        source = COMPILE.replace("@DEVICE@", device.value)
        mend = _CPU if device is Device.CPU else _CUDA
        found.append(await _tried(attempt, f"compile_{device.value}", source, device, mend))
    if Device.CUDA in devices:
        found.append(await _tried(attempt, "triton", TRITON, Device.CUDA, _CUDA))
    return tuple(found)


async def _tried(attempt: Attempt, name: str, source: str, device: Device, mend: str) -> Wall:
    limits = replace(limits_for(device), run_s=_RUN_S, compile_s=_COMPILE_S)
    job = Job(f"probe-{secrets.token_hex(6)}", JobKind.RUN, source, "probe", device, limits=limits)
    right, detail = told(await attempt(job, 0))
    return Wall(name, stands=right, matters=False, detail=detail[:300], mend="" if right else mend)


def told(result: Result) -> tuple[bool, str]:
    """Say whether a compiler gave the right result, and what there is to say of it."""
    if result.ending is not Ending.OK:
        last = result.fault.last_line if result.fault is not None else result.stderr.head[-200:].strip()
        return False, f"{result.ending.value} {last}".strip()
    try:
        said = json.loads(result.stdout.head)
        right, seconds, version = said["right"] is True, float(said["seconds"]), str(said["version"])
    except (ValueError, KeyError, TypeError):
        return False, "said nothing that fits"
    if not right:
        return False, "what was compiled gave a wrong result"
    return True, f"version {version[:40]}: right, the first call took {seconds:.1f} s"
