"""Two bots, three runners, a broker, a database and the platform, each to be killed, frozen or cut off, and learners.

Law: a learner sends one job after the other and sees only the chat. What is counted is counted there.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from botapi.balancer import posting
from botapi.person import Person, seen
from botapi.server import serving
from botapi.world import Note, World
from chaos import partitions
from chaos.partitions import Network
from nats_server import NatsServer

FORKER = Path(__file__).with_name("forker.py")
BOTS = ("bot1", "bot2")
RUNNERS = ("r1", "r2", "r3")
MOST_RUNNING = 2
"""What the bot lets one learner have under way."""
ANSWER_S = 60.0
PATIENCE_S = 6.0
ASKED_AGAIN = ("عرض الرد من جديد", "إعادة المحاولة")
"""The buttons that the bot offers: a reply may not have arrived; no runner was there."""
SECURE = """
listen: "0.0.0.0:{port}"
tls {{ cert_file: "{folder}/cert.pem", key_file: "{folder}/key.pem" }}
jetstream {{ store_dir: "{folder}/store", sync_interval: always, max_mem: 64MB, max_file: 20GB }}
"""


@dataclass(slots=True)
class Stage:
    """Everything there is."""

    folder: Path
    world: World
    api: str
    server: NatsServer
    database: str
    forker: asyncio.subprocess.Process
    networks: dict[str, Network]
    pids: dict[str, int] = field(default_factory=dict)

    async def start(self, name: str) -> None:
        """Start a bot or a runner; of a bot, wait until it listens."""
        is_bot = name in BOTS
        port = self.folder / f"{name}.port"
        port.unlink(missing_ok=True)
        network = self.networks.get(name)
        call = {
            "kind": "bot" if is_bot else "runner",
            "name": name,
            "folder": str(self.folder),
            "broker": f"nats+tls://{network.here if network else '127.0.0.1'}:{self.server.port}",
            "authority": str(self.server.folder / "cert.pem"),
            "database": self.database,
            "api": self.api,
            "token": self.world.token,
            "network": network.path if network else "",
        }
        assert self.forker.stdin is not None
        assert self.forker.stdout is not None
        self.forker.stdin.write(json.dumps(call).encode() + b"\n")
        self.pids[name] = int(await self.forker.stdout.readline())
        async with asyncio.timeout(60):
            while is_bot and not port.exists():  # noqa: ASYNC110 - another process has no event here
                await asyncio.sleep(0.02)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a process a signal."""
        os.kill(self.pids[name], number)

    async def kill(self, name: str) -> None:
        """End a process as a power failure does."""
        self.signal(name, signal.SIGKILL)
        async with asyncio.timeout(10):
            while _lives(self.pids[name]):  # noqa: ASYNC110 - another process has no event here
                await asyncio.sleep(0.01)

    def doors(self) -> list[int]:
        """Give the ports at which bots listen."""
        places = (self.folder / f"{name}.port" for name in BOTS)
        return [int(place.read_text()) for place in places if place.exists()]

    def begun(self) -> int:
        """Count the runs that runners began."""
        places = (self.folder / f"{name}.begun" for name in RUNNERS)
        return sum(len(place.read_text().splitlines()) for place in places if place.exists())


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@asynccontextmanager
async def stage(folder: Path, database: str) -> AsyncIterator[Stage]:
    """Start everything, and take everything away."""
    async with AsyncExitStack() as stack:
        networks: dict[str, Network] = {}
        if not partitions.lacks():
            for name in RUNNERS:
                networks[name] = Network.made()
                stack.callback(networks[name].remove)
        place = folder / "nats"
        place.mkdir()
        _certified(place, ["127.0.0.1", *(network.here for network in networks.values())])
        server = NatsServer(place, SECURE)
        await server.start()
        stack.callback(server.kill)
        world = World()
        api = await stack.enter_async_context(serving(world))
        forker = await asyncio.create_subprocess_exec(
            sys.executable, str(FORKER), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        stack.push_async_callback(_ended, forker)
        assert forker.stdout is not None
        async with asyncio.timeout(90):
            assert await forker.stdout.readline() == b"ready\n"
        one = Stage(folder, world, api.url, server, database, forker, networks)
        for name in (*RUNNERS, *BOTS):
            await one.start(name)
        await stack.enter_async_context(posting(world, one.doors))
        yield one


async def _ended(forker: asyncio.subprocess.Process) -> None:
    assert forker.stdin is not None
    forker.stdin.close()
    await forker.wait()


def _certified(folder: Path, addresses: list[str]) -> None:
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"), "-days", "2", "-subj", "/CN=broker"]
    names = ",".join(f"IP:{address}" for address in addresses)
    subprocess.run([*words, "-addext", f"subjectAltName={names}"], check=True, capture_output=True)


# --- learners ---------------------------------------------------------------------------------------------------------


class Learner:
    """One learner, who sends jobs while `on` is true, at most two at a time, and reads what stands in the chat.

    Where the bot says that a reply may not have arrived, or that no runner is there, and an answer is missing for long,
    it is asked for `again`.
    """

    def __init__(self, world: World, number: int, chance: random.Random) -> None:
        self.person = Person(world, 1000 + number)
        self.sent = 0
        self.again: set[int] = set()
        self._number = number
        self._chance = chance

    def mark(self, job: int) -> str:
        """Give what a job prints."""
        return f"out-{self._number}-{job}."

    def answers(self, job: int) -> list[Note]:
        """Give the replies that show what a job printed."""
        return [note for note in self.person.screen() if self.mark(job) in seen(note.text)]

    def answered(self) -> int:
        """Count the jobs with an answer."""
        return sum(bool(self.answers(job)) for job in range(self.sent))

    async def work(self, on: Callable[[], bool]) -> None:
        """Send jobs, then wait for the last answers."""
        while on():
            shown = len(self.person.screen())
            code = f'import time\ntime.sleep({self._chance.uniform(0.05, 0.6):.2f})\nprint("{self.mark(self.sent)}")\n'
            self.person.send_code(code)
            self.sent += 1
            await self._until(lambda shown=shown: len(self.person.screen()) > shown)  # type: ignore[misc]
            await self._until(lambda: self.sent - self.answered() < MOST_RUNNING)
            await asyncio.sleep(self._chance.uniform(0.0, 0.3))
        await self._until(lambda: self.answered() == self.sent)

    async def _until(self, true: Callable[[], bool]) -> None:
        clock = asyncio.get_running_loop().time
        began = asked = clock()
        while not true():
            await asyncio.sleep(0.02)
            if clock() - asked > PATIENCE_S:
                asked = clock()
                self._ask_again()
            if clock() - began > ANSWER_S:
                missing = [job for job in range(self.sent) if not self.answers(job)]
                raise AssertionError(f"learner {self._number}: no answer to {missing}; {self._odd()}")

    def _odd(self) -> str:
        """Say what stands in the chat in place of an answer, with the buttons under it and what was pressed."""
        marks = [self.mark(job) for job in range(self.sent)]
        notes = [(note, seen(note.text)) for note in self.person.screen()]
        odd = [(note, text) for note, text in notes if not any(mark in text for mark in marks)]
        shown = [
            f"[{note.id}] {text[:300]!r} {[button['text'] for row in note.keyboard for button in row]}"
            for note, text in odd
        ]
        return f"asked again at {sorted(self.again)}; of {len(notes)} replies these answer nothing: " + "; ".join(shown)

    def _ask_again(self) -> None:
        """Press the newest offer to have something again that was not pressed yet."""
        for note in reversed(self.person.screen()):
            texts = {button["text"]: button for row in note.keyboard for button in row}
            offered = [button for text, button in texts.items() if any(words in text for words in ASKED_AGAIN)]
            if offered and note.id not in self.again:
                self.again.add(note.id)
                self.person.press_at(note, offered[0]["callback_data"])
                return
