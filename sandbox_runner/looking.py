"""What is looked at on a host of either kind: files that must be closed, room on the disk, the clock, a certificate.

Law: nothing is changed, made or sent; no secret is shown. What cannot be looked at is a finding, not a crash.
"""

import shutil
import ssl
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

LITTLE_BYTES = 200 << 20
SOME_BYTES = 1 << 30
SLACK = timedelta(minutes=2)
SOON = timedelta(days=30)
OTHERS = 0o077
STRANGERS = 0o027
"""A secret that was put there by root may be read by the group: how clusters hand files to a user."""
NTP = "set it by NTP: timedatectl set-ntp true (TLS and reminders need it)"


class State(StrEnum):
    """How a thing stands: well, worth knowing, or wrong."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen of one thing; `step` is what to do about it, empty where nothing is to be done."""

    thing: str
    state: State
    seen: str
    step: str = ""


def as_text(findings: Sequence[Finding]) -> str:
    """Lay the findings out for a terminal, the next step under what needs one."""
    lines = []
    for each in findings:
        lines.append(f"{each.state.value:<5}{each.thing:<10} {each.seen}")
        lines += [f"{'':<16}-> {line}" for line in each.step.splitlines()]
    bad = sum(each.state is State.BAD for each in findings)
    return "\n".join([*lines, f"{len(findings)} things looked at, {bad} wrong"])


def closed(thing: str, path: Path, others: int = OTHERS) -> Finding:
    """Tell whether others may open a file or a folder."""
    try:
        mode = path.stat().st_mode
    except OSError as fault:
        return Finding(
            thing, State.BAD, f"{path}: {fault.strerror}", "name one that is there, and that this user may read"
        )
    if not mode & others:
        return Finding(thing, State.OK, f"{path} is closed to others")
    fitting = "700" if stat.S_ISDIR(mode) else "600"
    return Finding(thing, State.BAD, f"{path} is open to others ({mode & 0o777:o})", f"chmod {fitting} {path}")


def space(thing: str, folder: Path, step: str) -> Finding:
    """Tell how much room there is where a folder is, or will be."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    free = shutil.disk_usage(there).free
    state = State.BAD if free < LITTLE_BYTES else State.NOTE if free < SOME_BYTES else State.OK
    return Finding(thing, state, f"{free / 2**30:.1f} GiB free at {there}", "" if state is State.OK else step)


def clock(now: datetime, files: Sequence[Path]) -> Finding:
    """Compare the clock with the newest of files that were written before now, of those that are there."""
    there = [path for path in (Path(__file__), *files) if path.exists()]
    newest = max(there, key=lambda path: path.stat().st_mtime)
    written = datetime.fromtimestamp(newest.stat().st_mtime, UTC)
    if written - now > SLACK:
        seen = f"{now:%Y-%m-%d %H:%M} UTC, but {newest} was written at {written:%Y-%m-%d %H:%M}"
        return Finding("clock", State.BAD, seen, NTP)
    return Finding("clock", State.OK, f"{now:%Y-%m-%d %H:%M} UTC")


def certificate(thing: str, path: Path, now: datetime) -> Iterator[Finding]:
    """Tell whether certificates in a file can be read, and for how long they hold; as authorities, or as our own."""
    authority = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        authority.load_verify_locations(cafile=str(path))
    except OSError as fault:  # an ssl.SSLError is one
        step = "it must be PEM, and readable for this user"
        yield Finding(thing, State.BAD, f"{path} is no certificate: {fault.strerror or fault}", step)
        return
    ends = [ssl.cert_time_to_seconds(str(one["notAfter"])) for one in authority.get_ca_certs()]
    if not ends:
        yield Finding(thing, State.OK, f"{path} can be read")
        return
    until = datetime.fromtimestamp(min(ends), UTC)
    step = "make a new one (deploy/README.md) and start both ends anew"
    if until < now:
        yield Finding(thing, State.BAD, f"{path} ended on {until:%Y-%m-%d}", step)
    elif until - now < SOON:
        yield Finding(thing, State.NOTE, f"{path} holds until {until:%Y-%m-%d}", step)
    else:
        yield Finding(thing, State.OK, f"{path} holds until {until:%Y-%m-%d}")
