"""A worker that runs nothing and a runner around it, for tests and benchmarks of what stands around a worker.

Law: the worker has the port's shape and is told what to do by the job's first word, so that a test reads as a script.
"""

import asyncio
import contextlib
import io
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from sandbox_runner.daemon import Daemon, Patience
from sandbox_runner.dispatch import Dispatcher, Emit, Rules
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal
from sandbox_runner.listening import BACKLOG, unix_socket
from sandbox_runner.protocol import (
    Capabilities,
    Device,
    Ending,
    Job,
    JobKind,
    Machine,
    OutFile,
    Phase,
    Progress,
    Result,
    Stream,
    Wall,
)
from sandbox_runner.serving import Assemble, Assembled
from sandbox_runner.settings import Settings

CAPABILITIES = Capabilities(
    kinds=(JobKind.RUN, JobKind.TIME),
    devices=(Device.CPU,),
    machine=Machine(name="stand-in", cores=1),
    walls=(Wall("network", stands=True, matters=True),),
)
MISSING = Wall("seccomp", stands=False, matters=True, detail="ptrace worked", mend="apt-get install libseccomp2")


@dataclass(slots=True)
class StandInWorker:
    """Does what the first word of a source says.

    `say TEXT` ends at once with the text as its output; `wait` ends when `let_go` is called for its id; `raise`
    fails; `fail_once` fails at the first attempt; `broken` is `infra_error`; `stubborn` goes on for half a second
    after it was cancelled; `sleep S` ends after so many seconds; `files N` brings a file of N bytes.
    """

    started: list[str] = field(default_factory=list)
    beside: dict[str, set[str]] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    under_way: set[str] = field(default_factory=set)
    cancelled: list[str] = field(default_factory=list)
    _gates: dict[str, asyncio.Event] = field(default_factory=dict)

    def let_go(self, job_id: str) -> None:
        """Let a job that says `wait` end."""
        self._gates.setdefault(job_id, asyncio.Event()).set()

    async def run_job(self, job: Job, slot: int, emit: Emit) -> Result:
        """Do what the source says."""
        self.started.append(job.id)
        self.slots[job.id] = slot
        self.beside[job.id] = set(self.under_way)
        self.under_way.add(job.id)
        emit(Progress(Phase.START))
        try:
            return await self._act(job, emit)
        except asyncio.CancelledError:
            self.cancelled.append(job.id)
            raise
        finally:
            self.under_way.discard(job.id)

    async def _act(self, job: Job, emit: Emit) -> Result:
        word, _, rest = job.source.partition(" ")
        match word:
            case "wait":
                emit(Progress(Phase.RUN))
                await self._gates.setdefault(job.id, asyncio.Event()).wait()
            case "stubborn":
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    await asyncio.sleep(0.5)
                    raise
            case "sleep":
                await asyncio.sleep(float(rest))
            case "files":
                file = OutFile("out.bin", "application/octet-stream", int(rest), "A" * int(rest))
                return Result(job.id, job.kind, Ending.OK, files=(file,))
            case "raise":
                raise RuntimeError(job.source)
            case "fail_once" if self.started.count(job.id) == 1:
                raise RuntimeError(job.source)
            case "broken":
                return Result(job.id, job.kind, Ending.INFRA_ERROR)
        return Result(job.id, job.kind, Ending.OK, stdout=Stream(head=rest, bytes=len(rest.encode())))


class StandInRunner:
    """A daemon with the stand-in worker in this process, on the socket `FOLDER/runner`; it can vanish and come back."""

    def __init__(self, folder: Path, secret: str, rules: Rules | None = None, patience: Patience | None = None) -> None:
        self.path = folder / "runner"
        self.log = io.StringIO()
        self._folder = folder
        self._secret = secret
        self._rules = rules or Rules()
        self._patience = patience or Patience()
        self._stack = contextlib.AsyncExitStack()
        self._journal = Journal(self.log, lambda: datetime(2026, 1, 1, tzinfo=UTC), b"salt")
        self.forget()

    def forget(self) -> None:
        """Begin a new life: a worker that ran nothing and a queue that knows no job."""
        self.worker = StandInWorker()
        lock = HostLock(self._folder / "lock")
        clock = asyncio.get_running_loop().time
        self.dispatcher = Dispatcher(
            self.worker, CAPABILITIES, self._rules, lock=lock, clock=clock, journal=self._journal
        )

    async def appear(self) -> None:
        """Listen, with what is remembered."""
        self.daemon = Daemon(self.dispatcher, self._secret, self._journal, self._patience)
        listener = self._stack.enter_context(unix_socket(self.path))
        server = await asyncio.start_unix_server(self.daemon.connected, sock=listener, backlog=BACKLOG)
        self._stack.callback(server.close)

    async def disappear(self) -> None:
        """End the connections and listen no more; the jobs go on."""
        await self._stack.aclose()
        await self.daemon.close()

    async def die(self) -> None:
        """End the jobs too."""
        await self.dispatcher.stop(0.0)
        await self.disappear()

    async def __aenter__(self) -> Self:
        await self.appear()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.die()

    async def running(self, job_id: str) -> None:
        """Wait until the worker has a job under way."""
        async with asyncio.timeout(20):
            while job_id not in self.worker.under_way:  # noqa: ASYNC110 - the stand-in has no event
                await asyncio.sleep(0.005)


def assemble_stand_in(worker: StandInWorker, *more_walls: Wall) -> Assemble:
    """Make what `serve` asks for its worker, with the stand-in in its place."""

    async def probe() -> tuple[Wall, ...]:
        return CAPABILITIES.walls + more_walls

    async def close() -> None:
        """Clear nothing away: there is nothing."""

    async def assemble(_settings: Settings, _slots: int) -> Assembled:
        return Assembled(worker, CAPABILITIES, probe, close)

    return assemble
