"""Who is next: a bounded queue that goes round the learners, and how long the wait will be; pure.

Law: learners take turns, however many jobs one of them has sent, and a job that must run alone is never overtaken
by ones that need not (else a stream of short runs would starve every measurement).
"""

import heapq
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from statistics import median

from sandbox_runner.protocol import JobKind


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job in the queue. `alone`: nothing may run beside it; `gpus`: how many GPUs it needs for itself."""

    job_id: str
    learner: str
    kind: JobKind
    alone: bool
    gpus: int = 0


class FairQueue:
    """Round-robin by learner: each turn takes the oldest job of the learner whose turn it is."""

    def __init__(self) -> None:
        self._by_learner: OrderedDict[str, deque[Waiting]] = OrderedDict()

    def __len__(self) -> int:
        return sum(len(jobs) for jobs in self._by_learner.values())

    def add(self, waiting: Waiting) -> None:
        """Put a job behind its learner's others; a new learner's turn comes after everyone's."""
        self._by_learner.setdefault(waiting.learner, deque()).append(waiting)

    def held_by(self, learner: str) -> int:
        """Count the jobs that a learner has waiting."""
        return len(self._by_learner.get(learner, ()))

    def head(self, *, gpus_free: int | None = None) -> Waiting | None:
        """Say which job is next, leaving it there; `gpus_free` None: as many as are asked for.

        While too few GPUs are free, those that wait for one keep their turn and let by the ones that need neither a
        GPU nor to be alone: a job for several is not overtaken by those for one, else it would never have them all.
        """
        held = False
        for jobs in self._by_learner.values():
            if jobs[0].gpus and (held or (gpus_free is not None and jobs[0].gpus > gpus_free)):
                held = True
            elif held and jobs[0].alone:
                return None
            else:
                return jobs[0]
        return None

    def pop(self, job_id: str = "") -> Waiting:
        """Take the next job out, or the first of a learner's that is named; its learner's turn comes again last.

        Raises:
            IndexError: the queue is empty.
        """
        if not self._by_learner:
            message = "the queue is empty"
            raise IndexError(message)
        found = (pair for pair in self._by_learner.items() if pair[1][0].job_id == job_id)
        learner, jobs = next(found, next(iter(self._by_learner.items())))
        waiting = jobs.popleft()
        if jobs:
            self._by_learner.move_to_end(learner)
        else:
            del self._by_learner[learner]
        return waiting

    def remove(self, job_id: str) -> bool:
        """Take a job out wherever it stands; say whether it was there."""
        for learner, jobs in self._by_learner.items():
            for waiting in jobs:
                if waiting.job_id == job_id:
                    jobs.remove(waiting)
                    if not jobs:
                        del self._by_learner[learner]
                    return True
        return False

    def order(self) -> list[Waiting]:
        """List the jobs as they will be taken if nothing else comes."""
        rounds = [list(jobs) for jobs in self._by_learner.values()]
        longest = max((len(jobs) for jobs in rounds), default=0)
        return [jobs[turn] for turn in range(longest) for jobs in rounds if turn < len(jobs)]


class Pace:
    """How many jobs a learner was given within the last minute; a learner who paused is forgotten."""

    WINDOW_S = 60.0

    def __init__(self) -> None:
        self._taken: OrderedDict[str, deque[float]] = OrderedDict()

    def count(self, learner: str, now: float) -> int:
        """Count a learner's jobs of the last minute; `now` in seconds."""
        self._forget(now)
        times = self._taken.get(learner)
        while times and times[0] <= now - self.WINDOW_S:
            times.popleft()
        return len(times or ())

    def add(self, learner: str, now: float) -> None:
        """Note a job."""
        self._taken.setdefault(learner, deque()).append(now)
        self._taken.move_to_end(learner)

    def _forget(self, now: float) -> None:
        """Drop those whose last job is past; the dictionary is in the order of last jobs."""
        while self._taken:
            learner, times = next(iter(self._taken.items()))
            if times and times[-1] > now - self.WINDOW_S:
                return
            del self._taken[learner]


@dataclass(slots=True)
class Durations:
    """How long recent jobs of each kind took, in seconds: the median of the last 32."""

    recent: dict[JobKind, deque[float]] = field(default_factory=dict)
    first_guess_s: float = 3.0

    def add(self, kind: JobKind, seconds: float) -> None:
        """Remember one job's time."""
        self.recent.setdefault(kind, deque(maxlen=32)).append(seconds)

    def expect(self, kind: JobKind) -> float:
        """Guess the time of the next job of this kind."""
        known = self.recent.get(kind)
        return median(known) if known else self.first_guess_s


def expected_waits(running: list[tuple[float, bool]], ahead: list[tuple[float, bool]], slots: int) -> list[float]:
    """Expect when each waiting job starts, in seconds from now, in the queue's order.

    `running` holds the seconds left of each running job, `ahead` the seconds that each waiting one will take; the
    flag says that it runs alone.
    """
    ends = [max(left, 0.0) for left, _ in running]
    heapq.heapify(ends)
    now = 0.0
    only = any(alone for _, alone in running)
    waits: list[float] = []
    for seconds, alone in ahead:
        while ends and (only or alone or len(ends) >= slots):
            now = max(now, heapq.heappop(ends))
            only = only and bool(ends)
        waits.append(now)
        heapq.heappush(ends, now + seconds)
        only = alone
    return waits
