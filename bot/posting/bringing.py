"""Brings one reply of a chat to its platform, part by part: sends what is new, edits what changed, removes what went.

Law: a part is sent once; what may have arrived is not sent again blindly, and of what is gone nothing is edited.
"""

import asyncio
from collections.abc import Callable
from typing import Generic

from bot.ports import Shown
from bot.posting.boxes import Box, D, Drawing
from bot.posting.calls import Calls
from bot.posting.ports import PostedPart, State


class Bringing(Generic[D]):
    """What to do next for a chat, and the doing; `shared` says that other processes speak in the same chats."""

    def __init__(self, calls: Calls[D], drawing: Drawing[D], clock: Callable[[], float], *, shared: bool) -> None:
        self._calls = calls
        self._drawing = drawing
        self._clock = clock
        self._shared = shared

    async def next(self, box: Box) -> tuple[int, float]:
        """Give the number that is to go next, and when."""
        times: list[tuple[float, int, int]] = []
        for number, shown in tuple(box.waiting.items()):  # what comes meanwhile is for the next step
            fresh = not any(one.external for one in (await self._calls.parts(box, number)).values())
            times.append((0.0 if fresh else self._calls.due(box, number), number if fresh else shown.change, number))
        times += [(0.0, number, number) for number in box.untold - set(box.waiting)]
        times += [(0.0, 0, number) for number in box.going]
        now = self._clock()
        ready = [one for one in times if one[0] <= now]
        if ready:
            return min(ready, key=lambda one: one[2])[2], 0.0
        at, _, number = min(times)
        return number, at

    async def take_out(self, box: Box, number: int) -> None:
        """Remove a reply that something newer replaces, or never send it."""
        shown, parts = box.waiting.get(number), await self._calls.parts(box, number)
        address = box.where(shown) if shown is not None else box.address
        for _, one in sorted(parts.items()):
            if one.state is State.SENT:
                await self._calls.remove(box, address, one)
        never = PostedPart(box.chat, number, 0, State.GONE, "", "", shown.change if shown is not None else 0)
        box.waiting.pop(number, None)
        box.untold.discard(number)
        box.going.discard(number)
        self._calls.mark(box, [] if parts else [never])

    async def deliver(self, box: Box, number: int) -> None:
        """Bring a reply that waits to the state that was said last.

        Raises:
            PostingError: when a call was not taken, or may have been.
        """
        shown = box.waiting[number]
        if self._shared and number in box.parts:  # another process may have taken it back
            await asyncio.gather(*([box.written] if box.written is not None else []), return_exceptions=True)
            box.parts.pop(number)
        parts = await self._calls.parts(box, number)
        if any(one.change > shown.change for one in parts.values()):
            # Another process brought a newer state before this one was shown here.
            if box.waiting.get(number) is shown:
                del box.waiting[number]
            self._calls.mark(box, [])
            return
        taken_back = number in box.withdrawn or (0 in parts and parts[0].state is State.GONE)
        drafts = () if taken_back else self._drawing.draw(box.chat, shown.reply)
        for at, draft in enumerate(drafts):
            await self._bring(box, shown, at, draft)
        for at in sorted(at for at, one in parts.items() if at >= len(drafts) and one.state is State.SENT):
            await self._calls.remove(box, box.where(shown), parts[at])
        if box.waiting.get(number) is shown:
            del box.waiting[number]
        unsure = any(one.state is State.UNKNOWN for one in parts.values())
        (box.untold.add if unsure else box.untold.discard)(number)
        self._calls.mark(box, [])

    async def _bring(self, box: Box, shown: Shown, at: int, draft: D) -> None:
        one = box.parts[shown.number].get(at)
        if one is None:
            await self._calls.send(box, shown, at, draft)
            return
        match one.state:
            case State.SENT if one.digest == draft.digest:
                pass
            case State.SENT if one.kind == draft.kind:
                await self._calls.edit(box, shown, one, draft)
            case State.SENT:
                await self._calls.remove(box, box.where(shown), one)
                await self._calls.send(box, shown, at, draft)
            case State.GONE:
                await self._calls.send(box, shown, at, draft)
            case State.SENDING | State.UNKNOWN | State.OFFERED | State.REFUSED:
                # The same content is not sent blindly a second time; another one is worth it.
                if one.digest != draft.digest:
                    await self._calls.send(box, shown, at, draft)
