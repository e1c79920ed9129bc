"""Looks over a bot's host and says of each thing whether it is well, what was seen, and the next step (`bot doctor`).

Law: nothing is changed, made or sent; no secret is shown. A thing that cannot be looked at is a finding, not a crash.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path

from bot import hosting, masking, settings
from bot.errors import BotError, SettingsError, StoreError
from bot.ports import Runner
from bot.settings import KEY_BYTES, Settings
from bot.stores import revisions
from content import loader
from content.faults import Fault
from content.schema import Course
from sandbox_runner.errors import RunnerError
from sandbox_runner.looking import (
    OTHERS,
    SLACK,
    STRANGERS,
    Finding,
    State,
    certificate,
    clock,
    closed,
    space,
)
from sandbox_runner.protocol import Capabilities

RUNNER_S = 120.0
"""So long a runner is waited for: an embedded one proves its walls first."""
LEAST_SERVER = 14

Survey = Callable[[Path], tuple[Course | None, Sequence[Fault]]]
Opening = Callable[[Settings, Mapping[str, str]], AbstractAsyncContextManager[Runner]]


async def examine(
    environment: Mapping[str, str],
    now: datetime,
    opening: Opening = hosting.open_runner,
    survey: Survey = loader.survey,
    *,
    with_runner: bool = True,
) -> list[Finding]:
    """Look at everything. Where the settings are wrong there is nothing else to look at yet."""
    try:
        found = settings.load(environment)
    except SettingsError as error:
        step = (
            "mend the variable (deploy/bot.env.example says what each is), then ask again: the rest was not looked at"
        )
        return [Finding("settings", State.BAD, line, step) for line in str(error).splitlines()]
    told = [Finding("settings", State.OK, f"read; data in {found.data}, runner {found.runner}")]
    told += [*_folder(found), *_key(found)]
    stored = await _database(found, now)
    told += [*stored, *_course(found, survey), *_tokens(found, environment), *_authority(found, now)]
    told.append(space("disk", found.data, "make room, or move TASREE_DATA: a full disk stops every answer"))
    told.append(clock(now, [found.data / "key", found.database]))
    told += _serving(found)
    told += _figures(found)
    if with_runner:
        if found.runner.startswith("nats"):
            told.append(await _broker(found))
        told += await _runner(found, environment, opening)
    return told


def _folder(found: Settings) -> Iterator[Finding]:
    data = found.data
    if not data.exists():
        above = next(folder for folder in data.parents if folder.exists())
        if os.access(above, os.W_OK | os.X_OK):
            yield Finding("data", State.NOTE, f"{data} is not there", "the first start makes it")
        else:
            yield Finding("data", State.BAD, f"{data} cannot be made in {above}", f"as root: install -d -m 700 {data}")
        return
    if not data.is_dir() or not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        step = f"name another folder in TASREE_DATA, or as root: chown USER {data}"
        yield Finding("data", State.BAD, f"{data} is not a folder that this user may write", step)
        return
    about = data.stat()
    if about.st_uid != os.geteuid():
        yield Finding("data", State.NOTE, f"{data} belongs to uid {about.st_uid}", "ask again as the user of the bot")
    yield closed("data", data)


def _key(found: Settings) -> Iterator[Finding]:
    path = found.data / "key"
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        if found.server or found.database.exists():
            step = f"restore {path} from a backup: without it the learners of the database are not known again"
            yield Finding("key", State.BAD, f"{path} is missing, though there is a database", step)
        else:
            yield Finding("key", State.NOTE, f"{path} is not there", "the first start makes it; back it up then")
        return
    except OSError as error:
        yield Finding("key", State.BAD, f"{path}: {error.strerror}", "ask again as the user of the bot")
        return
    if size != KEY_BYTES:
        seen = f"{path}: {KEY_BYTES} bytes were expected, not {size}"
        yield Finding("key", State.BAD, seen, "restore it from a backup")
        return
    yield closed("key", path)


async def _database(found: Settings, now: datetime) -> list[Finding]:
    path = found.database
    if not found.server and not path.exists():
        return [Finding("database", State.NOTE, f"{path} is not there", "the first start makes it")]
    try:
        there = await (
            revisions.of_server(found.server) if found.server else asyncio.to_thread(revisions.of_file, path)
        )
    except StoreError as error:
        step = "start the server, or mend TASREE_DATABASE" if found.server else "python -m bot restore FILE"
        return [Finding("database", State.BAD, str(error), step)]
    told = [_revision(there.revision, revisions.known())]
    if found.server:
        if int(there.version.partition(".")[0]) < LEAST_SERVER:
            told.append(Finding("database", State.BAD, f"PostgreSQL {there.version}", f"use {LEAST_SERVER} or newer"))
        if there.at is not None and abs(there.at - now) > SLACK:
            seen = f"the server's clock is {abs(there.at - now).total_seconds():.0f} s from this host's"
            told.append(Finding("clock", State.BAD, seen, "set both by NTP: timedatectl set-ntp true"))
    elif path.stat().st_mode & OTHERS:
        told.append(closed("database", path))
    return told


def _revision(revision: str, known: tuple[str, ...]) -> Finding:
    if revision == known[0]:
        return Finding("database", State.OK, f"reachable, at the newest revision {revision}")
    if not revision:
        return Finding("database", State.NOTE, "reachable, without tables", "the first start makes them")
    if revision in known:
        step = "python -m bot backup FILE, then start: a start brings it to the newest"
        return Finding("database", State.NOTE, f"at revision {revision}, the newest is {known[0]}", step)
    step = "install the release that made it, or restore the backup from before that"
    return Finding("database", State.BAD, f"revision {revision} belongs to another release", step)


def _course(found: Settings, survey: Survey) -> Iterator[Finding]:
    course, faults = survey(found.content)
    if course is None or faults:
        for fault in faults[:5]:
            yield Finding("course", State.BAD, str(fault), "mend it; python -m content check names all")
    else:
        yield Finding("course", State.OK, f"{len(course.lessons)} lessons, {course.hash[:12]}")


def _tokens(found: Settings, environment: Mapping[str, str]) -> Iterator[Finding]:
    for platform, token, form in (
        ("telegram", found.telegram_token, masking.TELEGRAM_TOKEN),
        ("discord", found.discord_token, masking.DISCORD_TOKEN),
    ):
        name = f"TASREE_{platform.upper()}_TOKEN"
        file = environment.get(f"{name}_FILE", "")
        if not token:
            step = f"to serve it name the token's file in {name}_FILE (deploy/README.md)"
            given = f"{file} is empty" if file else "no token"
            yield Finding(platform, State.BAD if file else State.NOTE, given, step)
        elif form.fullmatch(token) is None:
            seen = f"what was given ({len(token)} characters) does not look like a token"
            yield Finding(platform, State.BAD, seen, f"copy it anew, on one line, without quotes, for {name}")
        elif file and not environment.get(name):
            path = Path(file).expanduser()
            yield closed(platform, path, STRANGERS)
        else:
            yield Finding(platform, State.NOTE, "a token in the environment", f"a file is safer: {name}_FILE")
    if found.runner_secret_file is not None:
        yield closed("secret", found.runner_secret_file, STRANGERS)


def _serving(found: Settings) -> Iterator[Finding]:
    try:
        with (found.data / "serving.lock").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        step = "nothing, if that is the bot you mean; a second one needs a TASREE_DATA of its own"
        yield Finding("serving", State.NOTE, f"a bot is serving from {found.data}", step)
        return
    except OSError:
        pass  # no lock, so nobody holds it; what is wrong with the folder was said
    try:
        hosting.try_address(found.web_host, found.web_port)
    except SettingsError as error:
        yield Finding("serving", State.BAD, str(error), "stop what listens there, or name another port")
    else:
        yield Finding("serving", State.OK, f"nobody serves from {found.data}, and the web chat's address is free")


def _authority(found: Settings, now: datetime) -> Iterator[Finding]:
    if found.runner_ca_file is not None:
        yield from certificate("authority", found.runner_ca_file, now)


def _figures(found: Settings) -> Iterator[Finding]:
    host = found.metrics.rpartition(":")[0].strip("[]")
    if host and host not in {"127.0.0.1", "::1", "localhost"}:
        step = "let nobody but Prometheus reach it: the address has no password"
        yield Finding("metrics", State.NOTE, f"figures are shown on {found.metrics}, beyond this host", step)


async def _broker(found: Settings) -> Finding:
    try:
        from sandbox_runner.broker.line import Broker  # noqa: PLC0415 - the extra `nats` may not be installed
        from sandbox_runner.broker.seen import broker_seen  # noqa: PLC0415
    except ModuleNotFoundError as error:
        return Finding(
            "broker", State.BAD, f"{found.runner} needs the extra `nats`: {error}", "pip install 'tasree[nats]'"
        )
    return await broker_seen(Broker(found.runner, found.runner_secret_file, found.runner_ca_file), "tasree doctor")


async def _runner(found: Settings, environment: Mapping[str, str], opening: Opening) -> list[Finding]:
    try:
        async with asyncio.timeout(RUNNER_S), opening(found, environment) as runner:
            able = await runner.capabilities()
    except (BotError, RunnerError, OSError, TimeoutError) as error:
        seen = f"{found.runner}: {str(error) or 'no answer'}"
        step = "on a runner's host: python -m sandbox_runner probe, then journalctl -u tasree-runner -n 50"
        return [Finding("runner", State.BAD, seen, step)]
    return _able(able)


def _able(able: Capabilities) -> list[Finding]:
    devices = ", ".join(device.value for device in able.devices)
    noise = f"noise {able.noise:.2%}" if able.noise else "noise not measured yet"
    told = [Finding("runner", State.OK, f"answers: {devices or 'no device'}, {able.slots} slot(s), {noise}")]
    standing = sum(wall.stands for wall in able.walls)
    missing = [wall for wall in able.walls if not wall.stands]
    if not any(wall.matters for wall in missing):
        told.append(Finding("walls", State.OK, f"{standing} of {len(able.walls)} stand"))
    for wall in missing:
        bad = wall.matters and wall.name not in able.accepted_missing
        seen = f"{wall.name} is missing: {wall.detail}"
        told.append(Finding("walls", State.BAD if bad else State.NOTE, seen, wall.mend))
    return told
