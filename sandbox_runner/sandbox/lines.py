"""What joins a job with its runner: the harness's wire, the keeper's report, and how the init's pid is learnt.

Law: the ends inside belong to the keeper before any of the learner's code exists; ours are closed whatever happens.
"""

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

CHANNEL, REPORT, INFO = 3, 4, 5
"""The descriptors inside: the harness's wire, the keeper's report, and where the child's pid is said."""
JOIN_S = 10.0
_INFO_BYTES = 4096


class Started(Protocol):
    """The process that stands for the walls outside, as asyncio's own, or as a parent's child that we did not start."""

    @property
    def stdin(self) -> asyncio.StreamWriter | None:
        """Where the launcher reads its order, if it does."""

    @property
    def stdout(self) -> asyncio.StreamReader | None:
        """The job's output."""

    @property
    def stderr(self) -> asyncio.StreamReader | None:
        """The job's error stream."""

    @property
    def returncode(self) -> int | None:
        """How it ended, as far as known."""

    def kill(self) -> None:
        """Kill it, and with it what stands under it."""

    async def wait(self) -> int:
        """Wait until it has ended."""


class Lines(Protocol):
    """Our ends, and the descriptors that are handed on: a number inside to the descriptor here."""

    channel: socket.socket
    report: socket.socket
    inner: dict[int, int]

    async def join(self, process: Started) -> int:
        """Wait until the ends are joined; give the pid of the init as the host sees it, 0 when it is not known."""

    def close_inner(self) -> None:
        """Close the ends that were handed on."""

    def close_outer(self) -> None:
        """Close our ends of a job that never came to be."""


class Pairs:
    """Socket pairs, handed on as descriptors; the program that makes the namespaces says the pid on a pipe."""

    def __init__(self, more: dict[int, int]) -> None:
        self.channel, channel = socket.socketpair()
        self.report, report = socket.socketpair()
        self._info, info = os.pipe()
        self.inner = {CHANNEL: channel.detach(), REPORT: report.detach(), INFO: info, **more}

    async def join(self, process: Started) -> int:  # noqa: ARG002 - its end ends the pipe
        """Read what is said of the child; 0 when it never came so far."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        info, self._info = self._info, -1
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(info, "rb", buffering=0)
        )
        try:
            async with asyncio.timeout(JOIN_S):
                said = await reader.read(_INFO_BYTES)
                while not reader.at_eof() and len(said) < _INFO_BYTES:
                    said += await reader.read(_INFO_BYTES)
            return int(json.loads(said)["child-pid"])
        except (TimeoutError, ValueError, KeyError):
            return 0
        finally:
            transport.close()

    def close_inner(self) -> None:
        """Close the ends that were handed on."""
        for descriptor in self.inner.values():
            os.close(descriptor)

    def close_outer(self) -> None:
        """Close our ends."""
        self.channel.close()
        self.report.close()
        if self._info >= 0:
            os.close(self._info)
            self._info = -1


class Doors:
    """Unix sockets in a folder shut to all but us: each is answered once, then taken away, before the learner's code.

    `tidy` is called when the job is over.
    """

    def __init__(self, folder: Path, tidy: Callable[[], None]) -> None:
        self.inner: dict[int, int] = {}
        self.folder = folder
        self._tidy = tidy
        folder.mkdir(mode=0o700)
        self._channel, self._report = _listen(folder / "channel"), _listen(folder / "report")
        self.channel, self.report = _dead(), _dead()

    async def join(self, process: Started) -> int:
        """Answer the keeper; should the process end first, the lines stay dead."""
        ended = asyncio.create_task(process.wait())
        knocks = asyncio.create_task(self._answer())
        try:
            await asyncio.wait({ended, knocks}, timeout=JOIN_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (ended, knocks):
                task.cancel()
            await asyncio.gather(ended, knocks, return_exceptions=True)
            self._shut()
        return 0

    async def _answer(self) -> None:
        loop = asyncio.get_running_loop()
        for name, door in (("channel", self._channel), ("report", self._report)):
            line, _ = await loop.sock_accept(door)
            getattr(self, name).close()
            setattr(self, name, line)

    def _shut(self) -> None:
        for door in (self._channel, self._report):
            door.close()
        for name in ("channel", "report"):
            (self.folder / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def close_inner(self) -> None:
        """Nothing was handed on."""

    def close_outer(self) -> None:
        """Close our ends and take the doors away."""
        self._shut()
        self.channel.close()
        self.report.close()
        self._tidy()


def _listen(path: Path) -> socket.socket:
    door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    door.bind(str(path))
    door.listen(1)
    return door


def _dead() -> socket.socket:
    line, other = socket.socketpair()
    other.close()
    return line
