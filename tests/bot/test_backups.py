"""Backups: made beside a writer, whole or not there; restored whole or not at all."""

import asyncio
import contextlib
import io
import sqlite3
import subprocess
import sys
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot import backups, hosting
from bot.errors import BotError
from bot.settings import Settings, installation_key, load
from bot.stores import revisions, sqlite
from tests.bot.databases import PostgresServer

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)


def host(folder: Path, **further: str) -> Settings:
    return load({"TASREE_DATA": str(folder)} | further)


def names(database: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(database)) as opened:
        return [row[0] for row in opened.execute("SELECT name FROM kept ORDER BY name")]


def add(database: Path, name: str) -> None:
    with contextlib.closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("CREATE TABLE IF NOT EXISTS kept (name TEXT)")
        opened.execute("INSERT INTO kept VALUES (?)", (name,))


def listed(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def inside(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


@pytest.fixture
def served(tmp_path: Path) -> Settings:
    """Give a host whose database holds something."""
    found = host(tmp_path / "data")
    installation_key(found.data)
    sqlite.migrate(found.database)
    add(found.database, "ali")
    return found


async def test_a_backup_beside_a_writer_is_restored_on_another_host_with_the_key(
    served: Settings, tmp_path: Path
) -> None:
    writer = sqlite3.connect(served.database, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO kept VALUES ('unfinished')")
    file = tmp_path / "one.backup"
    about = await backups.backup(served, file, NOW)
    writer.execute("ROLLBACK")
    writer.close()
    assert (about.kind, about.revision) == ("sqlite", revisions.known()[0])
    assert file.stat().st_mode & 0o077 == 0
    other = host(tmp_path / "other")
    assert await backups.restore(other, file, NOW, replace=False) == about
    assert names(other.database) == ["ali"]
    assert installation_key(other.data) == installation_key(served.data)
    assert other.database.stat().st_mode & 0o077 == 0
    assert set(inside(other.data)) == {"key", "tasree.db"}
    sqlite.migrate(other.database)


async def test_a_backup_overwrites_nothing_and_leaves_nothing_behind(served: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    await asyncio.to_thread(file.write_text, "mine")
    with pytest.raises(BotError, match="there already"):
        await backups.backup(served, file, NOW)
    assert file.read_text() == "mine"
    with pytest.raises(BotError, match="no folder"):
        await backups.backup(served, tmp_path / "none" / "one.backup", NOW)
    assert listed(tmp_path) == {"data", "one.backup"}


async def test_what_is_replaced_is_moved_aside_and_only_when_told(served: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    await backups.backup(served, file, NOW)
    add(served.database, "later")
    before = inside(served.data)
    with pytest.raises(BotError, match="--replace"):
        await backups.restore(served, file, NOW, replace=False)
    assert inside(served.data) == before
    await backups.restore(served, file, NOW, replace=True)
    assert names(served.database) == ["ali"]
    assert names(served.data / "tasree.db.before-20261201T100000") == ["ali", "later"]


async def test_nothing_is_restored_under_a_serving_bot(served: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    await backups.backup(served, file, NOW)
    with hosting.only_one(served.data), pytest.raises(BotError, match="another bot is serving"):
        await backups.restore(served, file, NOW, replace=True)


def packed(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", ".").replace("UP", "../"))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


ABOUT = b'{"kind": "sqlite", "revision": "%s", "at": "", "form": 1}'


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        packed(about__json=b"[]"),
        packed(about__json=b"[" * 4000),
        packed(about__json=ABOUT % b""),
        packed(about__json=ABOUT % b"", key=b"short", tasree__db=b""),
        packed(about__json=ABOUT % b"", key=b"k" * 32, tasree__db=b"", UPescaped=b"x"),
        packed(about__json=ABOUT % b"", key=b"k" * 32, tasree__db=b"no database" * 100),
        packed(about__json=ABOUT % b"9999", key=b"k" * 32, tasree__db=b""),
        packed(about__json=ABOUT.replace(b"sqlite", b"postgresql") % b"", key=b"k" * 32, tasree__sql=b""),
    ],
)
async def test_a_file_that_is_no_backup_changes_nothing(served: Settings, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "odd.backup"
    await asyncio.to_thread(file.write_bytes, content)
    before = inside(served.data)
    with pytest.raises(BotError):
        await backups.restore(served, file, NOW, replace=True)
    assert inside(served.data) == before
    assert listed(tmp_path) == {"data", "odd.backup"}


async def test_a_backup_that_was_cut_short_changes_nothing(served: Settings, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    await backups.backup(served, file, NOW)
    await asyncio.to_thread(file.write_bytes, file.read_bytes()[:20_000])
    before = inside(served.data)
    with pytest.raises(BotError):
        await backups.restore(served, file, NOW, replace=True)
    assert inside(served.data) == before


@pytest.mark.parametrize("of", ["tasree.db", "key"])
async def test_a_backup_of_which_a_few_bytes_changed_changes_nothing(served: Settings, tmp_path: Path, of: str) -> None:
    file = tmp_path / "one.backup"
    await backups.backup(served, file, NOW)
    with tarfile.open(file) as archive:
        member = archive.getmember(of)
    written = bytearray(await asyncio.to_thread(file.read_bytes))
    written[member.offset_data + member.size - 2] ^= 1
    await asyncio.to_thread(file.write_bytes, bytes(written))
    before = inside(served.data)
    with pytest.raises(BotError, match="is damaged"):
        await backups.restore(served, file, NOW, replace=True)
    assert inside(served.data) == before


async def test_a_folder_of_any_name_keeps_its_database_in_it(tmp_path: Path) -> None:
    found = host(tmp_path / "بيانات a'b%20?x#y")
    installation_key(found.data)
    sqlite.migrate(found.database)
    add(found.database, "ali")
    store = sqlite.open_store(found.database, b"k" * 32, lambda: "id")
    await store.close()
    await backups.backup(found, tmp_path / "one.backup", NOW)
    assert names(found.database) == ["ali"]
    assert listed(tmp_path) == {found.data.name, "one.backup"}


@pytest.mark.services
async def test_a_server_is_backed_up_and_restored_into_an_empty_database(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    old = await asyncio.to_thread(postgres_server.bare)
    new = await asyncio.to_thread(postgres_server.bare)
    await old.migrate()
    await old.execute("CREATE TABLE kept (name TEXT)")
    await old.execute("INSERT INTO kept VALUES ('ali')")
    served = host(tmp_path / "data", TASREE_DATABASE=old.place)
    key = installation_key(served.data)
    about = await backups.backup(served, tmp_path / "one.backup", NOW)
    other = host(tmp_path / "other", TASREE_DATABASE=new.place)
    await backups.restore(other, tmp_path / "one.backup", NOW, replace=False)
    assert await new.execute("SELECT name FROM kept") == [("ali",)]
    assert (await revisions.of_server(new.place)).revision == about.revision == revisions.known()[0]
    assert installation_key(other.data) == key
    with pytest.raises(BotError, match="empty"):
        await backups.restore(served, tmp_path / "one.backup", NOW, replace=True)


def test_the_commands_back_up_and_restore(served: Settings, tmp_path: Path) -> None:
    for words, folder in ((["backup"], served.data), (["restore"], tmp_path / "other")):
        ended = subprocess.run(
            [sys.executable, "-m", "bot", *words, str(tmp_path / "one.backup")],
            cwd=ROOT,
            env={"TASREE_DATA": str(folder), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
    assert names(tmp_path / "other" / "tasree.db") == ["ali"]
