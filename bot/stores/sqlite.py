"""SQLite, the embedded default: one writing connection, WAL, full synchronisation, migrations at start.

Law: readers never write, the writer takes the write lock at BEGIN (plain BEGIN fails at once when it upgrades, and the
driver's own implicit transactions lose updates).
"""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy import URL, Connection, PoolProxiedConnection, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from bot.errors import StoreError
from bot.stores import migrating
from bot.stores.doors import PATIENCE_S, Door
from bot.stores.sql import SqlStore

READERS = 4
BUSY_MS = 10_000


def _address(driver: str, path: Path) -> URL:
    """Give the file's address; a folder's name may have any character, `?` and `%20` too."""
    return URL.create(f"sqlite+{driver}", database=str(path))


def migrate(path: Path) -> None:
    """Bring the database to the newest revision, making it when it is not there.

    Raises:
        StoreError: when the file cannot be opened or is not a database of ours.
    """
    engine = create_engine(_address("pysqlite", path))
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
            connection.exec_driver_sql(f"PRAGMA busy_timeout={BUSY_MS}")
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            connection.commit()
            migrating.upgrade(connection)
    except SQLAlchemyError as error:
        why = error.orig if isinstance(error, DBAPIError) else error
        message = f"the database {path} cannot be opened: {why}"
        raise StoreError(message) from error
    finally:
        engine.dispose()


def open_store(path: Path, key: bytes, identity: Callable[[], str], patience_s: float = PATIENCE_S) -> SqlStore:
    """Open the database after `migrate`."""
    url = _address("aiosqlite", path)
    # Readers run each statement by itself: a BEGIN and a ROLLBACK around one SELECT would double its cost.
    reader = create_async_engine(
        url,
        pool_size=READERS,
        max_overflow=0,
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        hide_parameters=True,  # an error is logged, and learners' words are in them
    )
    writer = create_async_engine(url, pool_size=1, max_overflow=0, pool_timeout=BUSY_MS / 1000, hide_parameters=True)
    _set_up(reader)
    _set_up(writer, "BEGIN IMMEDIATE")
    return SqlStore(Door(reader, patience_s), Door(writer, patience_s), key, identity)


def _set_up(engine: AsyncEngine, begin: str = "") -> None:
    def connected(connection: DBAPIConnection, entry: ConnectionPoolEntry | PoolProxiedConnection) -> None:
        del entry
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={BUSY_MS}",
            "foreign_keys=ON",
            "synchronous=FULL",
            "temp_store=MEMORY",
            "secure_delete=ON",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", connected)
    if begin:
        event.listen(engine.sync_engine, "begin", begun)
