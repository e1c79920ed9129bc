"""That examples are compiled for each kind of card once, on a GPU that is held, and a job goes before them.

The parents of these tests load nothing, and the GPUs are stand-ins: their nodes are not on this host.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.gpus import Gpu, Sight
from sandbox_runner.gpuwaiting import SLOTS, Kennel
from sandbox_runner.gpuwork import GpuWorker
from sandbox_runner.lending import Lender
from sandbox_runner.pooling import FreeLock, Pool
from sandbox_runner.protocol import Machine
from sandbox_runner.sandbox.bubblewrap import Bubblewrap, open_bubblewrap
from sandbox_runner.sandbox.host import SandboxSettings
from sandbox_runner.warm import caches
from sandbox_runner.warm.nursery import Rules
from sandbox_runner.warm.parent import Nest
from sandbox_runner.worker import SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox
WRITES = """
import os, pathlib  # as torch's compiler would: compile
base = pathlib.Path("/tmp/torchinductor_learner")
(base / "fxgraph" / "ab").mkdir(parents=True, exist_ok=True)
(base / "fxgraph" / "ab" / "entry").write_text("{text}")
"""


@dataclass
class Looked:
    """A GPU as its lender is to see it."""

    gpu: Gpu
    sight: Sight = field(default_factory=lambda: Sight(100 << 20, frozenset(), 0.0))

    def look(self, *, at_work: bool = True) -> Sight:
        return self.sight

    def faults(self) -> tuple[str, ...]:
        return ()


class Plain(Kennel):
    """A kennel whose parents load nothing."""

    def _bare(self, lender: Lender, slot: int, depth: int) -> Nest:
        return replace(super()._bare(lender, slot, depth), modules=(), depth=1)


class _Log:
    def __init__(self) -> None:
        self.events: list[str] = []

    def note(self, event: str, **values: str | float | bool | None) -> None:
        self.events.append(event)


@dataclass
class Host:
    """A sandbox on a host of GPUs, all of which are prepared for by one kennel."""

    sandbox: Bubblewrap
    kennel: Kennel
    lenders: list[Lender]
    worker: GpuWorker
    log: _Log

    def kept(self, card: str) -> list[str]:
        """The files kept for a card."""
        folder = caches._folder(self.sandbox.host.interpreter, card)
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
async def host(
    walls: "Walls", learners_python: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Host]:
    """Give a host with two GPUs of one kind and one of another."""
    base_uid = 985_000 + os.getpid() % 10_000 * 8
    sandbox = await open_bubblewrap(SandboxSettings(str(learners_python), base_uid=base_uid))
    own = caches._key
    top = sandbox.host.folder / "kept"
    monkeypatch.setattr(caches, "_folder", lambda interpreter, card: top / f"compiled-{own(interpreter, card)}")
    gpus = [Gpu(0, "Large", "1.2"), Gpu(1, "Large", "1.2"), Gpu(2, "Small", "1.2")]
    log = _Log()
    lenders = [Lender(Looked(gpu), log, settle_s=0.2, hang_s=0.3) for gpu in gpus]
    cold = SandboxWorker(sandbox, Machine(), grace_s=1.0)
    worker = GpuWorker(cold, Pool([(lender, FreeLock()) for lender in lenders]))
    rules = Rules(look_s=0.05, again_s=0.1, calm_s=0.1)

    def note(event: str, **_: object) -> None:
        log.note(event)

    kennel = Plain(sandbox, cold, worker, slot=9, rules=rules, quiet=contextlib.nullcontext, note=note)
    yield Host(sandbox, kennel, lenders, worker, log)
    await worker.settle()
    for nursery in kennel.nurseries.values():
        await nursery.close()
    await sandbox.close()


LARGE, SMALL = "Large, driver 1.2", "Small, driver 1.2"


async def test_each_kind_of_card_has_its_own_and_is_prepared_once(host: Host) -> None:
    told = await host.kennel.prepare_each({"one": WRITES.format(text="of one"), "two": "print(1)"})
    assert told == {"one (Large)": "ok", "two (Large)": "plain", "one (Small)": "ok", "two (Small)": "plain"}
    assert host.kept(LARGE) == host.kept(SMALL) == ["facts.json", "fxgraph/ab/entry"]
    assert caches._folder(host.sandbox.host.interpreter, LARGE) != caches._folder(host.sandbox.host.interpreter, SMALL)
    told = await host.kennel.prepare_each({"one": WRITES.format(text="of one")})
    assert told == {"one (Large)": "kept", "one (Small)": "kept"}
    assert "gpu_in_doubt" not in host.log.events


async def test_what_may_have_left_a_gpu_unwell_puts_it_in_doubt_and_what_went_well_before_is_kept(host: Host) -> None:
    sources = {"good": WRITES.format(text="good"), "bad": "import os  # compile\nos.kill(os.getpid(), 9)"}
    told = await host.kennel.prepare_each(sources)
    assert (told["good (Large)"], told["bad (Large)"]) == ("ok", "killed_by_own_signal")
    assert host.log.events.count("gpu_in_doubt") == 2
    assert host.kept(LARGE) == ["facts.json", "fxgraph/ab/entry"]
    assert (len(caches.prepared(host.sandbox, LARGE)), len(caches.failed(host.sandbox, LARGE))) == (1, 1)


async def test_a_job_that_waits_for_the_gpu_goes_before(host: Host) -> None:
    host.worker.wanted = 1
    async with host.lenders[0]._lock:
        host.worker.pool._free.discard(0)
        host.worker.wanted = 1
        told = await host.kennel.prepare_each({"one": WRITES.format(text="never")})
    assert told[LARGE] == "not prepared: a job waits for it"
    assert host.kept(LARGE) == []


async def test_what_is_given_up_keeps_nothing_of_what_was_not_over_and_gives_the_gpu_back(host: Host) -> None:
    sources = {
        "one": WRITES.format(text="of one"),
        "two": "import time  # compile\nprint(1, flush=True)\ntime.sleep(60)",
    }
    preparing = asyncio.create_task(host.kennel.prepare_each(sources))
    async with asyncio.timeout(30):
        while not caches.prepared(host.sandbox, LARGE):  # noqa: ASYNC110 - what it waits for tells nobody
            await asyncio.sleep(0.02)
    await asyncio.sleep(0.3)
    preparing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await preparing
    assert caches.failed(host.sandbox, LARGE) == frozenset()
    assert host.worker.pool._free == {0, 1, 2}
    assert host.log.events.count("gpu_in_doubt") == 1  # as after a learner's job that was ended from outside
    assert sorted(path.name for path in (host.sandbox.host.folder / "kept").glob("workshop-*")) == []


async def test_a_cancel_while_children_are_dismissed_leaves_no_gpu_taken(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    dismissing = asyncio.Event()

    async def dismiss() -> None:
        dismissing.set()
        await asyncio.sleep(0.2)

    monkeypatch.setattr(host.kennel, "_dismiss", dismiss)
    preparing = asyncio.create_task(host.kennel.prepare_each({"bad": "import os  # compile\nos.kill(os.getpid(), 9)"}))
    await dismissing.wait()
    preparing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await preparing
    async with asyncio.timeout(10):
        while host.worker.pool._free != {0, 1, 2}:  # noqa: ASYNC110 - what it waits for tells nobody
            await asyncio.sleep(0.02)


async def test_after_an_ill_example_the_gpu_is_in_doubt_though_the_next_is_given_up_and_proven_before_the_next(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    proven: list[str] = []

    async def prove(*_: object) -> str:
        proven.append("")
        return ""

    monkeypatch.setattr(GpuWorker, "_prove", prove)
    sources = {
        "bad": "import os  # compile\nos.kill(os.getpid(), 9)", "good": WRITES.format(text="of good"),
        "long": "import time  # compile\ntime.sleep(60)",
    }  # fmt: skip
    preparing = asyncio.create_task(host.kennel.prepare_each(sources))
    async with asyncio.timeout(30):
        while not caches.prepared(host.sandbox, LARGE):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.02)
    assert len(proven) == 1
    preparing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await preparing
    assert len(caches.failed(host.sandbox, LARGE)) == 1


async def test_what_cannot_be_kept_is_told_and_the_next_kind_of_card_goes_on(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = caches._place
    full: list[Path] = []

    def place(content: bytes, target: Path) -> None:
        if target.name == "entry" and len(full) < 3:
            full.append(target)
            raise OSError(28, "No space left on device")
        real(content, target)

    monkeypatch.setattr(caches, "_place", place)
    told = await host.kennel.prepare_each({"one": WRITES.format(text="of one")})
    assert told[LARGE] == "not prepared: what the compiler makes cannot be kept: No space left on device"
    assert told["one (Small)"] == "ok"
    assert host.worker.pool._free == {0, 1, 2}


async def test_a_runner_at_rest_prepares_its_examples_and_every_gpu_of_that_kind_has_them(
    host: Host, tmp_path: Path
) -> None:
    (tmp_path / "one.py").write_text(WRITES.format(text="of one"))
    (tmp_path / "reads.py").write_text("# says nothing of it\n")
    host.kennel.open(host.sandbox.setting, tmp_path)
    assert len({like.slot for nursery in host.kennel.nurseries.values() for like in nursery._like}) == 3 * (SLOTS - 2)

    async def right(*_: object) -> str:
        return ""

    keeping = []
    for nursery in host.kennel.nurseries.values():
        nursery._prove = right
        keeping.append(asyncio.create_task(nursery.keep(lambda _: None, lambda: True)))
    try:
        async with asyncio.timeout(60):
            for nursery in host.kennel.nurseries.values():
                while nursery._improve is not None:  # noqa: ASYNC110 - what it waits for tells nobody
                    await asyncio.sleep(0.02)
    finally:
        for task in keeping:
            task.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)
    assert host.kept(LARGE) == host.kept(SMALL) == ["facts.json", "fxgraph/ab/entry"]
    parents = [nursery._parent for nursery in host.kennel.nurseries.values()]
    assert all(parent is not None and parent.alive for parent in parents)
    assert [event for event in host.log.events if event in {"not_improved", "parent_refused", "gpu_in_doubt"}] == []
