"""Learners' wishes about reminders, and the claim by which one bot of many sends a digest that fell due.

Law: a claim is a lease: who dies with it loses nothing but its time. The digest itself is sent by a turn, whose row
says which day was told last; a second turn of the same day finds that row changed and is refused whole.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, exists, func, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine.remembering.kept import CAP
from bot.engine.reminders.schedule import FARTHEST
from bot.engine.reminders.wishes import KeepWishes, Wishes
from bot.ports import DueDigest
from bot.stores import learned, locks, posted, tables
from bot.stores.doors import Door

_UNSET_ZONE = "UTC"
"""What rows hold that were made for another wish, before a zone was chosen."""
_LONGEST_LEASES = 10
"""Leases that end later than so many from now were given by a clock that jumped, and bind nobody."""


Joined = Callable[[AsyncConnection, Sequence[str]], Awaitable[tuple[tuple[str, datetime], ...]]]


class StaleError(Exception):
    """Another digest was sent since this turn read the wishes."""


async def load(connection: AsyncConnection, chat: str) -> Wishes | None:
    """Give the wishes of the chat's learner; None when there are none yet."""
    table, chats = learned.wishes, tables.chats
    wanted = select(table).join_from(chats, table, table.c.learner == chats.c.learner).where(chats.c.id == chat)
    row = (await connection.execute(wanted)).one_or_none()
    return None if row is None else wishes_of(row)


async def keep(connection: AsyncConnection, chat: str, row: KeepWishes) -> None:
    """Store the wishes, and give a lease back.

    Raises:
        StaleError: when another digest was sent since they were read.
    """
    table, chats = learned.wishes, tables.chats
    found = (
        await connection.execute(
            select(chats.c.learner, table.c.last_day)
            .select_from(chats.outerjoin(table, table.c.learner == chats.c.learner))
            .where(chats.c.id == chat)
        )
    ).one()
    if (found.last_day or "") != row.known_day:
        raise StaleError
    values = values_of(row.wishes)
    to = (sqlite if locks.is_sqlite(connection) else postgresql).insert(table)
    put = to.values(learner=found.learner, daily_cap=CAP, **values)
    await connection.execute(put.on_conflict_do_update(index_elements=["learner"], set_=values))


def values_of(wishes: Wishes) -> dict[str, Any]:
    """Give what a row holds of wishes that nobody is sending a digest for."""
    return {
        "zone": wishes.zone or _UNSET_ZONE,
        "reminders": wishes.reminders,
        "remind_minute": wishes.minute,
        "quiet_from": wishes.quiet_from,
        "quiet_to": wishes.quiet_to,
        "days_off": "".join(map(str, wishes.off)),
        "next_at": wishes.next_at,
        "last_day": wishes.last_day,
        "unanswered": wishes.unanswered,
        "leased_by": "",
        "leased_until": None,
    }


class SqlReminding:
    """Implements `Reminding` over a store's connections."""

    def __init__(self, reader: Door, writer: Door, joined: Joined) -> None:
        self._reader = reader
        self._writer = writer
        self._joined = joined

    async def joined(self, platforms: Sequence[str]) -> tuple[tuple[str, datetime], ...]:
        """Give the chats of these platforms whose code was used and that were not told, with when it was given."""
        async with self._reader.connect() as connection:
            return await self._joined(connection, platforms)

    async def claim(
        self, now: datetime, holder: str, lease: timedelta, platforms: Sequence[str], most: int
    ) -> tuple[DueDigest, ...]:
        """Take the digests that fell due and that nobody is sending, oldest first."""
        table = learned.wishes
        async with self._writer.begin() as connection:
            learners: list[str] = []
            for fell in (table.c.next_at <= now, table.c.next_at > now + FARTHEST):
                first = due(fell, now, lease, platforms, most - len(learners))
                if not locks.is_sqlite(connection):
                    first = first.with_for_update(skip_locked=True, of=table)
                learners += (await connection.execute(first)).scalars()
            if not learners:
                return ()
            mine = update(table).where(table.c.learner.in_(learners))
            await connection.execute(mine.values(leased_by=holder, leased_until=now + lease))
            return await _chats(connection, learners, platforms)

    async def postpone(self, due: DueDigest, to: datetime) -> None:
        """Put a digest off, and give its lease back."""
        table, chats = learned.wishes, tables.chats
        learner = select(chats.c.learner).where(chats.c.id == due.chat).scalar_subquery()
        async with self._writer.begin() as connection:
            still = update(table).where(table.c.learner == learner, table.c.next_at == due.at)
            await connection.execute(still.values(next_at=to, leased_by="", leased_until=None))


def due(fell: ColumnElement[bool], now: datetime, lease: timedelta, platforms: Sequence[str], most: int) -> Select[str]:
    """Choose learners whose digest fell due in one range of times: two ranges in one choice would scan every row."""
    table, chats = learned.wishes, tables.chats
    free = or_(
        table.c.leased_until.is_(None),
        table.c.leased_until <= now,
        table.c.leased_until > now + _LONGEST_LEASES * lease,
    )
    ours = chats.c.platform.in_(platforms)
    reached = exists().where(chats.c.learner == table.c.learner, ours, tables.is_private()).correlate(table)
    wanted = select(table.c.learner).where(table.c.reminders.is_(True), fell, free, reached)
    return wanted.order_by(table.c.next_at).limit(most)


async def _chats(
    connection: AsyncConnection, learners: Sequence[str], platforms: Sequence[str]
) -> tuple[DueDigest, ...]:
    """Give each learner's chat: of those that nobody else reads and that can be reached, the one used last."""
    table, chats, boxes = learned.wishes, tables.chats, posted.mailboxes
    silent = func.coalesce(boxes.c.silent, False)
    wanted = (
        select(chats.c.id, chats.c.learner, table.c.next_at, silent.label("silent"))
        .join_from(chats, table, table.c.learner == chats.c.learner)
        .outerjoin(boxes, boxes.c.chat == chats.c.id)
        .where(chats.c.learner.in_(learners), chats.c.platform.in_(platforms), tables.is_private())
        .order_by(silent.desc(), chats.c.changed_at, chats.c.id)
    )
    last = {row.learner: row for row in await connection.execute(wanted)}
    found = sorted(last.values(), key=lambda row: row.next_at)
    return tuple(DueDigest(row.id, row.next_at, bool(row.silent)) for row in found)


def wishes_of(row: Row[Any]) -> Wishes:
    """Read the wishes of a row."""
    unset = row.zone == _UNSET_ZONE and not row.reminders
    return Wishes(
        zone="" if unset else row.zone,
        reminders=row.reminders,
        minute=row.remind_minute,
        quiet_from=row.quiet_from,
        quiet_to=row.quiet_to,
        off=tuple(int(each) for each in row.days_off if each in "0123456"),
        next_at=row.next_at,
        last_day=row.last_day,
        unanswered=row.unanswered,
    )
