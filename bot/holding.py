"""Which runs this bot follows: their leases renewed in time, and runs taken up whose bot is gone.

Law: a run that another bot took is followed here no more. What is followed here no more, for whatever reason, is not
renewed, and so is taken up again, by this bot or another.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from bot.errors import StoreError
from bot.ports import Runs

LOG = logging.getLogger("tasree.holding")

RENEWALS = 3
"""A lease is renewed so many times before it would lapse."""
_LEAVE_S = 2.0


class Holding:
    """The runs that one bot follows, by id."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._followed: dict[str, asyncio.Task[None]] = {}
        self._any = False

    def __contains__(self, run: str) -> bool:
        return run in self._followed

    def follow(self, run: str, task: "asyncio.Task[None]") -> None:
        """Hear that a task follows a run to its end."""
        self._any = True
        self._followed[run] = task
        task.add_done_callback(lambda _: self._followed.pop(run, None))

    async def keep(self, take_up: Callable[[], Awaitable[None]] | None) -> None:
        """Renew what is followed, and take up what is nobody's, without end."""
        while True:
            await asyncio.sleep(self._runs.lease_s / RENEWALS)
            try:
                await self._renew()
                if take_up is not None:
                    await take_up()
            except StoreError as error:
                LOG.warning("leases of runs are not renewed: %s", error)
            except Exception:
                LOG.exception("runs could not be taken up")

    async def _renew(self) -> None:
        followed = dict(self._followed)
        if not followed:
            return
        still = await self._runs.renew(tuple(followed))
        for run in followed.keys() - still:
            if not followed[run].done():
                LOG.warning("run %s is followed by another bot now", run)
                followed[run].cancel()

    async def leave(self) -> None:
        """Leave the runs to whoever comes, where the store answers soon; else their leases lapse."""
        if not self._any:
            return
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._runs.let_go()
        except (StoreError, TimeoutError) as error:
            LOG.info("runs are left to lapse: %s", error)
