"""What the bot's end has on its desk: the jobs it follows, those that wait, how one ends, and what is done meanwhile.

Law: a job ends here once, and nothing is kept of it afterwards.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from sandbox_runner.broker.depot import Depot
from sandbox_runner.broker.following import Follow, Held, Where
from sandbox_runner.broker.names import Times
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Ending, Finished, Result
from sandbox_runner.queueing import Durations

LOG = logging.getLogger("tasree.broker")
MOST_HELD = 10_000
MOST_A_LEARNER = 20
"""So many jobs wait here, in all and of one learner; more are turned away, as a full runner would."""


class Desk:
    """What the parts of the bot's end share; `open` gives the broker's depot, connecting if need be."""

    def __init__(
        self,
        key: bytes,
        times: Times,
        open_depot: Callable[[], Awaitable[Depot]],
        most_a_learner: int = MOST_A_LEARNER,
    ) -> None:
        self.most_a_learner = most_a_learner
        self.key = key
        self.times = times
        self.open = open_depot
        self.depot: Depot | None = None
        """Set once the broker answered."""
        self.follows: dict[str, Follow] = {}
        self.attempts: dict[str, Follow] = {}
        self.held = Held()
        self.before: dict[str, str] = {}
        """Which runner had a learner's last job."""
        self.durations = Durations()
        self.changed = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.closed = False

    def now(self) -> float:
        """Give the time, in seconds of the loop's clock."""
        return asyncio.get_running_loop().time()

    def hold(self, follow: Follow, *, first: bool = False) -> None:
        """Let a job wait for a runner, or turn it away; `first` puts one that was lost before the others."""
        follow.since = self.now()
        if follow.cancelled:
            self.conclude(follow, Ending.CANCELLED)
        elif not first and self.held.of(follow.job.learner) >= self.most_a_learner:
            self.conclude(follow, Ending.RATE_LIMITED)
        elif not first and len(self.held) >= MOST_HELD:
            self.conclude(follow, Ending.QUEUE_FULL)
        else:
            follow.where, follow.runner, follow.place = Where.HELD, "", 0
            self.held.add(follow, first=first)
            self.changed.set()

    def conclude(self, follow: Follow, ending: Ending) -> None:
        """End a job with an ending of ours."""
        self.finish(follow, Result(follow.job.id, follow.job.kind, ending, follow.job.device))

    def finish(self, follow: Follow, result: Result) -> None:
        """End a job with a result."""
        if follow.cancelled and result.ending is Ending.INFRA_ERROR:
            result = replace(result, ending=Ending.CANCELLED)
        self.forget(follow)
        follow.say(Finished(result))

    def fail(self, follow: Follow, fault: Exception) -> None:
        """End a job without a result."""
        self.forget(follow)
        follow.fail(fault)

    def forget(self, follow: Follow) -> None:
        """Keep nothing more of a job."""
        self.held.remove(follow)
        self.attempts.pop(follow.attempt, None)
        if self.follows.get(follow.job.id) is follow:
            del self.follows[follow.job.id]
        self.changed.set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside; its fault is told to the log."""
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            LOG.error("work at the broker failed", exc_info=task.exception())


def first_words(fault: Exception) -> str:
    """Give a fault's place without what was sent."""
    return str(fault).split(":", 1)[0][:120]


def away(fault: Exception) -> UnavailableError:
    """Say that the broker is away."""
    return UnavailableError(f"the broker does not answer: {type(fault).__name__}")


def closed() -> UnavailableError:
    """Say that this end is closed."""
    return UnavailableError("this end was closed")
