"""Lanes and paces that several processes share through the store: any of them takes any update, none is out of turn.

Law: a lane is served by one process at a time, under a lease; what waits in it is read from the store, where every
process puts what came before it asks for the lane; whoever gives a lane back looks once more. A call goes in the place
that the store gave it, so that all processes together keep the limits of one.
"""

import asyncio
import contextlib
import hashlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from bot.errors import StoreAwayError
from bot.posting.lanes import AWAY_S, Lane
from bot.posting.pacing import Limits
from bot.posting.ports import Arrival, Inbox, Paces, Pass

LOG = logging.getLogger("tasree.lanes")

T = TypeVar("T")

LEASE_S = 30.0
"""So long a process has a lane without saying so again."""
LOOK_S = 0.1
"""So often a lane is looked at for what another process took in."""


class SharedLane(Lane[T]):
    """A lane whose things come from the store; looks there for what follows."""

    def __init__(self, fill: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._fill = fill

    async def peek(self, seconds: float) -> T | None:
        """Give the first without taking it, waiting for it for some seconds."""
        until = asyncio.get_running_loop().time() + seconds
        while not self._waiting:
            await self._fill()
            left = until - asyncio.get_running_loop().time()
            if self._waiting or left <= 0:
                break
            await asyncio.sleep(min(LOOK_S, left))
        return self._waiting[0] if self._waiting else None


class SharedLanes(Generic[T]):
    """All lanes that this process has a lease of; `read` makes a thing of what stands in the store."""

    def __init__(
        self,
        platform: str,
        inbox: Inbox,
        read: Callable[[Arrival], T],
        work: Callable[[T, Lane[T]], Awaitable[None]],
        lease_s: float = LEASE_S,
    ) -> None:
        self._platform = platform
        self._inbox = inbox
        self._read = read
        self._work = work
        self._lease_s = lease_s
        self._holder = secrets.token_hex(6)
        self._serving: dict[str, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._later: dict[str, asyncio.TimerHandle] = {}
        self._keeping: asyncio.Task[None] | None = None
        self._closing = False

    def look(self, lane: str) -> None:
        """Hear that something waits in a lane: it is in the store by now."""
        if self._closing:
            return
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())
        if lane in self._serving:
            self._serving[lane] = True
            return
        self._serving[lane] = False
        task = asyncio.create_task(self._serve(lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def idle(self) -> None:
        """Wait until no lane is served here."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self) -> None:
        """Stop at once, and let other processes have the lanes."""
        self._closing = True
        for timer in self._later.values():
            timer.cancel()
        tasks = {*self._tasks, *([self._keeping] if self._keeping else [])}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(Exception):  # the store may be away: the leases end by themselves
            await self._inbox.leave_lanes(self._platform, self._holder)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._lease_s / 3)
            try:
                if self._serving:
                    await self._inbox.keep_lanes(self._platform, self._holder, self._lease_s)
            except Exception:
                LOG.exception("leases could not be renewed")

    async def _serve(self, lane: str) -> None:
        try:
            if not await self._inbox.hold_lane(self._platform, lane, self._holder, self._lease_s):
                # Another process answers here, and looks once more before it lets go; its lease ends with it.
                self._look_later(lane)
                return
            await self._served(lane)
        except StoreAwayError as error:
            LOG.warning("a lane is served later: %s", error)
            self._look_later(lane, AWAY_S)
        except Exception:
            LOG.exception("a lane could not be served")
            self._look_later(lane)
        finally:
            if self._serving.pop(lane, False):
                self.look(lane)

    async def _served(self, lane: str) -> None:
        tried: set[str] = set()
        known: set[str] = set()

        async def fill() -> None:
            for arrival in await self._inbox.in_lane(self._platform, lane):
                if arrival.key not in known:
                    known.add(arrival.key)
                    here.put(self._read(arrival))

        here: SharedLane[T] = SharedLane(fill)
        while True:
            self._serving[lane] = False
            await fill()
            while (thing := here.take()) is not None:
                try:
                    await self._work(thing, here)
                except StoreAwayError:  # it may be back soon, and then all that waits here is begun anew
                    raise
                except Exception:
                    LOG.exception("something in a lane failed")
                here.settle()
                await fill()
            tried |= known
            if await self._inbox.leave_lane(self._platform, lane, self._holder, sorted(tried)):
                return

    def _look_later(self, lane: str, seconds: float | None = None) -> None:
        if lane not in self._later and not self._closing:
            after = self._lease_s if seconds is None else seconds
            self._later[lane] = asyncio.get_running_loop().call_later(after, self._again, lane)

    def _again(self, lane: str) -> None:
        self._later.pop(lane, None)
        self.look(lane)


class SharedPacing:
    """The windows of one account of a platform, kept in the store."""

    def __init__(
        self,
        platform: str,
        paces: Paces,
        limits: Limits,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._platform = platform
        self._paces = paces
        self._limits = limits
        self._sleep = sleep

    async def turn(self, address: str, *, group: bool) -> None:
        """Wait until a call to this address may go, and count it."""
        await self._passed(Pass(_hashed(address), *self._limit(group=group)))
        await self._passed(Pass("overall", *self._limits.overall))

    async def leave(self, address: str, *, group: bool) -> None:
        """Wait shortly once more, right before a call: what counts is when it leaves."""
        mine = Pass(f"-{_hashed(address)[1:]}", *self._limit(group=group))
        await self._passed(mine, Pass("leaving", *self._limits.overall))

    async def hold(self, address: str, wait_s: float, *, group: bool) -> None:
        """Let nothing go to this address for some seconds."""
        del group
        await self._paces.hold_back(self._platform, _hashed(address), wait_s)

    def _limit(self, *, group: bool) -> tuple[int, float]:
        return self._limits.group if group else self._limits.chat

    async def _passed(self, *passes: Pass) -> None:
        wait = await self._paces.reserve(self._platform, passes)
        if wait > 0:
            await self._sleep(wait)


def _hashed(address: str) -> str:
    """Give the name of an address in the store, where it stays for some minutes: nobody's id."""
    return hashlib.sha256(address.encode()).hexdigest()[:32]
