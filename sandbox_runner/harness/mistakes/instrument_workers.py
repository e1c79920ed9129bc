"""A pass over the workers that a variant sets to work at once: threads, pools of threads, and processes.

Law: what is wrapped for one call is put back after it. Workers that wait, for a disk or a clock, need no core of their
own: only a call that keeps the processor busy has too many.
"""

import importlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .findings import Finding
from .subject import Subject

_modules = sys.modules
_clock, _process_clock = time.perf_counter_ns, time.process_time_ns
_BUSY = 0.6
_MOMENT_NS, _START_NS = 20_000_000, 60_000
"""To start a thread is work, too: some tenth of a millisecond."""
_POOLED = "multiprocessing.pool"
_EXECUTORS = {"concurrent.futures.thread": "ThreadPoolExecutor", "concurrent.futures.process": "ProcessPoolExecutor"}
_DEFAULT_THREADS = min(32, (os.cpu_count() or 1) + 4)
"""How many workers a `ThreadPoolExecutor` has that nobody gave a number: Python's choice, not the learner's."""


@dataclass
class _Workers:
    """Who was at work in one call: the most by each pool, and threads of the learner's own that nobody awaited yet."""

    given: Counter[int] = field(default_factory=Counter)
    most: int = 0
    unawaited: set[int] = field(default_factory=set)
    threads: int = 0
    processes: bool = False

    def submitted(self, executor: Any) -> None:  # noqa: ANN401 - a pool
        """Count one more task of an executor, which needs a worker as long as there are fewer of them."""
        self.given[id(executor)] += 1
        asked = int(executor._max_workers)  # noqa: SLF001 - Python has no public name for it
        by_default = type(executor).__name__ == "ThreadPoolExecutor" and asked == _DEFAULT_THREADS
        self.most = max(self.most, 0 if by_default else min(asked, self.given[id(executor)]))
        self.processes = self.processes or type(executor).__name__ == "ProcessPoolExecutor"

    def pooled(self, pool: Any) -> None:  # noqa: ANN401 - a pool
        """Count the workers of a pool of `multiprocessing`."""
        self.most = max(self.most, int(pool._processes))  # noqa: SLF001 - Python has no public name for it
        self.processes = self.processes or type(pool).__name__ == "Pool"

    def started(self, worker: Any) -> None:  # noqa: ANN401 - a thread or process
        """Count a thread or a process of the learner's own, and any thread."""
        self.threads += isinstance(worker, threading.Thread)
        if _is_own(worker):
            self.unawaited.add(id(worker))
            self.most = max(self.most, len(self.unawaited))
            self.processes = self.processes or not isinstance(worker, threading.Thread)

    def awaited(self, worker: Any) -> None:  # noqa: ANN401 - a thread or process
        """Count one worker less."""
        self.unawaited.discard(id(worker))


def crowds(subject: Subject, cores: int, *, waits: bool) -> Iterator[Finding]:
    """Mistake 19: a call has more workers at work at once than there are cores; `waits`: they sleep or fetch."""
    if "multiprocessing" in _modules:
        importlib.import_module(_POOLED)  # Python imports it only when the first pool is made
    workers = _Workers()
    with _watched(workers):
        worked, part = _busy(subject.call)
    works = part >= _BUSY * _busy(_work)[1] and worked >= _START_NS * workers.threads
    if workers.most > cores and not waits and (workers.processes or works):
        yield Finding("oversubscribed", subject.line, {"threads": workers.most, "cores": cores}, subject.index)


def _busy(call: Callable[[], Any]) -> tuple[int, float]:
    """Give the ns that this process worked in a call, and the part of the call's time that they are."""
    begin, before = _clock(), _process_clock()
    call()
    worked = _process_clock() - before
    return worked, worked / max(_clock() - begin, 1)


def _work() -> None:
    """Do nothing but work for a moment: what of it the machine lets us do is what it leaves to anyone."""
    end = _clock() + _MOMENT_NS
    while _clock() < end:
        pass


def _is_own(worker: Any) -> bool:  # noqa: ANN401 - a thread or process
    """Whether a thread or process is not one that a pool keeps."""
    target = getattr(worker, "_target", None)
    of = getattr(target, "__module__", None) or "" if target is not None else type(worker).__module__
    return not of.startswith(("concurrent.", "multiprocessing.", "threading", "torch.", "joblib."))


@contextmanager
def _watched(workers: _Workers) -> Iterator[None]:
    """Let whatever sets workers to work be counted for a while."""
    wrapped: list[tuple[type, str, Any]] = []

    def wrap(owner: Any, name: str, see: Callable[[Any], None]) -> None:  # noqa: ANN401 - a class, if it is there
        if owner is None:
            return
        plain = getattr(owner, name)

        def seen(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the method's own
            see(self)
            return plain(self, *args, **kwargs)

        wrapped.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, seen)

    try:
        for module, kind in _EXECUTORS.items():
            wrap(_of(module, kind), "submit", workers.submitted)
        for name in ("_map_async", "apply_async", "imap", "imap_unordered"):
            wrap(_of(_POOLED, "Pool"), name, workers.pooled)
        for owner in (threading.Thread, _of("multiprocessing.process", "BaseProcess")):
            wrap(owner, "start", workers.started)
            wrap(owner, "join", workers.awaited)
        yield
    finally:
        for owner, name, plain in reversed(wrapped):
            setattr(owner, name, plain)


def _of(module: str, name: str) -> Any:  # noqa: ANN401 - a class
    return getattr(_modules.get(module), name, None)
