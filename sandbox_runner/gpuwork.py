"""Runs jobs for the GPU on the one that is lent, and gives it back clean; every other job goes by untouched.

Law: a job for the GPU runs on it or not at all. A job that ended in a way that may have left the GPU unwell is
followed by a kernel of ours before the next one is let near it.
"""

import asyncio
import secrets
from dataclasses import replace
from functools import partial

from sandbox_runner.lending import Lender
from sandbox_runner.protocol import Device, Ending, Job, JobKind, Note, Phase, Progress, Result, limits_for
from sandbox_runner.sandbox.gpuproof import PROOF, proof_fault
from sandbox_runner.worker import Emit, GpuInside, SandboxWorker

_LEFT_BY_ITSELF = {
    Ending.OK, Ending.WRONG_RESULT, Ending.NONFINITE, Ending.SUSPICIOUS_TIMING, Ending.SYNTAX_ERROR, Ending.PY_ERROR,
    Ending.NO_RESULT, Ending.EXIT_NONZERO, Ending.OOM_GPU,
}  # fmt: skip


class GpuWorker:
    """A worker with a GPU to lend."""

    def __init__(self, inner: SandboxWorker, lender: Lender) -> None:
        self._inner = inner
        self._lender = lender
        inner.gpu = GpuInside(lender.gpu.minor, lender.hangs)

    async def run_job(self, job: Job, slot: int, emit: Emit) -> Result:
        """Run one job in `slot`. Cancelled as a task, it kills within a second and returns `cancelled`, or raises."""
        if job.device is Device.CPU:
            return await self._inner.run_job(job, slot, emit)
        emit(Progress(Phase.START))
        why = await self._lender.take(partial(self.prove, slot))
        if why:
            note = Note("gpu_quarantined", {"detail": why[:500]})
            return self._named(Result(job.id, job.kind, Ending.INFRA_ERROR, job.device, notes=(note,)))
        doubt = "a run that was cut short"
        try:
            result = await self._inner.run_job(job, slot, emit)
            doubt = _doubt(result)
        finally:
            await asyncio.shield(self._lender.give_back(doubt))
        return self._named(result)

    async def prove(self, slot: int) -> str:
        """Run a kernel of ours inside the walls; say what was wrong with its result. The GPU must be taken."""
        return proof_fault(await self.proof(slot))

    async def proof(self, slot: int) -> Result:
        """Run a kernel of ours inside the walls and give its result. The GPU must be taken."""
        name = f"gpu-proof-{secrets.token_hex(4)}"
        job = Job(name, JobKind.RUN, PROOF, "proof", Device.CUDA, limits=limits_for(Device.CUDA))
        return await self._inner.run_job(job, slot, lambda _: None)

    def _named(self, result: Result) -> Result:
        gpu = self._lender.gpu
        return replace(result, machine=replace(self._inner.machine, device=gpu.name or f"nvidia{gpu.minor}"))


def _doubt(result: Result) -> str:
    """Say why the GPU must be proven after a job, if it must."""
    if result.ending not in _LEFT_BY_ITSELF:
        return f"a run that ended as {result.ending.value}"
    if any(note.code == "did_not_exit" for note in result.notes):
        return "a run that did not end by itself"
    return ""
