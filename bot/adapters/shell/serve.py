"""Drives the engine and the store without a platform: one learner says a few things, the replies are printed."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from bot.adapters.shell.parse import parse
from bot.engine.events import Event
from bot.engine.replies import File
from bot.ports import ChatRow, Shown, StoredFile


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

    async def file(self, chat: str, file: str) -> StoredFile | None:
        """Give a file that was offered in the chat."""
        ...

    async def idle(self) -> None:
        """Wait until no run and no check is under way."""
        ...


class ShellChat:
    """Shows nothing as it happens: `say` prints each reply as it stands at the end."""

    def __init__(self) -> None:
        self.last_words: list[Shown] = []

    async def show(self, chat: str, shown: Shown) -> None:
        """Keep quiet."""

    async def forget(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:  # noqa: ARG002 - as the port
        """Keep the last words, which no store has."""
        self.last_words += farewell


async def say(  # noqa: PLR0913 - what the shell lends
    talk: Talk,
    learner: str,
    arguments: Sequence[str],
    read: Callable[[str], bytes],
    chat: ShellChat | None = None,
    save: Callable[[str, bytes], None] | None = None,
) -> AsyncIterator[tuple[str, tuple[Shown, ...]]]:
    """Say each argument and give the replies to it, in order, each as it stands when nothing is under way.

    `chat` has the last words of a learner who was forgotten; files that were offered are handed to `save`.

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
        if chat is not None and chat.last_words:
            yield argument, tuple(chat.last_words)
            chat.last_words.clear()
            row = await talk.enter("shell", learner)
        else:
            shown = await talk.since(row.id, before)
            if save is not None:
                await _save(talk, row.id, shown, save)
            yield argument, shown
        seen = await talk.since(row.id, 0)


async def _save(talk: Talk, chat: str, shown: Sequence[Shown], save: Callable[[str, bytes], None]) -> None:
    for block in (block for one in shown for block in one.reply.blocks if isinstance(block, File)):
        found = await talk.file(chat, block.ref)
        if found is not None:
            save(found.name, found.data)
