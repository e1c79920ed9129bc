"""Reads the report of the init inside, strictly: what was seen of the end, then the files, then that it is done.

Law: though the init is ours and out of the learner's reach, it lives among strangers: lengths, counts and figures are
bounded before they are believed, and anything else ends the report as broken.
"""

import asyncio
import json
import math
import struct
from dataclasses import dataclass, field

from sandbox_runner.codec import Json, decode
from sandbox_runner.errors import WireError
from sandbox_runner.sandbox.port import Found, Skipped

_LENGTHS = struct.Struct(">II")
_MAX_HEADER = 64 << 10
_MAX_FRAMES = 4096


@dataclass(frozen=True, slots=True)
class Seen:
    """What the init saw of the end; -1 stands for a status it never got. Sizes in bytes."""

    kind: str
    status: int
    canary: int
    left: int
    forced: bool
    cpu_s: float
    free_bytes: int
    free_inodes: int


@dataclass(slots=True)
class Report:
    """The report as far as it has come. `broken` says what was wrong with it."""

    started: bool = False
    seen: Seen | None = None
    files: list[Found] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    skipped_more: int = 0
    done: bool = False
    broken: str = ""


async def read_report(
    reader: asyncio.StreamReader, report: Report, ended: asyncio.Event, *, file_bytes: int, files: int
) -> None:
    """Read frames into `report` until it is done or breaks; set `ended` as soon as the end is known, or never will."""
    try:
        for _ in range(_MAX_FRAMES):
            header, payload = await _frame(reader, file_bytes)
            _take(header, payload, report, files)
            if report.seen is not None:
                ended.set()
            if report.done:
                return
        report.broken = "the report has no end"
    except asyncio.IncompleteReadError:
        report.broken = report.broken or "the report ended early"
    except (WireError, ValueError, OSError) as wrong:
        report.broken = f"the report does not fit: {wrong}"
    finally:
        ended.set()


async def _frame(reader: asyncio.StreamReader, most: int) -> tuple[dict[str, Json], bytes]:
    header_size, payload_size = _LENGTHS.unpack(await reader.readexactly(_LENGTHS.size))
    if header_size > _MAX_HEADER or payload_size > most:
        message = f"a header of {header_size} and a payload of {payload_size} bytes are over the caps"
        raise WireError(message)
    header = json.loads(await reader.readexactly(header_size))
    if not isinstance(header, dict):
        message = f"an object was expected, not {type(header).__name__}"
        raise WireError(message)
    return header, await reader.readexactly(payload_size)


def _take(header: dict[str, Json], payload: bytes, report: Report, files: int) -> None:
    match header.get("kind"):
        case "started":
            report.started = True
        case "ended" if report.seen is None:
            seen = decode(Seen, header)
            if not math.isfinite(seen.cpu_s) or min(seen.cpu_s, seen.left, seen.free_bytes, seen.free_inodes) < 0:
                message = "a figure is out of bounds"
                raise WireError(message)
            report.seen = seen
        case "file" if report.seen is not None and len(report.files) < files:
            report.files.append(Found(str(header["name"])[:_MAX_HEADER], payload))
        case "skipped" if report.seen is not None:
            if header.get("why") == "more":
                report.skipped_more += int(header.get("count", 0))
            else:
                report.skipped.append(Skipped(str(header.get("name", "")), str(header.get("why", ""))))
        case "done" if report.seen is not None:
            report.done = True
        case other:
            message = f"unexpected {other!r}"
            raise WireError(message)
