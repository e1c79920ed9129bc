"""What travels on the wire: length-prefixed JSON frames and the closed list of what the two ends say.

Law: nothing is read before its size is known and allowed, and nothing is used before it decodes strictly.
A frame is four bytes (the body's length, big-endian) and that many bytes of UTF-8 JSON: an object whose `say` names
one of the dataclasses below and whose other keys are its fields.
"""

import asyncio
import json
import struct
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import NoReturn

from sandbox_runner.codec import Json, decode, encode
from sandbox_runner.errors import WireError
from sandbox_runner.protocol import PROTOCOL_VERSION, Accepted, Capabilities, Event, Finished, Job, Progress

HELLO_BYTES = 4 << 10
"""The largest frame before the secret is known to be right."""
ASK_BYTES = 1 << 20
"""The largest frame a bot may send."""
TELL_BYTES = 32 << 20
"""The largest frame a runner may send: a result with its files."""
THREAD_BYTES = 256 << 10
"""Above this, JSON is read in a thread, so that one large result does not hold up the other jobs."""
BODY_S = 30.0
"""A body follows its length within this many seconds, or the connection ends (slow loris)."""

_LENGTH = struct.Struct(">I")
_HIGHEST_VERSION = 1 << 31


class Refusal(StrEnum):
    """Why a runner closes a connection or does not take a job."""

    BAD_SECRET = "bad_secret"  # noqa: S105 - a code, not a secret
    BAD_VERSION = "bad_version"
    BAD_FRAME = "bad_frame"
    TOO_SLOW = "too_slow"
    TOO_MANY = "too_many"
    BAD_JOB = "bad_job"
    ID_CONFLICT = "id_conflict"
    UNSUPPORTED = "unsupported"
    STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Hello:
    """The first frame of a bot. Only `version` is read when the versions differ."""

    version: int
    secret: str


@dataclass(frozen=True, slots=True)
class Submit:
    """Run this job, or attach to it when its id is known."""

    job: Job


@dataclass(frozen=True, slots=True)
class Cancel:
    """End this job; when its id is not known yet, it shall never start."""

    job_id: str


@dataclass(frozen=True, slots=True)
class Ping:
    """Ask for a sign of life."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """The secret and the version are right; this is what the runner can do."""

    capabilities: Capabilities


@dataclass(frozen=True, slots=True)
class Refused:
    """The connection ends now, and why. `ours` and `yours` are protocol versions."""

    code: Refusal
    detail: str = ""
    ours: int = PROTOCOL_VERSION
    yours: int = 0


@dataclass(frozen=True, slots=True)
class Rejected:
    """Say that a job is not taken; the connection goes on."""

    job_id: str
    code: Refusal
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ToldAccepted:
    """An event of a job: its place in the queue."""

    job_id: str
    event: Accepted


@dataclass(frozen=True, slots=True)
class ToldProgress:
    """An event of a job: what it is doing."""

    job_id: str
    event: Progress


@dataclass(frozen=True, slots=True)
class ToldFinished:
    """The last event of a job."""

    job_id: str
    event: Finished


@dataclass(frozen=True, slots=True)
class Pong:
    """Give a sign of life."""


Ask = Submit | Cancel | Ping
Told = ToldAccepted | ToldProgress | ToldFinished
Tell = Welcome | Refused | Rejected | Told | Pong
Said = Hello | Ask | Tell

ASKS: dict[str, type[Ask]] = {"submit": Submit, "cancel": Cancel, "ping": Ping}
TELLS: dict[str, type[Tell]] = {
    "welcome": Welcome,
    "refused": Refused,
    "rejected": Rejected,
    "accepted": ToldAccepted,
    "progress": ToldProgress,
    "finished": ToldFinished,
    "pong": Pong,
}
_NAMES: dict[type[Said], str] = {
    Hello: "hello",
    **{kind: name for name, kind in ASKS.items()},
    **{kind: name for name, kind in TELLS.items()},
}


def told(job_id: str, event: Event) -> Told:
    """Wrap an event of a job for the wire."""
    match event:
        case Accepted():
            return ToldAccepted(job_id, event)
        case Progress():
            return ToldProgress(job_id, event)
        case Finished():
            return ToldFinished(job_id, event)


def pack(said: Said, cap: int) -> bytes:
    """Turn what is said into one frame.

    Raises:
        WireError: the body would be larger than `cap` bytes.
    """
    body: dict[str, Json] = {"say": _NAMES[type(said)]}
    body.update((field.name, encode(getattr(said, field.name))) for field in fields(said))
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except UnicodeEncodeError:  # a lone surrogate: escaped, so that the other end can refuse it by name
        text = json.dumps(body, separators=(",", ":"), allow_nan=False).encode()
    if len(text) > cap:
        message = f"a frame of {len(text)} bytes is larger than the {cap} allowed"
        raise WireError(message)
    return _LENGTH.pack(len(text)) + text


async def read_body(reader: asyncio.StreamReader, cap: int, body_s: float = BODY_S) -> dict[str, Json]:
    """Read one frame and return its JSON object.

    Waits for as long as nothing comes; once a length has come, its body must follow within `body_s` seconds.

    Raises:
        EOFError: the other end has closed, between two frames or within one.
        WireError: the body is larger than `cap` or too slow, or it is not a JSON object.
    """
    first = await reader.read(1)
    if not first:
        raise EOFError
    try:
        async with asyncio.timeout(body_s):
            (length,) = _LENGTH.unpack(first + await reader.readexactly(_LENGTH.size - 1))
            if not 0 < length <= cap:
                message = f"a frame of {length} bytes was announced; 1 to {cap} are allowed"
                raise WireError(message)
            body = await reader.readexactly(length)
    except TimeoutError:
        message = f"a frame did not arrive whole within {body_s:g} s"
        raise WireError(message) from None
    if length > THREAD_BYTES:
        return await asyncio.to_thread(parse, body)
    return parse(body)


def parse(body: bytes) -> dict[str, Json]:
    """Read strict JSON: UTF-8, one object, no key twice, no NaN or Infinity.

    Raises:
        WireError: naming what is wrong.
    """
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant, object_pairs_hook=_no_doubles)
    except UnicodeDecodeError as fault:
        message = f"byte {fault.start} of a frame is not UTF-8"
        raise WireError(message) from None
    except (ValueError, RecursionError) as fault:
        message = f"a frame is not JSON: {str(fault)[:120]}"
        raise WireError(message) from None
    if not isinstance(value, dict):
        message = f"a frame holds a {type(value).__name__}, not an object"
        raise WireError(message)
    return value


def ask_of(body: dict[str, Json]) -> Ask:
    """Build what a bot says after its hello. Raises WireError."""
    return decode(_kind_of(body, ASKS), _without_say(body))


def tell_of(body: dict[str, Json]) -> Tell:
    """Build what a runner says. Raises WireError."""
    return decode(_kind_of(body, TELLS), _without_say(body))


def hello_of(body: dict[str, Json]) -> Hello | int:
    """Build a bot's first frame; only the version's number where it is not ours. Raises WireError."""
    version = body.get("version")
    if body.get("say") != "hello" or type(version) is not int or not 0 <= version <= _HIGHEST_VERSION:
        message = "the first frame is not a hello with a version"
        raise WireError(message)
    return decode(Hello, _without_say(body)) if version == PROTOCOL_VERSION else version


def _kind_of(body: dict[str, Json], kinds: dict[str, type]) -> type:
    say = body.get("say")
    kind = kinds.get(say) if isinstance(say, str) else None
    if kind is None:
        message = f"$.say: {repr(say)[:80]} is none of {', '.join(kinds)}"
        raise WireError(message)
    return kind


def _without_say(body: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in body.items() if key != "say"}


def _no_constant(name: str) -> NoReturn:
    message = f"{name} is not a number of JSON"
    raise ValueError(message)


def _no_doubles(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    built = dict(pairs)
    if len(built) != len(pairs):
        message = "an object has a key twice"
        raise ValueError(message)
    return built
