"""What is wrong with the installation as all bots on one store see it, and what waits there to be done.

Law: an incident has one row and one bot that looks after it, by a lease; who dies with it leaves it to the next. It
begins once and ends once, however many bots see it.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Column, Float, Integer, Row, String, Table, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.ports import Backlog, Incident
from bot.stores import locks, posted, tables
from bot.stores.doors import Door

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_LEASES = 10
"""Leases that end later than so many from now were given by a clock that jumped, and bind nobody."""

incidents = Table(
    "incidents",
    tables.metadata,
    Column("name", String(40), primary_key=True),
    Column("held_by", String(12), nullable=False),
    Column("held_until", tables.UtcTime, nullable=False),
    Column("since", tables.UtcTime),
    Column("over_at", tables.UtcTime),
    Column("waiting", Integer, nullable=False),
    Column("age_s", Float, nullable=False),
)


class SqlIncidents:
    """Implements `Incidents` over a store's connections."""

    def __init__(self, reader: Door, writer: Door) -> None:
        self._reader = reader
        self._writer = writer

    async def backlog(self, platform: str, now: datetime, settled: timedelta) -> Backlog:
        """Count what waits: runs of everybody, and of one platform replies and updates older than `settled`."""
        runs, boxes, chats, came = tables.runs, posted.mailboxes, tables.chats, posted.arrivals
        waiting = select(func.count(), func.min(runs.c.submitted_at)).where(
            runs.c.told.is_(False), runs.c.result.is_(None)
        )
        behind = (
            select(func.count(), func.min(chats.c.changed_at))
            .join_from(boxes, chats, chats.c.id == boxes.c.chat)
            .where(
                chats.c.platform == platform,
                boxes.c.silent.is_(False),
                chats.c.last_change > boxes.c.delivered,
                chats.c.changed_at < now - settled,
            )
        )
        unanswered = select(func.count(), func.min(came.c.arrived_at)).where(
            came.c.platform == platform, came.c.done.is_(False), came.c.arrived_at < now - settled
        )
        async with self._reader.connect() as connection:
            found = [(await connection.execute(each)).one() for each in (waiting, behind, unanswered)]
        ages = [0.0 if first is None else max(0.0, (now - first).total_seconds()) for _, first in found]
        return Backlog(found[0][0], ages[0], found[1][0], ages[1], found[2][0], ages[2])

    async def all(self) -> tuple[Incident, ...]:
        """Give every incident that was ever seen and is still kept, those that are over too."""
        async with self._reader.connect() as connection:
            rows = (await connection.execute(select(incidents).where(incidents.c.since.is_not(None)))).all()
        return tuple(Incident(row.name, row.since, row.held_by, row.over_at, row.waiting, row.age_s) for row in rows)

    async def hold(self, name: str, holder: str, now: datetime, lease: timedelta) -> bool:
        """Take or renew the lease of a name; False while another has it."""
        async with self._writer.begin() as connection:
            row = await _locked(connection, name)
            if row is not None and not _free(row, holder, now, lease):
                return False
            await _put(connection, name, {"held_by": holder, "held_until": now + lease})
        return True

    async def began(self, seen: Incident, now: datetime, lease: timedelta) -> None:
        """Say that something is wrong: begins the incident, or goes on looking after it."""
        held = {"held_by": seen.holder, "held_until": now + lease}
        async with self._writer.begin() as connection:
            row = await _locked(connection, seen.name)
            if row is not None and row.since is not None and row.over_at is None:
                if _free(row, seen.holder, now, lease):
                    await _put(connection, seen.name, held)
                return
            begun = {"since": seen.since, "over_at": None, "waiting": seen.count, "age_s": seen.age_s}
            await _put(connection, seen.name, {**held, **begun})

    async def ended(self, name: str, holder: str, now: datetime, lease: timedelta, *, anyone: bool) -> None:
        """Say that all is well: ends the incident, where this bot looks after it, nobody does, or `anyone` may tell."""
        async with self._writer.begin() as connection:
            row = await _locked(connection, name)
            if row is None or row.since is None or row.over_at is not None:
                return
            if anyone or _free(row, holder, now, lease):
                await _put(connection, name, {"over_at": now})

    async def passed(self, name: str, holder: str, since: datetime, now: datetime) -> None:
        """Say of something that could not be written down while it lasted that it is over; one bot's word stands."""
        async with self._writer.begin() as connection:
            row = await _locked(connection, name)
            if row is not None and row.over_at is not None and row.over_at >= since:
                return
            values = {"held_by": holder, "held_until": now, "since": since, "over_at": now, "waiting": 0, "age_s": 0.0}
            await _put(connection, name, values)

    async def admins(self, accounts: Sequence[str], platform: str) -> tuple[tuple[str, str], ...]:
        """Give the private chats of these accounts (`platform:external`) on a platform, each with its address."""
        names = [account.partition(":")[2] for account in accounts if account.partition(":")[0] == platform]
        chats, boxes = tables.chats, posted.mailboxes
        wanted = (
            select(chats.c.id, func.coalesce(boxes.c.address, "").label("address"))
            .outerjoin_from(chats, boxes, boxes.c.chat == chats.c.id)
            .where(chats.c.platform == platform, chats.c.external.in_(names), tables.is_private())
            .order_by(chats.c.id)
        )
        if not names:
            return ()
        async with self._reader.connect() as connection:
            return tuple((row.id, row.address) for row in (await connection.execute(wanted)).all())


async def _locked(connection: AsyncConnection, name: str) -> Row[Any] | None:
    await locks.incident(connection, name)
    return (await connection.execute(select(incidents).where(incidents.c.name == name))).one_or_none()


def _free(row: Row[Any], holder: str, now: datetime, lease: timedelta) -> bool:
    return row.held_by == holder or not now < row.held_until <= now + _LONGEST_LEASES * lease


async def _put(connection: AsyncConnection, name: str, values: dict[str, Any]) -> None:
    fresh = {"held_by": "", "held_until": _NEVER, "since": None, "over_at": None, "waiting": 0, "age_s": 0.0}
    put = (sqlite if locks.is_sqlite(connection) else postgresql).insert(incidents).values(name=name, **fresh | values)
    await connection.execute(put.on_conflict_do_update(index_elements=["name"], set_=values))
