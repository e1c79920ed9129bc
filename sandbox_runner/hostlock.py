"""One measurement at a time on a host and nothing of ours beside it, one job at a time on a GPU, across processes.

Law: a measurement waits for what runs, and what comes later waits for the measurement. A GPU is taken by who has the
room already, so that whoever waits for one waits for a job that ends. The lock is the kernel's
(`flock`), so it is gone when its process is, however that ended.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from sandbox_runner.errors import SetupError

POLL_S = 0.02
_LOOK_S, _LOOKS = 0.1, 2


class HostLock:
    """Locked files: `PATH` while a job runs, `PATH.gate` only while it waits for that.

    The gate keeps order: while a measurement waits for the room to empty, later comers wait at the gate.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @asynccontextmanager
    async def held(self, *, alone: bool) -> AsyncIterator[None]:
        """Hold the lock, alone or beside others that need not be alone.

        Cancelling the wait leaves no lock.

        Raises:
            SetupError: the files cannot be opened.
        """
        opened: list[int] = []
        try:
            opened += (_open(self._path.with_name(self._path.name + name)) for name in (".gate", ""))
            gate, room = opened
            await _take(gate, fcntl.LOCK_EX)
            await _take(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            fcntl.flock(gate, fcntl.LOCK_UN)
            yield
        finally:
            for held in reversed(opened):
                _let_go(held)

    def wanted(self) -> bool:
        """Whether somebody waits for the room, or comes in this moment.

        Raises:
            SetupError: the file cannot be opened.
        """
        return _is_held(self._path.with_name(self._path.name + ".gate"))


class OneLock:
    """One locked file, taken or not: a GPU belongs to one runner at a time. `PATH.wanted` is held by who waits for it.

    What only makes use of a GPU while nobody else would can see by that when to give way.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wanted = path.with_name(path.name + ".wanted")
        self._held = self._waits = -1

    def take(self) -> bool:
        """Take it if nobody has it; never waits.

        Raises:
            SetupError: the file cannot be opened.
        """
        held = _open(self._path)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            return False
        self._held = held
        return True

    def let_go(self) -> None:
        """Give it back."""
        if self._held >= 0:
            _let_go(self._held)
        self._held = -1

    def want(self) -> None:
        """Tell whoever holds it that a job waits for it, until `want_no_more`; called again and again while it waits.

        Raises:
            SetupError: the file cannot be opened.
        """
        if self._waits >= 0:
            return
        waits = _open(self._wanted)
        try:
            fcntl.flock(waits, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:  # somebody looks in this moment: the next call tells
            os.close(waits)
        else:
            self._waits = waits

    def want_no_more(self) -> None:
        """Take that back."""
        if self._waits >= 0:
            _let_go(self._waits)
        self._waits = -1

    def wanted(self) -> bool:
        """Whether a job of any runner waits for it; raises as `want`."""
        return _is_held(self._wanted)


async def until_wanted(locks: Collection[HostLock | OneLock]) -> None:
    """Wait until somebody else waits for one of these; who only comes through a gate is not taken for one who waits."""
    looks = 0
    while looks < _LOOKS:
        await asyncio.sleep(_LOOK_S)
        looks = looks + 1 if any(lock.wanted() for lock in locks) else 0


async def until_unwanted(locks: Collection[HostLock | OneLock]) -> None:
    """Wait until nobody else waits for any of these."""
    wanted = True
    while wanted:
        await asyncio.sleep(_LOOK_S)
        wanted = any(lock.wanted() for lock in locks)


def gpu_lock(path: Path, minor: int) -> OneLock:
    """Give the lock of the GPU of this number, beside the host's lock at `path`."""
    return OneLock(path.with_name(f"{path.name}.gpu{minor}"))


def _is_held(path: Path) -> bool:
    """Whether somebody else holds this lock; it is had for no longer than it takes to look."""
    held = _open(path)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        _let_go(held)
    return False


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as fault:
        message = f"the measuring lock {path} cannot be opened: {fault.strerror}"
        raise SetupError(message) from None


def _let_go(held: int) -> None:
    # Unlocked by name: closing would not do while a forked child still holds a copy.
    with suppress(OSError):
        fcntl.flock(held, fcntl.LOCK_UN)
    os.close(held)


async def _take(descriptor: int, mode: int) -> None:
    while True:
        try:
            fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(POLL_S)
        else:
            return
