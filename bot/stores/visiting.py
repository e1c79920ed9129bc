"""Stops that a learner visited, in the sessions of all their chats: progress is one, wherever it was made.

Law: called under the learner's lock; a session that is changed gets another revision, so that no turn overwrites it.
"""

from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import session as sessions
from bot.engine.session import Session
from bot.errors import SessionError
from bot.stores import tables


async def elsewhere(connection: AsyncConnection, chat: str, learner: str, stop: str) -> None:
    """Let a stop that was visited in one chat count as visited in the learner's others."""
    table = tables.chats
    others = select(table.c.id, table.c.session, table.c.revision).where(table.c.learner == learner, table.c.id != chat)
    for row in (await connection.execute(others)).all():
        there = session_of(row.session)
        if there is not None and stop not in there.visited:
            text = sessions.to_json(there.with_(visited=(*there.visited, stop)))
            values = {"session": text, "revision": row.revision + 1}
            await connection.execute(update(table).where(table.c.id == row.id).values(**values))


def session_of(text: str) -> Session | None:
    """Load a stored session; None for one that its next turn begins anew."""
    try:
        return sessions.from_json(text)
    except SessionError:
        return None
