"""The store over SQLAlchemy Core: turns, chats, runs and checks, the same statements on every database.

Law: what a turn changes is written in one transaction, or not at all; every writing transaction takes the write lock at
its start (`BEGIN IMMEDIATE` on SQLite, the learner's lock on PostgreSQL), so that no update is lost.
"""

import hashlib
import hmac
import json
import logging
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal, cast

from sqlalchemy import ColumnElement, Row, exists, insert, select, true, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import effects, replies
from bot.engine import session as sessions
from bot.engine.groups import quiz as groups
from bot.engine.known import Known, KnownRun, Needs
from bot.engine.session import Session
from bot.engine.teaching.figures import Report
from bot.engine.tries import Found, Wanted
from bot.errors import SessionError
from bot.ports import ChatRow, Opened, Shown, UnfinishedCheck, UnfinishedRun
from bot.posting.ports import ORIGIN, Origin
from bot.stores import (
    attempting,
    grouping,
    incidents,
    joining,
    locks,
    owned,
    remembering,
    reminding,
    reporting,
    running,
    saying,
    servers,
    tables,
)
from bot.stores.doors import Door
from bot.stores.grouping import RoomDue
from bot.stores.outbox import SqlOutbox
from content.schema import Course
from sandbox_runner import codec
from sandbox_runner.protocol import Job, Result

LOG = logging.getLogger("tasree.store")


class SqlStore:
    """Implements `Turns`, `Chats`, `Runs` and `Checks`.

    `writer` hands out one connection at a time on SQLite; `key` is the installation's, by which learners are hashed.
    A run that a turn begins is held by this very object for `lease_s` seconds, unless it is renewed.
    """

    def __init__(
        self,
        reader: Door,
        writer: Door,
        key: bytes,
        identity: Callable[[], str],
        lease_s: float = running.LEASE_S,
    ) -> None:
        self.lease_s = lease_s
        self._holder = secrets.token_hex(6)
        self._reader = reader
        self._writer = writer
        self._key = key
        self._identity = identity

    def owned(self) -> owned.SqlOwned:
        """Give the part that knows what belongs to one learner."""
        return owned.SqlOwned(self._reader, self._writer)

    def reminding(self) -> reminding.SqlReminding:
        """Give the part that knows which digests fell due."""
        return reminding.SqlReminding(self._reader, self._writer, joining.joined)

    def servers(self) -> servers.SqlServers:
        """Give the part that knows what the owners of servers set."""
        return servers.SqlServers(self._reader, self._writer)

    def incidents(self) -> incidents.SqlIncidents:
        """Give the part that knows what is wrong with the installation."""
        return incidents.SqlIncidents(self._reader, self._writer)

    def outbox(self) -> SqlOutbox:
        """Give the outbox and inbox over the same connections, for platforms that need them."""
        return SqlOutbox(self._reader, self._writer)

    async def close(self) -> None:
        """Give the connections back."""
        await self._reader.dispose()
        await self._writer.dispose()

    def hashed(self, learner: str) -> str:
        """Give the learner's name outside the store: HMAC-SHA-256, 32 hex digits."""
        return hmac.new(self._key, learner.encode(), hashlib.sha256).hexdigest()[:32]

    # --- chats --------------------------------------------------------------------------------------------------------

    async def enter(self, platform: str, external: str, now: datetime, account: str = "") -> ChatRow:
        """Give the chat of this account, made with its learner when it is new; one account may have several chats."""
        found = select(tables.chats.c.id, tables.chats.c.learner).where(
            tables.chats.c.platform == platform, tables.chats.c.external == external
        )
        async with self._reader.connect() as connection:
            row = (await connection.execute(found)).one_or_none()
        if row is None:
            async with self._writer.begin() as connection:
                await locks.account(connection, platform, account or external)
                row = (await connection.execute(found)).one_or_none()
                if row is None:
                    return await self._make(connection, platform, external, now, account or external)
        return ChatRow(row.id, self.hashed(row.learner))

    async def _make(
        self, connection: AsyncConnection, platform: str, external: str, now: datetime, account: str
    ) -> ChatRow:
        chat = self._identity()
        mine = (tables.accounts.c.platform == platform) & (tables.accounts.c.external == account)
        learner = (await connection.execute(select(tables.accounts.c.learner).where(mine))).scalar_one_or_none()
        if learner is None:
            learner = self._identity()
            await connection.execute(insert(tables.learners).values(id=learner, made_at=now))
            await connection.execute(
                insert(tables.accounts).values(
                    id=self._identity(), learner=learner, platform=platform, external=account
                )
            )
        session = Session(learner=self.hashed(learner))
        await connection.execute(
            insert(tables.chats).values(
                id=chat,
                learner=learner,
                platform=platform,
                external=external,
                session=sessions.to_json(session),
                checking=False,
                revision=0,
                last_number=0,
                last_change=0,
                changed_at=now,
            )
        )
        return ChatRow(chat, session.learner)

    async def room(self, platform: str, external: str, now: datetime) -> str:
        """Give the chat of a group, which is nobody's; made when it is new."""
        table = tables.chats
        found = select(table.c.id).where(table.c.platform == platform, table.c.external == external)
        async with self._reader.connect() as connection:
            chat: str | None = (await connection.execute(found)).scalar_one_or_none()
        if chat is not None:
            return chat
        async with self._writer.begin() as connection:
            return await grouping.make(connection, platform, external, now, self._identity())

    async def rooms_due(self, platform: str, before: datetime | None = None) -> tuple[RoomDue, ...]:
        """Give what falls due in groups, or what fell due before a time."""
        async with self._reader.connect() as connection:
            return await grouping.due(connection, platform, before)

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give every reply said or edited after `change`, as it stands now."""
        table = tables.replies
        wanted = select(table).where(table.c.chat == chat, table.c.change > change).order_by(table.c.number)
        async with self._reader.connect() as connection:
            rows = (await connection.execute(wanted)).all()
        return tuple(
            Shown(row.number, row.change, row.slot or "", replies.from_json(row.blocks), row.answers, row.address)
            for row in rows
        )

    # --- turns --------------------------------------------------------------------------------------------------------

    async def open(self, chat: str, key: str) -> Opened | None:
        """Give the chat's session; None when the key was taken, or the chat is gone."""
        table = tables.chats
        taken = _taken(chat, key).label("taken")
        wanted = select(table.c.session, table.c.learner, table.c.revision, taken).where(table.c.id == chat)
        async with self._reader.connect() as connection:
            row = (await connection.execute(wanted)).one_or_none()
        return None if row is None or row.taken else Opened(self._session(row.session, row.learner), row.revision)

    def _session(self, text: str, learner: str | None) -> Session:
        try:
            return sessions.from_json(text)
        except SessionError as error:
            # A place is lost, the learner is not: answers, runs and replies stand in tables of their own.
            LOG.warning("a session was begun anew: %s", error)
            return Session(learner=self.hashed(learner) if learner else "")

    async def load(self, chat: str, needs: Needs) -> Known:
        """Load the rows named, of this chat only."""
        if needs == Needs():
            return Known()
        asks_for_tries = needs.tries != Wanted()
        async with self._reader.connect() as connection:
            ask = await _load_ask(connection, chat, needs.ask) if needs.ask else None
            run = await _load_run(connection, chat, needs.run) if needs.run else None
            last = await _load_run(connection, chat, needs.last, whole=True) if needs.last else None
            card = await remembering.card_of(connection, chat, ask.item) if ask and ask.kind == "card" else None
            kept = await remembering.load(connection, chat) if needs.remembered else None
            tried = Found()
            if asks_for_tries:
                voted_on = ask.item if ask and ask.kind == "myth" else ""
                tried = await attempting.load(connection, chat, needs.tries, voted_on, run.slot if run else "")
            wishes = await reminding.load(connection, chat) if needs.wishes else None
            private = await owned.is_private(connection, chat) if needs.own else True
            own = await owned.load(connection, chat) if needs.own and private else None
            linking = await joining.load(connection, chat, needs.link) if needs.link is not None else None
            group = await grouping.load(connection, needs.group) if needs.group is not None else groups.Found()
        return Known(
            ask=ask,
            run=run,
            last=last,
            card=card,
            remembered=kept,
            tries=tried,
            wishes=wishes,
            own=own,
            linking=linking,
            group=group,
        )

    async def commit(
        self, chat: str, key: str, revision: int, turn: effects.Turn, now: datetime
    ) -> tuple[Shown, ...] | None:
        """Save a turn whole; None, with nothing changed, when the key was taken or the chat changed meanwhile."""
        try:
            return await self._commit(chat, key, revision, turn, now)
        except (attempting.TakenMeanwhileError, reminding.StaleError, joining.UsedMeanwhileError):
            return None

    async def _commit(
        self, chat: str, key: str, revision: int, turn: effects.Turn, now: datetime
    ) -> tuple[Shown, ...] | None:
        async with self._writer.begin() as connection:
            await joining.locked(connection, chat, turn)
            row = await _claim(connection, chat, key, revision)
            if row is None or row.taken:
                return None
            if any(isinstance(effect, effects.Forget) for effect in turn.effects):
                await owned.forget(connection, chat)
                return saying.farewell(row.last_number, row.last_change, turn)
            if key:
                await connection.execute(insert(tables.events).values(chat=chat, key=key, taken_at=now))
            origin = ORIGIN.get()
            if origin == Origin() and turn.session.group is None:  # a group's quiz goes on under nobody's word
                origin = await saying.origin_of(connection, chat, turn)
            shown = await saying.carry_out(connection, chat, row.last_number, row.last_change, turn, now, origin)
            begun = [effect.job.id for effect in turn.effects if isinstance(effect, effects.RunCode)]
            if begun:
                await running.hold(connection, self._holder, self.lease_s, begun)
            pending = turn.session.pending
            checking = pending is not None and not pending.offered
            await connection.execute(
                update(tables.chats)
                .where(tables.chats.c.id == chat)
                .values(
                    session=sessions.to_json(await joining.session_of(connection, chat, turn)),
                    checking=checking,
                    checking_answers=origin.answers if checking else None,
                    checking_address=origin.address if checking else None,
                    revision=revision + 1,
                    last_number=max([row.last_number, *(one.number for one in shown)]),
                    last_change=max([row.last_change, *(one.change for one in shown)]),
                    changed_at=now,
                    due_at=grouping.due_at(turn.session),
                )
            )
            return shown

    # --- the teacher's report -----------------------------------------------------------------------------------------

    async def accounts(self, chat: str) -> tuple[str, ...]:
        """Give the accounts of a chat's learner."""
        async with self._reader.connect() as connection:
            return await reporting.accounts(connection, chat)

    async def report(self, course: Course, now: datetime) -> Report:
        """Gather the report."""
        async with self._reader.connect() as connection:
            return await reporting.gathered(connection, self.hashed, course, now)

    # --- runs and checks ----------------------------------------------------------------------------------------------

    async def unfinished(self) -> tuple[UnfinishedRun, ...]:
        """Give the runs whose end was not told, oldest first, whoever holds them."""
        async with self._reader.connect() as connection:
            return await running.unfinished(connection)

    async def take_up(self, platforms: Sequence[str], *, first: bool) -> tuple[UnfinishedRun, ...]:
        """Take runs that nobody holds, oldest first; at most so many at a time."""
        async with self._writer.begin() as connection:
            return await running.take_up(connection, self._holder, self.lease_s, platforms, first=first)

    async def renew(self, runs: Sequence[str]) -> frozenset[str]:
        """Hold runs for longer; give those that are still held here."""
        async with self._writer.begin() as connection:
            await running.hold(connection, self._holder, self.lease_s, runs, only_own=True)
            return await running.held(connection, self._holder, runs)

    async def let_go(self) -> None:
        """Leave everything held here to whoever comes."""
        async with self._writer.begin() as connection:
            await running.let_go(connection, self._holder)

    async def finish(self, run: str, result: Result, now: datetime) -> Result:
        """Keep the first result of a run, and give the one that is kept."""
        async with self._writer.begin() as connection:
            return await running.finish(connection, run, result, now)

    async def close_run(self, run: str) -> None:
        """Mark that the end of a run was told."""
        async with self._writer.begin() as connection:
            await connection.execute(update(tables.runs).where(tables.runs.c.id == run).values(told=True))

    async def unchecked(self, platforms: Sequence[str] = ()) -> tuple[UnfinishedCheck, ...]:
        """Give the checks that have no answer yet, in chats of these platforms (of all when none is named)."""
        table = tables.chats
        ours = table.c.platform.in_(platforms) if platforms else true()
        wanted = select(table.c.id, table.c.session, table.c.learner).where(table.c.checking.is_(True), ours)
        async with self._reader.connect() as connection:
            rows = (await connection.execute(wanted)).all()
        found = [(row.id, self._session(row.session, row.learner).pending) for row in rows]
        return tuple(UnfinishedCheck(chat, one.check, one.candidates) for chat, one in found if one is not None)


async def _claim(connection: AsyncConnection, chat: str, key: str, revision: int) -> Row[Any, Any, Any] | None:
    table = tables.chats
    wanted = select(table.c.last_number, table.c.last_change, _taken(chat, key).label("taken")).where(
        table.c.id == chat, table.c.revision == revision
    )
    if not locks.is_sqlite(connection):
        wanted = wanted.with_for_update(of=table)
    return (await connection.execute(wanted)).one_or_none()


def _taken(chat: str, key: str) -> ColumnElement[bool]:
    """Say whether an event with this key was taken; an empty key never is, for none is stored."""
    table = tables.events
    return exists().where(table.c.chat == chat, table.c.key == key)


async def _load_ask(connection: AsyncConnection, chat: str, ask: str) -> effects.Ask | None:
    table = tables.asks
    row = (await connection.execute(select(table).where(table.c.id == ask, table.c.chat == chat))).one_or_none()
    if row is None:
        return None
    return effects.Ask(
        id=row.id,
        kind=cast("Literal['item', 'card', 'myth']", row.kind),
        lesson=row.lesson,
        item=row.item,
        rev=row.rev,
        options=tuple(json.loads(row.options)),
        course_hash=row.course_hash,
        answer=row.answer,
        tries=row.tries,
        closed=row.answered_at is not None,
        asked_at=row.asked_at,
    )


async def _load_run(connection: AsyncConnection, chat: str, run: str, *, whole: bool = False) -> KnownRun | None:
    table = tables.runs
    row = (await connection.execute(select(table).where(table.c.id == run, table.c.chat == chat))).one_or_none()
    if row is None:
        return None
    result = codec.decode(Result, json.loads(row.result)) if whole and row.result is not None else None
    return KnownRun(codec.decode(Job, json.loads(row.job)), row.slot, row.result is not None, result)
