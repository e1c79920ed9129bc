"""Waits for the GPU by its driver's own call, and asks its events how long it works on some calls by itself.

Law: the driver's functions are taken before any of the learner's code has run, so that what it patches in torch does
not end a wait too soon. What the events say is a claim like every other: it informs, and confirms nothing.
"""

import contextlib
import ctypes
import sys
import time
from collections.abc import Callable
from itertools import repeat
from typing import Any

_LIBRARY = "libcuda.so.1"
_NOT_INITIALIZED, _NO_CONTEXT = 3, 201
_QUEUED_NS, _MOST_QUEUED, _TRIES = 1_000_000, 200, 5
_LEAD, _LEAD_NS, _MOST_LEAD_NS, _CYCLES_A_NS = 1.5, 200_000, 20_000_000, 2.0
_LEAST_SHARE = 0.01

_clock = time.perf_counter_ns
_modules = sys.modules
_byref = ctypes.byref


class Driver:
    """The driver's library, where this host has it."""

    def __init__(self) -> None:
        self._found: Any = None

    def take(self) -> None:
        """Take the driver's functions; nothing is begun on the GPU by it."""
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(_LIBRARY)
            names = ("cuCtxSynchronize", "cuDevicePrimaryCtxGetState", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent")
            self._found = tuple(getattr(library, name) for name in names)

    def wait(self) -> bool:
        """Wait for all work of this process on the first GPU; False where the driver cannot say that it is done."""
        if self._found is None:
            return False
        synchronize, _, _, _ = self._found
        code = synchronize()
        if code == _NO_CONTEXT and self._enter():
            code = synchronize()
        return code in {0, _NOT_INITIALIZED, _NO_CONTEXT}

    def _enter(self) -> bool:
        """Enter the context that another thread of this process has opened, if one has."""
        _, state, retain, enter = self._found
        flags, active, context = ctypes.c_uint(), ctypes.c_int(), ctypes.c_void_p()
        if state(0, _byref(flags), _byref(active)) != 0 or not active.value:
            return False
        return bool(retain(_byref(context), 0) == 0 and enter(context) == 0)


def own_ns(function: Callable[[], Any], wait: Callable[[], None]) -> float:
    """Give the ns that the GPU itself works on one call, by pairs of its events; 0 where it does not, or none is there.

    The calls are queued behind a kernel that sleeps, so that the GPU never waits for the next launch: a pair around
    calls that start one by one would measure the waiting too, and equal the host's own time where that is the trouble.
    """
    torch: Any = _modules.get("torch")
    if torch is None or not torch.cuda.is_initialized():
        return 0.0
    wait()
    begin = _clock()
    function()
    issued = max(_clock() - begin, 1)
    wait()
    calls = max(1, min(_QUEUED_NS // issued, _MOST_QUEUED))
    lead_ns = min(_LEAD * calls * issued, _MOST_LEAD_NS) + _LEAD_NS
    found = sorted(_queued(torch, function, calls, lead_ns, wait) for _ in range(_TRIES))[_TRIES // 2]
    nothing = sorted(_queued(torch, function, 0, lead_ns, wait) for _ in range(_TRIES))[_TRIES // 2]
    each = max(found - nothing, 0.0) / calls
    return each if each > _LEAST_SHARE * issued else 0.0


def _queued(torch: Any, function: Callable[[], Any], calls: int, lead_ns: float, wait: Callable[[], None]) -> float:  # noqa: ANN401 - torch may be absent
    """Give the ns between two events of the GPU with so many calls between them."""
    one, two = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(int(lead_ns * _CYCLES_A_NS))  # noqa: SLF001 - torch has no public name for it
    one.record()
    for _ in repeat(None, calls):
        function()
    two.record()
    wait()
    return float(one.elapsed_time(two)) * 1e6
