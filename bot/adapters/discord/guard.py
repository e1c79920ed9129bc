"""Obeys what servers' owners set: says of each thing heard how it may be answered, and how often the GPU may be used.

Law: rules are kept for half a minute at most, so that what another bot's owner changed holds soon everywhere; where the
store is away the last that was known holds.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from bot.adapters.discord import rules as setting
from bot.adapters.discord.rules import Rules, Where
from bot.errors import StoreAwayError

LOG = logging.getLogger("tasree.discord")

PLATFORM = "discord"
FRESH_S = 30.0
_MOST_KEPT = 5_000


class Servers(Protocol):
    """The part of a store that keeps what was set."""

    async def rules(self, platform: str, server: str) -> str:
        """Give what was set for a server."""
        ...

    async def change(self, platform: str, server: str, now: datetime, change: Callable[[str], str]) -> str:
        """Put what `change` makes of a server's rules in their place."""
        ...

    async def on_gpu(self, chat: str, since: datetime) -> int:
        """Count the runs on a GPU that this chat's learner began among others since a time."""
        ...


@dataclass(frozen=True, slots=True)
class Leave:
    """How something may be answered; `gpu` are the runs on the GPU a day, None for any number."""

    where: Where = Where.OPENLY
    gpu: int | None = None
    rules: Rules = Rules()  # noqa: RUF009 - frozen


class Guard:
    """Implements asking for leave over the servers of a store."""

    def __init__(self, servers: Servers, clock: Callable[[], float], now: Callable[[], datetime] | None = None) -> None:
        self._servers = servers
        self._clock = clock
        self._now = now or (lambda: datetime.now(UTC))
        self._kept: dict[int, tuple[float, Rules]] = {}

    async def rules(self, guild: int) -> Rules:
        """Give what was set for a server."""
        kept = self._kept.get(guild)
        if kept is not None and self._clock() - kept[0] < FRESH_S:
            return kept[1]
        try:
            found = setting.from_json(await self._servers.rules(PLATFORM, str(guild)))
        except StoreAwayError as error:
            LOG.warning("what a server's owner set could not be read: %s", error)
            found = kept[1] if kept is not None else Rules()
        return self._keep(guild, found)

    async def change(self, guild: int, **fields: object) -> Rules:
        """Change some of what was set for a server; give all of it."""

        def changed(before: str) -> str:
            return setting.to_json(setting.from_json(before).changed(**fields))

        after = await self._servers.change(PLATFORM, str(guild), self._now(), changed)
        return self._keep(guild, setting.from_json(after))

    async def leave(self, guild: int | None, channels: Collection[int], roles: Collection[int]) -> Leave:
        """Say how something may be answered that somebody with these roles said in a server (None: in private)."""
        if guild is None:
            return Leave()
        found = await self.rules(guild)
        return Leave(found.where(channels, self._now()), found.gpu_of(roles), found)

    async def gpu_left(self, chat: str, daily: int) -> int:
        """Give how many of the day's runs on the GPU are left to a chat's learner."""
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        return max(daily - await self._servers.on_gpu(chat, midnight), 0) if daily else 0

    def _keep(self, guild: int, found: Rules) -> Rules:
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[guild] = (self._clock(), found)
        return found
