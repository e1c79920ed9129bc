"""Chats of groups, which are nobody's, and the answers of their members to a group's quiz.

Law: a group's chat has a session of its own and no learner; an answer is its member's row, goes with them, and is
written under their lock together with what it says of them. A member's first answer to a question stands.
"""

import json
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import session as sessions
from bot.engine.events import GroupFellDue
from bot.engine.groups import playing
from bot.engine.groups.quiz import Found, KeepGroupAnswer, Points, Wanted
from bot.engine.session import Session
from bot.errors import SessionError
from bot.stores import learned, locks, remembering, tables
from bot.stores.attempting import TakenMeanwhileError

_BOARDS = "group:%:board:%"
"""Slots of the replies that hold members' names."""


@dataclass(frozen=True, slots=True)
class RoomDue:
    """What falls due in a group's chat, and when."""

    chat: str
    event: GroupFellDue
    at: datetime


async def make(connection: AsyncConnection, platform: str, external: str, now: datetime, chat: str) -> str:
    """Give the chat of a group, made with the id `chat` when it is new."""
    table = tables.chats
    fresh = {
        "id": chat,
        "learner": None,
        "platform": platform,
        "external": external,
        "session": sessions.to_json(Session("")),
        "checking": False,
        "revision": 0,
        "last_number": 0,
        "last_change": 0,
        "changed_at": now,
    }
    insertion = sqlite.insert if locks.is_sqlite(connection) else postgresql.insert
    await connection.execute(insertion(table).values(fresh).on_conflict_do_nothing())
    found = select(table.c.id).where(table.c.platform == platform, table.c.external == external)
    return str((await connection.execute(found)).scalar_one())


def due_at(session: Session) -> datetime | None:
    """Give when something falls due in a group's session; kept beside it, to be found."""
    due = playing.when(session.group)
    return due[1] if due else None


async def due(connection: AsyncConnection, platform: str, before: datetime | None) -> tuple[RoomDue, ...]:
    """Give what falls due in the groups of a platform, or what fell due before a time, the earliest first."""
    table = tables.chats
    wanted = select(table.c.id, table.c.session).where(table.c.due_at.is_not(None), table.c.platform == platform)
    if before is not None:
        wanted = wanted.where(table.c.due_at <= before)
    found: list[RoomDue] = []
    for row in (await connection.execute(wanted.order_by(table.c.due_at))).all():
        try:
            falls = playing.when(sessions.from_json(row.session).group)
        except SessionError:
            continue  # the next event of this chat begins its session anew
        if falls is not None:
            found.append(RoomDue(row.id, *falls))
    return tuple(found)


async def load(connection: AsyncConnection, wanted: Wanted) -> Found:
    """Load what a turn on a group's quiz looks at."""
    table = learned.group_answers
    of_ask = select(table.c.answer, func.count().label("many")).where(table.c.ask == wanted.ask)
    counted = (await connection.execute(of_ask.group_by(table.c.answer))).all() if wanted.ask else ()
    own = select(table.c.answer).where(table.c.ask == wanted.ask, table.c.chat == wanted.by)
    mine = (await connection.execute(own)).scalar_one_or_none() if wanted.by and wanted.ask else None
    points = await _points(connection, wanted.quiz) if wanted.board else ()
    return Found(mine or "", {str(row.answer): int(row.many) for row in counted}, points)


async def _points(connection: AsyncConnection, quiz: str) -> tuple[Points, ...]:
    table = learned.group_answers
    wanted = select(table.c.chat, table.c.name, table.c.points).where(table.c.quiz == quiz)
    by: dict[str, Points] = {}
    for row in (await connection.execute(wanted.order_by(table.c.answered_at, table.c.ask))).all():
        before = by.get(row.chat, Points("", 0, 0))
        by[row.chat] = Points(row.name or before.name, before.points + row.points, before.answers + 1)
    return tuple(by.values())


async def keep(connection: AsyncConnection, room: str, row: KeepGroupAnswer, now: datetime) -> None:
    """Keep an answer in the group and as the member's own.

    Raises:
        TakenMeanwhileError: the member has answered since the turn looked.
    """
    table, chats = learned.group_answers, tables.chats
    await locks.learner_of(connection, row.by)
    learner = (await connection.execute(select(chats.c.learner).where(chats.c.id == row.by))).scalar_one_or_none()
    if learner is None:
        return  # forgotten while the press was on its way
    before = select(table.c.ask).where(table.c.ask == row.ask, table.c.chat == row.by)
    if (await connection.execute(before)).first() is not None:
        raise TakenMeanwhileError
    await connection.execute(
        insert(table).values(
            ask=row.ask,
            chat=row.by,
            learner=learner,
            room=room,
            quiz=row.quiz,
            name=row.name,
            answer=row.answer,
            points=row.points,
            answered_at=now,
        )
    )
    await connection.execute(
        insert(tables.asks).values(
            id=row.own,
            chat=row.by,
            kind="item",
            lesson=row.lesson,
            item=row.item,
            rev=row.rev,
            options=json.dumps(row.options),
            course_hash=row.course_hash,
            tries=0,
            answer=row.answer,
            credit=float(row.points),
            misconception=row.misconception,
            asked_at=row.asked_at,
            answered_at=now,
        )
    )
    await remembering.learn(connection, row.by, row.learned)


async def take_back(connection: AsyncConnection, learner: str) -> None:
    """Take the boards that hold a learner's name out of the groups' replies, before the learner's rows go."""
    table, replies = learned.group_answers, tables.replies
    rooms = select(table.c.room).where(table.c.learner == learner)
    await connection.execute(delete(replies).where(replies.c.chat.in_(rooms), replies.c.slot.like(_BOARDS)))


async def forget(connection: AsyncConnection, before: datetime) -> int:
    """Delete members' names and answers in groups from before a time; what they learned by them stays theirs."""
    table, replies = learned.group_answers, tables.replies
    nobodys = select(tables.chats.c.id).where(tables.chats.c.learner.is_(None))
    boards = and_(replies.c.said_at <= before, replies.c.slot.like(_BOARDS), replies.c.chat.in_(nobodys))
    await connection.execute(delete(replies).where(boards))
    return (await connection.execute(delete(table).where(table.c.answered_at <= before))).rowcount
