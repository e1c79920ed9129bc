"""When the next call may go: windows per chat, per group and overall, so that a platform's flood limits are kept.

Law: nothing is refused, only delayed; whoever waits for the overall window is served in the order of coming, and a chat
that is held back holds back no other.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

MOST_KEPT = 20_000
"""Chats whose last calls are remembered."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Calls within seconds, each a pair: in one chat, in one group, and in all chats together.

    The overall one is narrow, so that calls which the network delays do not come in heaps.
    """

    chat: tuple[int, float] = (3, 3.1)
    group: tuple[int, float] = (20, 60.5)
    overall: tuple[int, float] = (7, 0.25)


@dataclass(slots=True)
class Window:
    """At most `count` calls within any `seconds`."""

    count: int
    seconds: float
    _times: deque[float] = field(default_factory=deque)
    _held: float = 0.0

    def ready(self, now: float) -> float:
        """Give the time (of the caller's clock, in seconds) from which the next call may go."""
        if len(self._times) < self.count:
            return max(now, self._held)
        return max(now, self._held, self._times[-self.count] + self.seconds)

    def note(self, at: float) -> None:
        """Count a call."""
        self._times.append(at)
        while len(self._times) > self.count:
            self._times.popleft()

    def hold(self, until: float) -> None:
        """Let nothing go before a time."""
        self._held = max(self._held, until)


@dataclass(frozen=True, slots=True)
class _Two:
    """A chat's windows: of the turns that were given, and of the calls that left."""

    turns: Window
    leaves: Window


class Pace(Protocol):
    """Says when a call may go."""

    async def turn(self, address: str, *, group: bool) -> None:
        """Wait until a call to this address may go, and count it."""
        ...

    async def leave(self, address: str, *, group: bool) -> None:
        """Wait shortly once more, right before a call."""
        ...

    async def hold(self, address: str, wait_s: float, *, group: bool) -> None:
        """Let nothing go to this address for some seconds."""
        ...


class Pacing:
    """The windows of one account of a platform, for one process."""

    def __init__(
        self, limits: Limits, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._sleep = sleep
        self._overall = Window(*limits.overall)
        self._leaving = Window(*limits.overall)
        self._chats: OrderedDict[str, _Two] = OrderedDict()
        self._line = asyncio.Lock()

    async def turn(self, address: str, *, group: bool) -> None:
        """Wait until a call to this address may go, and count it."""
        window = self._windows(address, group=group).turns
        while (wait := window.ready(self._clock()) - self._clock()) > 0:
            await self._sleep(wait)
        window.note(self._clock())
        async with self._line:
            while (wait := self._overall.ready(self._clock()) - self._clock()) > 0:
                await self._sleep(wait)
            self._overall.note(self._clock())

    async def leave(self, address: str, *, group: bool) -> None:
        """Wait shortly once more, right before a call.

        What waited for the others since its turn, or for the disk, would come in a heap: what counts is when it leaves.
        """
        window = self._windows(address, group=group).leaves
        while (wait := max(window.ready(self._clock()), self._leaving.ready(self._clock())) - self._clock()) > 0:
            await self._sleep(wait)
        window.note(self._clock())
        self._leaving.note(self._clock())

    async def hold(self, address: str, wait_s: float, *, group: bool) -> None:
        """Let nothing go to this address for some seconds."""
        self._windows(address, group=group).turns.hold(self._clock() + wait_s)

    def _windows(self, address: str, *, group: bool) -> _Two:
        two = self._chats.get(address)
        if two is None:
            limit = self._limits.group if group else self._limits.chat
            two = self._chats[address] = _Two(Window(*limit), Window(*limit))
            while len(self._chats) > MOST_KEPT:
                self._chats.popitem(last=False)
        self._chats.move_to_end(address)
        return two
