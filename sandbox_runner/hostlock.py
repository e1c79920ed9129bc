"""One measurement at a time on a host and nothing of ours beside it, one GPU job at a time, across processes.

Law: a measurement waits for what runs, and what comes later waits for the measurement. A job for the GPU waits for
the GPU first, so that it holds up nobody meanwhile. The lock is the kernel's
(`flock`), so it is gone when its process is, however that ended.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from sandbox_runner.errors import SetupError

POLL_S = 0.02


class HostLock:
    """Locked files: `PATH` while a job runs, `PATH.gate` only while it waits for that, `PATH.gpu` by GPU jobs.

    The gate keeps order: while a measurement waits for the room to empty, later comers wait at the gate.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @asynccontextmanager
    async def held(self, *, alone: bool, gpu: bool = False) -> AsyncIterator[None]:
        """Hold the lock, alone or beside others that need not be alone, with the GPU or without.

        Cancelling the wait leaves no lock.

        Raises:
            SetupError: the files cannot be opened.
        """
        names = [".gate", "", *([".gpu"] if gpu else [])]
        opened: list[int] = []
        try:
            opened += (self._open(self._path.with_name(self._path.name + name)) for name in names)
            gate, room, *lent = opened
            for one in lent:
                await _take(one, fcntl.LOCK_EX)
            await _take(gate, fcntl.LOCK_EX)
            await _take(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            fcntl.flock(gate, fcntl.LOCK_UN)
            yield
        finally:
            for held in reversed(opened):
                # Unlocked by name: closing would not do while a forked child still holds a copy.
                with suppress(OSError):
                    fcntl.flock(held, fcntl.LOCK_UN)
                os.close(held)

    def _open(self, path: Path) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as fault:
            message = f"the measuring lock {path} cannot be opened: {fault.strerror}"
            raise SetupError(message) from None


async def _take(descriptor: int, mode: int) -> None:
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(POLL_S)
        else:
            return
