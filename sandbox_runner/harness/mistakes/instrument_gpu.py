"""Passes that need a GPU: how busy it is, new memory from the driver, other streams, where it overtakes the CPU.

Law: on a host without a GPU nothing is found, and nothing is pretended.
"""

import sys
from collections.abc import Callable, Iterator
from typing import Any

from . import subject as of
from .findings import Finding
from .subject import Subject
from .watch import Watched

_modules = sys.modules
_BUSY, _BUSY_TRIES = 0.5, 3
_LAUNCH_NS, _LEAST_OWN_NS = 5e4, 1e6
"""What a launch takes at most where the processor does little else, and what is not worth a word."""
_PROFILED, _MOST_PROFILED_NS = 5, 5e8
_STREAM_TRIES, _STREAM_SHARE = 3, 0.2
_LEAST_NS = 2e4
_SIZES = (1, 10, 100, 1_000, 10_000)
_MOST_CROSSED_NS, _MOST_CROSSED_BYTES = 2e8, 256 << 20


def on_gpu() -> bool:
    """Whether a GPU was touched in this process."""
    torch = _modules.get("torch")
    return torch is not None and bool(torch.cuda.is_initialized())


def busy(subject: Subject, watched: Watched, *, loads: bool) -> Iterator[Finding]:
    """Mistake 44: the GPU waits for data, for a loader of them or for other work of the processor.

    That it waits for launches (45) is told by its events, outside: without a loader, what launching explains is none.
    """
    torch: Any = _modules["torch"]
    launches = sum(any(each.device == "cuda" for each in op.outs) for op in watched.ops)
    if not (loads or launches):  # it has no work for a GPU
        return
    explained = 0.0 if loads else launches * _LAUNCH_NS + _LEAST_OWN_NS
    subject.call()
    issued, wall = (min(each) for each in zip(*(_issued(subject) for _ in range(_BUSY_TRIES)), strict=True))
    if wall < _LEAST_NS or (not loads and issued < max(explained, _BUSY * wall)):
        return
    calls = int(min(max(_MOST_PROFILED_NS // wall, 1), _PROFILED))
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for _ in range(calls):
            subject.function()
        of.synchronize()
    seen = (float(e.device_time_total) * 1e3 for e in profiler.events() if "CUDA" in str(e.device_type))
    kernels = sum(seen) / calls
    if 0 < kernels < _BUSY * wall and wall - kernels > explained:
        yield Finding("gpu_idle", subject.line, {"share": 1 - kernels / wall}, subject.index)


def _issued(subject: Subject) -> tuple[float, float]:
    """Give the ns until a call returns, and until its work is done."""
    of.synchronize()
    begin = of.clock()
    subject.function()
    issued = of.clock() - begin
    of.synchronize()
    return float(issued), float(of.clock() - begin)


def streams(subject: Subject) -> Iterator[Finding]:
    """Mistake 1 in another dress: work is left on a stream for which the current one does not wait."""
    torch: Any = _modules["torch"]
    subject.call()
    shares = []
    for _ in range(_STREAM_TRIES):
        of.synchronize()
        begin = of.clock()
        subject.function()
        mark = torch.cuda.Event()
        mark.record()
        mark.synchronize()
        own = of.clock()
        of.synchronize()
        rest = of.clock() - own
        shares.append(rest / max(of.clock() - begin, 1) if rest > _LEAST_NS else 0.0)
    if min(shares) >= _STREAM_SHARE:
        yield Finding("other_stream", subject.line, {"share": min(shares)}, subject.index)


def allocates(subject: Subject) -> Iterator[Finding]:
    """Mistake 23: the driver is asked for memory again in each call."""
    torch: Any = _modules["torch"]
    subject.function()
    before = torch.cuda.memory_stats().get("num_device_alloc", 0)
    for _ in range(3):
        subject.function()
    of.synchronize()
    if torch.cuda.memory_stats().get("num_device_alloc", 0) - before >= 3:  # noqa: PLR2004 - one a call
        yield Finding("empty_cache", subject.line, {}, subject.index)


def crossover(subjects: list[Subject], n: int, remake: Callable[[int], list[Subject]]) -> Iterator[Finding]:
    """Mistake 47: a variant on the GPU is held against one on the CPU at a size where the winner is not yet settled."""
    where = [_device(subject) for subject in subjects]
    if set(where) != {"cpu", "cuda"}:
        return
    cpu, gpu = subjects[where.index("cpu")].index, subjects[where.index("cuda")].index
    wins: list[tuple[int, bool]] = []
    sizes = [sum(_bytes(subject) for subject in subjects)]
    for times in _SIZES:
        # Inputs may grow by a square of the size: what the next ones need is told by those before.
        growth = sizes[-1] / max(sizes[-2], 1) if len(sizes) > 2 else _SIZES[1] ** 2  # noqa: PLR2004 - two steps
        if times > 1 and sizes[-1] * growth > _MOST_CROSSED_BYTES:
            break
        made = remake(n * times)
        sizes.append(sum(_bytes(subject) for subject in made))
        spent = [min(_timed(made[index]) for _ in range(3)) for index in (cpu, gpu)]
        wins.append((n * times, spent[1] < spent[0]))
        if max(spent) > _MOST_CROSSED_NS or wins[-1][1]:
            break
    if not wins[0][1] and (crossed := next((size for size, won in wins if won), 0)):
        yield Finding("crossover", subjects[gpu].line, {"size": crossed, "from_size": n}, gpu)


def _bytes(subject: Subject) -> int:
    return sum(of.size_of(array) for array in subject.arrays().values())


def _timed(subject: Subject) -> float:
    subject.call()
    return subject.time()


def _device(subject: Subject) -> str:
    found = [value for value in subject.arrays().values() if of.is_tensor(value)]
    parts = [each for module in subject.modules() for each in module.parameters()]
    return "cuda" if any(each.is_cuda for each in (*found, *parts)) else "cpu"
