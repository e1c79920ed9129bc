"""Passes over the process around a call: threads, page faults, and modes left on.

Law: nothing is changed; new memory costs the kernel's time, which is counted apart.
"""

import os
import resource
import sys
import time
import tracemalloc
from collections.abc import Iterator

from ..threads import NAMES  # noqa: TID252 - the harness is a package of another name inside
from . import subject as of
from .findings import Finding
from .instrument_results import Returned, shares_memory
from .subject import Subject

_modules = sys.modules
_clock = time.perf_counter_ns
_THREADS = (
    *NAMES,
    *("BLIS_NUM_THREADS", "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "RAYON_NUM_THREADS", "LOKY_MAX_CPU_COUNT"),
)
_FAULT_SHARE, _ALONE_SHARE = 0.15, 0.4
_LEAST_BYTES = 4 << 20
_LEAST_CALLS, _MOST_CALLS, _WATCHED_NS = 3, 10_000, 120_000_000
_DEBUGGING = ("CUDA_LAUNCH_BLOCKING", "TORCH_SHOW_CPP_STACKTRACES", "TORCH_USE_CUDA_DSA")


def threads() -> Iterator[Finding]:
    """Mistake 19: more threads are asked for than there are cores."""
    cores = len(os.sched_getaffinity(0))
    torch = _modules.get("torch")
    given = [os.environ.get(name, "").partition(",")[0].strip() for name in _THREADS]
    asked = [int(each) for each in given if each.isdigit()]
    asked += [torch.get_num_threads()] if torch is not None else []
    between = torch.get_num_interop_threads() if torch is not None else 0
    asked += [between] if between > (os.cpu_count() or 1) else []  # torch itself takes one a core of the machine
    if max(asked, default=0) > cores:
        yield Finding("oversubscribed", None, {"threads": max(asked), "cores": cores})


def modes() -> Iterator[Finding]:
    """Mistake 39: anomaly detection, a tracer or blocking launches are on while everything is timed."""
    torch = _modules.get("torch")
    what = next((name for name in _DEBUGGING if os.environ.get(name, "0") not in {"", "0"}), "")
    if torch is not None and torch.is_anomaly_enabled():
        what = "detect_anomaly"
    elif tracemalloc.is_tracing():
        what = "tracemalloc"
    elif sys.gettrace() is not None or sys.getprofile() is not None:
        what = "settrace"
    if what:
        yield Finding("debug_mode", None, {"what": what})


def kernel_share(subject: Subject) -> float:
    """Give the part of a call's processor time that the kernel takes, where it hands out new memory in each call."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    begin, calls = _clock(), 0
    while calls < _LEAST_CALLS or (_clock() - begin < _WATCHED_NS and calls < _MOST_CALLS):
        subject.function()
        calls += 1
    after = resource.getrusage(resource.RUSAGE_SELF)
    kernel = after.ru_stime - before.ru_stime
    total = kernel + after.ru_utime - before.ru_utime
    fresh = after.ru_minflt - before.ru_minflt >= calls
    return min(kernel / total, 1.0) if fresh and total > 0 else 0.0


def faults(all_returned: list[Returned]) -> Iterator[Finding]:
    """Mistake 24: a variant fills new memory in each call, held against one that fills memory that it has."""
    fresh = [each for each in all_returned if of.is_array(each.value) and not _reuses(each)]
    fresh = [each for each in fresh if of.size_of(each.value) >= _LEAST_BYTES]
    alone = len(all_returned) == 1
    if not alone and not any(of.is_array(each.value) and _reuses(each) for each in all_returned):
        return
    for each in fresh:
        share = kernel_share(each.subject)
        if share >= (_ALONE_SHARE if alone else _FAULT_SHARE):
            yield Finding("page_faults", each.subject.line, {"share": share}, each.subject.index)


def _reuses(returned: Returned) -> bool:
    return any(shares_memory(returned.value, array) for array in returned.subject.arrays().values())
