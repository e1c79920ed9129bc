"""How a host's GPUs are shared out: any that is free, several at once or none, and one that is unwell passed over."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from sandbox_runner.gpus import Gpu, Sight
from sandbox_runner.lending import Lender, Prove
from sandbox_runner.pooling import AGAIN_S, GAVE_WAY, FreeLock, Pool

WELL, HELD = Sight(0), Sight(0, frozenset({77}))


@dataclass
class Looked:
    """A GPU of this number; who holds it changes as the test says."""

    minor: int
    sight: Sight = WELL
    gpu: Gpu = field(init=False)

    def __post_init__(self) -> None:
        self.gpu = Gpu(self.minor, "Stand-in GPU")

    def look(self, *, at_work: bool = True) -> Sight:
        return self.sight

    def faults(self) -> tuple[str, ...]:
        return ()


class Silent:
    """A log that nobody reads."""

    def note(self, event: str, **values: str | float | bool | None) -> None:
        """Forget it."""


@dataclass
class Taken:
    """A lock that another runner may hold."""

    theirs: bool = False
    ours: bool = False
    wanted: bool = False

    def take(self) -> bool:
        if self.theirs or self.ours:
            return False
        self.ours = True
        return True

    def let_go(self) -> None:
        self.ours = False

    def want(self) -> None:
        self.wanted = True

    def want_no_more(self) -> None:
        self.wanted = False


@dataclass
class Clock:
    """Seconds, as the test says."""

    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Bench:
    """Three GPUs with numbers that leave gaps."""

    watches: list[Looked] = field(default_factory=lambda: [Looked(minor) for minor in (0, 3, 4)])
    locks: list[Taken] = field(default_factory=lambda: [Taken() for _ in range(3)])
    clock: Clock = field(default_factory=Clock)
    right: bool = True

    def __post_init__(self) -> None:
        lenders = [Lender(watch, Silent(), settle_s=0.05) for watch in self.watches]
        self.pool = Pool(list(zip(lenders, self.locks, strict=True)), clock=self.clock)

    async def take(self, count: int) -> tuple[int, ...] | str:
        taken = await self.pool.take(count, self._proving)
        return taken.why or tuple(lender.gpu.minor for lender in taken.lenders)

    async def give_back(self, *minors: int, doubt: str = "") -> None:
        lenders = [lender for lender in self.pool.lenders if lender.gpu.minor in minors]
        await self.pool.give_back(lenders, doubt)

    def _proving(self, _lenders: Sequence[Lender]) -> Prove:
        async def prove() -> str:
            return "" if self.right else "a kernel gave a wrong result"

        return prove


async def test_each_job_gets_a_gpu_that_is_free_and_one_more_waits() -> None:
    bench = Bench()
    assert [await bench.take(1) for _ in range(3)] == [(0,), (3,), (4,)]
    fourth = asyncio.create_task(bench.take(1))
    await asyncio.sleep(0.1)
    assert not fourth.done()
    assert all(lock.wanted for lock in bench.locks)
    await bench.give_back(3)
    assert await fourth == (3,)
    assert not any(lock.wanted for lock in bench.locks)


async def test_who_would_only_make_ready_gives_way_to_a_job_that_waits_for_the_same_gpu() -> None:
    bench = Bench()
    assert await bench.take(3) == (0, 3, 4)
    wanted: list[str] = []
    ready = asyncio.create_task(bench.pool.take_this(bench.pool.lenders[0], bench._proving, lambda: bool(wanted)))
    await asyncio.sleep(0.1)
    assert not ready.done()
    job = asyncio.create_task(bench.take(1))
    wanted.append("a job")
    assert await ready == GAVE_WAY
    await bench.give_back(0)
    assert await job == (0,)


async def test_a_job_for_several_has_them_all_in_the_order_of_their_numbers() -> None:
    bench = Bench()
    assert await bench.take(1) == (0,)
    several = asyncio.create_task(bench.take(3))
    await asyncio.sleep(0.1)
    assert not several.done()
    await bench.give_back(0)
    assert await several == (0, 3, 4)


async def test_two_jobs_for_several_never_wait_for_each_other() -> None:
    bench = Bench()
    first, second = (asyncio.create_task(bench.take(2)) for _ in range(2))
    assert await first == (0, 3)
    assert not second.done()
    await bench.give_back(0, 3)
    assert len(await second) == 2


async def test_more_than_there_are_is_refused_at_once() -> None:
    assert await Bench().take(4) == "4 GPUs are wanted and there are 3"


async def test_a_gpu_that_is_unwell_is_passed_over_and_tried_again_after_a_while() -> None:
    bench = Bench()
    assert await bench.take(3) == (0, 3, 4)
    bench.watches[0].sight = HELD
    await bench.give_back(0, 3, 4)
    assert bench.pool.lenders[0].quarantine == "held by process 77"
    assert await bench.take(1) == (3,)
    await bench.give_back(3)
    bench.watches[0].sight = WELL
    bench.clock.now = AGAIN_S + 1
    assert await bench.take(2) == (3, 4)
    assert await bench.take(1) == (0,)
    assert bench.pool.lenders[0].quarantine == ""


async def test_where_too_few_are_well_the_one_in_quarantine_is_tried_and_its_reason_told() -> None:
    bench = Bench()
    assert await bench.take(1) == (0,)
    bench.right = False
    await bench.give_back(0, doubt="a run that ended as gpu_hang")
    why = "GPU 0: after a run that ended as gpu_hang: a kernel gave a wrong result"
    assert await bench.take(3) == why
    assert await bench.take(2) == (3, 4)  # and nothing was kept of the try before
    await bench.give_back(3, 4)
    bench.right = True
    assert await bench.take(3) == (0, 3, 4)


async def test_a_gpu_that_another_runner_has_is_left_to_it() -> None:
    bench = Bench()
    bench.locks[0].theirs = True
    assert await bench.take(1) == (3,)
    several = asyncio.create_task(bench.take(2))
    await asyncio.sleep(0.1)
    assert not several.done()
    bench.locks[0].theirs = False
    assert await several == (0, 4)
    await bench.give_back(0, 3, 4)
    assert not any(lock.ours for lock in bench.locks)


async def test_a_wait_that_is_cancelled_gives_back_what_it_had() -> None:
    bench = Bench()
    assert await bench.take(1) == (0,)
    several = asyncio.create_task(bench.take(3))
    await asyncio.sleep(0.1)
    several.cancel()
    with pytest.raises(asyncio.CancelledError):
        await several
    assert await bench.take(2) == (3, 4)


async def test_one_gpu_of_several_is_taken_by_name() -> None:
    bench = Bench()
    assert await bench.pool.take_this(bench.pool.lenders[1], bench._proving) == ""
    assert await bench.take(2) == (0, 4)


def test_a_lock_that_nobody_else_knows_of_is_always_free() -> None:
    lock = FreeLock()
    assert lock.take()
    lock.let_go()
    assert lock.take()
