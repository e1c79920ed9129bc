"""A conversation without an engine, for tests of the page: keeps replies in memory and answers by a given function."""

from collections.abc import Callable, Sequence

from bot.engine.events import Event
from bot.engine.replies import Reply
from bot.ports import Chat, ChatRow, Shown, StoredFile
from content.schema import Course

Answer = Callable[[Event], Sequence[tuple[str, Reply]]]
"""An event to replies, each with its slot; a slot said before is edited."""


class MemoryTalk:
    """Has the shape of `Talk`; `taken` lists the events in order.

    `trouble` is raised by the next event, `blindness` by the next reading of the replies.
    """

    def __init__(self, course: Course, answer: Answer, greeting: Sequence[Reply] = ()) -> None:
        self.course = course
        self.chat: Chat | None = None
        self.taken: list[tuple[str, Event]] = []
        self.trouble: Exception | None = None
        self.blindness: Exception | None = None
        self.files: dict[tuple[str, str], StoredFile] = {}
        self._answer = answer
        self._greeting = greeting
        self._shown: dict[str, dict[int, Shown]] = {}
        self._changes: dict[str, int] = {}
        self._keys: set[tuple[str, str]] = set()

    async def enter(self, platform: str, external: str) -> ChatRow:
        """Give the chat of this account; a new one is greeted."""
        chat = f"{platform}-{external}"
        if chat not in self._shown:
            self._shown[chat] = {}
            for reply in self._greeting:
                await self.say(chat, "", reply)
        return ChatRow(chat, external)

    async def take(self, chat: str, event: Event, key: str) -> bool:
        """Answer an event once."""
        if self.trouble is not None:
            trouble, self.trouble = self.trouble, None
            raise trouble
        if (chat, key) in self._keys:
            return False
        self._keys.add((chat, key))
        self.taken.append((chat, event))
        for slot, reply in self._answer(event):
            await self.say(chat, slot, reply)
        return True

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give what changed after `change`."""
        if self.blindness is not None:
            blindness, self.blindness = self.blindness, None
            raise blindness
        shown = self._shown.get(chat, {})
        return tuple(one for _, one in sorted(shown.items()) if one.change > change)

    async def file(self, chat: str, file: str) -> StoredFile | None:
        """Give a file of this chat."""
        return self.files.get((chat, file))

    async def say(self, chat: str, slot: str, reply: Reply, *, quietly: bool = False) -> Shown:
        """Say or edit; `quietly` saves and does not show, as a process that died between the two."""
        shown = self._shown.setdefault(chat, {})
        change = self._changes[chat] = self._changes.get(chat, 0) + 1
        number = next((one.number for one in shown.values() if slot and one.slot == slot), len(shown) + 1)
        shown[number] = Shown(number, change, slot, reply)
        if self.chat is not None and not quietly:
            await self.chat.show(chat, shown[number])
        return shown[number]
