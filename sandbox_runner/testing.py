"""A worker that runs nothing, for tests and benchmarks of what stands around a worker.

Law: it has the worker's shape and is told what to do by the job's first word, so that a test reads as a script.
"""

import asyncio
from dataclasses import dataclass, field

from sandbox_runner.dispatch import Emit
from sandbox_runner.protocol import (
    Capabilities,
    Device,
    Ending,
    Job,
    JobKind,
    Machine,
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
    after it was cancelled.
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
            case "raise":
                raise RuntimeError(job.source)
            case "fail_once" if self.started.count(job.id) == 1:
                raise RuntimeError(job.source)
            case "broken":
                return Result(job.id, job.kind, Ending.INFRA_ERROR)
        return Result(job.id, job.kind, Ending.OK, stdout=Stream(head=rest, bytes=len(rest.encode())))


def assemble_stand_in(worker: StandInWorker, *more_walls: Wall) -> Assemble:
    """Make what `serve` asks for its worker, with the stand-in in its place."""

    async def probe() -> tuple[Wall, ...]:
        return CAPABILITIES.walls + more_walls

    async def close() -> None:
        """Clear nothing away: there is nothing."""

    async def assemble(_settings: Settings, _slots: int) -> Assembled:
        return Assembled(worker, CAPABILITIES, probe, close)

    return assemble
