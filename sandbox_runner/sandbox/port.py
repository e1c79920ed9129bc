"""What a worker needs of a way to confine: start a job inside walls, speak with it, end it, learn how it ended.

Law: everything an `Ended` says was seen by something that the learner's process cannot reach: an init inside that it
may not touch, the kernel's counters, or our own clocks.
"""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Protocol

from sandbox_runner.protocol import Device, Limits

Later = Callable[[Coroutine[None, None, bool]], None]
"""Takes what must be awaited before anything that the job was lent serves again; False: something is left of it."""


@dataclass(frozen=True, slots=True)
class Staged:
    """A job ready to be confined: the learner's code as bytes, the name it is shown under, limits and slot.

    `gpus` are the numbers of the device nodes lent to it; a job for the CPU has none. `gpu_names` are their own names
    in the same order, so that they are 0, 1, … inside whatever their numbers are; empty where they are not known.
    """

    id: str
    code: bytes
    filename: str
    limits: Limits
    slot: int = 0
    device: Device = Device.CPU
    gpus: tuple[int, ...] = ()
    gpu_names: tuple[str, ...] = ()
    cold: str = ""
    """Why the job must be started from nothing, as a code, even where a warm parent waits; empty: it need not."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that the learner's code left in its folder; `name` as the learner wrote it, folders included."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that did not come back, and why, as a code: `link`, `special`, `linked_twice`, `size`, `count`, ..."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Ended:
    """How the learner's process ended and what was seen of it from outside.

    `status` is the raw wait status, None when the walls never came to start it or their init was lost.
    `canary_signal` is the signal that a bystander inside died of, 0 when it was left alone. `left` counts processes
    killed after the main one ended; `forced` says that we ended the main one. `watchdog` names the limit at which our
    own watch ended it (`memory_bytes`, `processes`, `inodes`), or is empty. Times in seconds, sizes in bytes.
    """

    status: int | None
    canary_signal: int = 0
    left: int = 0
    forced: bool = False
    cpu_s: float = 0.0
    peak_bytes: int = 0
    oom_kills: int = 0
    forks_refused: int = 0
    watchdog: str = ""
    disk_full: bool = False
    inodes_full: bool = False
    files: tuple[Found, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    skipped_more: int = 0
    broken: str = ""
    """Why nothing can be said (an operator's text); empty when all went its way."""


class Confined(Protocol):
    """A job inside its walls. `wait` must be awaited once, whatever happens: it gives everything back.

    `began` is `warm`, or `cold` with why after a colon; empty where there is only one way to start.
    """

    began: str

    @property
    def stdout(self) -> asyncio.StreamReader:
        """The bytes that the job writes; ends when no process inside can write any more."""

    @property
    def stderr(self) -> asyncio.StreamReader:
        """The same of the error stream."""

    @property
    def channel(self) -> socket.socket:
        """The outer end of the wire to the harness in the learner's process."""

    def cpu_s(self) -> float | None:
        """CPU seconds used by everything inside until now; None where nothing counts them."""

    def compiling(self) -> bool:
        """Whether a compiler is alive inside, as far as can be seen."""

    def stand_still(self) -> None:
        """Stop every process inside but the init, so that nothing new begins; what comes next is the end. May block."""

    def may_leave(self) -> None:
        """Say that the verdict is known: a main process counts as ended once no thread of it can run any more."""

    def end(self) -> None:
        """Ask that everything inside be ended now and what was left be collected; never blocks."""

    async def main_ended(self) -> None:
        """Wait until the learner's main process has ended, or until nothing can be known of it any more."""

    async def kill(self) -> None:
        """Kill everything inside at once, collecting nothing."""

    async def wait(self, later: Later | None = None) -> Ended:
        """Wait until nothing is left inside, remove what was made for it, and tell how it ended.

        With `later` only until nothing inside can run any more: it takes the rest, if there is any.
        """


class Sandbox(Protocol):
    """One way to confine."""

    async def start(self, job: Staged) -> Confined:
        """Start the harness inside the walls.

        Raises:
            SetupError: a program or the learners' interpreter is not there.
        """

    async def close(self) -> None:
        """Remove what the sandbox itself keeps on the host."""
