"""What is written on what goes through the broker, and read strictly: signs of life, jobs, results in parts.

Law: whatever a runner sends is untrusted: sized before it is read, decoded strictly, never piled up without a bound.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sandbox_runner.broker.names import LIFE, ONCE, PART, PROOF, VERSION
from sandbox_runner.codec import decode, encode
from sandbox_runner.errors import WireError
from sandbox_runner.frames import TELL_BYTES, Rejected, Submit, Tell, ask_of, pack, parse, tell_of
from sandbox_runner.protocol import PROTOCOL_VERSION, Capabilities, Job

PART_BYTES = 512 << 10
"""A result goes in parts of at most this size; the broker takes 1 MiB at once."""
MOST_PARTS = TELL_BYTES // PART_BYTES
JOB_BYTES = 1_000_000
"""The largest job, so that it and its headers stay below what the broker takes at once."""
SMALL_BYTES = 64 << 10
"""The largest sign of life, progress or row."""
_PREFIX = 4


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life: who, since which start, the attempts in hand, what it can do, and whether it is stopping."""

    version: int
    runner: str
    life: str
    held: tuple[str, ...]
    capabilities: Capabilities
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which attempt at a job counts and which runner has it; attempt 0 stands for a job that shall never start."""

    attempt: int
    runner: str = ""


def written(value: object) -> bytes:
    """Write a dataclass of this module."""
    return json.dumps(encode(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def beat_of(body: bytes) -> Beat | int:
    """Read a sign of life; only the version's number where it is not ours. Raises WireError."""
    plain = _small(body)
    version = plain.get("version")
    if type(version) is int and version != PROTOCOL_VERSION:
        return version
    return decode(Beat, plain)


def assignment_of(body: bytes) -> Assignment:
    """Read an assignment. Raises WireError."""
    return decode(Assignment, _small(body))


def job_letter(job: Job, proof: str) -> tuple[bytes, dict[str, str]]:
    """Give a job's body and headers; its id is the attempt's.

    Raises:
        WireError: it is too large.
    """
    headers = {VERSION: str(PROTOCOL_VERSION), PROOF: proof, ONCE: job.id}
    return pack(Submit(job), JOB_BYTES)[_PREFIX:], headers


def job_of(body: bytes, headers: Mapping[str, str]) -> tuple[Job, str]:
    """Read a job and its proof.

    Raises:
        WireError: another version, or it does not decode.
    """
    version = headers.get(VERSION, "")
    if version != str(PROTOCOL_VERSION):
        message = f"the bot speaks version {version[:8]!r}, this runner version {PROTOCOL_VERSION}"
        raise WireError(message)
    ask = ask_of(parse(_sized(body, JOB_BYTES)))
    if not isinstance(ask, Submit):
        message = "a job was expected"
        raise WireError(message)
    return ask.job, headers.get(PROOF, "")


def end_letters(frame: bytes, attempt: str, proof: str, life: str) -> list[tuple[bytes, dict[str, str]]]:
    """Cut a frame (a result, or a refusal) into parts with their headers."""
    body = frame[_PREFIX:]
    pieces = [body[start : start + PART_BYTES] for start in range(0, len(body), PART_BYTES)]
    return [
        (
            piece,
            {PROOF: proof, LIFE: life, PART: f"{number}/{len(pieces)}", ONCE: f"{attempt}:{life}:{number}"},
        )
        for number, piece in enumerate(pieces, start=1)
    ]


def refusal_frame(rejected: Rejected) -> bytes:
    """Pack a refusal as a frame."""
    return pack(rejected, SMALL_BYTES)


def progress_of(body: bytes) -> Tell:
    """Read an event that is no end. Raises WireError."""
    return tell_of(_small(body))


@dataclass(slots=True)
class Parts:
    """The parts of one attempt's end as they come; those of another start of its runner begin anew."""

    life: str = ""
    total: int = 0
    pieces: list[bytes] = field(default_factory=list)

    def add(self, body: bytes, headers: Mapping[str, str]) -> Tell | None:
        """Add a part; give what was said once it is whole.

        Raises:
            WireError: a part that cannot be, or the whole does not decode.
        """
        number, total = _part(headers.get(PART, ""))
        life = headers.get(LIFE, "")[:64]
        _sized(body, PART_BYTES)
        if number == 1:
            self.life, self.total, self.pieces = life, total, []
        if (life, total, number) != (self.life, self.total, len(self.pieces) + 1):
            message = f"part {number} of {total} came where {len(self.pieces) + 1} of {self.total} was expected"
            raise WireError(message)
        self.pieces.append(body)
        if number < total:
            return None
        whole, self.pieces = b"".join(self.pieces), []
        return tell_of(parse(whole))


def _part(text: str) -> tuple[int, int]:
    number, _, total = text[:16].partition("/")
    if number.isascii() and number.isdigit() and total.isascii() and total.isdigit():
        found = int(number), int(total)
        if 1 <= found[0] <= found[1] <= MOST_PARTS:
            return found
    message = f"{text[:16]!r} names no part of at most {MOST_PARTS}"
    raise WireError(message)


def _small(body: bytes) -> dict[str, object]:
    return parse(_sized(body, SMALL_BYTES))


def _sized(body: bytes, most: int) -> bytes:
    if len(body) > most:
        message = f"{len(body)} bytes came where at most {most} were expected"
        raise WireError(message)
    return body
