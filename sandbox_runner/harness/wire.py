"""The inner end of the wire between the harness and its parent: frames in, frames out, over one descriptor.

Law: standard library only, and private references taken at import, before any of the learner's code has run.
A frame is two 4-byte big-endian lengths (header, payload), a UTF-8 JSON object, and raw payload bytes.
Every answer repeats the `nonce` of what was asked.
"""

import json
import os
import struct

MAX_HEADER = 1 << 20
MAX_PAYLOAD = 64 << 20

_read = os.read
_write = os.write
_LENGTHS = struct.Struct(">II")
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
_decode = json.JSONDecoder().decode
_view = memoryview
_CHUNK = 1 << 20


class HungUpError(Exception):
    """The parent closed its end: there is nobody left to answer."""


class Line:
    """The harness's end: `receive` what is asked, then `answer` it, one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def receive(self) -> dict[str, object]:
        """Wait for the next thing asked: its header, with at least `op` and `nonce`.

        Raises:
            HungUpError: the parent is gone.
            ValueError: the frame is over a cap or not a JSON object.
        """
        header_size, payload_size = _LENGTHS.unpack(self._exactly(_LENGTHS.size))
        if header_size > MAX_HEADER or payload_size:
            message = f"a header of {header_size} and a payload of {payload_size} bytes are more than is taken"
            raise ValueError(message)
        header = _decode(self._exactly(header_size).decode("utf-8"))
        if not isinstance(header, dict):
            message = f"an object was expected, not {type(header).__name__}"
            raise ValueError(message)  # noqa: TRY004 - what arrived is a bad value, whatever its type
        return header

    def answer(self, nonce: object, payload: bytes = b"", **fields: object) -> None:
        """Send one answer.

        Raises:
            ValueError: a figure is not finite, or the answer is over a cap.
            HungUpError: the parent is gone.
        """
        header = _encode({**fields, "nonce": nonce}).encode("utf-8")
        if len(header) > MAX_HEADER or len(payload) > MAX_PAYLOAD:
            message = f"a header of {len(header)} and a payload of {len(payload)} bytes are more than is sent"
            raise ValueError(message)
        self._send(_LENGTHS.pack(len(header), len(payload)) + header)
        if payload:
            self._send(payload)

    def _exactly(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = _read(self._descriptor, min(size, _CHUNK))
            if not part:
                message = "the parent closed its end"
                raise HungUpError(message)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _send(self, content: bytes) -> None:
        rest = _view(content)
        try:
            while rest:
                rest = rest[_write(self._descriptor, rest) :]
        except (BrokenPipeError, ConnectionResetError) as gone:
            raise HungUpError(str(gone)) from None
