"""The sweep that deletes learners' code, outputs and files after their time, once a day.

Law: it may stop at any point and be done again; several bots may begin it, one does it.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from bot.engine.owned.fading import fader
from bot.engine.replies import Reply
from bot.ports import Clock
from content.schema import Course

LOG = logging.getLogger("tasree.sweeping")

EVERY_S = 3600.0


class Swept(Protocol):
    """What one sweep did, to be printed."""

    @property
    def runs(self) -> int:
        """Runs deleted."""
        ...


class Sweeps(Protocol):
    """The part of a store that this needs."""

    async def sweep(self, before: datetime, now: datetime, fade: Callable[[Reply], Reply | None]) -> Swept | None:
        """Delete what is from before a time; None when that was done today."""
        ...


class Sweeper:
    """Sweeps for one bot; `days` is how long things are kept."""

    def __init__(self, sweeps: Sweeps, course: Callable[[], Course], clock: Clock, days: int) -> None:
        self._sweeps = sweeps
        self._course = course
        self._clock = clock
        self._days = days

    async def run(self) -> None:
        """Sweep until cancelled; a fault is left to the next hour."""
        while True:
            try:
                await self.sweep()
            except Exception:
                LOG.exception("a sweep failed")
            await asyncio.sleep(EVERY_S)

    async def sweep(self) -> Swept | None:
        """Sweep once, unless that was done today.

        Raises:
            StoreError: when the store is away.
        """
        now = self._clock.now()
        swept = await self._sweeps.sweep(now - timedelta(days=self._days), now, fader(self._course(), self._days))
        if swept is not None:
            LOG.info("old things were swept: %s", swept)
        return swept
