"""What the owners of servers set, as the platform's adapter writes it, and how often somebody used the GPU there.

Law: a change is read and written under one lock, so that two owners at once lose nothing of each other's.
"""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite

from bot.stores import locks, tables
from bot.stores.doors import Door
from bot.stores.posted import servers

_ON_GPU = '"device": "cuda"'
_AMONG_OTHERS = "/"
"""Stands in the name of a learner's chat where others are; a private chat bears the account's bare name."""


class SqlServers:
    """The part of the store that knows servers."""

    def __init__(self, reader: Door, writer: Door) -> None:
        self._reader = reader
        self._writer = writer

    async def rules(self, platform: str, server: str) -> str:
        """Give what was set for a server; empty where nothing was."""
        wanted = select(servers.c.rules).where(servers.c.platform == platform, servers.c.server == server)
        async with self._reader.connect() as connection:
            return (await connection.execute(wanted)).scalar_one_or_none() or ""

    async def change(self, platform: str, server: str, now: datetime, change: Callable[[str], str]) -> str:
        """Put what `change` makes of a server's rules in their place, and give it."""
        same = (servers.c.platform == platform) & (servers.c.server == server)
        async with self._writer.begin() as connection:
            await locks.account(connection, platform, f"server {server}")
            before = (await connection.execute(select(servers.c.rules).where(same))).scalar_one_or_none()
            after = change(before or "")
            to = (sqlite if locks.is_sqlite(connection) else postgresql).insert(servers)
            put = to.values(platform=platform, server=server, rules=after, changed_at=now)
            values = {"rules": after, "changed_at": now}
            await connection.execute(put.on_conflict_do_update(index_elements=["platform", "server"], set_=values))
        return after

    async def on_gpu(self, chat: str, since: datetime) -> int:
        """Count the runs on a GPU that this chat's learner began among others since a time."""
        runs, chats = tables.runs, tables.chats
        learner = select(chats.c.learner).where(chats.c.id == chat).scalar_subquery()
        wanted = (
            select(func.count())
            .select_from(runs.join(chats, chats.c.id == runs.c.chat))
            .where(chats.c.learner == learner, chats.c.external.contains(_AMONG_OTHERS))
            .where(runs.c.submitted_at >= since, runs.c.job.contains(_ON_GPU))
        )
        async with self._reader.connect() as connection:
            return int((await connection.execute(wanted)).scalar_one())
