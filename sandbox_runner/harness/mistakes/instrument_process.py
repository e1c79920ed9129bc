"""Passes over the process around a call: threads, page faults, and modes left on.

Law: nothing is changed; what a page fault costs is measured in the same process.
"""

import mmap
import os
import resource
import sys
import time
from collections.abc import Iterator

from .findings import Finding
from .subject import Subject

_modules = sys.modules
_clock = time.perf_counter_ns
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_LEAST_FAULTS = 64
_FAULT_SHARE = 0.25
_REUSED_SHARE = 0.05
_PAGES = 512
_DEBUGGING = ("CUDA_LAUNCH_BLOCKING", "TORCH_SHOW_CPP_STACKTRACES", "TORCH_USE_CUDA_DSA")


def threads() -> Iterator[Finding]:
    """Mistake 19: more threads are asked for than there are cores."""
    cores = len(os.sched_getaffinity(0))
    torch = _modules.get("torch")
    asked = [int(os.environ[name]) for name in _THREADS if os.environ.get(name, "").isdigit()]
    asked += [torch.get_num_threads()] if torch is not None else []
    if max(asked, default=0) > cores:
        yield Finding("oversubscribed", None, {"threads": max(asked), "cores": cores})


def modes() -> Iterator[Finding]:
    """Mistake 39: anomaly detection, a tracer or blocking launches are on while everything is timed."""
    torch = _modules.get("torch")
    what = next((name for name in _DEBUGGING if os.environ.get(name, "0") not in {"", "0"}), "")
    if torch is not None and torch.is_anomaly_enabled():
        what = "detect_anomaly"
    elif sys.gettrace() is not None or sys.getprofile() is not None:
        what = "settrace"
    if what:
        yield Finding("debug_mode", None, {"what": what})


def fault_ns() -> float:
    """Measure what the first touch of a page costs, ns: the least of some tries."""
    best = float("inf")
    size = _PAGES * mmap.PAGESIZE
    for _ in range(3):
        with mmap.mmap(-1, size) as fresh:
            times = []
            for _ in range(2):
                begin = _clock()
                for place in range(0, size, mmap.PAGESIZE):
                    fresh[place] = 1
                times.append(_clock() - begin)
        best = min(best, (times[0] - times[1]) / _PAGES)
    return max(best, 0.0)


def fault_share(subject: Subject, cost_ns: float) -> float:
    """Give the part of a call's time that first touches of new memory take."""
    shares = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        took = subject.time()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        shares.append(min(faults * cost_ns / took, 1.0) if faults >= _LEAST_FAULTS else 0.0)
    return sorted(shares)[1]


def faults(subjects: list[Subject]) -> Iterator[Finding]:
    """Mistake 24: new memory is a large part of a variant's time, and of the others' not: the comparison is of that."""
    cost = fault_ns()
    shares = [fault_share(subject, cost) for subject in subjects]
    for subject, share in zip(subjects, shares, strict=True):
        if share >= _FAULT_SHARE and (len(shares) == 1 or min(shares) <= _REUSED_SHARE):
            yield Finding("page_faults", subject.line, {"share": share}, subject.index)
