"""What a chat has to go out, how its replies are drawn, and the note that a newer state came."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from bot.engine.replies import Reply
from bot.ports import Shown
from bot.posting.ports import PostedPart


class Draft(Protocol):
    """One call's worth of a reply, drawn for a platform; parts of one kind can be edited into each other."""

    @property
    def kind(self) -> str:
        """The kind."""
        ...

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        ...


D = TypeVar("D", bound=Draft)


class Replies(Protocol):
    """The part of a store that gives replies back."""

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give every reply said or edited after `change`."""
        ...


@dataclass(frozen=True, slots=True)
class Drawing(Generic[D]):
    """How the replies of a chat are drawn; `offer` is the note about a lost reply.

    `rests` says how many times as long as elsewhere a reply at an address stays between two edits.
    """

    draw: Callable[[str, Reply], Sequence[D]]
    offer: Callable[[int], D]
    is_group: Callable[[str], bool] = lambda _: False
    root: Callable[[str], str] = lambda address: address
    rests: Callable[[str], float] = lambda _: 1.0


class LapsedError(Exception):
    """The process stood still for so long that its lease of the chat lapsed: another may have said more by now."""


class SupersededError(Exception):
    """While a call waited for its turn, a newer state of the reply came: it goes out instead."""


@dataclass(slots=True)
class Box:
    """A chat with something to go out; `written` is the last mark, `going` are replies that are to be taken out."""

    chat: str
    address: str
    delivered: int
    silent: bool
    waiting: dict[int, Shown] = field(default_factory=dict)
    untold: set[int] = field(default_factory=set)
    parts: dict[int, dict[int, PostedPart]] = field(default_factory=dict)
    withdrawn: set[int] = field(default_factory=set)
    going: set[int] = field(default_factory=set)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    empty: asyncio.Event = field(default_factory=asyncio.Event)
    newest: int = 0
    wait_s: float = 0.0
    written: Awaitable[None] | None = None
    renew_at: float = 0.0
    lapses_at: float = math.inf
    gap: bool = False

    @property
    def busy(self) -> bool:
        """Tell whether there is anything to do."""
        return bool(self.waiting or self.untold or self.going)

    def where(self, shown: Shown) -> str:
        """Give the address to which a reply goes: where it was asked for, though the chat may be elsewhere by now."""
        return shown.address or self.address

    def move(self, old: str, new: str) -> None:
        """Follow a chat of many to its new address."""
        self.address = new
        for number, shown in self.waiting.items():
            if shown.address.startswith(old):
                self.waiting[number] = replace(shown, address=new + shown.address.removeprefix(old))

    def admit(self, shown: Shown) -> None:
        """Take a reply, or a newer state of one."""
        waiting = self.waiting.get(shown.number)
        if waiting is None or waiting.change < shown.change:
            self.waiting[shown.number] = shown
        self.gap = self.gap or shown.change > self.newest + 1  # another process said something in between
        self.newest = max(self.newest, shown.change)
        self.news.set()
