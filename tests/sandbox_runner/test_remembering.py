"""What remembers its answers is found whatever it remembers by and however many; who does not is never named.

A stand-in plays the process: its clock is simulated, so nothing here depends on the machine.
"""

import random
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest

from sandbox_runner.asking import Prepared, Stopped
from sandbox_runner.outerclock import OuterClock, Waited
from sandbox_runner.protocol import Ending, Fault
from sandbox_runner.remembering import Remembering

REAL, QUICK, HANDSHAKE = 34_000.0, 170.0, 100_000
NAMED, UNTOLD, CLEAR = "named", "untold", "clear"


@dataclass(frozen=True)
class Input:
    """One input: its content, which object it is, and whether it was made in the process that computes."""

    value: int
    identity: int
    own: bool


Cost = Callable[[Input], float]


class Library:
    """What the standard library remembers, until it is told to forget."""

    def __init__(self) -> None:
        self.known: set[int] = set()


@dataclass
class Process:
    """Plays harness and challenges: makes inputs, calls `cost` for each call of a block, adds what `late` says."""

    cost: Cost
    library: Library = field(default_factory=Library)
    make_ns: float = 200_000.0
    making_ns: float = 0.0
    late: Callable[[], int] = lambda: 0
    how: str = "apart"
    now: int = 0
    made: int = 0
    inputs: list[Input] = field(default_factory=list)
    turns: list[Input] = field(default_factory=list)
    before: list[Input] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(3))  # noqa: S311 - no secrets

    def seed(self) -> int:
        return self.chance.getrandbits(32)

    async def prepare(
        self, variant: int, seed: int, sets: int = 1, *, apart: bool = False, forgotten: bool = False
    ) -> tuple[Prepared, int]:
        del variant
        if forgotten:
            self.library.known.clear()
        own = not apart or self.how != "apart"
        self.before = self.before or self.turns
        self.inputs = [Input(hash((seed, i)), self.made + i, own) for i in range(sets)]
        self.made += sets
        self.turns = self.inputs
        self.now += (wall := HANDSHAKE + int((self.making_ns or self.make_ns) * sets))
        return Prepared(self.how if apart else "", 16_000 * sets, 1000), wall

    async def arrange(self, variant: int, turns: Sequence[int]) -> None:
        del variant
        self.turns = [self.inputs[turn] for turn in turns]

    async def restore(self, variant: int) -> None:
        del variant
        self.turns = self.before

    async def block(self, variant: int, calls: int) -> Waited:
        del variant
        each, more = divmod(calls, len(self.turns))
        took = sum(self.cost(one) for i, one in enumerate(self.turns) for _ in range(each + (i < more)))
        late = self.late()
        self.now += (wall := int(took) + HANDSHAKE + late)
        return max(int(took), 1), wall

    async def empty(self, variant: int) -> Waited:
        return await self.block(variant, 0)

    async def measured(self, calls: int = 2000, blocks: int = 12) -> list[float]:
        """Give ns a call as rounds would measure them: blocks of some calls on each of a few new inputs."""
        means = []
        for _ in range(blocks):
            await self.prepare(0, self.seed(), 4)
            claimed, _ = await self.block(0, calls)
            means.append(claimed / calls)
        self.before = self.turns
        return means


async def looked_at(process: Process, calls: int = 2000, *, cuda: bool = False, left_s: float = 60.0) -> str:
    late, process.late = process.late, lambda: 0
    means = await process.measured(calls)
    process.late = late  # the machine grows busy when the figures are known already
    spent, had = process.now, process.turns
    outer = OuterClock(empty=[await process.empty(0) for _ in range(30)])
    ways = outer, process.block, process.empty, lambda: process.now, lambda: left_s
    found = await Remembering(*ways, process, 0, means, spent, cuda).look()  # type: ignore[arg-type]
    assert found or process.turns == had  # what comes after is computed on inputs of its own
    return CLEAR if found is None else NAMED if found else UNTOLD


def keeps(slots: int, key: Callable[[Input], int] = lambda one: one.value, real: float = REAL) -> Cost:
    kept: OrderedDict[int, None] = OrderedDict()

    def cost(one: Input) -> float:
        if key(one) in kept:
            return QUICK
        while len(kept) >= slots:
            kept.popitem(last=False)
        kept[key(one)] = None
        return real

    return cost


@pytest.mark.parametrize("slots", [1, 2, 8, 9, 16, 33, 64, 127, 128, 129, 500, 10**6])
@pytest.mark.parametrize("real", [8_000.0, 34_000.0, 240_000.0])
async def test_a_memory_of_any_size_is_named(slots: int, real: float) -> None:
    assert await looked_at(Process(keeps(slots, real=real))) == NAMED


@pytest.mark.parametrize(("left_s", "told"), [(7.0, UNTOLD), (60.0, CLEAR)])
async def test_what_there_is_no_time_to_make_inputs_for_is_untold(left_s: float, told: str) -> None:
    assert await looked_at(Process(lambda _: 50e6, make_ns=4e9), left_s=left_s) == told


@pytest.mark.parametrize("slots", [1, 20, 10**6])
async def test_a_memory_of_long_calls_is_named(slots: int) -> None:
    assert await looked_at(Process(keeps(slots, real=50e6))) == NAMED


@pytest.mark.parametrize("slots", [1, 2, 50, 10**6])
async def test_a_memory_of_objects_is_named_or_untold(slots: int) -> None:
    assert await looked_at(Process(keeps(slots, lambda one: one.identity))) in {NAMED, UNTOLD}


async def test_a_memory_is_found_where_making_takes_long_and_calls_are_short() -> None:
    process = Process(keeps(10**6, real=250_000.0), make_ns=150e6)
    assert await looked_at(process, calls=5000) in {NAMED, UNTOLD}


def once(blocks: Iterator[int], slow: int) -> int:
    return 30_000_000 * (next(blocks) == slow)


async def test_a_making_that_was_kept_waiting_once_hides_no_memory() -> None:
    process = Process(keeps(64))
    process.make_ns, process.making_ns = 30e6, 200_000.0
    assert await looked_at(process) == NAMED


async def test_one_slow_block_acquits_no_memory() -> None:
    for slow in range(31, 60):
        process = Process(keeps(64), late=partial(once, iter(range(10**6)), slow))
        assert await looked_at(process) in {NAMED, UNTOLD}, slow


async def test_answers_known_since_they_were_made_are_named() -> None:
    assert await looked_at(Process(lambda one: QUICK if one.own else REAL)) == NAMED
    assert await looked_at(Process(lambda one: QUICK if one.own else 50e6)) == NAMED


async def test_what_fails_on_inputs_of_another_process_is_untold() -> None:
    def cost(one: Input) -> float:
        if not one.own:
            raise Stopped(Ending.PY_ERROR, fault=Fault("KeyError", "KeyError: 0.5"))
        return QUICK

    assert await looked_at(Process(cost)) == UNTOLD


@pytest.mark.parametrize("how", ["not", "large"])
async def test_what_cannot_be_made_apart_is_untold_where_calls_are_short(how: str) -> None:
    assert await looked_at(Process(lambda _: REAL, how=how)) == UNTOLD


async def test_what_computes_only_when_values_change_often_is_untold() -> None:
    """It knows a trial by its new values, and remembers nothing while it lasts."""
    last: list[int] = [0, 0]

    def cost(one: Input) -> float:
        last[:] = [one.value, last[1] + 1 if last[0] == one.value else 0]
        return REAL if last[1] < 60 else QUICK

    assert await looked_at(Process(cost), 6000) == UNTOLD


async def test_what_the_library_or_the_object_remembers_is_named_nobodys() -> None:
    process = Process(lambda _: QUICK)

    def cost(one: Input) -> float:
        if one.value in process.library.known:
            return QUICK
        process.library.known.add(one.value)
        return REAL

    process.cost = cost
    assert await looked_at(process) == UNTOLD
    assert await looked_at(Process(keeps(10**6, lambda one: one.identity, 3e6))) == UNTOLD


def learns(one: Input, seen: dict[int, int]) -> float:
    """Eight times as long until a processor has met the same values some times in a row."""
    count = seen.get(one.value, 0)
    seen.clear()
    seen[one.value] = count + 1
    return 320_000.0 if count < 8 else 40_000.0


@pytest.mark.parametrize(
    ("cost", "calls"),
    [
        pytest.param(lambda _: REAL, 60, id="constant"),
        pytest.param(lambda _: 60.0, 5000, id="nearly nothing"),
        pytest.param(lambda _: 40e6, 1, id="long"),
        pytest.param(lambda one: 200.0 / (1e-4 + one.value % 10_007 / 10_007), 2000, id="varies widely by value"),
        pytest.param(lambda one: 1e4 if one.value % 3 else 1e5, 100, id="of two kinds"),
        pytest.param(lambda one, seen={}: learns(one, seen), 200, id="learnt by the processor"),
    ],
)
async def test_who_remembers_nothing_is_clear(cost: Cost, calls: int) -> None:
    assert await looked_at(Process(cost), calls) == CLEAR


async def test_who_is_kept_waiting_on_a_busy_machine_is_never_named() -> None:
    for seed in range(15):
        chance = random.Random(seed)  # noqa: S311 - no secrets
        late = lambda chance=chance: chance.randrange(30_000_000) if chance.random() < 0.8 else 0  # noqa: E731
        for cost, calls in ((lambda _: REAL, 60), (lambda _: 500.0, 1000), (lambda _: 20e6, 1)):
            assert await looked_at(Process(cost, late=late), calls) != NAMED


async def test_on_a_gpu_inputs_are_made_where_they_are_used() -> None:
    process = Process(keeps(2, real=2e6), how="not")
    assert await looked_at(process, cuda=True) == NAMED
    assert await looked_at(Process(lambda _: REAL, how="not"), 60, cuda=True) == CLEAR
