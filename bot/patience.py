"""Waiting for a store that broke under a turn: when to try again, and how to know what an unanswered commit did."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from bot.engine.effects import Turn
from bot.errors import StoreAwayError
from bot.ports import Opened

T = TypeVar("T")

PAUSES_S = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Between tries; that there is no connection at all was waited for by the store before."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A turn whose commit was begun from `revision`; until it is answered nobody knows whether it was done."""

    turn: Turn
    revision: int

    def was_saved(self, opened: Opened | None) -> bool:
        """Tell from the chat as it is found again: its key is taken now, or the session is the turn's own."""
        return opened is None or (opened.revision == self.revision + 1 and opened.session == self.turn.session)


async def patiently(work: Callable[[], Awaitable[T]]) -> T:
    """Do it again while the store is away; only for what may be done twice.

    Raises:
        StoreAwayError: when it stays away.
    """
    for pause in PAUSES_S:
        with contextlib.suppress(StoreAwayError):
            return await work()
        await asyncio.sleep(pause)
    return await work()
