"""Runs and checks under way: held by one bot under a lease, taken by another once it lapsed; the first result stays.

Law: a lease is told by the database's clock, so that a bot whose own clock is wrong takes nothing from others. A SQLite
file is served by one bot, which at its start takes what an earlier one held.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, func, literal, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.ports import UnfinishedRun
from bot.stores import locks, tables
from sandbox_runner import codec
from sandbox_runner.errors import WireError
from sandbox_runner.protocol import Job, Result

LOG = logging.getLogger("tasree.store")

LEASE_S = 20.0
"""So long a run is a bot's own without its saying so again."""
BATCH = 200
"""Runs taken up at a time: their jobs are in memory together."""


def _now(connection: AsyncConnection) -> ColumnElement[Any]:
    if locks.is_sqlite(connection):
        return literal(datetime.now(UTC), tables.UtcTime)
    return func.clock_timestamp(type_=tables.UtcTime)


def _lease(connection: AsyncConnection, holder: str, for_s: float) -> Mapping[str, Any]:
    span = timedelta(seconds=for_s)
    at_once = datetime.now(UTC) + span if locks.is_sqlite(connection) else func.clock_timestamp() + span
    return {"held_by": holder, "held_until": at_once}


async def unfinished(connection: AsyncConnection) -> tuple[UnfinishedRun, ...]:
    """Give the runs whose end was not told, oldest first, whoever holds them."""
    table = tables.runs
    wanted = select(table).where(table.c.told.is_(False)).order_by(table.c.submitted_at, table.c.id)
    return _read((await connection.execute(wanted)).all())


async def take_up(
    connection: AsyncConnection, holder: str, for_s: float, platforms: Sequence[str], *, first: bool
) -> tuple[UnfinishedRun, ...]:
    """Take the oldest runs that nobody holds, in chats of these platforms (of all when none is named)."""
    table, chats = tables.runs, tables.chats
    free = or_(table.c.held_until.is_(None), table.c.held_until < _now(connection))
    if first and locks.is_sqlite(connection):
        free = or_(free, table.c.held_by != holder)
    ours = chats.c.platform.in_(platforms) if platforms else true()
    wanted = (
        select(table.c.id)
        .join(chats, chats.c.id == table.c.chat)
        .where(table.c.told.is_(False), free, ours)
        .order_by(table.c.submitted_at, table.c.id)
        .limit(BATCH)
    )
    if not locks.is_sqlite(connection):
        wanted = wanted.with_for_update(skip_locked=True, of=table)
    mine = (await connection.execute(wanted)).scalars().all()
    if not mine:
        return ()
    await hold(connection, holder, for_s, mine)
    rows = select(table).where(table.c.id.in_(mine)).order_by(table.c.submitted_at, table.c.id)
    return _read((await connection.execute(rows)).all())


async def hold(
    connection: AsyncConnection, holder: str, for_s: float, runs: Sequence[str], *, only_own: bool = False
) -> None:
    """Hold runs from now on; with `only_own` those that are held here already."""
    table = tables.runs
    own = table.c.held_by == holder if only_own else true()
    wanted = update(table).where(table.c.id.in_(runs), own)
    await connection.execute(wanted.values(**_lease(connection, holder, for_s)))


async def held(connection: AsyncConnection, holder: str, runs: Sequence[str]) -> frozenset[str]:
    """Give those of the runs that are held here."""
    table = tables.runs
    mine = select(table.c.id).where(table.c.id.in_(runs), table.c.held_by == holder)
    return frozenset((await connection.execute(mine)).scalars())


async def let_go(connection: AsyncConnection, holder: str) -> None:
    """Leave everything held here to whoever comes."""
    table = tables.runs
    mine = table.c.told.is_(False) & (table.c.held_by == holder)
    await connection.execute(update(table).where(mine).values(held_by=None, held_until=None))


async def finish(connection: AsyncConnection, run: str, result: Result, now: datetime) -> Result:
    """Keep the first result of a run, and give the one that is kept."""
    table = tables.runs
    text = json.dumps(codec.encode(result), ensure_ascii=False)
    first = update(table).where(table.c.id == run, table.c.result.is_(None)).values(result=text, ended_at=now)
    if (await connection.execute(first)).rowcount:
        return result
    kept = (await connection.execute(select(table.c.result).where(table.c.id == run))).scalar_one_or_none()
    return result if kept is None else codec.decode(Result, json.loads(kept))


def _read(rows: Sequence[Row[Any]]) -> tuple[UnfinishedRun, ...]:
    found = []
    for row in rows:
        try:
            job = codec.decode(Job, json.loads(row.job))
            result = None if row.result is None else codec.decode(Result, json.loads(row.result))
        except (ValueError, WireError) as fault:  # a later release's: it is left to a bot of that release
            LOG.warning("a run cannot be read and is left: %s", str(fault)[:120])
            continue
        found.append(UnfinishedRun(row.chat, job, result))
    return tuple(found)
