"""The calls of delivery, each between two marks: what was written before it, and what became of it.

Law: what sends is on the disk before the call; a mark is written in the order of the calls; a mark that says how far a
chat is never jumps over what this process has not seen.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Generic

from bot.ports import Shown
from bot.posting.boxes import Box, D, Drawing, LapsedError, SupersededError
from bot.posting.errors import MissingError, PostingError, RefusedError, UnsureError
from bot.posting.pacing import Pace
from bot.posting.ports import Cursor, Line, Mark, Outbox, PostedPart, State

LOG = logging.getLogger("tasree.courier")

MOST_RESTING = 1000


class Calls(Generic[D]):
    """The calls to one platform, paced and marked."""

    def __init__(  # noqa: PLR0913 - the parts of delivery, each from elsewhere
        self,
        outbox: Outbox,
        line: Line[D],
        drawing: Drawing[D],
        pacing: Pace,
        clock: Callable[[], float],
        edit_every_s: float,
    ) -> None:
        self._outbox = outbox
        self._line = line
        self._drawing = drawing
        self._pacing = pacing
        self._clock = clock
        self._edit_every_s = edit_every_s
        self._due: dict[tuple[str, int], float] = {}

    def due(self, box: Box, number: int) -> float:
        """Give the time from which a reply may be edited again."""
        return self._due.get((box.chat, number), 0.0)

    async def parts(self, box: Box, number: int) -> dict[int, PostedPart]:
        """Give the parts of a reply as they stand."""
        if number not in box.parts:
            found = await self._outbox.parts(box.chat, number)
            # We have the lease and send nothing here now: what is being sent was so when a process ended.
            cut = {one.part: replace(one, state=State.UNKNOWN) for one in found if one.state is State.SENDING}
            box.parts[number] = {one.part: one for one in found} | cut
        return box.parts[number]

    async def send(self, box: Box, shown: Shown, at: int, draft: D) -> None:
        """Send a part, in its turn; what is not known of it afterwards stands in its mark.

        Raises:
            PostingError: when it was certainly not taken.
            SupersededError: when a newer state came meanwhile.
            LapsedError: when another process may have the chat.
        """
        answers, address = shown.answers, box.where(shown)
        one = PostedPart(
            box.chat, shown.number, at, State.SENDING, draft.kind, draft.digest, shown.change, answers=answers
        )
        await self.turn(address)
        if box.waiting.get(shown.number) is not shown:
            raise SupersededError
        await self.mark(box, [one])  # on the disk before the call
        try:
            await self.leave(address)
        except Exception:
            self.mark(box, [replace(one, state=State.REFUSED, digest="")])  # the call was not made
            raise
        self._still_ours(box)  # no mark: whoever has the chat now may have written another
        try:
            external = await self._line.send(address, draft, answers if at == 0 else "")
        except UnsureError as error:
            LOG.warning("nobody knows whether a reply arrived: %s", error)
            self.mark(box, [replace(one, state=State.UNKNOWN)])
        except RefusedError:
            LOG.exception("a reply was refused")
            self.mark(box, [replace(one, state=State.REFUSED)])
        except PostingError:
            self.mark(box, [replace(one, state=State.REFUSED, digest="")])  # certainly not taken
            raise
        else:
            self._still_ours(box)
            self.mark(box, [replace(one, state=State.SENT, external=external)])

    async def edit(self, box: Box, shown: Shown, one: PostedPart, draft: D) -> None:
        """Put another content in the place of a part, or send it where that part is gone."""
        address = box.where(shown)
        await self.turn(address)
        if box.waiting.get(shown.number) is not shown:
            raise SupersededError
        await self.leave(address)
        self._still_ours(box)
        try:
            await self._line.edit(address, one.external, draft)
        except MissingError:
            await self.send(box, shown, one.part, draft)
            return
        except RefusedError:
            LOG.exception("an edit was refused")
        self._still_ours(box)  # frozen in the middle of the call, it may have put this over something newer
        self._rested(box, shown.number)
        self.mark(box, [replace(one, digest=draft.digest, change=shown.change)])

    def _still_ours(self, box: Box) -> None:
        """Look at the lease right before a call and after it: who was frozen must not put older things back."""
        if self._clock() >= box.lapses_at:
            raise LapsedError

    def _rested(self, box: Box, number: int) -> None:
        """Let a reply rest after an edit; what rested enough is forgotten."""
        now = self._clock()
        if len(self._due) >= MOST_RESTING:
            self._due = {key: at for key, at in self._due.items() if at > now}
        self._due[box.chat, number] = now + self._drawing.rests(box.address) * self._edit_every_s

    async def remove(self, box: Box, address: str, one: PostedPart) -> None:
        """Take a part back."""
        await self.turn(address)
        await self.leave(address)
        try:
            await self._line.remove(address, one.external)
        except RefusedError as error:
            LOG.info("a part could not be removed: %s", error)
        self.mark(box, [replace(one, state=State.GONE)])

    async def offer(self, box: Box, number: int) -> None:
        """Tell that a reply may not have arrived, once at most."""
        parts = await self.parts(box, number)
        told = [replace(one, state=State.OFFERED) for one in parts.values() if one.state is State.UNKNOWN]
        box.untold.discard(number)
        await self.turn(box.address)
        await self.mark(box, told)  # before the call: the note comes once at most
        await self.leave(box.address)
        try:
            await self._line.send(box.address, self._drawing.offer(number), "")
        except (UnsureError, RefusedError) as error:
            LOG.info("the note about a lost reply may be lost, too: %s", error)
        except PostingError:
            self.mark(box, [replace(one, state=State.UNKNOWN) for one in told])
            box.untold.add(number)
            raise

    async def turn(self, address: str) -> None:
        """Wait until a call to this address may go."""
        await self._pacing.turn(self._drawing.root(address), group=self._drawing.is_group(address))

    async def leave(self, address: str) -> None:
        """Wait until a call to this address goes now."""
        await self._pacing.leave(self._drawing.root(address), group=self._drawing.is_group(address))

    async def hold(self, box: Box, wait_s: float) -> None:
        """Let nothing go to this chat for some seconds."""
        root = self._drawing.root(box.address)
        await self._pacing.hold(root, wait_s, group=self._drawing.is_group(box.address))

    def mark(self, box: Box, parts: Sequence[PostedPart]) -> Awaitable[None]:
        """Begin to write what became of parts, and how far the chat is."""
        for one in parts:
            box.parts.setdefault(one.number, {})[one.part] = one
        if box.silent:  # forgotten meanwhile: there is nothing to be written down any more
            marks: list[Mark] = []
            return self._outbox.write(marks)
        marks = list(parts)
        out = min((one.change for one in box.waiting.values()), default=box.newest + 1) - 1
        if out > box.delivered and not box.gap:
            box.delivered = out
            marks.append(Cursor(box.chat, out))
        box.written = self._outbox.write(marks)
        return box.written
