"""The outer end of the wire to a harness: ask, wait, and believe nothing but bytes that fit.

Law: whatever arrives was written where a stranger's code ran. Lengths are capped before anything is read, the
header is strict JSON of bounded figures, and an answer that does not repeat the nonce is `Tampered`.
The frame is described in `sandbox_runner/harness/wire.py`.
"""

import asyncio
import json
import math
import secrets
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

MAX_HEADER = 1 << 20
MAX_PAYLOAD = 64 << 20
_LENGTHS = struct.Struct(">II")
_LONGEST_NUMBER = 24
_CHUNK = 1 << 20


class Tampered(Exception):  # noqa: N818 - the name of an ending, not a fault of ours
    """What arrived is not what a harness says: garbage, another nonce, a figure out of all bounds."""


class HungUp(Exception):  # noqa: N818 - says what happened; why is for the wait status to tell
    """The other end closed before it answered: its process ended, or closed the descriptor."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its header without the nonce, its payload, and the wall time from asking to the last byte, in ns."""

    header: dict[str, object]
    payload: bytes
    wall_ns: int


class Channel:
    """The parent's end of one harness. Owns `sock` (made non-blocking) from here on; `close` ends it.

    `clock` gives ns of a clock that never goes back; `nonce` a word that cannot be guessed.
    """

    def __init__(
        self,
        sock: socket.socket,
        *,
        clock: Callable[[], int] = time.perf_counter_ns,
        nonce: Callable[[], str] = lambda: secrets.token_hex(16),
        max_payload: int = MAX_PAYLOAD,
    ) -> None:
        sock.setblocking(False)  # noqa: FBT003 - the library's own shape
        self._sock = sock
        self._clock = clock
        self._nonce = nonce
        self._max_payload = max_payload
        self._broken = ""

    async def ask(self, op: str, *, timeout: float, **fields: object) -> Reply:  # noqa: ASYNC109 - the job's limit
        """Ask for `op` and wait at most `timeout` seconds for the answer.

        After any error the channel is of no more use: the two ends no longer agree on what was asked.

        Raises:
            Tampered: the answer is not one a harness gives.
            HungUp: the other end closed, or the channel broke before.
            TimeoutError: no whole answer came in time.
            ValueError: what is asked is over the cap.
        """
        if self._broken:
            message = f"the channel broke before: {self._broken}"
            raise HungUp(message)
        nonce = self._nonce()
        header = json.dumps({**fields, "op": op, "nonce": nonce}, allow_nan=False).encode("utf-8")
        if len(header) > MAX_HEADER:
            message = f"{op}: a header of {len(header)} bytes is over {MAX_HEADER}"
            raise ValueError(message)
        self._broken = f"{op} was not answered"
        async with asyncio.timeout(timeout):
            begin = self._clock()
            await self._send(_LENGTHS.pack(len(header), 0) + header)
            header_size, payload_size = _LENGTHS.unpack(await self._exactly(_LENGTHS.size))
            if header_size > MAX_HEADER or payload_size > self._max_payload:
                _tampered(f"{op}: a header of {header_size} and a payload of {payload_size} bytes are over the caps")
            answer = await self._exactly(header_size)
            payload = await self._exactly(payload_size)
            end = self._clock()
        said = parse_header(answer)
        if said.pop("nonce", None) != nonce:
            _tampered(f"{op}: the answer does not repeat the nonce")
        self._broken = ""
        return Reply(header=said, payload=payload, wall_ns=end - begin)

    def close(self) -> None:
        """Close this end; the harness, if it still lives, sees the line go dead."""
        self._broken = self._broken or "it was closed"
        self._sock.close()

    async def _send(self, content: bytes) -> None:
        try:
            await asyncio.get_running_loop().sock_sendall(self._sock, content)
        except OSError as gone:
            raise HungUp(str(gone)) from None

    async def _exactly(self, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        parts: list[bytes] = []
        while size:
            try:
                part = await loop.sock_recv(self._sock, min(size, _CHUNK))
            except OSError as gone:
                raise HungUp(str(gone)) from None
            if not part:
                message = "the other end closed"
                raise HungUp(message)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def parse_header(content: bytes) -> dict[str, object]:
    """Read a header strictly: one UTF-8 JSON object, no key twice, no number that is not finite or absurdly long.

    Raises:
        Tampered: naming what was wrong.
    """
    try:
        header = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=_once,
            parse_float=_finite,
            parse_int=_short,
            parse_constant=_constant,
        )
    except (ValueError, RecursionError) as wrong:
        message = f"the header is not JSON: {wrong}"
        raise Tampered(message) from None
    if not isinstance(header, dict):
        _tampered(f"the header is a {type(header).__name__}, not an object")
    return header


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    header = dict(pairs)
    if len(header) != len(pairs):
        _tampered("the header gives a key twice")
    return header


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _tampered(f"{text[:_LONGEST_NUMBER]} is not a finite number")
    return value


def _short(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        _tampered(f"a number of {len(text)} digits")
    return int(text)


def _constant(text: str) -> NoReturn:
    _tampered(f"{text} is not a finite number")


def _tampered(message: str) -> NoReturn:
    raise Tampered(message)
