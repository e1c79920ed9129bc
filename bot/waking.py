"""The look for quizzes of groups whose time came and for which no bot wakes: its process ended, or was not yet there.

Law: any number of bots may look; an event's key lets one of them answer it.
"""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from bot.engine.events import GroupFellDue
from bot.ports import Clock

LOG = logging.getLogger("tasree.waking")

EVERY_S = 10.0
OVERDUE = timedelta(seconds=3)
"""So late is what the bot that asked the question would have closed by now."""


class Due(Protocol):
    """What falls due in a group's chat, and when."""

    @property
    def chat(self) -> str:
        """The group's chat."""
        ...

    @property
    def event(self) -> GroupFellDue:
        """What is to be answered then."""
        ...

    @property
    def at(self) -> datetime:
        """When."""
        ...


class Rooms(Protocol):
    """The part of a store that this needs."""

    async def rooms_due(self, platform: str, before: datetime | None = None) -> Sequence[Due]:
        """Give what falls due in groups, or what fell due before a time."""
        ...


class Expects(Protocol):
    """The face of the app that this needs."""

    def expect(self, chat: str, event: GroupFellDue, at: datetime) -> None:
        """Answer the event when its time comes, in the place of what was expected there before."""
        ...


class Waker:
    """One bot's look, at the groups of its platform."""

    def __init__(self, app: Expects, rooms: Rooms, clock: Clock, platform: str, every_s: float = EVERY_S) -> None:
        self._app = app
        self._rooms = rooms
        self._clock = clock
        self._platform = platform
        self._every_s = every_s

    async def run(self) -> None:
        """Look until cancelled: first for everything that is under way, then for what is overdue."""
        first = True
        while True:
            try:
                before = None if first else self._clock.now() - OVERDUE
                for due in await self._rooms.rooms_due(self._platform, before):
                    self._app.expect(due.chat, due.event, due.at)
                first = False
            except Exception:
                LOG.exception("a look for what fell due failed")
            await asyncio.sleep(self._every_s)
