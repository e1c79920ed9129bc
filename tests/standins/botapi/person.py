"""A learner at a client of Telegram: writes, presses, uploads, edits; sees what stands in the chat."""

import asyncio
from collections.abc import Callable

from botapi import oracle
from botapi.oracle import Mark
from botapi.world import Note, Query, World, chat_of, person_of

_DROPPED = dict.fromkeys([*range(0x2028, 0x202F), 0x0D]) | {0x09: " "}
_ISOLATES = dict.fromkeys([0x061C, *range(0x2066, 0x206A)])
PART = 4096


class Person:
    """One person in one chat; the chat is private unless it is given."""

    def __init__(self, world: World, user: int, chat: int = 0, thread: int = 0) -> None:
        self.world = world
        self.user = user
        self.chat = chat or user
        self.thread = thread

    def send(self, text: str, marks: tuple[Mark, ...] = (), *, answers: int = 0, cleaned: bool = True) -> int:
        """Write a text; the platform takes away what it always takes away."""
        shown = text.translate(_DROPPED).strip() if cleaned else text
        parsed = oracle.plain(shown)
        return self._put(Note(0, self.chat, self.user, "text", shown, (*marks, *parsed.marks), answers=answers))

    def paste(self, code: str) -> list[int]:
        """Paste a long text: the client cuts it at lines, without saying so."""
        ids, rest = [], code
        while rest:
            cut = len(rest) if len(rest) <= PART else rest.rfind("\n", 0, PART) + 1 or PART
            ids.append(self.send(rest[:cut]))
            rest = rest[cut:]
        return ids

    def send_code(self, code: str, before: str = "", language: str = "python") -> int:
        """Write fenced code at an official client, which sends it as a mark without its fences."""
        start = oracle.utf16(before)
        return self.send(before + code, (Mark("pre", start, oracle.utf16(code), language),), cleaned=False)

    def upload(self, name: str, data: bytes, caption: str = "") -> int:
        """Send a file."""
        return self._put(Note(0, self.chat, self.user, "document", caption, data=data, name=name))

    def edit(self, number: int, text: str) -> None:
        """Edit what was written before."""
        note = self.world.notes[self.chat, number]
        note.text, note.marks = text, tuple(mark for mark in note.marks if mark.kind != "pre")
        self.world.update(edited_message=self.world.shown(note) | {"edit_date": 1_700_000_001})

    def odd(self, **what: object) -> None:
        """Send something that is no text: a sticker, a voice note, a place."""
        note = Note(self.world.fresh(), self.chat, self.user, "odd", "")
        self.world.update(message=self.world.shown(note) | what)

    def press(self, wanted: str, *, at: float | None = None) -> str:
        """Press a button by its label or payload, the newest first; gives the press's own id.

        A finger that was too slow presses what stood there before.
        """
        shown = [(note, note.keyboard) for note in reversed(self.screen())]
        before = [(note, rows) for note in reversed(self.screen()) for rows in reversed(note.keyboards)]
        for note, rows in (*shown, *before):
            for button in (button for row in rows for button in row):
                if wanted in {button["callback_data"], seen(button["text"])}:
                    return self.press_at(note, button["callback_data"], at=at)
        message = f"there is no button {wanted}; there are {self.labels()}"
        raise LookupError(message)

    def press_at(self, note: Note, payload: str, *, at: float | None = None) -> str:
        """Press at a note; a forged payload passes, as from a client of one's own."""
        name = f"q{self.world.fresh()}"
        self.world.queries[name] = Query(at if at is not None else asyncio.get_running_loop().time())
        self.world.update(
            callback_query={
                "id": name,
                "from": person_of(self.user, self.world.names.get(self.user, "")),
                "message": self.world.shown(note),
                "chat_instance": "1",
                "data": payload,
            }
        )
        return name

    def screen(self) -> list[Note]:
        """Give what the bot shows here."""
        return self.world.of_bot(self.chat)

    def labels(self) -> list[str]:
        """Give the labels of the newest buttons."""
        found = [note for note in self.screen() if note.keyboard]
        return [seen(button["text"]) for row in found[-1].keyboard for button in reversed(row)] if found else []

    def reads(self) -> str:
        """Give all that stands here, without marks of direction."""
        return "\n".join(seen(note.text) for note in self.screen())

    async def until(self, true: Callable[[], bool], within_s: float = 20.0) -> None:
        """Wait until something holds."""
        try:
            async with asyncio.timeout(within_s):
                while not true():  # noqa: ASYNC110 - the condition is the test's own
                    await asyncio.sleep(0.005)
        except TimeoutError:
            message = f"it did not come to hold; the chat shows: {self.reads()[-600:]}"
            raise AssertionError(message) from None

    async def sees(self, text: str, within_s: float = 20.0) -> None:
        """Wait until a text stands here."""
        await self.until(lambda: text in self.reads(), within_s)

    def _put(self, note: Note) -> int:
        note.id, note.thread = self.world.fresh(), self.thread
        self.world.notes[self.chat, note.id] = note
        self.world.update(message=self.world.shown(note) | {"chat": chat_of(self.chat)})
        return note.id


def seen(text: str) -> str:
    """Give a text as it is seen: marks of direction have no width."""
    return text.translate(_ISOLATES)
