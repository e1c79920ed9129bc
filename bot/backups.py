"""A bot's database and key in one file, and back (`python -m bot backup FILE`, `restore FILE`).

Law: a backup is whole or not there, readable by its owner alone, and overwrites nothing. A restore reads the whole file
before it changes anything, never runs beside a serving bot, and moves aside what it replaces.
"""

import asyncio
import contextlib
import hashlib
import io
import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import make_url

from bot import hosting
from bot.errors import BotError, StoreError
from bot.settings import KEY_BYTES, Settings, installation_key
from bot.stores import revisions

FORM = 1
_ABOUT = "ABOUT"
_KEY = "key"
_FILES = {"sqlite": "tasree.db", "postgresql": "tasree.sql"}
_MOST_ABOUT = 4096
_BESIDE = ("", "-wal", "-shm")
"""SQLite's files."""


@dataclass(frozen=True, slots=True)
class About:
    """What a backup says of itself: whose database, at which revision, made when (UTC, ISO 8601).

    `digest` is the SHA-256 of its key and database, in hex; backups of older releases have none.
    """

    kind: str
    revision: str
    at: str
    form: int = FORM
    digest: str = ""


async def backup(found: Settings, file: Path, now: datetime) -> About:
    """Write a backup, while bots may be serving.

    Raises:
        BotError, OSError: naming what is wrong; there is no file then.
    """
    if await asyncio.to_thread(file.exists):
        message = f"{file} is there already; nothing was written"
        raise BotError(message)
    if not (found.server or found.database.exists()):
        message = f"{found.database} is not there: nothing to back up"
        raise BotError(message)
    there = await (
        revisions.of_server(found.server) if found.server else asyncio.to_thread(revisions.of_file, found.database)
    )
    about = About("postgresql" if found.server else "sqlite", there.revision, now.isoformat(timespec="seconds"))
    return await asyncio.to_thread(_write, found, file, about)


async def restore(found: Settings, file: Path, now: datetime, *, replace: bool) -> About:
    """Put a backup's database and key in place.

    Raises:
        BotError, OSError: naming what is wrong; nothing was changed then.
    """
    if found.server and (await revisions.of_server(found.server)).revision:
        message = "the database has tables: a backup goes into an empty one (createdb), which TASREE_DATABASE names"
        raise BotError(message)
    with hosting.only_one(found.data):
        return await asyncio.to_thread(_restore, found, file, now, replace)


def _write(found: Settings, file: Path, about: About) -> About:
    key = installation_key(found.data)
    with _workshop(file.absolute().parent) as shop:
        dumped = shop / _FILES[about.kind]
        if found.server:
            _postgres(found.server, "pg_dump", "--no-owner", "--no-privileges", f"--file={dumped}")
        else:
            _copied(found.database, dumped)
            revisions.of_file(dumped)
        (shop / _KEY).write_bytes(key)
        about = replace(about, digest=_digest(shop / _KEY, dumped))
        (shop / _ABOUT).write_text(json.dumps(asdict(about)), "utf-8")
        whole = shop / "whole"
        with tarfile.open(whole, "w") as archive:
            for name in (_ABOUT, _KEY, dumped.name):
                archive.add(shop / name, name)
        with whole.open("rb") as written:
            os.fsync(written.fileno())
        whole.chmod(0o600)
        try:
            file.hardlink_to(whole)  # fails where somebody made the file meanwhile
        except FileExistsError:
            message = f"{file} is there already; nothing was written"
            raise BotError(message) from None
        return about


def _copied(source: Path, target: Path) -> None:
    """Copy a SQLite database that others write to meanwhile (its online backup)."""
    try:
        with (
            contextlib.closing(sqlite3.connect(source, timeout=10)) as old,
            contextlib.closing(sqlite3.connect(target)) as new,
        ):
            old.backup(new)
    except sqlite3.Error as error:
        message = f"the database {source} cannot be copied: {error}"
        raise StoreError(message) from error


def _restore(found: Settings, file: Path, now: datetime, replace: bool) -> About:  # noqa: FBT001 - of `restore` alone
    with _workshop(found.data) as shop:
        about = _unpacked(file, shop)
        kind = "postgresql" if found.server else "sqlite"
        if about.kind != kind:
            message = f"{file} holds a {about.kind} database, but TASREE_DATABASE names {kind}"
            raise BotError(message)
        if about.revision and about.revision not in revisions.known():
            message = f"{file} is at revision {about.revision}, which this release does not know: install its release"
            raise BotError(message)
        key = found.data / _KEY
        strange = key.exists() and key.read_bytes() != (shop / _KEY).read_bytes()
        old = found.database.exists() and not found.server
        if (strange or old) and not replace:
            what = found.database if old else key
            message = f"{what} is there already; with --replace it is moved aside, nothing was changed"
            raise BotError(message)
        if found.server:
            words = ("--single-transaction", "--set=ON_ERROR_STOP=1", "--no-psqlrc", "--quiet")
            _postgres(found.server, "psql", *words, f"--file={shop / _FILES[kind]}")
        else:
            revisions.of_file(shop / _FILES[kind])
            _aside([found.database.with_name(found.database.name + end) for end in _BESIDE], now)
        if strange:
            _aside([key], now)
        (shop / _KEY).replace(key)
        if not found.server:
            (shop / _FILES[kind]).replace(found.database)
        return about


def _aside(paths: list[Path], now: datetime) -> None:
    for path in paths:
        if path.exists():
            path.rename(path.with_name(f"{path.name}.before-{now:%Y%m%dT%H%M%S}"))


def _unpacked(file: Path, shop: Path) -> About:
    """Take the three files of a backup out, and nothing else that may be in it."""
    try:
        with tarfile.open(file) as archive:
            return _taken(archive, shop)
    except (tarfile.TarError, EOFError, KeyError, RecursionError, TypeError, ValueError) as error:
        why = str(error).partition("\n")[0].removesuffix(":")  # tarfile tells a line for each way of packing it tried
        message = f"{file} is not a backup of this program, or is damaged: {why}"
        raise BotError(message) from error


def _taken(archive: tarfile.TarFile, shop: Path) -> About:
    """Raise ValueError, KeyError or TypeError where it is not what `_write` makes."""
    members = {member.name: member for member in archive.getmembers()}
    about = About(**json.loads(_bytes(archive, members, _ABOUT, _MOST_ABOUT)))
    if about.form != FORM or about.kind not in _FILES or set(members) != {_ABOUT, _KEY, _FILES[about.kind]}:
        message = "another form"
        raise ValueError(message)
    key = _bytes(archive, members, _KEY, KEY_BYTES)
    stored = archive.extractfile(members[_FILES[about.kind]])
    if len(key) != KEY_BYTES or stored is None:
        message = "its key is damaged, or its database is no file"
        raise ValueError(message)
    for name, source in ((_KEY, io.BytesIO(key)), (_FILES[about.kind], stored)):
        with source, (shop / name).open("wb") as target:
            shutil.copyfileobj(source, target)
            target.flush()
            os.fsync(target.fileno())
    if about.digest and about.digest != _digest(shop / _KEY, shop / _FILES[about.kind]):
        message = "its key or database is not what was written"
        raise ValueError(message)
    return about


def _digest(*files: Path) -> str:
    """Give one digest of files and their order; what their lengths are is part of it."""
    whole = hashlib.sha256()
    for file in files:
        with file.open("rb") as stored:
            whole.update(hashlib.file_digest(stored, "sha256").digest())
    return whole.hexdigest()


def _bytes(archive: tarfile.TarFile, members: dict[str, tarfile.TarInfo], name: str, most: int) -> bytes:
    member = members[name]
    stored = archive.extractfile(member) if member.isreg() and member.size <= most else None
    if stored is None:
        message = f"{name} is no file of at most {most} bytes"
        raise ValueError(message)
    with stored:
        return stored.read()


@contextmanager
def _workshop(folder: Path) -> Iterator[Path]:
    """Give a private folder on the same file system."""
    if not folder.is_dir():
        message = f"there is no folder {folder}"
        raise BotError(message)
    before = os.umask(0o077)
    try:
        with tempfile.TemporaryDirectory(prefix=".tasree-backup-", dir=folder) as made:
            yield Path(made)
    finally:
        os.umask(before)


def _postgres(url: str, program: str, *words: str) -> None:
    """Run one of PostgreSQL's programs on the database; the password travels in its environment.

    Raises:
        StoreError: with what the program said.
    """
    there = make_url(url)
    host = there.query.get("host", there.host)
    given = {
        "PGHOST": host if isinstance(host, str) else None,
        "PGPORT": str(there.port) if there.port else None,
        "PGUSER": there.username,
        "PGPASSWORD": there.password,
        "PGDATABASE": there.database,
        "PGCONNECT_TIMEOUT": "10",
        "PATH": os.defpath + ":/usr/local/bin",
        "LC_ALL": "C.UTF-8",
    }
    environment = {name: str(value) for name, value in given.items() if value is not None}
    try:
        ended = subprocess.run(  # noqa: S603 - a program of the host, without a shell
            [program, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        message = f"{program} is not installed: it comes with PostgreSQL's client (Debian: postgresql-client)"
        raise StoreError(message) from None
    if ended.returncode != 0:
        message = f"{program}: {ended.stderr.strip()[-500:]}"
        raise StoreError(message)
