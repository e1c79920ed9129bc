"""What the instrument is worth on this host: its noise on equal work, and what the machine can do at most.

Law: measured by jobs like any learner's, inside the walls, on the cores that a measured job gets, with nothing beside
them. Ceilings are kept in a file under a key of everything that they depend on; a better one replaces a worse.
"""

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sandbox_runner.hostlock import HostLock
from sandbox_runner.protocol import Budget, Device, Ending, Job, JobKind, Machine, Result, Variant, limits_for
from sandbox_runner.reaching import CUDA, NOISE, QUIET

EVERY_S, CALM_S, POLL_S = 3600.0, 5.0, 0.1
"""How often the noise is measured, how long nothing must have been asked for before, how often that is looked at."""
_SIZE = 768
_COPIED = 32 << 20
_SIZE_CUDA, _SIZE_CUDA_DOUBLE = 8192, 4096
_COPIED_CUDA = 512 << 20
EQUAL = """\
x = list(range(2000))
# %% one
total = 0
for v in x:
    total += v
# %% other
total = 0
for v in x:
    total += v
"""
NUMPY = f"""\
import numpy as np
rng = np.random.default_rng()
single = rng.random(({_SIZE}, {_SIZE}), dtype=np.float32)
double = rng.random(({_SIZE}, {_SIZE}))
source = rng.random({_COPIED} // 8)
target = source.copy()
# %% matmul_float32
single @ single
# %% matmul_float64
double @ double
# %% copy
np.copyto(target, source)
"""
TORCH = f"""\
import torch
single = torch.randn({_SIZE}, {_SIZE})
half = single.bfloat16()
# %% matmul_float32
single @ single
# %% matmul_bfloat16
half @ half
"""
TORCH_CUDA = f"""\
import torch
single = torch.randn({_SIZE_CUDA}, {_SIZE_CUDA}, device="cuda")
brain, half = single.bfloat16(), single.half()
double = torch.randn({_SIZE_CUDA_DOUBLE}, {_SIZE_CUDA_DOUBLE}, device="cuda", dtype=torch.float64)
source = torch.randn({_COPIED_CUDA} // 4, device="cuda")
target = torch.empty_like(source)
# %% matmul_float32
single @ single
# %% matmul_tf32
torch.set_float32_matmul_precision("high")
product = single @ single
torch.set_float32_matmul_precision("highest")
product
# %% matmul_bfloat16
brain @ brain
# %% matmul_float16
half @ half
# %% matmul_float64
double @ double
# %% copy
target.copy_(source)
"""
"""Large products of random values: small ones do not fill a GPU, and zeros draw less power and let its clock rise."""

Attempt = Callable[[Job], Awaitable[Result]]
Gauging = Callable[[], Awaitable["Gauge"]]


@dataclass(frozen=True, slots=True)
class Gauge:
    """The noise of one block (relative standard deviation) on equal work, and ceilings a second.

    `equal` says whether equal work was called equal, or at least not different. `noise` is 0 where nothing was had.
    """

    noise: float = 0.0
    equal: bool = True
    ceilings: dict[str, float] = field(default_factory=dict)


async def gauge(attempt: Attempt, machine: Machine, path: Path | None, *, cuda: bool = False) -> Gauge:
    """Measure the noise, and the ceilings too where none are kept at `path` for this machine, or only noisy ones.

    The caller holds the measuring lock. What cannot be measured is left out; nothing is raised for it. With `cuda` the
    ceilings of the GPU that jobs are lent are measured like the processor's.
    """
    result = await attempt(_job("gauge-noise", EQUAL, Budget.DEFAULT))
    noise = result.noise if result.ending is Ending.OK else 0.0
    equal = not any(ratio.claim in {"faster", "slower"} for ratio in result.ratios)
    kept = read_ceilings(path, machine) if path is not None else {}
    found = dict(kept)
    for prefix in ("", CUDA) if cuda else ("",):
        own = {name for name in kept if name.startswith(CUDA) == bool(prefix)}
        if not own or kept.get(prefix + NOISE, 1.0) > max(noise, QUIET):
            found = better(found, await _ceilings(attempt, machine, prefix))
    if path is not None and found != kept:
        write_ceilings(path, machine, found)
    return Gauge(noise, equal, found)


async def keep_gauged(
    gauging: Gauging, lock: HostLock, idle: Callable[[], bool], tell: Callable[[Gauge], None]
) -> None:
    """Gauge at every hour, the first time soon, in moments in which nothing else is asked for; never returns.

    Whoever asks for something meanwhile is not kept waiting: the gauging is given up, and tried again later.
    """
    while True:
        await _calm(idle)
        async with lock.held(alone=True):
            running = asyncio.ensure_future(gauging())
            try:
                while not running.done() and idle():
                    await asyncio.wait({running}, timeout=POLL_S)
            finally:
                done = running.done()
                running.cancel()
                found = (await asyncio.gather(running, return_exceptions=True))[0]
        if done and isinstance(found, Gauge):
            tell(found)
        if done:
            await asyncio.sleep(EVERY_S)


async def _calm(idle: Callable[[], bool]) -> None:
    """Wait until nothing has been asked for during some seconds."""
    calm = 0.0
    while calm < CALM_S:
        await asyncio.sleep(POLL_S)
        calm = calm + POLL_S if idle() else 0.0


async def _ceilings(attempt: Attempt, machine: Machine, prefix: str) -> dict[str, float]:
    found: dict[str, float] = {}
    sources = [TORCH_CUDA] if prefix else [NUMPY] * bool(machine.numpy) + [TORCH] * bool(machine.torch)
    for i, source in enumerate(sources):
        device = Device.CUDA if prefix else Device.CPU
        result = await attempt(_job(f"gauge-ceilings-{prefix}{i}", source, Budget.QUICK, device))
        if result.ending is Ending.OK:
            rates = {prefix + variant.name: _rate(variant, device) for variant in result.variants}
            noise = max(result.noise, found.get(prefix + NOISE, 0.0))
            found = better(found, rates) | {prefix + NOISE: noise}
    return found


def _rate(variant: Variant, device: Device) -> float:
    """Give operations, or bytes read and written, a second, in the best block: what the machine can do."""
    gpu = device is Device.CUDA
    if variant.name == "copy":
        work = 2 * (_COPIED_CUDA if gpu else _COPIED)
    else:
        double = variant.name == "matmul_float64"
        work = 2 * ((_SIZE_CUDA_DOUBLE if double else _SIZE_CUDA) if gpu else _SIZE) ** 3
    return work / variant.min_ns * 1e9


def better(one: Mapping[str, float], two: Mapping[str, float]) -> dict[str, float]:
    """Give the higher of each ceiling; of a noise, the lower where both have it, for the quieter one decided."""
    noises = {NOISE, CUDA + NOISE}
    found = {name: max(one.get(name, 0.0), two.get(name, 0.0)) for name in {*one, *two} - noises}
    return found | {name: min(each[name] for each in (one, two) if name in each) for name in noises & {*one, *two}}


def key(machine: Machine) -> str:
    """Name everything that ceilings depend on."""
    parts = (machine.cpu, machine.cores, machine.threads, machine.device, machine.numpy, machine.torch, machine.kernel)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def read_ceilings(path: Path, machine: Machine) -> dict[str, float]:
    """Read what is kept for this machine; nothing where there is no file, or none that we have written."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))[key(machine)]
        return {str(name): float(value) for name, value in kept.items() if float(value) >= 0}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_ceilings(path: Path, machine: Machine, ceilings: Mapping[str, float]) -> None:
    """Keep ceilings, in one step; a folder that cannot be written keeps none."""
    kept: dict[str, object] = {}
    with suppress(OSError, ValueError):
        kept = dict(json.loads(path.read_text(encoding="utf-8")))
    kept[key(machine)] = dict(sorted(ceilings.items()))
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = path.with_name(f"{path.name}.{os.getpid()}")
        aside.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        aside.replace(path)


def default_path() -> Path:
    """Give the file of this host and user."""
    cache = Path("/var/cache") if os.geteuid() == 0 else Path.home() / ".cache"
    return cache / "tasree" / "ceilings.json"


def _job(name: str, source: str, budget: Budget, device: Device = Device.CPU) -> Job:
    return Job(name, JobKind.TIME, source, "operator", device, budget, limits_for(device))
