"""PostgreSQL, for many bots on one store: pools of connections, migrations one bot at a time.

Law: the same statements as on SQLite; what orders writers is a row lock on the chat and an advisory lock on its
learner, both held to the transaction's end. No error shows a password.
"""

from collections.abc import Callable

from sqlalchemy import Connection, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import DBAPICursor, ExecutionContext
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from bot.errors import StoreError
from bot.stores import migrating
from bot.stores.doors import PATIENCE_S, Door, brief
from bot.stores.running import LEASE_S
from bot.stores.sql import SqlStore

READERS = 5
WRITERS = 10
CONNECT_S = 5
STATEMENT_S = 30
MIGRATION_S = 3600
_MIGRATING = 0x7A5EE
"""The advisory lock under which one bot migrates while the others wait."""


async def migrate(url: str, patience_s: float = PATIENCE_S) -> None:
    """Bring the database to the newest revision; bots that start at once do it one after the other.

    Raises:
        StoreError: when the server cannot be reached, or refuses; the password is not shown.
    """
    there = make_url(url)
    engine = _engine(there, pool_size=1, statement_s=MIGRATION_S)
    try:
        async with Door(engine, patience_s).connect() as connection:
            await connection.execute(text(f"SELECT pg_advisory_lock({_MIGRATING})"))
            await connection.commit()
            await connection.run_sync(migrating.upgrade)
            await connection.commit()
    except StoreError as error:
        message = f"{shown(there)}: {error}"
        raise StoreError(message) from error
    except Exception as error:
        if not isinstance(error, SQLAlchemyError | OSError) and not type(error).__module__.startswith("asyncpg"):
            raise
        message = f"the database {shown(there)} cannot be opened: {brief(error)}"
        raise StoreError(message) from error
    finally:
        await engine.dispose()


def open_store(
    url: str,
    key: bytes,
    identity: Callable[[], str],
    patience_s: float = PATIENCE_S,
    lease_s: float = LEASE_S,
) -> SqlStore:
    """Open the database after `migrate`."""
    there = make_url(url)
    reader = _engine(there, pool_size=READERS, isolation_level="AUTOCOMMIT")
    writer = _engine(there, pool_size=WRITERS)
    return SqlStore(Door(reader, patience_s), Door(writer, patience_s), key, identity, lease_s)


def shown(url: URL) -> str:
    """Give the address without its password."""
    return url.render_as_string(hide_password=True)


def _engine(
    url: URL, *, pool_size: int, isolation_level: str = "READ COMMITTED", statement_s: int = STATEMENT_S
) -> AsyncEngine:
    engine = create_async_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=STATEMENT_S,
        pool_pre_ping=True,  # a server that restarted left dead connections in the pool
        hide_parameters=True,  # an error is logged, and learners' words are in them
        isolation_level=isolation_level,
        connect_args={
            "timeout": CONNECT_S,
            "command_timeout": statement_s,
            "server_settings": {"application_name": "tasree", "idle_in_transaction_session_timeout": "60000"},
        },
    )
    event.listen(engine.sync_engine, "before_cursor_execute", _without_nul, retval=True)
    return engine


def _without_nul(  # noqa: PLR0913 - the shape that SQLAlchemy calls
    connection: Connection,
    cursor: DBAPICursor,
    statement: str,
    parameters: object,
    context: ExecutionContext | None,
    executemany: bool,  # noqa: FBT001 - as above
) -> tuple[str, object]:
    """Put U+FFFD for the one character that PostgreSQL stores in no text, and that a learner may send."""
    del connection, cursor, context
    return statement, tuple(map(_plain, parameters)) if isinstance(
        parameters, tuple
    ) and not executemany else parameters


def _plain(value: object) -> object:
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value
