"""Databases that older releases left, brought to the newest revision with everything in them, on each kind.

Law: a release adds what `sqlite3 tasree.db .dump` says of a database that it made, as releases/<revision>.sql.
"""

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, insert, select
from sqlalchemy.ext.asyncio import create_async_engine

from bot.app import App, SystemDice
from bot.engine.events import TextSent
from bot.engine.known import Needs
from bot.stores import migrating, tables
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from tests.bot.databases import Database, PostgresServer, SqliteFile

FOLDER = Path(__file__).parent / "releases"
RELEASES = sorted(path.stem.removeprefix("r") for path in FOLDER.glob("r*.sql"))


def loaded(revision: str, folder: Path) -> SqliteFile:
    """Give the database of a release as a file."""
    path = folder / f"{revision}.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript((FOLDER / f"r{revision}.sql").read_text("utf-8"))
    return SqliteFile(path)


async def moved(revision: str, folder: Path, server: PostgresServer) -> Database:
    """Give the same rows in a PostgreSQL database at the release's revision."""
    database = await asyncio.to_thread(server.bare)
    file = create_engine(f"sqlite+pysqlite:///{loaded(revision, folder).path}")
    engine = create_async_engine(database.place)
    async with engine.begin() as connection:
        await connection.run_sync(migrating.upgrade, revision)
    async with engine.begin() as connection:
        with file.connect() as old:
            for table in tables.metadata.sorted_tables:
                names = [row[1] for row in old.exec_driver_sql(f"PRAGMA table_info({table.name})")]
                rows = old.execute(select(*(table.c[name] for name in names))).mappings().all() if names else []
                if rows:
                    await connection.execute(insert(table), [dict(row) for row in rows])
    await engine.dispose()
    file.dispose()
    return database


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"render_as_batch": True})
    return list(compare_metadata(context, tables.metadata))


@pytest.mark.parametrize("revision", RELEASES)
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgres", marks=pytest.mark.services)])
async def test_a_database_of_a_release_is_upgraded_with_everything_in_it(
    revision: str, kind: str, tmp_path: Path, course: Course, request: pytest.FixtureRequest
) -> None:
    database: Database
    if kind == "sqlite":
        database = loaded(revision, tmp_path)
    else:
        server: PostgresServer = await asyncio.to_thread(request.getfixturevalue, "postgres_server")
        database = await moved(revision, tmp_path, server)
    await database.migrate()
    engine = create_async_engine(("sqlite+aiosqlite:///" if kind == "sqlite" else "") + database.place)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
        assert len((await connection.execute(select(tables.learners))).all()) == 3
    await engine.dispose()
    store = database.open()
    runner = InstantRunner()
    app = App(
        course=course,
        store=store,
        runner=runner,
        checker=ParsingChecker(),
        clock=StandStillClock(),
        dice=SystemDice(),
        chat=RecordingChat(),
    )
    await app.start(adopt=True)
    for name in ("ali", "mona"):
        chat = (await app.enter("shell", name)).id
        before = await app.since(chat, 0)
        opened = await store.open(chat, "")
        assert opened is not None
        assert opened.session.greeted
        assert (await store.load(chat, Needs(ask=opened.session.asked))).ask is not None
        assert await app.take(chat, TextSent("مساعدة"), "after")
        assert len(await app.since(chat, 0)) > len(before) > 3
    await app.idle()
    assert [job.id for job in runner.submitted] == ["r00000000001"]  # what the old release left under way
    assert await store.unfinished() == ()
    await app.close()
    await store.close()


def test_a_release_that_left_databases_has_one_here() -> None:
    assert "0001" in RELEASES
    folder = str(Path(migrating.__file__).with_name("migrations"))
    assert set(RELEASES) <= {script.revision for script in ScriptDirectory(folder).walk_revisions()}
