"""What several bots of one platform share in a database: who answers a learner, and when the next call may go.

Law: a lease ends by its time alone, by the database's clock, so that of a process that died nobody needs to know; a
place in a window is given once, whoever asks.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, exists, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.posting.ports import Arrival, Pass
from bot.stores import locks, posted
from bot.stores.doors import Door

IDLE = timedelta(minutes=10)
"""So long the last calls of a chat are remembered; no window is so wide."""


class SqlSharing:
    """Lanes and paces over a store's connections."""

    def __init__(self, reader: Door, writer: Door) -> None:
        self._reader = reader
        self._writer = writer

    # --- lanes --------------------------------------------------------------------------------------------------------

    async def hold_lane(self, platform: str, lane: str, holder: str, for_s: float) -> bool:
        """Take a lane, unless another process has it."""
        table = posted.lanes
        async with self._writer.begin() as connection:
            now = await now_of(connection)
            until = now + timedelta(seconds=for_s)
            fresh = {"platform": platform, "name": lane, "held_by": holder, "held_until": until}
            stands = _insert(connection, table).values(fresh)
            taken = stands.on_conflict_do_update(
                index_elements=["platform", "name"],
                set_={"held_by": stands.excluded.held_by, "held_until": stands.excluded.held_until},
                where=or_(table.c.held_by == holder, table.c.held_until < now),
            )
            return bool((await connection.execute(taken.returning(table.c.name))).all())

    async def keep_lanes(self, platform: str, holder: str, for_s: float) -> None:
        """Renew every lease of a holder."""
        table = posted.lanes
        async with self._writer.begin() as connection:
            until = await now_of(connection) + timedelta(seconds=for_s)
            mine = (table.c.platform == platform) & (table.c.held_by == holder)
            await connection.execute(update(table).where(mine).values(held_until=until))

    async def in_lane(self, platform: str, lane: str) -> tuple[Arrival, ...]:
        """Give what waits in a lane, in order."""
        table = posted.arrivals
        wanted = (
            select(table.c.key, table.c.body, table.c.lane, table.c.position)
            .where(table.c.platform == platform, table.c.lane == lane, table.c.done.is_(False))
            .order_by(table.c.position, table.c.arrived_at)
        )
        async with self._reader.connect() as connection:
            rows = (await connection.execute(wanted)).all()
        return tuple(Arrival(row.key, row.body, row.lane, row.position) for row in rows)

    async def leave_lane(self, platform: str, lane: str, holder: str, besides: Sequence[str]) -> bool:
        """Give a lane back, unless something else waits there."""
        table, arrivals = posted.lanes, posted.arrivals
        mine = (table.c.platform == platform) & (table.c.name == lane) & (table.c.held_by == holder)
        waits = exists().where(
            arrivals.c.platform == platform,
            arrivals.c.lane == lane,
            arrivals.c.done.is_(False),
            arrivals.c.key.not_in(list(besides)),
        )
        async with self._writer.begin() as connection:
            locked = select(table.c.name).where(mine)
            if not locks.is_sqlite(connection):
                locked = locked.with_for_update()
            # Whoever asks for the lane wrote down before what came, and waits for this lock: either it is seen below,
            # or the lane is free when they have it.
            if not (await connection.execute(locked)).all():
                return True
            await connection.execute(delete(table).where(mine, ~waits))
            return not (await connection.execute(select(table.c.name).where(mine))).all()

    async def leave_lanes(self, platform: str, holder: str) -> None:
        """Give every lane of a holder back, and those whose lease ended long ago."""
        table = posted.lanes
        async with self._writer.begin() as connection:
            over = or_(table.c.held_by == holder, table.c.held_until < await now_of(connection) - IDLE)
            await connection.execute(delete(table).where(table.c.platform == platform, over))

    # --- paces --------------------------------------------------------------------------------------------------------

    async def reserve(self, platform: str, passes: Sequence[Pass]) -> float:
        """Take the next place that all of these windows have in common; gives the seconds until it."""
        table = posted.paces
        async with self._writer.begin() as connection:
            rows = [await self._window(connection, platform, one.name) for one in passes]
            now = await now_of(connection)
            times: list[list[float]] = [json.loads(row.times) for row in rows]
            at: float = max(now.timestamp(), *(float(row.held) for row in rows))
            for one, before in zip(passes, times, strict=True):
                if len(before) >= one.count:
                    at = max(at, before[-one.count] + one.seconds)
            for one, before in zip(passes, times, strict=True):
                kept = json.dumps([*before, at][-one.count :])
                mine = (table.c.platform == platform) & (table.c.name == one.name)
                await connection.execute(update(table).where(mine).values(times=kept, used_at=now))
        return max(0.0, at - now.timestamp())

    async def hold_back(self, platform: str, name: str, seconds: float) -> None:
        """Let no call of a window go for some seconds."""
        table = posted.paces
        mine = (table.c.platform == platform) & (table.c.name == name)
        async with self._writer.begin() as connection:
            row = await self._window(connection, platform, name)
            now = await now_of(connection)
            held = max(row.held, now.timestamp() + seconds)
            await connection.execute(update(table).where(mine).values(held=held, used_at=now))

    async def forget_paces(self, platform: str) -> None:
        """Drop the windows of chats in which nothing went out for long."""
        table = posted.paces
        async with self._writer.begin() as connection:
            now = await now_of(connection)
            old = (table.c.used_at < now - IDLE) & (table.c.held < now.timestamp())
            await connection.execute(delete(table).where(table.c.platform == platform, old))

    async def _window(self, connection: AsyncConnection, platform: str, name: str) -> Any:  # noqa: ANN401 - a row
        """Give a window's row, which nobody else changes until this transaction ends."""
        table = posted.paces
        if not locks.is_sqlite(connection):
            # A place lost with the server's power costs nothing, and waiting for the disk costs every call.
            await connection.execute(select(func.set_config("synchronous_commit", "off", True)))  # noqa: FBT003 - local
        wanted = select(table).where(table.c.platform == platform, table.c.name == name)
        if not locks.is_sqlite(connection):
            wanted = wanted.with_for_update()
        row = (await connection.execute(wanted)).one_or_none()
        if row is None:
            now = await now_of(connection)
            fresh = {"platform": platform, "name": name, "times": "[]", "held": 0.0, "used_at": now}
            await connection.execute(_insert(connection, table).values(fresh).on_conflict_do_nothing())
            row = (await connection.execute(wanted)).one()
        return row


async def now_of(connection: AsyncConnection) -> datetime:
    """Give the database's time; on SQLite, which is on this machine, ours."""
    if locks.is_sqlite(connection):
        return datetime.now(UTC)
    found: datetime = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
    return found.astimezone(UTC)


def _insert(connection: AsyncConnection, table: Any) -> Any:  # noqa: ANN401 - two dialects, one shape
    return sqlite.insert(table) if locks.is_sqlite(connection) else postgresql.insert(table)
