"""All that is stored of one learner, found from the schema: copied, deleted, and code, outputs and files swept in time.

Law: a table says by a column `learner` or `chat` whose its rows are; every other table stands in `OF_NOBODY` with the
reason, and a test fails on one that does not. What is deleted is deleted table by table, not left to cascades.
"""

import contextlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, delete, func, insert, or_, select, text, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import replies
from bot.engine import session as sessions
from bot.engine.owned.rows import KeepFile
from bot.engine.replies import Reply
from bot.errors import SessionError, StoreError
from bot.ports import Leaving, StoredFile
from bot.stores import grouping, learned, locks, posted, questions, tables
from bot.stores.doors import Door

OF_NOBODY: Mapping[str, str] = {
    "arrivals": "updates of a platform: the text goes when it was answered, the rest when it cannot come again",
    "lanes": "who is answering what came from somebody: gone when it was answered",
    "paces": "when the last calls went out, by hashed names: gone after some minutes",
    "incidents": "what is wrong with the installation, and which bot looks after it",
    "difficulties": "how hard an item is for everybody",
    "servers": "what a server's owner set: channels, roles and hours, nobody's name",
    "sweeps": "how far old things were swept",
}
_UNCOPIED: Mapping[str, frozenset[str]] = {
    "files": frozenset({"data"}),
    "wishes": frozenset({"leased_by", "leased_until"}),
    "mailboxes": frozenset({"held_by", "held_until"}),
    "runs": frozenset({"held_by", "held_until"}),
    "chats": frozenset({"checking_answers", "checking_address"}),
}
"""Columns that a copy leaves out: the bytes of earlier copies, and which bot reminds, brings replies or runs."""
_JSON = frozenset({"session", "blocks", "job", "result", "options", "offered", "unmatched", "memory", "memory_before"})
_LONGEST_ANSWER = 80
"""Characters beyond which a stored answer is code and not an option, a number or a word."""
_SWEPT = "replies"
_DAILY = timedelta(hours=20)
_BATCH = 200

metadata = tables.metadata
assert posted.mailboxes.metadata is learned.cards.metadata is metadata  # noqa: S101 - each module adds its tables


def is_of_a_learner(table: Table) -> bool:
    """Tell whether rows of a table belong to learners."""
    return table is tables.learners or "learner" in table.c or "chat" in table.c


async def load(connection: AsyncConnection, chat: str) -> Mapping[str, list[dict[str, Any]]]:
    """Give every row of the chat's learner, by table, as what JSON can hold."""
    learner = await _learner(connection, chat)
    if learner is None:
        return {}
    found: dict[str, list[dict[str, Any]]] = {}
    for table in metadata.sorted_tables:
        if is_of_a_learner(table):
            wanted = [column for column in table.c if column.name not in _UNCOPIED.get(table.name, ())]
            rows = await connection.execute(select(*wanted).where(_mine(table, learner)).order_by(*table.primary_key))
            found[table.name] = [_plain(row) for row in rows]
    return found


async def is_private(connection: AsyncConnection, chat: str) -> bool:
    """Tell whether nobody but the learner reads this chat."""
    found = select(tables.is_private()).select_from(tables.chats).where(tables.chats.c.id == chat)
    return bool((await connection.execute(found)).scalar_one_or_none())


async def forget(connection: AsyncConnection, chat: str) -> None:
    """Delete every row of the chat's learner."""
    learner = await _learner(connection, chat)
    if learner is None:
        return
    table = tables.accounts
    own = select(table.c.platform, table.c.external).where(table.c.learner == learner).order_by(table.c.id)
    for row in (await connection.execute(own)).all():
        await locks.account(connection, row.platform, row.external)  # whose next chat would be this learner's
    await grouping.take_back(connection, learner)
    for table in reversed(metadata.sorted_tables):
        if is_of_a_learner(table):
            await connection.execute(delete(table).where(_mine(table, learner)))


async def keep_file(connection: AsyncConnection, chat: str, file: KeepFile, now: datetime) -> None:
    """Store a file in the place of an earlier one of its name."""
    table = learned.files
    await connection.execute(delete(table).where(table.c.chat == chat, table.c.name == file.name))
    await connection.execute(
        insert(table).values(id=file.id, chat=chat, name=file.name, media=file.media, data=file.data, made_at=now)
    )


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep deleted or emptied, by kind."""

    runs: int = 0
    files: int = 0
    replies: int = 0
    answers: int = 0
    drafts: int = 0


class SqlOwned:
    """Implements `Owned` over a store's connections."""

    def __init__(self, reader: Door, writer: Door) -> None:
        self._reader = reader
        self._writer = writer

    async def leaving(self, chat: str) -> Leaving:
        """Give the chats of this chat's learner, and their runs that were not told."""
        chats, runs, boxes = tables.chats, tables.runs, posted.mailboxes
        async with self._reader.connect() as connection:
            learner = await _learner(connection, chat)
            mine = chats.c.learner == learner
            placed = select(chats.c.id, func.coalesce(boxes.c.address, "")).outerjoin_from(
                chats, boxes, boxes.c.chat == chats.c.id
            )
            own = (await connection.execute(placed.where(mine))).all()
            waiting = select(runs.c.id).where(runs.c.chat.in_([chat for chat, _ in own]), runs.c.told.is_(False))
            return Leaving(
                tuple((chat, address) for chat, address in own), tuple((await connection.execute(waiting)).scalars())
            )

    async def file(self, chat: str, file: str) -> StoredFile | None:
        """Give a file of this very chat."""
        table = learned.files
        wanted = select(table).where(table.c.id == file, table.c.chat == chat)
        async with self._reader.connect() as connection:
            row = (await connection.execute(wanted)).one_or_none()
        return None if row is None else StoredFile(row.name, row.media, row.data)

    async def scrub(self) -> None:
        """Have what was deleted overwritten on the disk, where that is ours to do: SQLite's log of changes."""
        async with self._reader.connect() as connection:
            if locks.is_sqlite(connection):
                with contextlib.suppress(StoreError):  # a reader that stands in the way: the next time will do
                    await connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))

    async def sweep(self, before: datetime, now: datetime, fade: Callable[[Reply], Reply | None]) -> Swept | None:
        """Delete code, outputs and files from before a time, once a day; None when that was done today.

        `fade` gives a reply without them, None when it holds none. Doing it twice changes nothing.
        """
        table = learned.sweeps
        async with self._writer.begin() as connection:
            await locks.sweep(connection)
            row = (await connection.execute(select(table).where(table.c.name == _SWEPT))).one_or_none()
            if row is not None and now - _DAILY < row.begun_at <= now:
                return None
            since = row.done_to if row is not None and row.done_to is not None and row.done_to <= before else None
            await connection.execute(delete(table).where(table.c.name == _SWEPT))
            await connection.execute(insert(table).values(name=_SWEPT, done_to=since, begun_at=now))
        faded = await self._fade(since, before, fade)
        async with self._writer.begin() as connection:
            runs = await _deleted(connection, tables.runs, tables.runs.c.told & (tables.runs.c.submitted_at <= before))
            files = await _deleted(connection, learned.files, learned.files.c.made_at <= before)
            answers = await _emptied(connection, before)
            drafts = await _undrafted(connection, before)
            await questions.forget(connection, before)
            await grouping.forget(connection, before)
            await connection.execute(update(table).where(table.c.name == _SWEPT).values(done_to=before))
        return Swept(runs, files, faded, answers, drafts)

    async def _fade(self, since: datetime | None, before: datetime, fade: Callable[[Reply], Reply | None]) -> int:
        table = tables.replies
        window = table.c.said_at <= before
        if since is not None:
            window &= table.c.said_at >= since
        async with self._reader.connect() as connection:
            keys = (await connection.execute(select(table.c.chat, table.c.number).where(window))).all()
        count = 0
        for start in range(0, len(keys), _BATCH):
            async with self._writer.begin() as connection:
                for chat, number in keys[start : start + _BATCH]:
                    mine = (table.c.chat == chat) & (table.c.number == number)
                    blocks = (await connection.execute(select(table.c.blocks).where(mine))).scalar_one_or_none()
                    faded = None if blocks is None else fade(replies.from_json(blocks))
                    if faded is not None:
                        await connection.execute(update(table).where(mine).values(blocks=replies.to_json(faded)))
                        count += 1
        return count


# --- whose a row is ---------------------------------------------------------------------------------------------------


async def _learner(connection: AsyncConnection, chat: str) -> str | None:
    found = select(tables.chats.c.learner).where(tables.chats.c.id == chat)
    return (await connection.execute(found)).scalar_one_or_none()


def _mine(table: Table, learner: str) -> ColumnElement[bool]:
    if table is tables.learners:
        return table.c.id == learner
    if "learner" in table.c:
        return table.c.learner == learner
    return table.c.chat.in_(select(tables.chats.c.id).where(tables.chats.c.learner == learner))


def _plain(row: Row[Any]) -> dict[str, Any]:
    return {name: _value(name, value) for name, value in row._mapping.items()}  # noqa: SLF001 - the documented way


def _value(name: str, value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if name in _JSON and isinstance(value, str) and value:
        try:
            return _without_solution(name, json.loads(value))
        except ValueError:
            return value
    return value


def _without_solution(name: str, value: object) -> object:
    """Take out of a job what a submission was held against: the solution is the course's, not the learner's."""
    return value | {"exercise": None} if name == "job" and isinstance(value, dict) else value


# --- old things -------------------------------------------------------------------------------------------------------


async def _deleted(connection: AsyncConnection, table: Table, old: ColumnElement[bool]) -> int:
    return (await connection.execute(delete(table).where(old))).rowcount


async def _emptied(connection: AsyncConnection, before: datetime) -> int:
    """Take code out of stored answers; options, numbers and words stay, for they are what a learner knows."""
    count = 0
    for table, at in ((tables.asks, tables.asks.c.asked_at), (learned.misses, learned.misses.c.missed_at)):
        is_code = or_(func.length(table.c.answer) > _LONGEST_ANSWER, table.c.answer.contains("\n"))
        old = update(table).where(at <= before, is_code).values(answer="")
        count += (await connection.execute(old)).rowcount
    return count


async def _undrafted(connection: AsyncConnection, before: datetime) -> int:
    """Take code that waits for a word of the learner's out of sessions that rest since."""
    table = tables.chats
    resting = select(table.c.id, table.c.session, table.c.revision).where(
        table.c.changed_at <= before, table.c.session.contains('"pending": {')
    )
    count = 0
    for row in (await connection.execute(resting)).all():
        with contextlib.suppress(SessionError):  # a session that does not load is begun anew by the next turn
            rested = sessions.to_json(sessions.from_json(row.session).with_(pending=None))
            same = (table.c.id == row.id) & (table.c.revision == row.revision)
            values = {"session": rested, "checking": False, "revision": row.revision + 1}
            count += (await connection.execute(update(table).where(same).values(**values))).rowcount
    return count
