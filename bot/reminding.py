"""The tick that sends digests: claims what fell due, and has each told by a turn of the learner's own chat.

It also tells those whose accounts were joined by a bot that does not serve their platform.

Law: any number of bots may tick. A claim is a lease, the turn's own row says that the day was told: who dies in
between leaves it to the next tick, and nobody is told twice. The turn's key keeps a fault of ours from coming for ever.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from bot.engine.events import AccountsJoined, ChatBlocked, DigestFellDue, Event
from bot.engine.linking.rows import joined_key
from bot.errors import BotError
from bot.ports import Clock, DueDigest, Reminding

LOG = logging.getLogger("tasree.reminding")

TICK_S = 30.0
LEASE = timedelta(minutes=2)
BATCH = 20
"""Digests claimed at a time: few enough to be sent within the lease."""
_LATER = timedelta(days=1)


class Takes(Protocol):
    """The face of the app that this needs."""

    async def take(self, chat: str, event: Event, key: str) -> bool:
        """Answer an event; False when its key was taken before."""
        ...


class Reminder:
    """One bot's tick; `holder` names this bot among others, `platforms` are those whose chats it can reach."""

    def __init__(self, app: Takes, reminding: Reminding, clock: Clock, holder: str, platforms: Sequence[str]) -> None:
        self._app = app
        self._reminding = reminding
        self._clock = clock
        self._holder = holder
        self._platforms = platforms

    async def run(self) -> None:
        """Tick until cancelled; a fault of one tick is left to the next."""
        while True:
            try:
                await self.tick()
            except Exception:
                LOG.exception("a tick failed")
            await asyncio.sleep(TICK_S)

    async def tick(self) -> int:
        """Send what fell due; gives how many learners that were. Who was joined elsewhere is told, too.

        Raises:
            StoreError: when the store is away; what was claimed falls free with its lease.
        """
        for chat, at in await self._reminding.joined(self._platforms):
            await self._app.take(chat, AccountsJoined(), joined_key(at))
        count = 0
        while due := await self._claimed():
            for one in due:
                await self._tell(one)
            count += len(due)
        return count

    async def _claimed(self) -> tuple[DueDigest, ...]:
        return await self._reminding.claim(self._clock.now(), self._holder, LEASE, self._platforms, BATCH)

    async def _tell(self, due: DueDigest) -> None:
        event = ChatBlocked() if due.silent else DigestFellDue()
        try:
            now = self._clock.now()
            if await self._app.take(due.chat, event, f"digest:{due.at.isoformat()}:{now.date()}"):
                return
        except (BotError, TimeoutError) as error:
            LOG.warning("a digest waits for its lease to end: %s", error)
            return
        # Its turn was taken before and left it due: a fault of ours then, or the chat is gone. It must not come always.
        with contextlib.suppress(BotError):
            await self._reminding.postpone(due, now + _LATER)
