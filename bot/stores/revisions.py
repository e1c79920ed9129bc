"""What revision a database is at, looked up without changing anything in it."""

import contextlib
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from urllib.parse import quote

from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from bot.errors import StoreError
from bot.stores.doors import brief
from bot.stores.postgres import shown

_CONNECT_S = 5


@dataclass(frozen=True, slots=True)
class Found:
    """What a database said of itself: its revision (empty where it has no table), and a server's version and clock."""

    revision: str
    version: str = ""
    at: datetime | None = None


def known() -> tuple[str, ...]:
    """Give every revision that this release knows, the newest first."""
    config = Config()
    config.set_main_option("script_location", str(resources.files("bot.stores") / "migrations").replace("%", "%%"))
    return tuple(script.revision for script in ScriptDirectory.from_config(config).walk_revisions())


def of_file(path: Path) -> Found:
    """Look into a SQLite file, and have SQLite check it.

    Raises:
        StoreError: when it cannot be read or is damaged.
    """
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=10)) as opened:
            told = str(opened.execute("PRAGMA quick_check(1)").fetchone()[0])
            tables = {row[0] for row in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            rows = opened.execute("SELECT version_num FROM alembic_version") if "alembic_version" in tables else ()
            revision = next((str(row[0]) for row in rows), "")
    except sqlite3.Error as error:
        message = f"the database {path} cannot be read: {error}"
        raise StoreError(message) from error
    if told != "ok":
        message = f"the database {path} is damaged: {told.splitlines()[0]}"
        raise StoreError(message)
    return Found(revision)


async def of_server(url: str) -> Found:
    """Ask a PostgreSQL server.

    Raises:
        StoreError: when it cannot be reached or refuses; the password is not shown.
    """
    there = make_url(url)
    engine = create_async_engine(there, connect_args={"timeout": _CONNECT_S, "command_timeout": _CONNECT_S})
    try:
        async with engine.connect() as connection:
            version = str((await connection.execute(text("SHOW server_version"))).scalar_one())
            at: datetime = (await connection.execute(text("SELECT clock_timestamp()"))).scalar_one()
            there_is = (await connection.execute(text("SELECT to_regclass('alembic_version')::text"))).scalar_one()
            rows = (await connection.execute(text("SELECT version_num FROM alembic_version"))) if there_is else None
            return Found(str(rows.scalar() or "") if rows is not None else "", version, at.astimezone(UTC))
    except (TimeoutError, SQLAlchemyError, OSError) as error:
        told = brief(error) if isinstance(error, DBAPIError) else str(error) or type(error).__name__
        message = f"the database {shown(there)} cannot be reached: {told}"
        raise StoreError(message) from error
    except Exception as error:
        if not type(error).__module__.startswith("asyncpg"):
            raise
        message = f"the database {shown(there)} refuses: {brief(error)}"
        raise StoreError(message) from error
    finally:
        await engine.dispose()
