"""One job on its way, as the bot's end sees it, and those that wait, in an order fair to their learners.

Law: whoever follows a job hears its end once; an end that was heard is final.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from sandbox_runner.broker.letters import Parts
from sandbox_runner.broker.names import attempt_id
from sandbox_runner.connection import Inbox
from sandbox_runner.protocol import Accepted, Event, Finished, Job, Progress


class Where(StrEnum):
    """Where a job is."""

    ASKED = "asked"
    HELD = "held"
    GOING = "going"
    THERE = "there"
    BACK = "back"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Follow:
    """A job and what is known of it: the attempt that counts, its runner, its place at the broker.

    Times are seconds of the owner's clock: since when it waits or is there, when its runner was first and last seen to
    have it (0: never), when it was cancelled.
    """

    job: Job
    since: float
    where: Where = Where.ASKED
    number: int = 0
    runner: str = ""
    avoid: str = ""
    revision: int = 0
    """The broker's number of the assignment that we know, so that of two bots one assigns."""
    place: int = 0
    """The broker's number of the job as it lies there; 0 when not known."""
    first_held: float = 0.0
    last_held: float = 0.0
    looked: float = 0.0
    cancelled: float = 0.0
    refused: int = 0
    parts: Parts = field(default_factory=Parts)
    inboxes: set[Inbox] = field(default_factory=set)
    news: dict[type[Event], Event] = field(default_factory=dict)
    fault: Exception | None = None

    @property
    def attempt(self) -> str:
        """The attempt that counts."""
        return attempt_id(self.job.id, self.number)

    def attach(self) -> Inbox:
        """Open an inbox, with what is newest in it."""
        inbox = Inbox(self.job.id)
        for event in self.news.values():
            inbox.put(event)
        if self.fault is not None:
            inbox.fail(self.fault)
        self.inboxes.add(inbox)
        return inbox

    def say(self, event: Event) -> None:
        """Tell an event to those who follow."""
        if self.where is Where.ENDED:
            return
        if isinstance(event, Accepted | Progress):
            self.news[type(event)] = event
        if isinstance(event, Finished):
            self.where = Where.ENDED
            self.news = {Finished: event}
        for inbox in tuple(self.inboxes):
            inbox.put(event)

    def fail(self, fault: Exception) -> None:
        """Say that there will be no result, and why."""
        if self.where is Where.ENDED:
            return
        self.where, self.fault = Where.ENDED, fault
        for inbox in tuple(self.inboxes):
            inbox.fail(fault)


class Held:
    """Jobs that wait at the bot: each learner's in order, the learners in turn."""

    def __init__(self) -> None:
        self._by_learner: OrderedDict[str, deque[Follow]] = OrderedDict()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def of(self, learner: str) -> int:
        """Count a learner's."""
        return len(self._by_learner.get(learner, ()))

    def add(self, follow: Follow, *, first: bool = False) -> None:
        """Let a job wait; `first` puts one that was lost before its learner's others, and them before all others."""
        jobs = self._by_learner.setdefault(follow.job.learner, deque())
        (jobs.appendleft if first else jobs.append)(follow)
        if first:
            self._by_learner.move_to_end(follow.job.learner, last=False)
        self._count += 1

    def remove(self, follow: Follow) -> None:
        """Take a job out wherever it stands."""
        jobs = self._by_learner.get(follow.job.learner)
        if jobs is None or follow not in jobs:
            return
        jobs.remove(follow)
        self._count -= 1
        if jobs:
            self._by_learner.move_to_end(follow.job.learner)
        else:
            del self._by_learner[follow.job.learner]

    def heads(self) -> list[Follow]:
        """Give each learner's next job, in the order of turns."""
        return [jobs[0] for jobs in self._by_learner.values()]

    def order(self) -> Iterator[Follow]:
        """Give all in the order in which they will go if nothing else comes."""
        rounds = list(self._by_learner.values())
        longest = max((len(jobs) for jobs in rounds), default=0)
        return (jobs[turn] for turn in range(longest) for jobs in rounds if turn < len(jobs))
