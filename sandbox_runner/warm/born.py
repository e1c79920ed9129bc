"""A child that a warm parent forked for one job: how its descriptors reach it, how its pid is learnt, when it is gone.

Law: its order is sent only when it stands in its control group, and what it says of itself is a word of ours at most:
its pid is the kernel's, from the credentials of a socket. One that waits has every wall before its job is sent.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sandbox_runner.errors import SetupError
from sandbox_runner.sandbox.lines import JOIN_S, Started

_CREDENTIALS = struct.Struct("3i")
_SAID_BYTES = 1 << 17
READY_S = 60.0
"""So long may a child that is to wait rehearse."""
_LOOKS = 3
"""A process may end between the look at its child and the look at itself."""


class NotBornError(SetupError):
    """The parent gave no child, or the child could not put up a wall; the text says why."""


class Born:
    """The child as a process: its output, its end. The parent waits for it; we watch it."""

    stdin: asyncio.StreamWriter | None = None
    returncode: int | None = None

    def __init__(self, stdout: asyncio.StreamReader, stderr: asyncio.StreamReader, gone: Callable[[], None]) -> None:
        self.stdout, self.stderr = stdout, stderr
        self._descriptor = -1
        self._gone = gone
        self._ended = asyncio.Event()

    def adopt(self, pid: int) -> None:
        """Watch the child of this pid, as the host numbers it, until it has ended with all that stood under it.

        Raises:
            OSError: it is gone already.
        """
        self._descriptor = os.pidfd_open(pid)
        asyncio.get_running_loop().add_reader(self._descriptor, self._note_end)

    @property
    def alive(self) -> bool:
        """Whether it was seen, and is not gone."""
        return self._descriptor >= 0

    def never(self) -> None:
        """Take it that there is no child, if none was seen."""
        if self._descriptor < 0 and not self._ended.is_set():
            self._note_end()

    def kill(self) -> None:
        """Kill it: as the first process of its namespace it takes the others along."""
        if self._descriptor >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
        self.never()

    async def wait(self) -> int:
        """Wait until it has ended. Its status is the parent's to know, and of no use: the keeper reports."""
        await self._ended.wait()
        return 0

    def _note_end(self) -> None:
        if self._descriptor >= 0:
            asyncio.get_running_loop().remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1
        self._ended.set()
        self._gone()


class Cradle:
    """The lines of a child, and how it is born: `conceive` has it forked, `give` says what it is to be, `join` waits.

    `joins` are the control groups it is put into at birth.
    """

    def __init__(self, control: socket.socket, parent: int, joins: tuple[str, ...]) -> None:
        self._control, self._parent, self._joins = control, parent, joins
        self._order, self._code = b"", b""
        self.pid = 0
        self.ready: dict[str, Any] = {}
        """What a child that waits said when it was ready; empty until then."""
        self._waits = self._taken = False
        self._listening: asyncio.Task[int] | None = None
        self.inner: dict[int, int] = {}
        self.channel, channel = socket.socketpair()
        self.report, report = socket.socketpair()
        self._hello, hello = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._hello.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._hello.setblocking(False)  # noqa: FBT003 - the library's own shape
        self.out, out = os.pipe()
        self.err, err = os.pipe()
        self._handed = [hello.detach(), channel.detach(), report.detach(), out, err]

    async def conceive(self, process: Born) -> None:
        """Have the child forked and put into its groups; it waits for its order then, in namespaces of its own.

        Raises:
            NotBornError: it came to nothing; whatever there is of it goes with `process` and `close_outer`.
        """
        async with _told_as_not_born():
            socket.send_fds(self._control, [b"f"], self._handed)
            self.close_inner()
            self.pid = await self._hear("born")
            process.adopt(self.pid)
            self._check_birth(self.pid)
            self._join_groups(self.pid)

    def give(self, order: bytes, code: bytes) -> None:
        """Say what the child will be told, and what it is to run."""
        self._order, self._code = order, code

    async def expect(self, process: Born, order: bytes) -> None:
        """Have the child forked and walled in, to wait for what is given and sent by `join`.

        Raises:
            NotBornError: as `conceive`.
        """
        await self.conceive(process)
        self.give(order, b"")
        async with _told_as_not_born():
            self._send()
            await self._hear("walled")
        self._waits = True

    async def hear_ready(self) -> bool:
        """Wait until the child that waits has rehearsed, or until a job took it as it was; say whether it has.

        May be cancelled, and asked again.

        Raises:
            NotBornError: it could not, or ended.
        """
        if self.ready or self._taken:  # the line of a job that has come has one reader, and it is not this
            return bool(self.ready)
        listening = self._listening = asyncio.create_task(self._hear("ready"))
        try:
            async with _told_as_not_born(READY_S):
                await asyncio.wait({listening})
                if not listening.cancelled():
                    listening.result()
        finally:
            listening.cancel()
        return bool(self.ready)

    async def _stop_listening(self) -> None:
        """Let nobody else hear the child: its line has one reader at a time."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)

    async def join(self, process: Started) -> int:
        """Send the order and wait until the walls stand; give the child's pid.

        Raises:
            NotBornError: it came to nothing; whatever there was of it is gone or will be killed with `process`.
        """
        if not isinstance(process, Born):
            message = f"{process} is no child of a warm parent"
            raise NotBornError(message)
        try:
            async with _told_as_not_born():
                if not self.pid:
                    await self.conceive(process)
                self._taken = True
                await self._stop_listening()
                self._send()
                await self._hear("taken" if self._waits else "walled")
                return self.pid
        finally:
            self._hello.close()

    def _send(self) -> None:
        """Send the order, and the code as a file in memory that nobody has a name for."""
        code = os.memfd_create("code")
        try:
            with os.fdopen(os.dup(code), "wb") as out:
                out.write(self._code)
            os.lseek(code, 0, os.SEEK_SET)
            socket.send_fds(self._hello, [self._order], [code])
        finally:
            os.close(code)

    async def _hear(self, wanted: str) -> int:
        """Wait for a word; give the pid of whoever said it. A child that waits may be ready meanwhile."""
        await readable(self._hello.fileno())
        content, ancillary, _, _ = self._hello.recvmsg(_SAID_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size))
        said = json.loads(content) if content else {}
        if isinstance(said, dict) and said.get("kind") == "ready" and self._waits:
            self.ready = said
            return 0 if wanted == "ready" else await self._hear(wanted)
        if not isinstance(said, dict) or said.get("kind") != wanted:
            message = str(said.get("why", "the child ended early"))[:1500] if isinstance(said, dict) else "no child"
            raise NotBornError(message)
        for level, kind, what in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                return int(_CREDENTIALS.unpack(what[: _CREDENTIALS.size])[0])
        message = "the child's pid was not said"
        raise NotBornError(message)

    def _join_groups(self, pid: int) -> None:
        for path in self._joins:
            Path(path).write_text(str(pid), encoding="ascii")

    def _check_birth(self, pid: int) -> None:
        """Look that this pid is a child of the parent's, or of a child that only forks it and is gone then.

        It waits for its order, so that the pid is still its own.
        """
        for _ in range(_LOOKS):
            above = _parent_of(pid)
            if self._parent in {above, _parent_of(above)}:
                return
        message = f"process {pid} is not the parent's child"
        raise NotBornError(message)

    def close_inner(self) -> None:
        """Close the ends that were handed on."""
        for descriptor in self._handed:
            os.close(descriptor)
        self._handed = []

    def close_outer(self) -> None:
        """Close our ends."""
        self.close_inner()
        self._hello.close()
        self.channel.close()
        self.report.close()


def _parent_of(pid: int) -> int:
    try:
        status = Path("/proc", str(pid), "status").read_text(encoding="utf-8", errors="replace")
        return int(status.partition("\nPPid:")[2].split(None, 1)[0])
    except (OSError, ValueError, IndexError):
        return -1


@asynccontextmanager
async def _told_as_not_born(seconds: float = JOIN_S) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        message = f"no child within {seconds:.0f} s"
        raise NotBornError(message) from None
    except OSError as fault:
        message = f"the parent or its child cannot be reached: {fault}"
        raise NotBornError(message) from fault


async def reader_of(descriptor: int) -> asyncio.StreamReader:
    """Read a pipe; it is closed at its end."""
    reader = asyncio.StreamReader()
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def readable(descriptor: int) -> None:
    """Wait until something can be read there."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
