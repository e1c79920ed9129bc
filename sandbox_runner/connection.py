"""The bot's end of one connection to a runner: open it, send on it, and hand what comes to whoever waits for it.

Law: a runner's host runs strangers' code, so what comes from it is untrusted: sized, decoded strictly, never piled up.
"""

import asyncio
import re
import ssl
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.errors import AuthError, JobRefusedError, RunnerError, UnavailableError, WireError
from sandbox_runner.frames import (
    ASK_BYTES,
    TELL_BYTES,
    Ask,
    Hello,
    Ping,
    Pong,
    Refusal,
    Refused,
    Rejected,
    Tell,
    Told,
    ToldFinished,
    Welcome,
    pack,
    read_body,
    tell_of,
)
from sandbox_runner.protocol import PROTOCOL_VERSION, Accepted, Capabilities, Event, Finished, Progress

CONNECT_S = 10.0
PING_S = 20.0
_TLS_ADDRESS = re.compile(r"tls://(?P<host>[^\s/:]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a runner listens: a Unix socket's `path`, or `host` and `port` for TLS with `authority` to trust."""

    path: Path | None = None
    host: str = ""
    port: int = 0
    authority: Path | None = None


def address_of(text: str, authority: Path | None = None) -> Address:
    """Read `unix:PATH`, an absolute path, or `tls://HOST:PORT`; `authority` is a PEM file to trust beside no other.

    Raises:
        ValueError: naming the value and what would be right.
    """
    path = text.removeprefix("unix:")
    if path.startswith("/"):
        return Address(path=Path(path))
    found = _TLS_ADDRESS.fullmatch(text)
    if found is None or not 0 < int(found["port"]) <= 65_535:  # noqa: PLR2004 - the largest port there is
        message = f"{text!r} is not a runner's address: unix:/PATH or tls://HOST:PORT"
        raise ValueError(message)
    return Address(host=found["host"].strip("[]"), port=int(found["port"]), authority=authority)


class Inbox:
    """What came for one job and was not read yet; a newer event of a sort replaces an unread older one."""

    def __init__(self, job_id: str) -> None:
        self.job_id = job_id
        self._events: deque[Event] = deque()
        self._fault: Exception | None = None
        self._wake = asyncio.Event()

    def put(self, event: Event) -> None:
        """Add an event."""
        if isinstance(event, Accepted | Progress):
            self._events = deque(old for old in self._events if type(old) is not type(event))
        self._events.append(event)
        self._wake.set()

    def fail(self, fault: Exception) -> None:
        """Say that nothing more comes, and why."""
        self._fault = self._fault or fault
        self._wake.set()

    async def get(self) -> Event:
        """Wait for the next event. Raises what `fail` was given once all events were read."""
        while not self._events:
            if self._fault is not None:
                raise self._fault
            self._wake.clear()
            await self._wake.wait()
        return self._events.popleft()


class Connection:
    """One open connection, past its handshake."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, capabilities: Capabilities) -> None:
        self.capabilities = capabilities
        self._reader = reader
        self._writer = writer
        self._inboxes: dict[str, set[Inbox]] = {}
        self._heard = asyncio.Event()
        self._fault: Exception | None = None
        self._tasks = (asyncio.create_task(self._listen()), asyncio.create_task(self._keep_alive()))

    @property
    def alive(self) -> bool:
        """Whether it still carries anything."""
        return self._fault is None and not self._writer.is_closing()

    def attach(self, job_id: str) -> Inbox:
        """Open an inbox for a job's events."""
        inbox = Inbox(job_id)
        if self._fault is not None:
            inbox.fail(self._fault)
        self._inboxes.setdefault(job_id, set()).add(inbox)
        return inbox

    def detach(self, inbox: Inbox) -> None:
        """Close an inbox; what comes for it is dropped."""
        inboxes = self._inboxes.get(inbox.job_id, set())
        inboxes.discard(inbox)
        if not inboxes:
            self._inboxes.pop(inbox.job_id, None)

    async def send(self, ask: Ask) -> None:
        """Send one frame.

        Raises:
            UnavailableError: the connection is lost.
            WireError: the frame would be too large.
        """
        frame = pack(ask, ASK_BYTES)
        if self._fault is not None:
            raise self._fault
        try:
            self._writer.write(frame)
            await self._writer.drain()
        except OSError as fault:
            self._lose(_lost(str(fault)))
            raise _lost(str(fault)) from None

    async def close(self) -> None:
        """End the connection; whoever waits gets UnavailableError."""
        self._lose(_lost("closed by this end"))
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._writer.wait_closed()

    async def _listen(self) -> None:
        try:
            while True:
                body = await read_body(self._reader, TELL_BYTES)

                self._hear(tell_of(body))
                self._heard.set()
        except EOFError:
            self._lose(_lost("the runner closed it"))
        except OSError as fault:
            self._lose(_lost(str(fault)))
        except RunnerError as fault:
            self._lose(fault)

    def _hear(self, tell: Tell) -> None:
        match tell:
            case Refused():
                raise fault_of(tell)
            case Rejected(job_id, code, detail):
                stopping = code is Refusal.STOPPING
                self._pass_on(job_id, _lost(detail) if stopping else JobRefusedError(code, detail))
            case Pong() | Welcome():
                pass
            case _:
                self._hear_of_job(tell)

    def _hear_of_job(self, told: Told) -> None:
        if isinstance(told, ToldFinished) and told.event.result.job_id != told.job_id:
            message = f"a result for {told.event.result.job_id[:64]!r} came as that of {told.job_id[:64]!r}"
            raise WireError(message)
        for inbox in self._inboxes.get(told.job_id, ()):
            inbox.put(told.event)
        if isinstance(told.event, Finished):
            self._inboxes.pop(told.job_id, None)

    def _pass_on(self, job_id: str, fault: Exception) -> None:
        for inbox in self._inboxes.get(job_id, ()):
            inbox.fail(fault)

    async def _keep_alive(self) -> None:
        """Ask for a sign of life now and then, so that a dead host is noticed."""
        while True:
            await asyncio.sleep(PING_S)
            self._heard.clear()
            try:
                async with asyncio.timeout(PING_S):
                    await self.send(Ping())
                    await self._heard.wait()
            except (UnavailableError, WireError):
                return
            except TimeoutError:
                self._lose(_lost(f"the runner was silent for {PING_S:g} s"))
                return

    def _lose(self, fault: Exception) -> None:
        if self._fault is None:
            self._fault = fault
        self._writer.transport.abort()
        for inboxes in self._inboxes.values():
            for inbox in inboxes:
                inbox.fail(self._fault)


async def connect(address: Address, secret: str) -> Connection:
    """Open a connection and shake hands.

    Raises:
        UnavailableError: nobody answers, or not as a runner in time.
        AuthError: the secret was refused.
        WireError: the versions differ (both are named), or what came does not decode.
    """
    try:
        async with asyncio.timeout(CONNECT_S):
            reader, writer = await _open(address)
            try:
                capabilities = await _shake_hands(reader, writer, secret)
            except BaseException:
                writer.transport.abort()
                raise
    except (OSError, EOFError, TimeoutError) as fault:
        raise _lost(str(fault) or f"no welcome within {CONNECT_S:g} s") from None
    return Connection(reader, writer, capabilities)


async def _shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: str) -> Capabilities:
    writer.write(pack(Hello(PROTOCOL_VERSION, secret), ASK_BYTES))
    await writer.drain()
    tell = tell_of(await read_body(reader, TELL_BYTES, CONNECT_S))
    if isinstance(tell, Refused):
        raise fault_of(tell)
    if not isinstance(tell, Welcome):
        message = "the runner did not answer the hello with a welcome"
        raise WireError(message)
    return tell.capabilities


def fault_of(refused: Refused) -> AuthError | UnavailableError | WireError:
    """Turn the reason for which a runner closes a connection into the error that it is here."""
    match refused.code:
        case Refusal.BAD_SECRET:
            return AuthError("the runner refused the secret")
        case Refusal.BAD_VERSION:
            return WireError(f"the runner speaks version {refused.ours}, this bot version {PROTOCOL_VERSION}")
        case Refusal.TOO_MANY | Refusal.TOO_SLOW | Refusal.STOPPING:
            return _lost(refused.code.value)
        case _:
            return WireError(f"the runner refused a frame ({refused.code.value}): {refused.detail[:200]}")


async def _open(address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if address.path is not None:
        return await asyncio.open_unix_connection(address.path)
    tls = ssl.create_default_context(cafile=None if address.authority is None else str(address.authority))
    return await asyncio.open_connection(address.host, address.port, ssl=tls)


def _lost(why: str) -> UnavailableError:
    return UnavailableError(f"no connection to the runner: {why[:200]}")
