"""What is done to the learner's functions: blocks of calls, and the state of the process around them.

Law: nothing of the learner's is looked up while the clock runs but the calls themselves. Private references are taken
at import, before any of the learner's code has run. Times are ns.
"""

import contextlib
import gc
import importlib
import os
import random
import sys
import time
import types
from collections.abc import Sequence
from itertools import repeat
from typing import Any

from . import threads as computing
from .driver import Driver

_POISONED, _LARGEST_POISONED, _LARGEST_POISONED_CUDA = 4, 64 << 20, 512 << 20

clock = time.perf_counter_ns
_collect, _freeze, _disable = gc.collect, gc.freeze, gc.disable
_modules = sys.modules
_open, _dup, _dup2, _close = os.open, os.dup, os.dup2, os.close
_flush_seed = random.seed
_driver = Driver()

Function = types.FunctionType
Inputs = dict[str, object]
Place = tuple[str, int]
"""Where a result lies, `cpu` or `cuda`, and its bytes."""


def pin(threads: int, cores: Sequence[int], *, cuda: bool = False) -> list[int]:
    """Fix the threads of every library that computes, and the cores; give the cores that are had.

    With `cuda`, the means to wait for the GPU are taken too.
    """
    if cuda:
        _driver.take()
    for name in computing.NAMES:
        os.environ[name] = str(threads)
    with contextlib.suppress(OSError):
        if cores:
            os.sched_setaffinity(0, cores)
    if (torch := _modules.get("torch")) is not None:  # a warm start has imported it before
        computing.tell(torch, threads)
    return sorted(os.sched_getaffinity(0))


def block(sets: Sequence[tuple[Inputs, Function]], names: Inputs, calls: int) -> tuple[int, object]:
    """Call the function of each set its share of `calls`, its inputs in place; give the time, and the last result.

    A result is let go before the next call, as it is where nothing is measured: keeping it would cost new memory.
    """
    each, more = divmod(calls, len(sets))
    turns = [(made, function, each + (i < more)) for i, (made, function) in enumerate(sets)][: calls or 1]
    made, last, _ = turns.pop()
    left = calls - sum(times for _, _, times in turns) - 1
    value = None
    synchronize()
    start = clock()
    for inputs, function, times in turns:
        names.update(inputs)
        for _ in repeat(None, times):
            function()
    if calls:
        names.update(made)
        for _ in repeat(None, left):
            last()
        value = last()
    synchronize()
    return clock() - start, value


def synchronize() -> None:
    """Wait for every CUDA device that was touched; nothing where none was."""
    waited = _driver.wait()
    torch = _modules.get("torch")
    if torch is None or not torch.cuda.is_initialized() or (waited and torch.cuda.device_count() == 1):
        return
    for device in range(torch.cuda.device_count()):
        torch.cuda.synchronize(device)


def calm() -> None:
    """Collect garbage, set aside what lives, and collect no more by itself."""
    _collect()
    _freeze()
    _disable()


def generator(seed: int) -> Any:  # noqa: ANN401 - of numpy, which the learner's code need not have imported
    """Give the chance that `make` is called with: numpy's, whatever was imported; Python's where there is none."""
    try:
        return importlib.import_module("numpy").random.default_rng(seed)
    except ImportError:
        return random.Random(seed)  # noqa: S311 - inputs


def seed_all(seed: int) -> None:
    """Seed every generator that a `make` may use beside the one it is given."""
    _flush_seed(seed)
    if (numpy := _modules.get("numpy")) is not None:
        numpy.random.seed(seed & 0xFFFFFFFF)
    if (torch := _modules.get("torch")) is not None:
        torch.manual_seed(seed)


def compiled_frames() -> int:
    """Count the frames that torch.compile has compiled so far."""
    dynamo = _modules.get("torch._dynamo.utils")
    return int(dynamo.counters["frames"]["ok"]) if dynamo is not None else 0


def frames_seen() -> int:
    """Count the frames that torch's compiler has looked at, by whatever way it was come to."""
    frames = _modules.get("torch._dynamo.convert_frame")
    return int(frames.FRAME_COUNTER) if frames is not None else 0


def hold_compiled(*, still: bool) -> bool:
    """Let compiled code fail rather than compile again while it is timed; False where torch cannot, or is not used."""
    if _modules.get("torch._dynamo.utils") is None:
        return False
    try:
        compiler = importlib.import_module("torch.compiler")
        compiler.set_stance("fail_on_recompile" if still else "default")
    except (AttributeError, ImportError, RuntimeError):
        return False
    return True


def poison(places: Sequence[Place]) -> None:
    """Fill memory of the sizes given with what is no number, and let it go: an answer that is not written is seen."""
    numpy, torch = _modules.get("numpy"), _modules.get("torch")
    for where, size in places:
        if not 0 < size <= (_LARGEST_POISONED_CUDA if where == "cuda" else _LARGEST_POISONED):
            continue
        if where != "cuda" and numpy is not None:
            for made in [numpy.empty(size, numpy.uint8) for _ in range(_POISONED)]:
                made.fill(255)
        if torch is not None and (where != "cuda" or torch.cuda.is_initialized()):
            for made in [torch.empty(size, dtype=torch.uint8, device=where) for _ in range(_POISONED)]:
                made.fill_(255)


def bytes_of(value: Any) -> list[Place]:  # noqa: ANN401 - whatever a variant returned
    """Give the places and sizes of the arrays in a result, of exact types only."""
    numpy, torch = _modules.get("numpy"), _modules.get("torch")
    if type(value) is tuple:
        return [place for item in value[:8] for place in bytes_of(item)]
    if numpy is not None and type(value) is numpy.ndarray:
        return [("cpu", int(value.nbytes))]
    if torch is not None and type(value) is torch.Tensor and value.layout is torch.strided:
        return [("cuda" if value.is_cuda else "cpu", int(value.numel() * value.element_size()))]
    return []


class Quiet:
    """While it lasts, descriptors 1 and 2 lead to `sink`, for Python, C and child processes alike."""

    def __init__(self, sink: int) -> None:
        self._sink = sink
        self._kept: list[int] = []

    def __enter__(self) -> None:
        _flush()
        self._kept = [_dup(1), _dup(2)]
        _dup2(self._sink, 1)
        _dup2(self._sink, 2)

    def __exit__(self, *_: object) -> None:
        _flush()
        for target, kept in zip((1, 2), self._kept, strict=True):
            _dup2(kept, target)
            _close(kept)


def open_sink() -> int:
    """Open what swallows output."""
    return _open(os.devnull, os.O_WRONLY)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the learner may have put anything there
            stream.flush()
