"""The databases that the store's tests run on: a SQLite file, and a PostgreSQL server started here.

Law: the server listens on a socket in a folder of its own, belongs to a user without privileges, and ends with the
session; each test finds a database that was migrated and holds nothing.
"""

import asyncio
import contextlib
import os
import pwd
import secrets
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import asyncpg

from bot.stores import learned, posted, postgres, sqlite, tables
from bot.stores.sql import SqlStore

KEY = b"k" * 32
SHARED = "tasree"


assert learned.cards.metadata is posted.mailboxes.metadata is tables.metadata  # each module adds its tables


def identity() -> str:
    return secrets.token_hex(6)


class Database(Protocol):
    """One database with nothing in it but the tables."""

    kind: str
    place: str

    def open(self, patience_s: float = 20.0, identity: Callable[[], str] = identity) -> SqlStore: ...

    async def migrate(self) -> None: ...

    async def execute(self, statement: str) -> list[tuple[object, ...]]: ...


@dataclass
class SqliteFile:
    path: Path
    kind: str = "sqlite"
    place: str = field(init=False)

    def __post_init__(self) -> None:
        self.place = str(self.path)

    def open(self, patience_s: float = 20.0, identity: Callable[[], str] = identity) -> SqlStore:
        return sqlite.open_store(self.path, KEY, identity, patience_s)

    async def migrate(self) -> None:
        await asyncio.to_thread(sqlite.migrate, self.path)

    async def execute(self, statement: str) -> list[tuple[object, ...]]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=10)) as connection, connection:
            return connection.execute(statement).fetchall()


@dataclass
class PostgresDatabase:
    server: "PostgresServer"
    name: str
    kind: str = "postgres"
    place: str = field(init=False)

    def __post_init__(self) -> None:
        self.place = self.server.url(self.name)

    def open(self, patience_s: float = 20.0, identity: Callable[[], str] = identity) -> SqlStore:
        return postgres.open_store(self.place, KEY, identity, patience_s)

    async def migrate(self) -> None:
        await postgres.migrate(self.place)

    async def execute(self, statement: str) -> list[tuple[object, ...]]:
        return await self.server.execute(statement, self.name)


@contextlib.asynccontextmanager
async def full(database: PostgresDatabase, *writes: str) -> AsyncIterator[None]:
    """Let these writes (`INSERT ON replies`) find no room on the disk while it lasts."""
    raised = "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'"
    await database.execute(f"CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {raised}; END $$")
    for number, write in enumerate(writes):
        await database.execute(
            f"CREATE TRIGGER full_disk_{number} BEFORE {write} FOR EACH ROW EXECUTE FUNCTION full_disk()"
        )
    try:
        yield
    finally:
        await database.execute("DROP FUNCTION full_disk CASCADE")


def programs() -> Path | None:
    """Give the folder of the newest PostgreSQL's programs; None when there is none."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(folders, key=lambda path: int(path.parent.name), default=None)


class PostgresServer:
    """A server of this session's own; it refuses to run as root, so root starts it as another user."""

    def __init__(self, bin_folder: Path) -> None:
        self._bin = bin_folder
        self.folder = Path(tempfile.mkdtemp(prefix="tasree-pg-"))
        self._user = _user()
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Make the cluster and start the server."""
        self._run("initdb", "-D", str(self.folder / "data"), "-U", "tasree", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.start()
        asyncio.run(self.execute(f"CREATE DATABASE {SHARED}", "postgres"))
        asyncio.run(postgres.migrate(self.url(SHARED)))

    def start(self) -> None:
        """Start it, and return when it answers."""
        options = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "fsync": "off"}
        told = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        log = (self.folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self.folder / "data", *told],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._as(),  # type: ignore[call-overload]
            )
        asyncio.run(self._answering())

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends its connections, SIGQUIT ends it as a crash would."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(20)
            self._process = None

    def remove(self) -> None:
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, name: str) -> str:
        return f"postgresql+asyncpg://tasree@/{name}?host={self.folder}"

    def emptied(self) -> PostgresDatabase:
        """Give the database that was migrated once, with nothing in it; much quicker than a new one."""
        names = ", ".join(tables.metadata.tables)
        asyncio.run(self.execute(f"TRUNCATE {names}", SHARED))
        return PostgresDatabase(self, SHARED)

    def bare(self) -> PostgresDatabase:
        """Give a new database without any table."""
        name = f"t{secrets.token_hex(5)}"
        asyncio.run(self.execute(f"CREATE DATABASE {name}", "postgres"))
        return PostgresDatabase(self, name)

    async def execute(self, statement: str, name: str) -> list[tuple[object, ...]]:
        connection = await asyncpg.connect(host=str(self.folder), user="tasree", database=name, timeout=5)
        try:
            return [tuple(row) for row in await connection.fetch(statement)]
        finally:
            await connection.close()

    async def _answering(self) -> None:
        for _ in range(200):
            try:
                await self.execute("SELECT 1", "postgres")
            except (OSError, asyncpg.PostgresError):
                await asyncio.sleep(0.05)
            else:
                return
        raise TimeoutError((self.folder / "log").read_text())

    def _run(self, program: str, *words: str) -> None:
        ended = subprocess.run(
            [self._bin / program, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
            **self._as(),  # type: ignore[call-overload]
        )
        assert ended.returncode == 0, ended.stderr

    def _as(self) -> dict[str, object]:
        if self._user is None:
            return {}
        return {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}


def _user() -> pwd.struct_passwd | None:
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError:
        return pwd.getpwnam("nobody")


@contextlib.contextmanager
def served() -> Iterator[PostgresServer]:
    folder = programs()
    assert folder is not None, "PostgreSQL's programs are not installed"
    server = PostgresServer(folder)
    try:
        server.make()
        yield server
    finally:
        server.remove()
