"""Puts a worker together as the settings say, and lends the probe the means to try its walls.

Law: nothing here decides what is good enough; what stands is what the probe found, and before it, what is put up.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from sandbox_runner.dispatch import Worker
from sandbox_runner.errors import SetupError
from sandbox_runner.gauging import Gauge, default_path, gauge, read_ceilings
from sandbox_runner.gpus import Gpu, find_gpus, open_watch
from sandbox_runner.gpuwaiting import Kennel
from sandbox_runner.gpuwork import GpuWorker, named
from sandbox_runner.hostlock import HostLock, OneLock, gpu_lock, until_unwanted, until_wanted
from sandbox_runner.lending import Lender
from sandbox_runner.machine import read_machine
from sandbox_runner.pooling import Pool
from sandbox_runner.preparing import Place, Told, prepare_sources, read_examples
from sandbox_runner.protocol import Capabilities, Device, Ending, Job, JobKind, Progress, Result, Wall
from sandbox_runner.sandbox.bubblewrap import Bubblewrap, open_bubblewrap
from sandbox_runner.sandbox.compilers import compilers
from sandbox_runner.sandbox.gvisor import Gvisor, open_gvisor
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.sandbox.probing import Setting, probe
from sandbox_runner.serving import Assembled, stderr_journal
from sandbox_runner.settings import Settings
from sandbox_runner.warm.caches import build, failed, nest_of, prepared
from sandbox_runner.warm.nursery import Nursery, Rules
from sandbox_runner.warm.parent import WAITING, Nest, Parent
from sandbox_runner.warm.proving import OnlyWaited, OnlyWarm, prove_parent, prove_walls
from sandbox_runner.warm.starting import WarmStart
from sandbox_runner.worker import SandboxWorker

_SLOTS_BESIDE = 3
"""Above the slots of jobs: those of an exercise's companions, then those of children that wait, then parents'."""


Prepare = Callable[[Settings, Mapping[str, str]], Awaitable[dict[str, str]]]
"""Prepares sources and gives their endings; may be cancelled, and keeps what was prepared until then."""


def _slots_of_waiting(slots: int) -> range:
    """Give the slots of children that wait for jobs of the processor: each job may be in one, and two wait at times."""
    return range(slots + _SLOTS_BESIDE - 1, slots + _SLOTS_BESIDE - 1 + slots + 2)


async def assemble(settings: Settings, slots: int) -> Assembled:
    """Make the sandbox and its worker, with what they can do.

    Raises:
        SetupError: a program or the learners' interpreter is not there.
    """
    if not settings.python:
        message = "TASREE_SANDBOX_PYTHON is not set: the path of the learners' interpreter (see `make setup`)"
        raise SetupError(message)
    if settings.examples is not None and not await asyncio.to_thread(settings.examples.is_dir):
        message = f"TASREE_RUNNER_EXAMPLES names {settings.examples}, which is no folder"
        raise SetupError(message)
    ask = SandboxSettings(settings.python, base_uid=settings.base_uid)
    sandbox = await (open_gvisor(ask) if settings.sandbox == "runsc" else open_bubblewrap(ask))
    found = sandbox.host.interpreter
    machine = read_machine(python=found.python, numpy=found.numpy, torch=found.torch)
    cold = SandboxWorker(sandbox, machine, walls=sandbox.walls)
    nursery = _nursery(settings, slots, sandbox, cold)
    on_gpus: dict[tuple[int, ...], Nursery] = {}
    warm = WarmStart(sandbox, nursery, _note(), on_gpus) if nursery and isinstance(sandbox, Bubblewrap) else None
    outer = warm or sandbox
    inner = SandboxWorker(outer, machine, walls=sandbox.walls)
    worker, setting, gpus = await _with_gpus(inner, sandbox, settings)
    if warm is not None and isinstance(worker, GpuWorker) and isinstance(sandbox, Bubblewrap):
        slot = _slots_of_waiting(slots)[-1] + 2
        quiet, rules = partial(_quiet, settings), Rules(waiting=settings.gpu_waiting)
        kennel = Kennel(sandbox, cold, worker, slot=slot, rules=rules, quiet=quiet, note=_note())
        kennel.open(setting, settings.examples)
        on_gpus |= kennel.nurseries

    async def attempt(job: Job, slot: int) -> Result:
        chosen = cold if job.device is Device.CPU else worker
        return await chosen.run_job(job, slot, _silent)

    async def prove() -> tuple[Wall, ...]:
        each = await worker.prove_each(0) if isinstance(worker, GpuWorker) else ()
        walls = (*await probe(attempt, setting), *each)
        inner.walls = cold.walls = tuple(wall.name for wall in walls if wall.stands)
        return (*walls, *(one.wall() for one in nurseries))

    async def close() -> None:
        if isinstance(worker, GpuWorker):
            await worker.settle()
        await outer.close()

    async def gauged() -> Gauge:
        attempted = lambda job: worker.run_job(job, 0, _silent)  # noqa: E731 - one expression
        found = await gauge(attempted, shown, default_path(), cuda=bool(gpus))
        inner.ceilings = found.ceilings
        return found

    async def looked(devices: Sequence[Device]) -> tuple[Wall, ...]:
        idle = await worker.idle() if isinstance(worker, GpuWorker) else ()
        return (*idle, *await compilers(attempt, devices))

    kinds = tuple(JobKind)
    devices = (Device.CPU,) if setting.no_gpu else (Device.CPU, Device.CUDA)
    shown = replace(machine, device=named([gpus[0].name]) if gpus else "")  # as the results of its jobs name it
    inner.ceilings = read_ceilings(default_path(), shown)
    capabilities = Capabilities(kinds=kinds, devices=devices, device_count=len(gpus), slots=slots, machine=shown)
    nurseries = () if nursery is None else (nursery, *on_gpus.values())
    return Assembled(worker, capabilities, prove, close, gauged, nurseries, looked)


def _nursery(settings: Settings, slots: int, sandbox: Bubblewrap | Gvisor, cold: SandboxWorker) -> Nursery | None:
    """Make what keeps a warm parent, where it is wanted and there is something to load; it starts none by itself."""
    if not (settings.warm and isinstance(sandbox, Bubblewrap) and sandbox.host.interpreter.torch):
        return None
    proven_once: list[tuple[str, ...]] = []

    waits = _slots_of_waiting(slots)
    bare = Nest(waits[-1] + 1)

    async def improve() -> bool:
        """Make what torch's compiler keeps, where this image has none yet; the next time, of the examples too."""
        if not nest_of(sandbox, bare).compiled:
            await build(sandbox, bare)
            return True
        sources = await asyncio.to_thread(read_examples, settings.examples)
        told = Told()
        await prepare_sources(sandbox, Place(bare), sources, prepared(sandbox) | failed(sandbox), told)
        return Ending.OK.value in told.endings.values()

    async def prove(parent: Parent) -> str:
        """Try all walls once, and what only a warm child could reach for at every parent."""
        for way in (OnlyWarm(parent), OnlyWaited(parent)):
            warm = SandboxWorker(way, cold.machine, walls=cold.walls)

            async def attempt(job: Job, slot: int, warm: SandboxWorker = warm) -> Result:
                return await warm.run_job(job, slot, _silent)

            wrong = await prove_parent(attempt, parent.pid)
            if not wrong and cold.walls not in proven_once:
                wrong = await prove_walls(attempt, sandbox.setting, cold.walls)
            if wrong:
                return wrong
        proven_once.append(cold.walls)
        return ""

    make, like = partial(nest_of, sandbox, bare), [replace(WAITING, slot=one) for one in waits]
    quiet = partial(_quiet, settings)
    return Nursery(sandbox, make, prove, _note(), Rules(), quiet=quiet, improve=improve, like=like)


@asynccontextmanager
async def _quiet(settings: Settings) -> AsyncIterator[None]:
    async with HostLock(settings.lock).held(alone=False):
        yield


async def prepare_examples(settings: Settings, sources: Mapping[str, str]) -> dict[str, str]:
    """Let torch's compiler keep what it makes of examples of ours; give each one's ending, or `kept` or `plain`.

    For the processor, and for each kind of GPU that the settings lend: there the name has the GPU's after it. What does
    not compile is `plain`, and not run. Those that were kept before are not run again.

    Raises:
        SetupError: no warm parent with a compiler can be had here.
    """
    sandbox = await open_bubblewrap(SandboxSettings(settings.python, base_uid=settings.base_uid))
    try:
        told = Told()
        await prepare_sources(sandbox, Place(Nest(1 + _SLOTS_BESIDE)), sources, prepared(sandbox), told)
        found = sandbox.host.interpreter
        machine = read_machine(python=found.python, numpy=found.numpy, torch=found.torch)
        cold = SandboxWorker(sandbox, machine, walls=sandbox.walls)
        worker, _, _ = await _with_gpus(cold, sandbox, settings)
        if isinstance(worker, GpuWorker):
            quiet = partial(_quiet, settings)
            kennel = Kennel(sandbox, cold, worker, slot=2 + _SLOTS_BESIDE, rules=Rules(), quiet=quiet, note=_note())
            told.endings |= await kennel.prepare_each(sources)
            await worker.settle()
        return told.endings
    finally:
        await sandbox.close()


async def prepare_giving_way(
    settings: Settings, sources: Mapping[str, str], tell: Callable[[], None], prepare: Prepare = prepare_examples
) -> dict[str, str]:
    """Prepare beside the runners of this host: as soon as one waits for the room or a GPU, they go first.

    What was under way is given up and begun again after; `tell` hears of it. Raises as `prepare_examples`.
    """
    lock, numbers = HostLock(settings.lock), find_gpus() if settings.gpus is None else settings.gpus
    locks: tuple[HostLock | OneLock, ...] = (lock, *(gpu_lock(settings.lock, number) for number in numbers))
    while True:
        async with lock.held(alone=False):
            preparing = asyncio.ensure_future(prepare(settings, sources))
            waiting = asyncio.create_task(until_wanted(locks))
            try:
                await asyncio.wait({preparing, waiting}, return_when=asyncio.FIRST_COMPLETED)
                if preparing.done():
                    return preparing.result()
            finally:
                for task in (preparing, waiting):
                    task.cancel()
                await asyncio.gather(preparing, waiting, return_exceptions=True)
            waiting.result()
        tell()
        await until_unwanted(locks)  # a job may wait long for a GPU that another has: each new start would end at once


def _note() -> Callable[..., None]:
    return stderr_journal().note


async def _with_gpus(
    inner: SandboxWorker, sandbox: Bubblewrap | Gvisor, settings: Settings
) -> tuple[Worker, Setting, tuple[Gpu, ...]]:
    """Add what lends this host's GPUs, where there are any, the settings allow them and the walls can hold them.

    Raises:
        SetupError: the settings name a GPU that is not there.
    """
    if not isinstance(sandbox, Bubblewrap):
        return inner, replace(sandbox.setting, no_gpu="runsc runs CPU jobs only"), ()
    found = find_gpus()
    numbers = found if settings.gpus is None else settings.gpus
    missing = [number for number in numbers if number not in found]
    if missing:
        there = ", ".join(f"/dev/nvidia{number}" for number in found) or "none"
        message = f"TASREE_RUNNER_GPUS names {missing[0]}: /dev/nvidia{missing[0]} is not there; there are: {there}"
        raise SetupError(message)
    if not numbers:
        return inner, sandbox.setting, ()
    watches = await asyncio.gather(
        *(asyncio.to_thread(open_watch, number, sandbox.host.may_be_jobs) for number in numbers)
    )
    gpus = tuple(watch.gpu for watch in watches)
    nodes = ", ".join(f"/dev/nvidia{number}" for number in numbers)
    shown = f"{named([gpu.name for gpu in gpus])}, driver {gpus[0].driver or 'unknown'}, {nodes}"
    journal = stderr_journal()
    lent = [(Lender(watch, journal), gpu_lock(settings.lock, watch.gpu.minor)) for watch in watches]
    return GpuWorker(inner, Pool(lent)), sandbox.setting_with(numbers, shown), gpus


def _silent(_: Progress) -> None:
    """The probe's own jobs tell nobody of their progress."""
