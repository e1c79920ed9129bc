"""Replies on their way out and updates as they came in, over SQLAlchemy Core: implements `Outbox` and `Inbox`.

Law: marks that wait while the disk is busy are written together in one transaction, in the order in which they were
given; nobody is told that a mark stands before it does.
"""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from datetime import datetime, timedelta
from typing import Any, assert_never

from sqlalchemy import ColumnElement, Insert, bindparam, exists, func, or_, select, true, update
from sqlalchemy import delete as sql_delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreAwayError
from bot.posting.ports import Arrival, Cursor, Done, Mailbox, Mark, PostedPart, Silent, State
from bot.stores import locks, posted, sharing, tables
from bot.stores.doors import Door

LOG = logging.getLogger("tasree.outbox")

TRIES, PAUSE_S = 20, 1.0
_FORSAKEN = timedelta(seconds=5)
"""After so long nobody is about to bring what was said in a chat that no process has."""
_OPEN = (State.SENDING.value, State.UNKNOWN.value)

Rows = list[dict[str, Any]]
_Waiting = tuple[Sequence[Mark], "asyncio.Future[None]"]


class SqlOutbox(sharing.SqlSharing):
    """The outbox and inbox beside a `SqlStore`, over the same connections."""

    def __init__(self, reader: Door, writer: Door) -> None:
        super().__init__(reader, writer)
        self._waiting: list[_Waiting] = []
        self._flushing: asyncio.Task[None] | None = None

    # --- mailboxes ----------------------------------------------------------------------------------------------------

    async def alone(self) -> bool:
        """Tell whether one process alone uses this database."""
        async with self._reader.connect() as connection:
            return locks.is_sqlite(connection)

    async def place(self, chat: str, address: str) -> None:
        """Say where the chat's replies go; replies before the first address are not sent after it."""
        table = posted.mailboxes
        found = select(table.c.address, table.c.silent).where(table.c.chat == chat)
        async with self._reader.connect() as connection:
            row = (await connection.execute(found)).one_or_none()
        if row is not None and row.address == address and not row.silent:
            return
        fresh = {"chat": chat, "address": address, "delivered": 0, "silent": False}
        changed = {"address": address, "silent": False}
        async with self._writer.begin() as connection:
            stands = _insert(connection, table).values(fresh)
            await connection.execute(stands.on_conflict_do_update(index_elements=["chat"], set_=changed))

    async def mailbox(self, chat: str) -> Mailbox | None:
        """Give the chat's mailbox."""
        table = posted.mailboxes
        async with self._reader.connect() as connection:
            row = (await connection.execute(select(table).where(table.c.chat == chat))).one_or_none()
        return None if row is None else Mailbox(row.chat, row.address, row.delivered, row.silent)

    async def stands(self, platform: str, address: str, *, silent: bool) -> None:
        """Say that nothing is taken at an address any more, or again."""
        mine = select(tables.chats.c.id).where(tables.chats.c.platform == platform)
        there = _at(address) & posted.mailboxes.c.chat.in_(mine)
        async with self._writer.begin() as connection:
            await connection.execute(update(posted.mailboxes).where(there).values(silent=silent))

    async def moved(self, platform: str, old: str, new: str) -> None:
        """Follow a chat of many to its new address: mailboxes, and the names of its learners' chats."""
        async with self._writer.begin() as connection:
            boxes = posted.mailboxes
            await connection.execute(
                update(boxes).where(_at(old)).values(address=func.replace(boxes.c.address, old, new))
            )
            chats, said = tables.chats, tables.replies
            theirs = select(chats.c.id).where(chats.c.platform == platform)
            there = or_(said.c.address == old, said.c.address.startswith(f"{old}/", autoescape=True))
            await connection.execute(
                update(said)
                .where(there, said.c.chat.in_(theirs))
                .values(address=func.replace(said.c.address, old, new))
            )
            mine = (chats.c.platform == platform) & chats.c.external.startswith(f"{old}/", autoescape=True)
            rows = (await connection.execute(select(chats.c.id, chats.c.external).where(mine))).all()
            for row in rows:
                name = new + row.external.removeprefix(old)
                taken = select(chats.c.id).where(chats.c.platform == platform, chats.c.external == name)
                if (await connection.execute(taken)).one_or_none() is None:
                    await connection.execute(update(chats).where(chats.c.id == row.id).values(external=name))

    # --- parts --------------------------------------------------------------------------------------------------------

    async def parts(self, chat: str, number: int) -> tuple[PostedPart, ...]:
        """Give the parts of a reply, in order."""
        table = posted.deliveries
        wanted = select(table).where(table.c.chat == chat, table.c.number == number).order_by(table.c.part)
        return await self._found(wanted)

    async def answering(self, chat: str, answers: str) -> tuple[PostedPart, ...]:
        """Give the parts shown now that answer what the platform calls `answers`."""
        table = posted.deliveries
        mine = (table.c.chat == chat) & (table.c.answers == answers) & (table.c.state == State.SENT.value)
        return await self._found(select(table).where(mine).order_by(table.c.number, table.c.part))

    async def in_hand(self, chat: str, answers: str, runs: Sequence[str]) -> bool:
        """Tell whether code of what the platform calls `answers` is still being read, or one of these runs goes on."""
        chats, table = tables.chats, tables.runs
        read = select(chats.c.id).where(
            chats.c.id == chat, chats.c.checking.is_(True), chats.c.checking_answers == answers
        )
        go_on = select(table.c.id).where(table.c.chat == chat, table.c.id.in_(list(runs)), table.c.told.is_(False))
        async with self._reader.connect() as connection:
            return any([(await connection.execute(wanted.limit(1))).first() for wanted in (read, go_on)])

    async def holder(self, address: str, external: str) -> str | None:
        """Give the chat to which a part at this address belongs."""
        table, boxes = posted.deliveries, posted.mailboxes
        wanted = (
            select(table.c.chat)
            .join(boxes, boxes.c.chat == table.c.chat)
            .where(table.c.external == external, _at(address))
            .limit(1)
        )
        async with self._reader.connect() as connection:
            chat: str | None = (await connection.execute(wanted)).scalar_one_or_none()
        return chat

    async def behind(self, platform: str, *, forsaken: bool = False) -> tuple[str, ...]:
        """Give the chats with something to go out or to tell; of those `forsaken` alone that no process has."""
        table, boxes, chats = posted.deliveries, posted.mailboxes, tables.chats
        mine = (
            select(boxes.c.chat)
            .join(chats, chats.c.id == boxes.c.chat)
            .where(chats.c.platform == platform, boxes.c.silent.is_(False))
        )
        async with self._reader.connect() as connection:
            if forsaken:
                now = await sharing.now_of(connection)
                # Whoever has just said something is about to take the chat: it is theirs to bring.
                mine = mine.where(
                    or_(boxes.c.held_by.is_(None), boxes.c.held_until < now), chats.c.changed_at < now - _FORSAKEN
                )
            open_ = select(table.c.chat).where(table.c.state.in_(_OPEN), table.c.chat.in_(mine))
            unsaid = (await connection.execute(mine.where(chats.c.last_change > boxes.c.delivered))).scalars().all()
            untold = (await connection.execute(open_)).scalars().all()
        return tuple(dict.fromkeys([*unsaid, *untold]))

    async def hold(self, chat: str, holder: str, for_s: float) -> bool:
        """Take or renew a lease; on SQLite, which one process serves, there is nobody to share with."""
        boxes = posted.mailboxes
        async with self._reader.connect() as connection:
            if locks.is_sqlite(connection):
                return True
        async with self._writer.begin() as connection:
            now = await sharing.now_of(connection)
            free = or_(boxes.c.held_by.is_(None), boxes.c.held_by == holder, boxes.c.held_until < now)
            taken = update(boxes).where(boxes.c.chat == chat, free)
            done = await connection.execute(taken.values(held_by=holder, held_until=now + timedelta(seconds=for_s)))
        return bool(done.rowcount)

    async def keep_held(self, chats: Sequence[str], holder: str, for_s: float) -> frozenset[str]:
        """Renew the leases of these chats; give those that are still the holder's."""
        boxes = posted.mailboxes
        mine = boxes.c.chat.in_(list(chats)) & (boxes.c.held_by == holder)
        async with self._writer.begin() as connection:
            until = await sharing.now_of(connection) + timedelta(seconds=for_s)
            kept = update(boxes).where(mine).values(held_until=until).returning(boxes.c.chat)
            return frozenset((await connection.execute(kept)).scalars())

    async def let_go(self, chat: str, holder: str) -> bool:
        """Give a lease back, unless something came that has to go out."""
        boxes, chats = posted.mailboxes, tables.chats
        replies = tables.replies
        news = exists().where(replies.c.chat == chat, replies.c.change > boxes.c.delivered)
        mine = (boxes.c.chat == chat) & (boxes.c.held_by == holder)
        async with self._reader.connect() as connection:
            if locks.is_sqlite(connection):
                return True
        async with self._writer.begin() as connection:
            # The chat's row is locked by whoever commits a turn: either its news are seen here, or it sees no lease.
            await connection.execute(select(chats.c.id).where(chats.c.id == chat).with_for_update())
            await connection.execute(update(boxes).where(mine, ~news).values(held_by=None, held_until=None))
            kept = (await connection.execute(select(boxes.c.chat).where(mine))).scalar_one_or_none()
        return kept is None

    async def unknown(self, chat: str) -> tuple[PostedPart, ...]:
        """Give the parts that may have arrived, and of which the learner was not told."""
        table = posted.deliveries
        return await self._found(select(table).where(table.c.chat == chat, table.c.state.in_(_OPEN)))

    def write(self, marks: Sequence[Mark]) -> Awaitable[None]:
        """Write marks together with those of others."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if not marks and (self._flushing is None or self._flushing.done()):
            done.set_result(None)  # nothing was given before, either: whoever waits knows that all of it stands
            return done
        done.add_done_callback(_looked_at)
        self._waiting.append((marks, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        return asyncio.shield(done)

    async def close(self) -> None:
        """Wait until everything given is written."""
        if self._flushing is not None:
            await asyncio.gather(self._flushing, return_exceptions=True)

    async def _flush(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await self._patiently([mark for marks, _ in batch for mark in marks])
            except Exception as error:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
                continue
            for _, done in batch:
                if not done.done():
                    done.set_result(None)

    async def _patiently(self, marks: Sequence[Mark]) -> None:
        """Write them, over a database that is away for a while: what was sent is only known here until then."""
        for _ in range(TRIES):
            try:
                async with self._writer.begin() as connection:
                    await self._put(connection, marks)
            except StoreAwayError as error:
                LOG.warning("marks are not written yet: %s", error)
                await asyncio.sleep(PAUSE_S)
            else:
                return
        async with self._writer.begin() as connection:
            await self._put(connection, marks)

    async def _put(self, connection: AsyncConnection, marks: Sequence[Mark]) -> None:
        parts: dict[tuple[str, int, int], dict[str, Any]] = {}
        cursors: dict[str, int] = {}
        done: dict[str, Rows] = {}
        silent: dict[str, bool] = {}
        for mark in marks:
            match mark:
                case PostedPart():
                    parts[mark.chat, mark.number, mark.part] = _row(mark)
                case Cursor(chat, delivered):
                    cursors[chat] = delivered
                case Done(platform, key):
                    done.setdefault(platform, []).append({"k": key})
                case Silent(chat, is_silent):
                    silent[chat] = is_silent
                case _:
                    assert_never(mark)
        if parts:
            await connection.execute(_upsert(connection), list(parts.values()))
        boxes = posted.mailboxes
        if cursors:
            moving = update(boxes).where(boxes.c.chat == bindparam("c")).values(delivered=bindparam("d"))
            await connection.execute(moving, [{"c": chat, "d": delivered} for chat, delivered in cursors.items()])
        for chat, is_silent in silent.items():
            await connection.execute(update(boxes).where(boxes.c.chat == chat).values(silent=is_silent))
        table = posted.arrivals
        for platform, rows in done.items():
            mine = (table.c.platform == platform) & (table.c.key == bindparam("k"))
            await connection.execute(update(table).where(mine).values(done=True, body=""), rows)

    async def _found(self, wanted: Any) -> tuple[PostedPart, ...]:  # noqa: ANN401 - a select of whole rows
        async with self._reader.connect() as connection:
            rows = (await connection.execute(wanted)).all()
        return tuple(
            PostedPart(
                chat=row.chat,
                number=row.number,
                part=row.part,
                state=State(row.state),
                kind=row.kind,
                digest=row.digest,
                change=row.change,
                external=row.external,
                answers=row.answers,
            )
            for row in rows
        )

    # --- arrivals -----------------------------------------------------------------------------------------------------

    async def take_in(self, platform: str, arrivals: Sequence[Arrival], now: datetime) -> tuple[Arrival, ...]:
        """Write down what came; give what had not come before, in order."""
        table = posted.arrivals
        first = {one.key: one for one in reversed(arrivals)}
        async with self._writer.begin() as connection:
            known = select(table.c.key).where(table.c.platform == platform, table.c.key.in_(list(first)))
            before = set((await connection.execute(known)).scalars())
            fresh = [one for one in dict.fromkeys(arrivals) if one.key not in before and first[one.key] is one]
            if fresh:
                rows = [
                    {
                        "platform": platform,
                        "key": one.key,
                        "position": one.order or at,
                        "body": one.body,
                        "done": False,
                        "arrived_at": now,
                        "lane": one.lane,
                    }
                    for at, one in enumerate(fresh)
                ]
                stands = _insert(connection, table).values(rows).on_conflict_do_nothing().returning(table.c.key)
                # Another process may take the same in at this very moment: it is new to one of the two.
                mine = set((await connection.execute(stands)).scalars())
                fresh = [one for one in fresh if one.key in mine]
        return tuple(fresh)

    async def left(self, platform: str, before: datetime | None = None) -> tuple[Arrival, ...]:
        """Give what came (before a time) and was not answered, oldest first."""
        table = posted.arrivals
        wanted = (
            select(table.c.key, table.c.body, table.c.lane)
            .where(
                table.c.platform == platform,
                table.c.done.is_(False),
                true() if before is None else table.c.arrived_at <= before,
            )
            .order_by(table.c.arrived_at, table.c.position)
        )
        async with self._reader.connect() as connection:
            return tuple(Arrival(row.key, row.body, row.lane) for row in (await connection.execute(wanted)).all())

    async def forget_before(self, platform: str, then: datetime) -> None:
        """Drop what was answered before a time."""
        table = posted.arrivals
        old = (table.c.platform == platform) & table.c.done.is_(True) & (table.c.arrived_at < then)
        async with self._writer.begin() as connection:
            await connection.execute(sql_delete(table).where(old))


def _upsert(connection: AsyncConnection) -> Insert:
    stands = _insert(connection, posted.deliveries)
    names = ("state", "kind", "digest", "change", "external", "answers")
    changed = {name: stands.excluded[name] for name in names}
    upsert: Insert = stands.on_conflict_do_update(index_elements=["chat", "number", "part"], set_=changed)
    return upsert


def _insert(connection: AsyncConnection, table: Any) -> Any:  # noqa: ANN401 - two dialects, one shape
    return sqlite.insert(table) if locks.is_sqlite(connection) else postgresql.insert(table)


def _looked_at(done: "asyncio.Future[None]") -> None:
    """Say in the log what nobody may be waiting for."""
    if not done.cancelled() and (error := done.exception()) is not None:
        LOG.error("marks could not be written", exc_info=error)


def _at(address: str) -> ColumnElement[bool]:
    """Tell whether a mailbox is at an address, or in a thread below it."""
    there = posted.mailboxes.c.address
    return or_(there == address, there.startswith(f"{address}/", autoescape=True))


def _row(mark: PostedPart) -> dict[str, Any]:
    return {
        "chat": mark.chat,
        "number": mark.number,
        "part": mark.part,
        "state": mark.state.value,
        "kind": mark.kind,
        "digest": mark.digest,
        "change": mark.change,
        "external": mark.external,
        "answers": mark.answers,
    }
