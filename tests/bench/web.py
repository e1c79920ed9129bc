"""200 learners at once, reading and answering over WebSocket, beside a bare aiohttp server with the same frames.

Requests are counted per second of the server's own processor time (so: per core), for the real conversation on SQLite
and for a server that answers the same request frames with the same response frames and does nothing else.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType, web

from bot.adapters.web.serve import WebChat, WebSettings
from bot.app import App, SystemClock, SystemDice
from bot.codecheck import LimitedChild
from bot.stores import sqlite
from bot.testing import InstantRunner
from content.loader import load_course

LEARNERS = int(os.environ.get("TASREE_BENCH_LEARNERS", "200"))
READ, ANSWERED = 7, 6
ECHOED = 20
"""Times that the bare server goes the same way: it is too quick for the tick of the processor's clock otherwise."""
KEY = b"k" * 32
_NEXT = re.compile(r'data-press=\\"(1:go:[^"\\]+)\\">التالي')
_OPTION = re.compile(r'data-press=\\"(1:ans:[^:]+:[a-z][^"\\]*)\\"')


@dataclass(slots=True)
class Load:
    """What was measured of one server. Times in seconds."""

    requests: int = 0
    wall: float = 0.0
    processor: float = 0.0
    waits: list[float] = field(default_factory=list)

    def report(self) -> dict[str, float]:
        """Give the figures."""
        return {
            "requests": self.requests,
            "wall_s": round(self.wall, 2),
            "server_cpu_s": round(self.processor, 2),
            "requests_per_s": round(self.requests / self.wall, 1),
            "requests_per_s_per_core": round(self.requests / self.processor, 1),
            "wait_ms_p50": round(statistics.median(self.waits) * 1e3, 2),
            "wait_ms_p99": round(statistics.quantiles(self.waits, n=100)[98] * 1e3, 2),
        }


# --- the two servers, each a process of its own -----------------------------------------------------------------------


async def serve_conversation(folder: Path) -> None:
    """Serve the real thing: engine, course and SQLite; nothing is run."""
    path = folder / "bench.db"
    sqlite.migrate(path)
    dice, chat = SystemDice(), WebChat()
    store = sqlite.open_store(path, KEY, dice.identity)
    app = App(
        course=load_course(),
        store=store,
        runner=InstantRunner(),
        checker=LimitedChild(),
        clock=SystemClock(),
        dice=dice,
        chat=chat,
    )
    await app.start(adopt=False)
    await _listen(chat.app_for(app, WebSettings(KEY, per_s=1e6, burst=10**6)))


async def serve_echo(folder: Path) -> None:
    """Serve the recorded frames."""
    recorded: list[list[str]] = json.loads((folder / "recorded.json").read_text(encoding="utf-8"))

    async def socket(request: web.Request) -> web.WebSocketResponse:
        ws = web.WebSocketResponse(compress=False)
        await ws.prepare(request)
        step = 0
        async for _ in ws:
            for frame in recorded[step % len(recorded)]:
                await ws.send_str(frame)
            step += 1
        return ws

    app = web.Application()
    app.router.add_get("/socket", socket)
    await _listen(app)


async def _listen(app: web.Application) -> None:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


@asynccontextmanager
async def server(what: str, folder: Path) -> AsyncIterator[tuple[int, int]]:
    """Start one of the two; gives its process and its port."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, what, str(folder), stdout=subprocess.PIPE, limit=1 << 20
    )
    assert process.stdout is not None
    try:
        yield process.pid, int(await process.stdout.readline())
    finally:
        process.kill()
        await process.wait()


def processor_seconds(pid: int) -> float:
    """Give the user and system time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# --- the learners -----------------------------------------------------------------------------------------------------


def event_after(step: int, heard: str) -> dict[str, Any]:
    """Choose what a learner does: opens the lesson, reads, then answers."""
    if step == 0:
        return {"kind": "text", "text": "درس 1"}
    if step == 1:
        return {"kind": "press", "payload": "1:go:vectorise.needs:"}
    if step == READ:
        return {"kind": "press", "payload": "1:quiz:vectorise:"}
    found = (_NEXT if step < READ else _OPTION).findall(heard)
    return {"kind": "press", "payload": found[-1] if found else "1:cmd:next:"}


async def until_ack(socket: ClientWebSocketResponse) -> list[str]:
    """Hear everything up to the acknowledgement."""
    frames: list[str] = []
    while True:
        frame = await socket.receive()
        if frame.type is not WSMsgType.TEXT:
            message = f"the server closed with {frame.type}"
            raise RuntimeError(message)
        frames.append(frame.data)
        if frame.data.startswith('{"t":"ack"'):
            return frames


async def converse(
    socket: ClientWebSocketResponse, load: Load, choose: Callable[[int, str], dict[str, Any]], name: int
) -> list[list[str]]:
    """Go one learner's way; gives the frames of every step."""
    heard: list[list[str]] = [[""]]
    for step in range(READ + ANSWERED):
        event = choose(step, "".join(heard[-1]))
        start = time.perf_counter()
        await socket.send_str(json.dumps({"t": "send", "id": f"bench-{name:04}-{step:03}", "event": event}))
        heard.append(await until_ack(socket))
        load.waits.append(time.perf_counter() - start)
        load.requests += 1
    return heard[1:]


async def open_learner(port: int, *, real: bool) -> tuple[ClientSession, ClientWebSocketResponse]:
    """Connect a new learner."""
    origin = f"http://127.0.0.1:{port}"
    session = ClientSession(cookie_jar=CookieJar(unsafe=True), headers={"Origin": origin})
    if real:
        async with session.post(f"{origin}/enter") as answer:
            answer.raise_for_status()
    socket = await session.ws_connect(f"{origin}/socket", max_msg_size=0)
    if real:
        await socket.receive()
        await socket.send_str('{"t":"hello","since":0}')
        await socket.receive()
    return session, socket


async def measured(what: str, folder: Path) -> tuple[Load, list[list[str]]]:
    """Put the load on one server."""
    load = Load()
    async with server(what, folder) as (pid, port):
        learners = [await open_learner(port, real=what == "conversation") for _ in range(LEARNERS)]
        before, start = processor_seconds(pid), time.perf_counter()
        for _ in range(ECHOED if what == "echo" else 1):
            ways = await asyncio.gather(*(converse(ws, load, event_after, i) for i, (_, ws) in enumerate(learners)))
        load.wall = time.perf_counter() - start
        load.processor = processor_seconds(pid) - before
        for session, _ in learners:
            await session.close()
    return load, ways[0]


async def main() -> None:
    """Measure both and print the ratio."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        real, frames = await measured("conversation", folder)
        (folder / "recorded.json").write_text(json.dumps(frames), encoding="utf-8")
        bare, _ = await measured("echo", folder)
    per_core = [load.requests / load.processor for load in (real, bare)]
    result = {
        "benchmark": "web",
        "learners": LEARNERS,
        "response_bytes_mean": round(statistics.mean(len("".join(step).encode()) for step in frames)),
        "conversation": real.report(),
        "bare_echo": bare.report(),
        "ratio_requests_per_s_per_core": round(per_core[0] / per_core[1], 4),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["conversation", where]:
            asyncio.run(serve_conversation(Path(where)))
        case ["echo", where]:
            asyncio.run(serve_echo(Path(where)))
        case _:
            asyncio.run(main())
