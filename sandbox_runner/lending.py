"""Lends the GPU to one job at a time, and only when nothing of the job before is left on it.

Law: a GPU is lent when no process holds it but those that held it before us and the children that wait by our will
(each known by its pid, its memory weighed when it was made), its memory is back where it was, and,
after a job that left doubt (a fault, a kernel that never ended, a killed process), a kernel of ours has given the right
result inside the walls. Until then it stands in quarantine, which the log says, and no job is blamed for it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from sandbox_runner.gpus import Gpu, Sight, listed

SLACK_BYTES = 64 << 20
"""What the driver itself may keep more or less of."""
SETTLE_S = 10.0
"""So long may the driver take to clear away after a job's last process."""
HANG_S = 2.0
"""A program that stands still can start nothing more on the GPU: work that goes on for so long does not end."""
_HANG_BUSY = 0.5
_LOOK_S = 8.0
_POLL_S = 0.05
_SAMPLE_S = 0.2


@dataclass(frozen=True, slots=True)
class Ours:
    """What waits on the GPU for a job by our will: its pids, and bytes of its memory; None while they change."""

    holders: frozenset[int] = frozenset()
    used_bytes: int | None = 0


Prove = Callable[[], Awaitable[str]]
"""Runs a kernel of ours inside the walls; says what was wrong, or nothing."""


class Looks(Protocol):
    """What looks at a GPU from outside."""

    @property
    def gpu(self) -> Gpu:
        """Which one."""

    def look(self, *, at_work: bool = True) -> Sight:
        """Look once; may block. `busy` and the clock are only read where they are wanted."""

    def faults(self) -> tuple[str, ...]:
        """Give what the driver has said of faults since the last time."""


class Log(Protocol):
    """Where an operator reads."""

    def note(self, event: str, **values: str | float | bool | None) -> None:
        """Write one line."""


class Lender:
    """Holds one GPU and lends it."""

    def __init__(self, watch: Looks, log: Log, *, settle_s: float = SETTLE_S, hang_s: float = HANG_S) -> None:
        self.gpu = watch.gpu
        self._watch = watch
        self._note = log.note
        self._settle_s = settle_s
        self._hang_s = hang_s
        self._lock = asyncio.Lock()
        self._doubt = ""
        self._before: Sight | None = None
        self.quarantine = ""
        self.ours: Callable[[], Ours] = Ours

    async def take(self, prove: Prove) -> str:
        """Take the GPU for a job; say why not where it is not to be had. Taken, it must be given back."""
        await self._lock.acquire()
        try:
            why = await self._clear(self._settle_s)
            if not why and self._doubt:
                why = await self._proven(prove)
        except BaseException:
            self._lock.release()
            raise
        if why:
            self._shut(why)
            self._lock.release()
        elif self.quarantine:
            self._note("gpu_lent_again", gpu=self.gpu.minor)
            self.quarantine = ""
        return why

    async def give_back(self, doubt: str) -> None:
        """End the loan once nothing is left on the GPU; `doubt` says why a kernel must be proven first, if it must."""
        self._doubt = doubt or self._doubt
        if doubt:
            self._note("gpu_in_doubt", gpu=self.gpu.minor, why=doubt)
        for fault in self._watch.faults():
            self._note("gpu_fault", gpu=self.gpu.minor, said=fault)
        try:
            why = await self._clear(self._settle_s)
            if why:
                self._doubt = self._doubt or why
                self._shut(why)
        finally:
            self._lock.release()

    async def hangs(self) -> bool:
        """Say whether the GPU works on though the program that used it has been stopped. Takes up to `hang_s`."""
        deadline = time.monotonic() + self._hang_s
        sight = None
        while time.monotonic() < deadline:
            await asyncio.sleep(_SAMPLE_S)
            sight = await self._look(at_work=True)
            if sight is None:
                return True  # the driver itself does not answer any more
            if sight.busy is None or sight.busy < _HANG_BUSY:
                return False
        return sight is not None and sight.busy is not None and sight.busy >= _HANG_BUSY

    async def weigh(self) -> int | None:
        """Give the bytes in use beyond what was before us and what waits by our will; the GPU must be taken."""
        sight, ours = await self._look(), self.ours()
        if sight is None or self._before is None or sight.used_bytes is None:
            return None
        return sight.used_bytes - (self._before.used_bytes or 0) - (ours.used_bytes or 0)

    async def sight(self) -> Sight | None:
        """Look once, for whoever wants to know; None when the driver does not answer."""
        return await self._look(at_work=True)

    def _shut(self, why: str) -> None:
        if why != self.quarantine:
            self._note("gpu_quarantined", gpu=self.gpu.minor, why=why)
        self.quarantine = why

    async def _proven(self, prove: Prove) -> str:
        fault = await prove()
        if not fault:
            fault = await self._clear(self._settle_s)
        if fault:
            return f"after {self._doubt}: {fault}"
        self._note("gpu_proven", gpu=self.gpu.minor, after=self._doubt)
        self._doubt = ""
        return ""

    async def _clear(self, seconds: float) -> str:
        """Wait until the GPU is as it was before us; say what is left of others when it does not become so."""
        deadline = time.monotonic() + seconds
        while True:
            sight = await self._look()
            if sight is None:
                return f"the driver did not answer within {_LOOK_S:.0f} s"
            if self._before is None:
                self._before = sight
            ours = self.ours()
            why = _left(self._before, sight, ours)
            if not why:
                if sight.used_bytes is not None and ours.used_bytes is not None:
                    least = min(sight.used_bytes - ours.used_bytes, self._before.used_bytes or 0)
                    self._before = Sight(max(least, 0), self._before.holders)
                return ""
            if time.monotonic() > deadline:
                return why
            await asyncio.sleep(_POLL_S)

    async def _look(self, *, at_work: bool = False) -> Sight | None:
        look = partial(self._watch.look, at_work=at_work)
        looking = asyncio.get_running_loop().run_in_executor(None, look)
        try:
            return await asyncio.wait_for(asyncio.shield(looking), _LOOK_S)
        except TimeoutError:
            return None


def _left(before: Sight, now: Sight, ours: Ours) -> str:
    if more := now.holders - before.holders - ours.holders:
        return f"held by process {listed(more)}"
    if now.used_bytes is not None and before.used_bytes is not None and ours.used_bytes is not None:
        over = now.used_bytes - before.used_bytes - ours.used_bytes
        if over > SLACK_BYTES:
            beside = f", beside process {listed(now.others)}" if now.others else ""
            return f"{over >> 20} MiB of its memory are still in use{beside}"
    return ""
