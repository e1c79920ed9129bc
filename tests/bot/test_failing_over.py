"""A PostgreSQL that is full, demoted, replaced by its standby, or given another user: turns wait and none is lost."""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from nats_server import free_port

from bot.app import App
from bot.engine.events import TextSent
from bot.stores import postgres
from content.schema import Course
from tests.bot.apps import talking
from tests.bot.databases import KEY, PostgresServer, full, identity, programs

pytestmark = pytest.mark.services


async def asked(app: App, chat: str, name: str) -> "asyncio.Task[list[bool]]":
    """Begin three turns, and see that they wait."""
    turns = [app.take(chat, TextSent("وين وصلت"), f"{name}{i}") for i in range(3)]
    waiting = asyncio.ensure_future(asyncio.gather(*turns))
    await asyncio.sleep(0.7)
    assert not waiting.done()
    return waiting  # type: ignore[return-value]


async def test_turns_wait_for_a_database_that_is_full(course: Course, postgres_server: PostgresServer) -> None:
    database = await asyncio.to_thread(postgres_server.emptied)
    async with talking(course, database.open()) as app:
        chat = (await app.enter("web", "ali")).id
        async with full(database, "INSERT ON replies"):
            waiting = await asked(app, chat, "k")
        assert await waiting == [True] * 3
        assert len(await app.since(chat, 0)) == 1 + 3


async def test_turns_wait_for_a_database_that_was_demoted(course: Course, postgres_server: PostgresServer) -> None:
    database = await asyncio.to_thread(postgres_server.emptied)
    async with talking(course, database.open()) as app:
        chat = (await app.enter("web", "ali")).id
        await database.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        await database.execute("SELECT pg_reload_conf()")
        try:
            waiting = await asked(app, chat, "k")
        finally:
            await database.execute("ALTER SYSTEM RESET default_transaction_read_only")
            await database.execute("SELECT pg_reload_conf()")
        assert await waiting == [True] * 3
        assert len(await app.since(chat, 0)) == 1 + 3


class Cluster:
    """A first server and its standby, on ports of loopback."""

    def __init__(self, folder: Path, owner: PostgresServer) -> None:
        found = programs()
        assert found is not None
        self._bin = found
        self._folder = folder
        self._as = owner._as()
        self.ports = free_port(), free_port()
        self._running: dict[int, subprocess.Popen[bytes]] = {}

    def make(self) -> None:
        """Make both, and start them."""
        first, second = self._folder / "0", self._folder / "1"
        self._run("initdb", "-D", str(first), "-U", "tasree", "-A", "trust", "--no-sync", "-E", "UTF8")
        self._run("/bin/cp", "-a", str(first), str(second))  # it never ran: a copy is a standby's beginning
        (second / "standby.signal").touch()
        with (second / "postgresql.auto.conf").open("a") as settings:
            settings.write(f"primary_conninfo = 'host=127.0.0.1 port={self.ports[0]} user=tasree'\n")
        self.start(0)
        self.start(1)

    def start(self, number: int) -> None:
        """Start one."""
        options = ["-c", "fsync=off", "-c", f"port={self.ports[number]}", "-c", "listen_addresses=127.0.0.1"]
        words = [str(self._bin / "postgres"), "-D", str(self._folder / f"{number}"), *options]
        with (self._folder / f"log{number}").open("ab") as log:
            self._running[number] = subprocess.Popen(
                [*words, "-c", f"unix_socket_directories={self._folder}"],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                **self._as,  # type: ignore[call-overload]
            )
        asyncio.run(self._answers(number))

    def kill(self, number: int) -> None:
        """End one as a crash would."""
        process = self._running.pop(number, None)
        if process is not None:
            process.send_signal(3)
            process.wait(20)

    async def execute(self, number: int, statement: str) -> list[tuple[object, ...]]:
        """Have one server carry out a statement."""
        connection = await asyncpg.connect(
            host="127.0.0.1", port=self.ports[number], user="tasree", database="postgres", timeout=5
        )
        try:
            return [tuple(row) for row in await connection.fetch(statement)]
        finally:
            await connection.close()

    async def _answers(self, number: int) -> None:
        async with asyncio.timeout(20):
            while True:
                try:
                    await self.execute(number, "SELECT 1")
                except (OSError, asyncpg.PostgresError):
                    await asyncio.sleep(0.05)
                else:
                    return

    def _run(self, program: str, *words: str) -> None:
        environment = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
        subprocess.run(
            [self._bin / program, *words],
            check=True,
            capture_output=True,
            cwd=self._folder,
            env=environment,
            **self._as,  # type: ignore[call-overload]
        )


@pytest.fixture
async def cluster(postgres_server: PostgresServer) -> AsyncIterator[Cluster]:
    with tempfile.TemporaryDirectory(prefix="tasree-pg-") as name:
        folder = Path(name)
        if postgres_server._user is not None:
            os.chown(folder, postgres_server._user.pw_uid, postgres_server._user.pw_gid)
        one = Cluster(folder, postgres_server)
        await asyncio.to_thread(one.make)
        yield one
        for number in (0, 1):
            await asyncio.to_thread(one.kill, number)


async def test_turns_go_on_at_the_standby_that_took_the_place_of_a_dead_server(
    course: Course, cluster: Cluster
) -> None:
    hosts = "&".join(f"host=127.0.0.1:{port}" for port in cluster.ports)
    url = f"postgresql+asyncpg://tasree@/postgres?{hosts}&target_session_attrs=read-write"
    await postgres.migrate(url)
    async with talking(course, postgres.open_store(url, KEY, identity)) as app:
        chat = (await app.enter("web", "ali")).id
        assert await app.take(chat, TextSent("الدروس"), "first")
        before = len(await app.since(chat, 0))
        written = (await cluster.execute(0, "SELECT pg_current_wal_lsn()::text"))[0][0]
        async with asyncio.timeout(20):
            while not (await cluster.execute(1, f"SELECT pg_last_wal_replay_lsn() >= '{written}'"))[0][0]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await asyncio.to_thread(cluster.kill, 0)
        waiting = await asked(app, chat, "k")
        await cluster.execute(1, "SELECT pg_promote()")
        assert await waiting == [True] * 3
        assert not await app.take(chat, TextSent("الدروس"), "first")
        assert len(await app.since(chat, 0)) == before + 3


async def test_a_second_user_of_the_database_works_beside_the_first_and_after_it(
    course: Course, postgres_server: PostgresServer
) -> None:
    database = await asyncio.to_thread(postgres_server.emptied)
    for role in ("bot_a", "bot_b"):
        await database.execute(f"DROP ROLE IF EXISTS {role}")
        await database.execute(f"CREATE ROLE {role} LOGIN IN ROLE tasree")
        await database.execute(f"ALTER ROLE {role} SET role = 'tasree'")
    try:
        urls = [database.place.replace("tasree@", f"{role}@") for role in ("bot_a", "bot_b")]
        await postgres.migrate(urls[1])
        old, new = (postgres.open_store(url, KEY, identity, patience_s=0.5) for url in urls)
        async with talking(course, old) as first, talking(course, new) as second:
            chat = (await first.enter("web", "ali")).id
            assert await first.take(chat, TextSent("الدروس"), "one")
            assert await second.take(chat, TextSent("الدروس"), "two")
            await database.execute("ALTER ROLE bot_a NOLOGIN")
            await database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'bot_a'")
            assert await second.take(chat, TextSent("الدروس"), "three")
            with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
                await asyncpg.connect(host=str(postgres_server.folder), user="bot_a", database="tasree")
    finally:
        for role in ("bot_a", "bot_b"):
            await database.execute(f"DROP ROLE {role}")
