"""Locks by a name inside a transaction: advisory ones on PostgreSQL, none on SQLite, whose one writer is the lock.

Law: a lock is held until its transaction ends, and names are taken in one order: a learner's, then their accounts'.
"""

from sqlalchemy import ColumnElement, func, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.stores import tables


def is_sqlite(connection: AsyncConnection) -> bool:
    """Tell whether this is SQLite, where a writing transaction has the whole database."""
    return connection.dialect.name == "sqlite"


async def account(connection: AsyncConnection, platform: str, external: str) -> None:
    """Wait for whoever makes or forgets this account."""
    await _taken(connection, literal(f"account:{platform}:{external}"))


async def learner_of(connection: AsyncConnection, chat: str) -> None:
    """Wait for whatever else is written of this chat's learner, from whichever of their chats."""
    table = tables.chats
    learner = select(literal("learner:").concat(table.c.learner)).where(table.c.id == chat).scalar_subquery()
    await _taken(connection, learner)


async def learner(connection: AsyncConnection, learner: str) -> None:
    """Wait for whatever else is written of this learner."""
    await _taken(connection, literal(f"learner:{learner}"))


async def incident(connection: AsyncConnection, name: str) -> None:
    """Wait for whatever else is written of this incident."""
    await _taken(connection, literal(f"incident:{name}"))


async def sweep(connection: AsyncConnection) -> None:
    """Wait for whoever begins to sweep what is old."""
    await _taken(connection, literal("sweep"))


async def _taken(connection: AsyncConnection, name: ColumnElement[str]) -> None:
    if not is_sqlite(connection):
        await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(name, 0))))
