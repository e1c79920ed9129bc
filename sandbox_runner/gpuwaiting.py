"""The warm start on GPUs: a parent a GPU that touches none, and children that wait on it, made while nobody has it.

Law: what a GPU's lender allows to stay on it are these children's own pids and memory, no more; where their memory is
not known yet, only their pids. A GPU in doubt keeps none of them. Sizes in bytes.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from sandbox_runner.gpuwork import GpuWorker
from sandbox_runner.lending import Lender, Ours
from sandbox_runner.pooling import Pool
from sandbox_runner.protocol import Device, Job, Progress, Result, limits_for
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.probing import Setting
from sandbox_runner.sandbox.watchdog import tree
from sandbox_runner.warm.nursery import WALL, Note, Nursery, Quiet, Rules
from sandbox_runner.warm.parent import Nest, Parent
from sandbox_runner.warm.proving import OnlyWarm, prove_parent, prove_walls
from sandbox_runner.worker import GpuInside, SandboxWorker

SLOTS = 4
"""How many slots a GPU's children that wait and their parent have of their own, the parent the last."""
_DEEPEST = 3


class Kennel:
    """Makes the nursery of each GPU of a pool; `slot` is the first of its own."""

    def __init__(  # noqa: PLR0913 - each is a thing of its own
        self, sandbox: Bubblewrap, cold: SandboxWorker, pool: Pool, *, slot: int, rules: Rules, quiet: Quiet, note: Note
    ) -> None:
        self._sandbox = sandbox
        self._cold = cold
        self._pool = pool
        self._slot = slot
        self._rules = rules
        self._quiet = quiet
        self._note = note
        self._proven: list[tuple[str, ...]] = []
        self.nurseries: dict[tuple[int, ...], Nursery] = {}

    def open(self, worker: GpuWorker, setting: Setting) -> None:
        """Make a nursery for each GPU; it starts nothing by itself."""
        for place, lender in enumerate(self._pool.lenders):
            self.nurseries[lender.gpu.minor,] = self._nursery(worker, setting, lender, self._slot + place * SLOTS)
        worker.unwell = self._dismiss

    async def _dismiss(self) -> None:
        for nursery in self.nurseries.values():
            await nursery.dismiss()

    def _nursery(self, worker: GpuWorker, setting: Setting, lender: Lender, slot: int) -> Nursery:
        names = (lender.gpu.uuid,) if lender.gpu.uuid else ()
        gpus = (lender.gpu.minor,)
        depth = [_DEEPEST]

        def make() -> Nest:
            return Nest(slot + SLOTS - 1, gpus=gpus, gpu_names=names, depth=depth[0])

        def failed(_: str) -> None:
            depth[0] = max(depth[0] - 1, 1)

        like = [
            Staged("waiting", b"", "none.py", limits_for(Device.CUDA), slot + place, Device.CUDA, gpus, names)
            for place in range(SLOTS - 1)
        ]
        prove = partial(self._prove, GpuInside(gpus, lender.hangs, names), setting)
        nursery = Nursery(
            self._sandbox, make, prove, self._noting(lender), self._rules, name=f"{WALL}_gpu{lender.gpu.minor}",
            quiet=self._quiet, like=like,
            hold=partial(self._hold, lender, worker, slot), wanted=lambda: worker.wanted > 0, failed=failed,
        )  # fmt: skip
        lender.ours = partial(ours_of, nursery)
        return nursery

    def _noting(self, lender: Lender) -> Note:
        return partial(self._note, gpu=lender.gpu.minor)

    async def _prove(self, gpu: GpuInside, setting: Setting, parent: Parent) -> str:
        """Try all walls once, and what only a warm child could reach for at every parent, by jobs with nodes."""
        worker = SandboxWorker(OnlyWarm(parent), self._cold.machine, walls=self._cold.walls)

        async def attempt(job: Job, slot: int) -> Result:
            on_gpu = replace(job, device=Device.CUDA)
            return await worker.run_job(on_gpu, slot, _silent, gpu)

        wrong = await prove_parent(attempt, parent.pid)
        if not wrong and self._cold.walls not in self._proven:
            variables = (*setting.variables, *setting.variables_cuda)
            alone = replace(setting, gpu="", no_gpu="tried by its own parent", variables=variables, lent=setting.nodes)
            wrong = await prove_walls(attempt, alone, self._cold.walls)
            self._proven += [] if wrong else [self._cold.walls]
        return wrong

    @asynccontextmanager
    async def _hold(self, lender: Lender, worker: GpuWorker, slot: int) -> AsyncIterator[str]:
        """Hold a GPU while a child is made to wait on it, and weigh the child; a job that waits for it goes before."""
        why = await self._pool.take_this(lender, worker.proving(slot), lambda: worker.wanted > 0)
        if why:
            yield why
            return
        try:
            yield ""
            await _weigh(lender, self.nurseries[lender.gpu.minor,])
        finally:
            await asyncio.shield(self._pool.give_back((lender,), ""))


def ours_of(nursery: Nursery) -> Ours:
    """Say which processes wait on the GPU of this nursery, and what they hold of it."""
    children = nursery.children()
    pids = frozenset(pid for child in children for pid in tree(child.lines.pid))
    known = [child.bytes for child in children if child.bytes is not None]
    return Ours(pids, sum(known) if len(known) == len(children) else None)


async def _weigh(lender: Lender, nursery: Nursery) -> None:
    """Weigh what stands ready and was not weighed; of several at once each counts for its part."""
    new = [child for child in nursery.children() if child.bytes is None]
    if new and all(child.lines.ready for child in new):
        for child in new:
            child.bytes = 0
        held = await lender.weigh()
        for child in new:
            child.bytes = None if held is None else max(held // len(new), 0)


def _silent(_: Progress) -> None:
    """Attempts tell nobody of their progress."""
