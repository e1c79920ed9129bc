"""A runner's figures in Prometheus' text format, on an address that a setting names (`GET /metrics`).

Law: figures and codes only: no learner, no job's id, nothing of a snippet. Off unless the setting is given.
Format: https://prometheus.io/docs/instrumenting/exposition_formats/, text version 0.0.4.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress

from sandbox_runner.errors import SetupError
from sandbox_runner.journal import Journal
from sandbox_runner.protocol import Capabilities

BUCKETS_S = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_MOST_BYTES = 8192
_PATIENCE_S = 5.0
_FORM = "text/plain; version=0.0.4; charset=utf-8"


class Tally(Journal):
    """A journal that also counts what is noted in it. `clock` gives seconds."""

    def __init__(self, inner: Journal, clock: Callable[[], float]) -> None:
        self._inner = inner
        self._clock = clock
        self._since: dict[str, float] = {}
        self.ended: Counter[tuple[str, str]] = Counter()
        """Runs by kind and ending."""
        self.buckets: Counter[tuple[str, float]] = Counter()
        """Answers by kind and the least bucket that holds them."""
        self.took_s: Counter[str] = Counter()
        self.faults = 0

    def note(self, event: str, **values: str | float | bool | None) -> None:
        """Write one line, and count."""
        self._inner.note(event, **values)
        job = str(values.get("job", ""))
        match event:
            case "accepted":
                self._since[job] = self._clock()
            case "fault":
                self.faults += 1
            case "finished":
                kind = str(values["kind"])
                self.ended[kind, str(values["ending"])] += 1
                since = self._since.pop(job, None)
                if since is not None:
                    took = self._clock() - since
                    self.took_s[kind] += took  # type: ignore[assignment]
                    self.buckets[kind, next((most for most in BUCKETS_S if took <= most), float("inf"))] += 1

    def learner(self, learner: str) -> str:
        """Hash a learner for a line."""
        return self._inner.learner(learner)

    def oldest_s(self) -> float:
        """Give the age of the oldest job that has no answer yet."""
        return max((self._clock() - since for since in self._since.values()), default=0.0)


def as_text(able: Capabilities, counts: dict[str, int], tally: Tally) -> str:
    """Write everything."""
    return "\n".join((*_gauges(able, counts, tally), *_counters(tally), *_histogram(tally))) + "\n"


def _gauges(able: Capabilities, counts: dict[str, int], tally: Tally) -> Iterator[str]:
    for name, what, value in (
        ("queued", "Jobs that wait.", counts["queued"]),
        ("running", "Jobs that run.", counts["running"]),
        ("slots", "Jobs that may run at once.", able.slots),
        ("oldest_job_seconds", "Age of the oldest job without an answer.", round(tally.oldest_s(), 3)),
        ("noise_ratio", "Spread of one block on equal work (A/A); 0 while it was not measured.", able.noise),
    ):
        yield from _head(name, what, "gauge")
        yield f"tasree_runner_{name} {value}"
    yield from _head(
        "wall_stands", "Whether a wall stands, as proven from inside; warm_start: a warm parent is kept.", "gauge"
    )
    for wall in able.walls:
        matters = str(wall.matters).lower()
        yield f'tasree_runner_wall_stands{{wall="{_escaped(wall.name)}",matters="{matters}"}} {int(wall.stands)}'
    yield from _head("device", "The devices that jobs may ask for.", "gauge")
    yield from (f'tasree_runner_device{{device="{device.value}"}} 1' for device in able.devices)


def _counters(tally: Tally) -> Iterator[str]:
    yield from _head("faults_total", "Faults of the runner's own.", "counter")
    yield f"tasree_runner_faults_total {tally.faults}"
    yield from _head("runs_total", "Runs that ended, by kind and ending.", "counter")
    for (kind, ending), count in sorted(tally.ended.items()):
        yield f'tasree_runner_runs_total{{kind="{_escaped(kind)}",ending="{_escaped(ending)}"}} {count}'


def _histogram(tally: Tally) -> Iterator[str]:
    yield from _head("answer_seconds", "From a job's acceptance to its result.", "histogram")
    for kind in sorted({kind for kind, _ in tally.buckets}):
        count = 0
        for most in (*BUCKETS_S, float("inf")):
            count += tally.buckets[kind, most]
            shown = "+Inf" if most == float("inf") else f"{most:g}"
            yield f'tasree_runner_answer_seconds_bucket{{kind="{_escaped(kind)}",le="{shown}"}} {count}'
        yield f'tasree_runner_answer_seconds_sum{{kind="{_escaped(kind)}"}} {tally.took_s[kind]:.6f}'
        yield f'tasree_runner_answer_seconds_count{{kind="{_escaped(kind)}"}} {count}'


def _head(name: str, what: str, kind: str) -> tuple[str, str]:
    return f"# HELP tasree_runner_{name} {what}", f"# TYPE tasree_runner_{name} {kind}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


@asynccontextmanager
async def shown(host: str, port: int, give: Callable[[], str]) -> AsyncIterator[int]:
    """While it lasts, answer `GET /metrics` with what `give` gives and `GET /health` with `ok`; gives the port.

    Raises:
        SetupError: when the address cannot be had.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(_PATIENCE_S):
                asked = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0]
                writer.write(_answer(asked, give))
                await writer.drain()
        writer.close()

    try:
        server = await asyncio.start_server(answer, host, port, limit=_MOST_BYTES)
    except OSError as fault:
        message = f"cannot show metrics on {host}:{port}: {fault.strerror or fault}"
        raise SetupError(message) from None
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


def _answer(asked: bytes, give: Callable[[], str]) -> bytes:
    match asked.split(b" ")[:2]:
        case [b"GET", b"/metrics"]:
            status, body = "200 OK", give()
        case [b"GET", b"/health"]:
            status, body = "200 OK", "ok\n"
        case _:
            status, body = "404 Not Found", "GET /metrics or /health\n"
    raw = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {_FORM}\r\nContent-Length: {len(raw)}\r\nConnection: close\r\n\r\n"
    return head.encode() + raw
