"""Runs jobs for GPUs on those that are lent, and gives them back clean; every other job goes by untouched.

Law: a job for a GPU runs on one or not at all, and one for several has them all at once. A job that ended in a way that
may have left a GPU unwell is followed by a kernel of ours before the next one is let near it. An answer that is known
is told at once; the GPU is nobody's until the driver has cleared the job away and it was seen clean.
"""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from functools import partial

from sandbox_runner.gpus import listed
from sandbox_runner.lending import Lender, Prove
from sandbox_runner.pooling import Pool, Proving
from sandbox_runner.protocol import (
    Device,
    Ending,
    Job,
    JobKind,
    Note,
    Phase,
    Progress,
    Reached,
    Result,
    Wall,
    limits_for,
)
from sandbox_runner.sandbox.gpuproof import EACH_GPU, PROOF, proof_fault
from sandbox_runner.worker import Emit, GpuInside, SandboxWorker

_LEFT_BY_ITSELF = {
    Ending.OK, Ending.WRONG_RESULT, Ending.NONFINITE, Ending.SUSPICIOUS_TIMING, Ending.SYNTAX_ERROR, Ending.PY_ERROR,
    Ending.NO_RESULT, Ending.EXIT_NONZERO, Ending.OOM_GPU,
}  # fmt: skip


class GpuWorker:
    """A worker with GPUs to lend."""

    def __init__(self, inner: SandboxWorker, pool: Pool) -> None:
        self._inner = inner
        self._pool = self.pool = pool
        self._giving: set[asyncio.Task[None]] = set()
        self.wanted = 0
        """How many jobs want a GPU that they do not have yet."""
        self.unwell: Callable[[], Awaitable[None]] = _nothing
        """Called when a GPU is in doubt, before it is given back: what waits on it by our will must go."""

    async def run_job(self, job: Job, slot: int, emit: Emit) -> Result:
        """Run one job in `slot`. Cancelled as a task, it kills within a second and returns `cancelled`, or raises."""
        if job.device is Device.CPU:
            return await self._inner.run_job(job, slot, emit)
        there = len(self._pool.lenders)
        if job.gpus > there:
            most = Reached("gpus", there, "count")
            return self._named(Result(job.id, job.kind, Ending.TOO_FEW_GPUS, job.device, reached=most), ())
        emit(Progress(Phase.START))
        began = time.perf_counter()
        self.wanted += 1
        try:
            taken = await self._pool.take(job.gpus, partial(self._proving, slot))
        finally:
            self.wanted -= 1
        if taken.why:
            note = Note("gpu_quarantined", {"detail": taken.why[:500]})
            return self._named(Result(job.id, job.kind, Ending.INFRA_ERROR, job.device, notes=(note,)), ())
        lent_ms = round((time.perf_counter() - began) * 1e3, 3)
        doubt, clearing = "a run that was cut short", _Clearing(self._inner.grace_s)
        try:
            result = await self._inner.run_job(job, slot, emit, replace(_inside(taken.lenders), later=clearing.take))
            doubt = doubt_of(result)
        finally:
            giving = asyncio.create_task(self._give_back(taken.lenders, doubt, clearing))
            self._giving.add(giving)
            giving.add_done_callback(self._giving.discard)
            if doubt or job.kind is not JobKind.RUN:
                await asyncio.shield(giving)
        return self._named(replace(result, phases_ms={"lend": lent_ms} | result.phases_ms), taken.lenders)

    async def _give_back(self, lenders: Sequence[Lender], doubt: str, clearing: "_Clearing") -> None:
        """Look that GPUs are clean and give them back. Nobody has them before; the answer of a clean run is told."""
        doubt = await clearing.over() or doubt
        if doubt:
            await self.unwell()
        await self._pool.give_back(lenders, doubt)

    async def settle(self) -> None:
        """Wait until every GPU was given back, with what was made for the jobs that are over."""
        await asyncio.gather(*self._giving, return_exceptions=True)

    async def prove_each(self, slot: int) -> tuple[Wall, ...]:
        """Run a kernel of ours on each GPU of several alone; where it is not right the GPU is in doubt."""
        if len(self._pool.lenders) == 1:
            return ()
        return tuple([await self._wall(lender, slot) for lender in self._pool.lenders])

    async def idle(self) -> tuple[Wall, ...]:
        """Say of each GPU what is used of it while no job of ours runs, and by whom."""
        return tuple([await _idle(lender) for lender in self._pool.lenders])

    async def _wall(self, lender: Lender, slot: int) -> Wall:
        why = await self._pool.take_this(lender, partial(self._proving, slot))
        if not why:
            try:
                why = await self._prove(slot, (lender,))
            finally:
                await asyncio.shield(self._pool.give_back((lender,), why and f"a proof that failed: {why}"))
        name, detail = f"{EACH_GPU}{lender.gpu.minor}", why or f"{lender.gpu.name or 'NVIDIA GPU'}: a kernel was right"
        return Wall(name, stands=not why, matters=False, detail=detail[:300])

    def proving(self, slot: int) -> Proving:
        """Give what proves GPUs that are taken by a kernel in this slot."""
        return partial(self._proving, slot)

    def _proving(self, slot: int, lenders: Sequence[Lender]) -> Prove:
        return partial(self._prove, slot, lenders)

    async def _prove(self, slot: int, lenders: Sequence[Lender]) -> str:
        """Run a kernel of ours inside the walls; say what was wrong with its result. The GPUs must be taken."""
        name = f"gpu-proof-{secrets.token_hex(4)}"
        job = Job(name, JobKind.RUN, PROOF, "proof", Device.CUDA, limits=limits_for(Device.CUDA))
        return proof_fault(await self._inner.run_job(job, slot, lambda _: None, _inside(lenders)))

    def _named(self, result: Result, lenders: Sequence[Lender]) -> Result:
        name = named([lender.gpu.name for lender in lenders or self._pool.lenders[:1]])
        return replace(result, machine=replace(self._inner.machine, device=name))


class _Clearing:
    """What the kernel and the driver still clear away of a job that can run no line any more."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._tasks: list[asyncio.Task[bool]] = []
        self._since = 0.0

    def take(self, rest: Coroutine[None, None, bool]) -> None:
        """Have it go on while the answer is told."""
        self._since = time.monotonic()
        self._tasks.append(asyncio.create_task(rest))

    async def over(self) -> str:
        """Wait until all is cleared; say what there is to doubt. Work that goes on for long may be a kernel's."""
        if not self._tasks:
            return ""
        cleared = await asyncio.gather(*self._tasks, return_exceptions=True)
        took_s = time.monotonic() - self._since
        if not all(one is True for one in cleared):
            return "something outlived its job"
        return f"a run that was cleared away only after {took_s:.1f} s" if took_s > self._patience_s else ""


async def _nothing() -> None:
    """Nothing waits on a GPU."""


async def _idle(lender: Lender) -> Wall:
    sight, name = await lender.sight(), f"gpu{lender.gpu.minor}_idle"
    if sight is None or sight.used_bytes is None:
        mend = (
            "NVIDIA's library (libnvidia-ml.so.1) must be found, and `nvidia-smi` must answer: without it "
            "memory that a job leaves behind is not seen."
        )
        return Wall(name, stands=False, matters=False, detail="the driver does not say how it stands", mend=mend)
    there = sight.holders | sight.others
    held = f"held by {listed(there)}" if there else "held by no process"
    whole = f" of {lender.gpu.memory_bytes >> 20}" if lender.gpu.memory_bytes else ""
    clock = f", {sight.sm_mhz} MHz" if sight.sm_mhz else ""
    detail = f"driver {lender.gpu.driver or 'unknown'}, {sight.used_bytes >> 20}{whole} MiB in use, {held}{clock}"
    return Wall(name, stands=True, matters=False, detail=detail[:300])


def named(names: Sequence[str]) -> str:
    """Name GPUs as people do: `NVIDIA H200`, `2 x NVIDIA H200`."""
    name = names[0] or "NVIDIA GPU"
    return name if len(names) == 1 else f"{len(names)} x {name}"


def _inside(lenders: Sequence[Lender]) -> GpuInside:
    async def hangs() -> bool:
        return any(await asyncio.gather(*(lender.hangs() for lender in lenders)))

    names = tuple(lender.gpu.uuid for lender in lenders)
    return GpuInside(tuple(lender.gpu.minor for lender in lenders), hangs, names if all(names) else ())


def doubt_of(result: Result) -> str:
    """Say why the GPU must be proven after a job, if it must."""
    if result.ending not in _LEFT_BY_ITSELF:
        return f"a run that ended as {result.ending.value}"
    if any(note.code == "did_not_exit" for note in result.notes):
        return "a run that did not end by itself"
    return ""
