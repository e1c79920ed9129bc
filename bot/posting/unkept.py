"""Calls of which the store keeps nothing: last words to who deleted everything, and parts taken back unseen.

Law: each is tried for a while and then let be; its end is told to nobody but the log.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Generic

from bot.ports import Shown
from bot.posting.boxes import D, Drawing
from bot.posting.calls import Calls
from bot.posting.errors import BusyError, NotSentError, PostingError
from bot.posting.pacing import Pace
from bot.posting.ports import Line, Outbox, PostedPart

LOG = logging.getLogger("tasree.courier")

TRIES = 5
"""So often the last words of a chat are tried, of which the store knows nothing."""


class Unkept(Generic[D]):
    """Says and removes beside the replies of the store, within the platform's limits."""

    def __init__(  # noqa: PLR0913 - the parts of delivery, each from elsewhere
        self, outbox: Outbox, line: Line[D], drawing: Drawing[D], pacing: Pace, calls: Calls[D], again_s: float
    ) -> None:
        self._outbox = outbox
        self._line = line
        self._drawing = drawing
        self._pacing = pacing
        self._calls = calls
        self._again_s = again_s

    async def say(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:
        """Say replies at an address, each once; what may have arrived ends it."""
        for draft in (draft for shown in farewell for draft in self._drawing.draw(chat, shown.reply)):
            for _ in range(TRIES):
                await self._calls.turn(address)
                await self._calls.leave(address)
                try:
                    await self._line.send(address, draft, "")
                except BusyError as error:
                    root, group = self._drawing.root(address), self._drawing.is_group(address)
                    await self._pacing.hold(root, error.wait_s, group=group)
                except NotSentError:
                    await asyncio.sleep(self._again_s)
                except PostingError as error:
                    LOG.info("the last words may not have arrived: %s", error)
                    break
                else:
                    break

    async def remove(self, chat: str, parts: Sequence[PostedPart]) -> None:
        """Remove what stands on the platform; a part that cannot be removed stays."""
        mailbox = await self._outbox.mailbox(chat)
        for one in parts if mailbox else ():
            address = mailbox.address if mailbox else ""
            try:
                await self._calls.turn(address)
                await self._calls.leave(address)
                await self._line.remove(address, one.external)
            except PostingError as error:
                LOG.info("a part could not be taken back: %s", error)
