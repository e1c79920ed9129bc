"""Lets torch's compiler keep what it makes of the course's examples, each run once as a job behind every wall.

Law: what is run here is ours, never a learner's; what compiles nothing is not run, nor what is kept already.
"""

import asyncio
import hashlib
import stat
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sandbox_runner.protocol import Budget, Ending, Job, JobKind, Machine, Progress, Result, limits_for
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.warm.caches import prepare
from sandbox_runner.warm.parent import Nest, Parent
from sandbox_runner.warm.proving import OnlyWarm
from sandbox_runner.worker import GpuInside, SandboxWorker

KEPT, PLAIN = "kept", "plain"
_MOST_EXAMPLES, _EXAMPLE_BYTES = 500, 64 << 10
_RUN_S, _MEMORY_BYTES = 120.0, 8 << 30
"""As the largest examples of the course state of themselves: what is run here is ours, and given up for any job."""


def read_examples(folder: Path | None) -> dict[str, str]:
    """Read the Python files under a folder that are small enough to be an example."""
    found = {}
    for path in sorted(folder.rglob("*.py"))[:_MOST_EXAMPLES] if folder is not None else ():
        with suppress(OSError, UnicodeDecodeError):
            status = path.stat()
            if stat.S_ISREG(status.st_mode) and status.st_size <= _EXAMPLE_BYTES:
                found[str(path)] = path.read_text(encoding="utf-8")
    return found


@dataclass(frozen=True, slots=True)
class Place:
    """Where examples run: in `slot`, as children of a parent made as `nest` says, on a `gpu` that the caller holds.

    `doubt` says of a result why the GPU must be proven before anything else runs there, if it must.
    """

    nest: Nest
    slot: int = 0
    gpu: GpuInside | None = None
    doubt: Callable[[Result], str] = lambda _: ""


@dataclass(slots=True)
class Told:
    """What became of sources: the ending of each that was run, `kept`, or `plain` for what does not compile.

    With a `doubt`, which stands also where the preparing did not end, what is missing was not reached.
    """

    endings: dict[str, str] = field(default_factory=dict)
    doubt: str = ""


async def prepare_sources(
    sandbox: Bubblewrap, place: Place, sources: Mapping[str, str], but: Collection[str], told: Told
) -> None:
    """Prepare what compiles of these sources `but` those of the digests that are named, which were tried before.

    Raises:
        SetupError: no warm parent with a compiler can be had here, or what comes of it cannot be kept.
    """
    digests = {name: hashlib.sha256(source.encode()).hexdigest() for name, source in sources.items()}
    wanted = [name for name in sources if digests[name] not in but and "compile" in sources[name]]
    told.endings |= {name: KEPT if digests[name] in but else PLAIN for name in sources if name not in wanted}

    async def use(parent: Parent) -> AsyncIterator[tuple[str, bool]]:
        worker = SandboxWorker(OnlyWarm(parent), Machine())
        for name in wanted:
            result = await _run(worker, place, digests[name], sources[name])
            told.doubt = place.doubt(result)
            task = asyncio.current_task()
            if result.ending is Ending.CANCELLED or (task is not None and task.cancelling()):
                raise asyncio.CancelledError  # it may have come while the run was ending for a cause of its own
            told.endings[name] = result.ending.value
            if result.ending is not Ending.INFRA_ERROR:  # that is ours, and says nothing of this example
                yield digests[name], result.ending is Ending.OK
            if told.doubt:
                return

    if wanted:
        await prepare(sandbox, place.nest, place.slot, use)


async def _run(worker: SandboxWorker, place: Place, digest: str, source: str) -> Result:
    kind = JobKind.TIME if "# %%" in source else JobKind.RUN
    device = place.nest.device
    limits = limits_for(device)
    limits = replace(limits, run_s=_RUN_S, memory_bytes=max(limits.memory_bytes, _MEMORY_BYTES))
    job = Job(f"prepare-{digest[:12]}", kind, source, "operator", device, Budget.QUICK, limits)
    return await worker.run_job(job, place.slot, _silent, place.gpu)


def _silent(_: Progress) -> None:
    """Nobody follows."""
