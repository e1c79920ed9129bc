"""Runs as those who watch them see them: the newest event of each sort, and finished ones kept for a while.

Law: a watcher that comes late, or reads slowly, gets the newest of each sort and always the end; nothing piles up.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from sandbox_runner.errors import WireError
from sandbox_runner.frames import ASK_BYTES, TELL_BYTES, ToldFinished, pack, told
from sandbox_runner.protocol import Accepted, Ending, Event, Finished, Job, Note, Result


class Watcher(Protocol):
    """Whoever wants to know how a run goes on."""

    def touch(self, run: "Run") -> None:
        """Hear that a run has news. Must not block."""


@dataclass(slots=True, eq=False)
class Run:
    """A job under way, or finished: what there is to tell, as frames ready to send, each with its number."""

    job: Job
    watchers: set[Watcher] = field(default_factory=set)
    ending: Ending | None = None
    cancelled: bool = False
    position: int | None = None
    _news: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    _number: int = 0

    def say(self, event: Accepted | Event) -> None:
        """Make an event the newest of its sort and tell the watchers; after the end nothing is said."""
        if self.ending is not None:
            return
        if isinstance(event, Finished):
            frame = _fit(event.result)
            self.ending = event.result.ending
        else:
            frame = pack(told(self.job.id, event), ASK_BYTES)
        if isinstance(event, Accepted):
            self.position = event.position
        self._number += 1
        self._news[type(event).__name__] = (self._number, frame)
        for watcher in tuple(self.watchers):
            watcher.touch(self)

    def news(self, seen: int) -> tuple[list[bytes], int]:
        """Give the frames that came after number `seen`, in order, and the newest number."""
        fresh = sorted(entry for entry in self._news.values() if entry[0] > seen)
        return [frame for _, frame in fresh], self._number

    @property
    def size(self) -> int:
        """Bytes that this run holds, about."""
        return sum(len(frame) for _, frame in self._news.values()) + len(self.job.source)


class Kept:
    """Finished runs, kept for re-attaching: bounded in time, number and bytes; the oldest go first."""

    def __init__(self, clock: Callable[[], float], keep_s: float, count: int, size: int) -> None:
        self._clock = clock
        self._keep_s = keep_s
        self._count = count
        self._size = size
        self._runs: OrderedDict[str, tuple[float, Run]] = OrderedDict()
        self._held = 0

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, run: Run) -> None:
        """Keep a finished run."""
        self._runs[run.job.id] = (self._clock(), run)
        self._held += run.size
        self.sweep()

    def get(self, job_id: str) -> Run | None:
        """Find a finished run that is still kept."""
        self.sweep()
        found = self._runs.get(job_id)
        return found[1] if found else None

    def sweep(self) -> None:
        """Let go what is too old or too much."""
        oldest = self._clock() - self._keep_s
        while self._runs:
            since, run = next(iter(self._runs.values()))
            if since >= oldest and len(self._runs) <= self._count and self._held <= self._size:
                return
            del self._runs[run.job.id]
            self._held -= run.size


def _fit(result: Result) -> bytes:
    """Pack a result, leaving out its largest files where it would not fit a frame, and saying how many.

    Raises:
        WireError: it does not fit even without files.
    """
    skipped = 0
    fitting = result
    while True:
        try:
            return pack(ToldFinished(result.job_id, Finished(fitting)), TELL_BYTES)
        except WireError:
            if not fitting.files:
                raise
        skipped += 1
        smallest = sorted(range(len(result.files)), key=lambda place: len(result.files[place].data))
        kept = sorted(smallest[: len(result.files) - skipped])
        fitting = replace(
            result,
            files=tuple(result.files[place] for place in kept),
            notes=(*result.notes, Note("files_too_large_to_send", {"count": skipped})),
        )
