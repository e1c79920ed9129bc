"""Which cores a measured job has to itself, which are the parent's, and how many threads that makes; and holds to it.

Law: what measures never shares a core with what is measured where there are two. On two cores a job has one thread,
on more one a core but the parent's; nothing here reads or changes the affinity of another process.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Cores by number: `inner` of the measured job, `outer` of the parent (both empty on one core), and threads."""

    threads: int
    inner: tuple[int, ...] = ()
    outer: tuple[int, ...] = ()


def place_on(cores: Collection[int]) -> Place:
    """Divide the cores that this process may use."""
    ordered = sorted(cores)
    if len(ordered) < 2:  # noqa: PLR2004 - nothing can be divided
        return Place(1)
    return Place(len(ordered) - 1, tuple(ordered[1:]), (ordered[0],))


@contextmanager
def apart(place: Place) -> Iterator[None]:
    """Keep the calling thread on the parent's core while it measures, and have it woken at once where that is allowed.

    It sleeps while a block runs: what it would wait for its turn on a busy machine looks like time that was hidden.
    Nothing that it starts meanwhile inherits the right of way. Afterwards all is as it was.
    """
    cores, way, priority = os.sched_getaffinity(0), os.sched_getscheduler(0), os.sched_getparam(0)
    _move(place.outer)
    _schedule(os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        _schedule(way, priority)
        _move(cores)


def _move(cores: Collection[int]) -> None:
    """A host that refuses (another cpuset by now) leaves things as they are: worth less, but nothing is false."""
    if cores:
        with suppress(OSError):
            os.sched_setaffinity(0, cores)


def _schedule(way: int, priority: os.sched_param) -> None:
    with suppress(OSError):
        os.sched_setscheduler(0, way, priority)
