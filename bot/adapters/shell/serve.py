"""Drives the engine and the store without a platform: one learner says a few things, the replies are printed."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from bot.adapters.shell.parse import parse
from bot.engine.events import Event
from bot.ports import ChatRow, Shown


class Talk(Protocol):
    """The face of the app that this adapter needs."""

    async def enter(self, platform: str, external: str) -> ChatRow:
        """Give the learner's chat."""
        ...

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give what was said or edited after `change`."""
        ...

    async def take(self, chat: str, event: Event, key: str) -> bool:
        """Answer an event."""
        ...

    async def idle(self) -> None:
        """Wait until no run and no check is under way."""
        ...


class ShellChat:
    """Shows nothing as it happens: `say` prints each reply as it stands at the end."""

    async def show(self, chat: str, shown: Shown) -> None:
        """Keep quiet."""


async def say(
    talk: Talk, learner: str, arguments: Sequence[str], read: Callable[[str], bytes]
) -> AsyncIterator[tuple[str, tuple[Shown, ...]]]:
    """Say each argument and give the replies to it, in order, each as it stands when nothing is under way.

    Raises:
        NoSuchButtonError, OSError: as for `parse`; what was said before stands.
    """
    row = await talk.enter("shell", learner)
    seen = await talk.since(row.id, 0)
    if not arguments:
        yield "", seen
    for argument in arguments:
        before = max((one.change for one in seen), default=0)
        await talk.take(row.id, parse(argument, seen, read), "")
        await talk.idle()
        yield argument, await talk.since(row.id, before)
        seen = await talk.since(row.id, 0)
