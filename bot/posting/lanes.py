"""One lane a learner: what came first is answered first, and learners do not wait for each other.

Law: within a lane one thing is under way at a time; a lane without work costs nothing; a thing that fails is logged and
the lane goes on; one that found the store away is begun anew, before what came after it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from bot.errors import StoreAwayError

LOG = logging.getLogger("tasree.lanes")

T = TypeVar("T")

AWAY_S = 1.0
"""After so long a thing is begun anew that found the store away."""


class Lane(Generic[T]):
    """The things of one learner that wait."""

    def __init__(self) -> None:
        self._waiting: deque[T] = deque()
        self._out: list[T] = []
        self._news = asyncio.Event()

    def put(self, thing: T) -> None:
        """Put a thing behind the others."""
        self._waiting.append(thing)
        self._news.set()

    def take(self) -> T | None:
        """Take the first."""
        if not self._waiting:
            return None
        self._out.append(self._waiting.popleft())
        return self._out[-1]

    def settle(self) -> None:
        """Hear that what was taken is done with."""
        self._out.clear()

    def put_back(self) -> None:
        """Let all that was taken and is not done with wait as it did."""
        self._waiting.extendleft(reversed(self._out))
        self._out.clear()

    async def peek(self, seconds: float) -> T | None:
        """Give the first without taking it, waiting for it for some seconds."""
        if not self._waiting:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), seconds)
            except TimeoutError:
                return None
        return self._waiting[0] if self._waiting else None


class Lanes(Generic[T]):
    """All lanes; `work` does one thing, and may look in its lane at what comes behind it."""

    def __init__(self, work: Callable[[T, Lane[T]], Awaitable[None]]) -> None:
        self._work = work
        self._lanes: dict[str, Lane[T]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, name: str, thing: T) -> None:
        """Put a thing in a lane."""
        lane = self._lanes.get(name)
        if lane is not None:
            lane.put(thing)
            return
        lane = self._lanes[name] = Lane()
        lane.put(thing)
        task = asyncio.create_task(self._serve(name, lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        """Wait until no lane has anything left."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Stop at once; what is left was not answered, and its arrival says so."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, name: str, lane: Lane[T]) -> None:
        try:
            while (thing := lane.take()) is not None:
                try:
                    await self._work(thing, lane)
                except StoreAwayError as error:
                    LOG.warning("something in a lane is begun anew: %s", error)
                    lane.put_back()
                    await asyncio.sleep(AWAY_S)
                except Exception:
                    LOG.exception("something in a lane failed")
                lane.settle()
        finally:
            del self._lanes[name]
