"""The warm start on GPUs: a parent a GPU that touches none, and children that wait on it, made while nobody has it.

Law: what a GPU's lender allows to stay on it are these children's own pids and memory, no more; where their memory is
not known yet, only their pids. A GPU in doubt keeps none of them. What torch's compiler keeps is made for each kind of
card, by jobs of ours that hold it like any other. Sizes in bytes.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from sandbox_runner.errors import SetupError
from sandbox_runner.gpus import Gpu
from sandbox_runner.gpuwork import GpuWorker, doubt_of
from sandbox_runner.lending import Lender, Ours
from sandbox_runner.preparing import Place, Told, prepare_sources, read_examples
from sandbox_runner.protocol import Device, Job, Progress, Result, limits_for
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.probing import Setting
from sandbox_runner.sandbox.watchdog import tree
from sandbox_runner.warm.caches import build, failed, nest_of, prepared
from sandbox_runner.warm.nursery import WALL, BusyError, Note, Nursery, Quiet, Rules
from sandbox_runner.warm.parent import Nest, Parent
from sandbox_runner.warm.proving import OnlyWarm, prove_parent, prove_walls
from sandbox_runner.worker import GpuInside, SandboxWorker

SLOTS = 5
"""How many slots of its own a GPU has: of its children that wait, of examples that are prepared, of the parent."""
_WAITING, _PREPARED, _PARENT = range(3), 3, 4
_DEEPEST = 3


class Kennel:
    """Makes the nursery of each GPU of a pool; `slot` is the first of its own."""

    def __init__(  # noqa: PLR0913 - each is a thing of its own
        self, sandbox: Bubblewrap, cold: SandboxWorker, worker: GpuWorker, *, slot: int, rules: Rules, quiet: Quiet,
        note: Note,
    ) -> None:  # fmt: skip
        self._sandbox = sandbox
        self._cold = cold
        self._worker = worker
        self._pool = worker.pool
        self._slot = slot
        self._rules = rules
        self._quiet = quiet
        self._note = note
        self._proven: list[tuple[str, ...]] = []
        self._preparing = asyncio.Lock()
        self.nurseries: dict[tuple[int, ...], Nursery] = {}

    def open(self, setting: Setting, examples: Path | None) -> None:
        """Make a nursery for each GPU; it starts nothing by itself. What is under `examples` it prepares when idle."""
        for place, lender in enumerate(self._pool.lenders):
            self.nurseries[lender.gpu.minor,] = self._nursery(setting, examples, lender, self._slot + place * SLOTS)
        self._worker.unwell = self._dismiss

    async def prepare_each(self, sources: Mapping[str, str]) -> dict[str, str]:
        """Prepare sources for each kind of card, those that failed before too; give endings by name and card.

        A card that none of them could be prepared for is named alone, with the reason.
        """
        told: dict[str, str] = {}
        cards: set[str] = set()
        for place, lender in enumerate(self._pool.lenders):
            card, slot = _card(lender.gpu), self._slot + place * SLOTS
            if card in cards:
                continue
            cards.add(card)
            try:
                each = await self._prepare_at_any_depth(lender, slot, sources)
            except SetupError as fault:
                told[card] = f"not prepared: {fault}"
            else:
                told |= {f"{name} ({lender.gpu.name})": ending for name, ending in each.items()}
        return told

    async def _prepare_at_any_depth(self, lender: Lender, slot: int, sources: Mapping[str, str]) -> dict[str, str]:
        """Prepare with as much of the compiler loaded in the parent as it stands."""
        for depth in range(_DEEPEST, 0, -1):
            try:
                but = prepared(self._sandbox, _card(lender.gpu))
                return await self._prepare(lender, slot, self._bare(lender, slot, depth), sources, but)
            except BusyError:
                raise
            except SetupError:
                if depth == 1:
                    raise
        return {}

    async def _dismiss(self) -> None:
        for nursery in self.nurseries.values():
            await nursery.dismiss()

    def _bare(self, lender: Lender, slot: int, depth: int) -> Nest:
        """Give what a parent for this GPU is made with, but for what torch's compiler keeps."""
        gpu = lender.gpu
        return Nest(slot + _PARENT, gpus=(gpu.minor,), gpu_names=_names(gpu), card=_card(gpu), depth=depth)

    def _nursery(self, setting: Setting, examples: Path | None, lender: Lender, slot: int) -> Nursery:
        worker, gpus, names = self._worker, (lender.gpu.minor,), _names(lender.gpu)
        depth, had = [_DEEPEST], [frozenset[str]()]

        def make() -> Nest:
            had[0] = prepared(self._sandbox, _card(lender.gpu))
            return nest_of(self._sandbox, self._bare(lender, slot, depth[0]))

        def failed_to_start(_: str) -> None:
            depth[0] = max(depth[0] - 1, 1)

        async def improve() -> bool:
            """Have the examples compiled for this card, unless another GPU like it had; say whether there are more."""
            sources = await asyncio.to_thread(read_examples, examples)
            async with self._preparing:
                card = _card(lender.gpu)
                but = prepared(self._sandbox, card) | failed(self._sandbox, card)
                await self._prepare(lender, slot, self._bare(lender, slot, depth[0]), sources, but)
                return bool(prepared(self._sandbox, card) - had[0])

        like = [
            Staged("waiting", b"", "none.py", limits_for(Device.CUDA), slot + place, Device.CUDA, gpus, names)
            for place in _WAITING
        ]
        prove = partial(self._prove, GpuInside(gpus, lender.hangs, names), setting)
        nursery = Nursery(
            self._sandbox, make, prove, self._noting(lender), self._rules, name=f"{WALL}_gpu{lender.gpu.minor}",
            quiet=self._quiet, improve=improve if examples else None, like=like,
            hold=partial(self._hold, lender, slot), wanted=lambda: worker.wanted > 0, failed=failed_to_start,
        )  # fmt: skip
        lender.ours = partial(ours_of, nursery)
        return nursery

    async def _prepare(
        self, lender: Lender, slot: int, nest: Nest, sources: Mapping[str, str], but: Collection[str]
    ) -> dict[str, str]:
        """Prepare sources on a GPU; give endings. After one that may have left it unwell it is proven, then it goes on.

        Raises:
            BusyError: the GPU is not to be had, or a job waits for it; what was kept until then is kept.
            SetupError: as `prepare_sources`.
        """
        endings: dict[str, str] = {}
        while left := {name: source for name, source in sources.items() if name not in endings}:
            endings |= await self._prepare_some(lender, slot, nest, left, but)
        return endings

    async def _prepare_some(
        self, lender: Lender, slot: int, nest: Nest, sources: Mapping[str, str], but: Collection[str]
    ) -> dict[str, str]:
        """Prepare sources on a GPU that is held meanwhile, all of them or up to one that puts it in doubt."""
        why = await self._take(lender, slot)
        if why:
            raise BusyError(why)
        told = Told()
        try:
            if not nest_of(self._sandbox, nest).compiled:
                await build(self._sandbox, nest)
            gpu = GpuInside((lender.gpu.minor,), lender.hangs, _names(lender.gpu))
            await prepare_sources(self._sandbox, Place(nest, slot + _PREPARED, gpu, doubt_of), sources, but, told)
        finally:
            await asyncio.shield(self._end_loan(lender, told.doubt))
        return told.endings

    async def _end_loan(self, lender: Lender, doubt: str) -> None:
        try:
            if doubt:
                await self._dismiss()
        finally:
            await self._pool.give_back((lender,), doubt)

    async def _take(self, lender: Lender, slot: int) -> str:
        """Take a GPU for what is ours to do on it; a job that waits for it goes before."""
        return await self._pool.take_this(lender, self._worker.proving(slot), lambda: self._worker.wanted > 0)

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
    async def _hold(self, lender: Lender, slot: int) -> AsyncIterator[str]:
        """Hold a GPU while a child is made to wait on it, and weigh the child."""
        why = await self._take(lender, slot)
        if why:
            yield why
            return
        try:
            yield ""
            await _weigh(lender, self.nurseries[lender.gpu.minor,])
        finally:
            await asyncio.shield(self._pool.give_back((lender,), ""))


def _names(gpu: Gpu) -> tuple[str, ...]:
    return (gpu.uuid,) if gpu.uuid else ()


def _card(gpu: Gpu) -> str:
    """Name what code compiled for a GPU depends on."""
    return f"{gpu.name or 'NVIDIA GPU'}, driver {gpu.driver or 'unknown'}"


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
