"""Figures in Prometheus' text format, and the small server that shows them and says how a process is (`GET /health`).

Law: GET alone, of the pages given and no other; a caller that is slow, large or gone leaves it standing.
Format: https://prometheus.io/docs/instrumenting/exposition_formats/, text version 0.0.4.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from sandbox_runner.errors import SetupError

BUCKETS_S = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_MOST_BYTES = 8192
_PATIENCE_S = 5.0
_FORM = "text/plain; version=0.0.4; charset=utf-8"

Page = Callable[[], tuple[bool, str]]
"""Gives whether all is well (else the answer is 503), and the text."""


def head(name: str, what: str, kind: str) -> tuple[str, str]:
    """Give the two lines that stand before a figure."""
    return f"# HELP {name} {what}", f"# TYPE {name} {kind}"


def line(name: str, value: float, **labels: str) -> str:
    """Give one figure with its labels."""
    told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{told}}} {value}" if told else f"{name} {value}"


@dataclass(slots=True)
class Histogram:
    """How long something took, in seconds, by one label's value."""

    bounds: tuple[float, ...] = BUCKETS_S
    _in: dict[tuple[str, float], int] = field(default_factory=dict)
    _sum: dict[str, float] = field(default_factory=dict)

    def add(self, kind: str, took_s: float) -> None:
        """Count one."""
        bound = next((most for most in self.bounds if took_s <= most), float("inf"))
        self._in[kind, bound] = self._in.get((kind, bound), 0) + 1
        self._sum[kind] = self._sum.get(kind, 0.0) + took_s

    def lines(self, name: str, label: str) -> Iterator[str]:
        """Write it, each bucket with those below it."""
        for kind in sorted(self._sum):
            count = 0
            for most in (*self.bounds, float("inf")):
                count += self._in.get((kind, most), 0)
                shown_as = "+Inf" if most == float("inf") else f"{most:g}"
                yield line(f"{name}_bucket", count, **{label: kind, "le": shown_as})
            yield line(f"{name}_sum", round(self._sum[kind], 6), **{label: kind})
            yield line(f"{name}_count", count, **{label: kind})


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def alive() -> tuple[bool, str]:
    """Say that the process turns: who can answer this lives."""
    return True, "ok\n"


@asynccontextmanager
async def shown(host: str, port: int, pages: Mapping[str, Page]) -> AsyncIterator[int]:
    """While it lasts, answer `GET` of each page; gives the port.

    Raises:
        SetupError: when the address cannot be had.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_PATIENCE_S):
                asked = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0]
                writer.write(_answer(asked, pages))
                await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, host, port, limit=_MOST_BYTES)
    except OSError as fault:
        message = f"cannot show figures on {host}:{port}: {fault.strerror or fault}"
        raise SetupError(message) from None
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


def _answer(asked: bytes, pages: Mapping[str, Page]) -> bytes:
    words = asked.split(b" ")[:2]
    page = pages.get(words[1].decode("ascii", "replace")) if words[0] == b"GET" and len(words) > 1 else None
    if page is None:
        status, body = "404 Not Found", f"GET {', '.join(pages)}\n"
    else:
        well, body = page()
        status = "200 OK" if well else "503 Service Unavailable"
    raw = body.encode()
    first = f"HTTP/1.1 {status}\r\nContent-Type: {_FORM}\r\nContent-Length: {len(raw)}\r\nConnection: close\r\n\r\n"
    return first.encode() + raw
