"""The runner's end of the wire: connections, the handshake, what bots ask and what they are told.

Law: a connection holds little until its secret is known to be right, is never waited for without end, and its loss
ends no job.
"""

import asyncio
import hashlib
import hmac
from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from sandbox_runner.dispatch import Dispatcher
from sandbox_runner.errors import WireError
from sandbox_runner.frames import (
    ASK_BYTES,
    BODY_S,
    HELLO_BYTES,
    TELL_BYTES,
    Ask,
    Cancel,
    Ping,
    Pong,
    Refusal,
    Refused,
    Rejected,
    Submit,
    Welcome,
    ask_of,
    hello_of,
    pack,
    read_body,
)
from sandbox_runner.journal import Journal, where
from sandbox_runner.protocol import PROTOCOL_VERSION
from sandbox_runner.runs import Run

OUTBOX = 256
"""With so many things to tell a bot, nothing more is read from it until it has listened."""

FLUSH_S = 2.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a connection is waited for, in seconds, and how many there may be."""

    handshake_s: float = 5.0
    body_s: float = BODY_S
    idle_s: float = 90.0
    write_s: float = 30.0
    strangers: int = 64
    bots: int = 64


class Outbox:
    """What a bot has still to be told: runs with news, and answers. It is a watcher of runs."""

    def __init__(self) -> None:
        self._dirty: OrderedDict[str, Run] = OrderedDict()
        self._seen: dict[str, tuple[Run, int]] = {}
        self._answers: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def touch(self, run: Run) -> None:
        """Hear that a run has news, or is attached to once more and wants telling from the start."""
        self._dirty[run.job.id] = run
        self._changed()

    def attach(self, job_id: str) -> None:
        """Forget what was told of a job: whoever submits it (again) hears it from its place in the queue on."""
        self._seen.pop(job_id, None)

    def answer(self, tell: Rejected | Pong) -> None:
        """Tell something that is no run's news."""
        self._answers.append(pack(tell, ASK_BYTES))
        self._changed()

    async def room(self) -> None:
        """Wait until the bot has listened to enough."""
        await self._room.wait()

    async def take(self) -> list[bytes]:
        """Wait for something to tell, and take some of it out."""
        await self._wake.wait()
        frames: list[bytes] = []
        while self._answers:
            frames.append(self._answers.popleft())
        if self._dirty:
            job_id, run = self._dirty.popitem(last=False)
            known, seen = self._seen.get(job_id, (run, 0))
            news, seen = run.news(seen if known is run else 0)
            frames += news
            if run.ending is None:
                self._seen[job_id] = (run, seen)
            else:
                self._seen.pop(job_id, None)
                run.watchers.discard(self)
        self._changed()
        return frames

    @property
    def empty(self) -> bool:
        """Whether everything was handed to the connection."""
        return not self._wake.is_set()

    def leave(self) -> None:
        """Watch nothing any more; the runs go on."""
        for run, _ in tuple(self._seen.values()):
            run.watchers.discard(self)
        for run in self._dirty.values():
            run.watchers.discard(self)
        self._dirty.clear()

    def _changed(self) -> None:
        waiting = len(self._answers) + len(self._dirty)
        (self._wake.set if waiting else self._wake.clear)()
        (self._room.clear if waiting >= OUTBOX else self._room.set)()


class Daemon:
    """Serves connections; one of them carries many jobs."""

    def __init__(self, dispatcher: Dispatcher, secret: str, journal: Journal, patience: Patience | None = None) -> None:
        self._dispatcher = dispatcher
        self._secret = _digest(secret)
        self._journal = journal
        self._patience = patience or Patience()
        self._strangers: OrderedDict[asyncio.StreamWriter, None] = OrderedDict()
        self._bots: dict[asyncio.StreamWriter, Outbox] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._stopping = False

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection to its end; for `asyncio.start_server` and `start_unix_server`."""
        task = asyncio.current_task()
        if task is None or self._stopping:
            writer.transport.abort()
            return
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, TimeoutError):
            pass  # it is gone, or does not listen
        except asyncio.CancelledError:
            if not self._stopping:
                raise
        except Exception as fault:  # noqa: BLE001 - one connection's fault must not be another's
            self._journal.note("fault", fault=where(fault))
        finally:
            self._tasks.discard(task)
            self._strangers.pop(writer, None)
            self._bots.pop(writer, None)
            (writer.transport.abort if self._stopping else writer.close)()

    async def close(self) -> None:
        """Tell what can be told within two seconds, then end every connection."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_S):
                while any(  # noqa: ASYNC110 - as said below
                    not outbox.empty or _unsent(writer) for writer, outbox in self._bots.items()
                ):
                    await asyncio.sleep(0.01)  # a transport's buffer has no event to wait for
        self._stopping = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the transports' own last callbacks

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._strangers[writer] = None
        if len(self._strangers) > self._patience.strangers:
            # The oldest goes rather than the newest, so that connections held open idly keep no bot out.
            oldest, _ = self._strangers.popitem(last=False)
            oldest.transport.abort()
        refused = await self._greet(reader)
        self._strangers.pop(writer, None)
        if refused is None and len(self._bots) >= self._patience.bots:
            refused = Refused(Refusal.TOO_MANY)
        if refused is not None:
            await self._refuse(writer, refused)
            return
        outbox = self._bots[writer] = Outbox()
        writer.write(pack(Welcome(self._dispatcher.capabilities), TELL_BYTES))
        telling = asyncio.create_task(self._tell(writer, outbox))
        try:
            await self._listen(reader, outbox)
        except WireError as fault:
            await self._refuse(writer, Refused(Refusal.BAD_FRAME, str(fault)))
        finally:
            telling.cancel()
            outbox.leave()

    async def _greet(self, reader: asyncio.StreamReader) -> Refused | None:
        """Read the hello; say why the connection must end, if it must."""
        try:
            async with asyncio.timeout(self._patience.handshake_s):
                hello = hello_of(await read_body(reader, HELLO_BYTES, self._patience.handshake_s))
        except TimeoutError:
            return Refused(Refusal.TOO_SLOW)
        except WireError as fault:
            return Refused(Refusal.BAD_FRAME, _without_values(str(fault)))
        if isinstance(hello, int):
            detail = f"this runner speaks version {PROTOCOL_VERSION}, the bot version {hello}"
            return Refused(Refusal.BAD_VERSION, detail, yours=hello)
        if not hmac.compare_digest(_digest(hello.secret), self._secret):
            return Refused(Refusal.BAD_SECRET)
        return None

    async def _refuse(self, writer: asyncio.StreamWriter, refused: Refused) -> None:
        self._journal.note("refused", code=refused.code, at=_without_values(refused.detail))
        writer.write(pack(refused, TELL_BYTES))
        async with asyncio.timeout(self._patience.write_s):
            await writer.drain()

    async def _listen(self, reader: asyncio.StreamReader, outbox: Outbox) -> None:
        while True:
            await outbox.room()
            async with asyncio.timeout(self._patience.idle_s):
                body = await read_body(reader, ASK_BYTES, self._patience.body_s)
            self._answer(ask_of(body), outbox)

    def _answer(self, ask: Ask, outbox: Outbox) -> None:
        match ask:
            case Submit(job):
                outbox.attach(job.id)
                rejected = self._dispatcher.submit(job, outbox)
                if rejected is not None:
                    self._journal.note("rejected", code=rejected.code, at=_without_values(rejected.detail))
                    outbox.answer(rejected)
            case Cancel(job_id):
                self._dispatcher.cancel(job_id)
            case Ping():
                outbox.answer(Pong())
            case _:
                assert_never(ask)

    async def _tell(self, writer: asyncio.StreamWriter, outbox: Outbox) -> None:
        try:
            while True:
                for frame in await outbox.take():
                    writer.write(frame)
                async with asyncio.timeout(self._patience.write_s):
                    await writer.drain()
        except (OSError, TimeoutError):
            writer.transport.abort()  # it does not listen: reading ends with it


def _unsent(writer: asyncio.StreamWriter) -> bool:
    return not writer.transport.is_closing() and writer.transport.get_write_buffer_size() > 0


def _digest(secret: str) -> bytes:
    """Hash a secret, so that comparing takes as long whatever its length."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _without_values(detail: str) -> str:
    """Keep what was sent, perhaps a mistyped secret or a learner's code, out of logs and a stranger's answer."""
    return detail.split(":", 1)[0][:120]
