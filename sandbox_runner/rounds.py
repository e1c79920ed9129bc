"""Measures variants in paired rounds, ABBA or BAAB by coin (all of several in one), and sums up what was seen.

Law: order, sizes and the end are decided here, outside; each block is asked for by itself, so that the parent's
clock bounds each claim, and where inputs can be made each block has values of its own. Nothing measured is dropped.
"""

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count, pairwise
from statistics import median

from sandbox_runner import stats
from sandbox_runner.asking import Counted, Done, Harness, Held, Marked, Named, Seat, Stopped, Went
from sandbox_runner.challenge import Challenges
from sandbox_runner.channel import Tampered
from sandbox_runner.checking import Checking
from sandbox_runner.hearing import Hearing
from sandbox_runner.outerclock import SLACK_CUDA_NS, Doubt, OuterClock, Waited
from sandbox_runner.protocol import Budget, Claim, Flag, Phase, Progress, Ratio, Variant
from sandbox_runner.reaching import Reach, reach

BUDGET_S = {Budget.QUICK: 0.3, Budget.DEFAULT: 1.0, Budget.THOROUGH: 5.0}
LEAST_BLOCK_NS, MOST_BLOCK_NS = 1_000_000, 5_000_000
LEAST_BLOCK_CUDA_NS, MOST_BLOCK_CUDA_NS = 8_000_000, 25_000_000
STRETCH_S = 10.0
MOST_ROUNDS, ENOUGH_ROUNDS, CHECK_EVERY = 300, 20, 8
ENOUGH_WIDTH = 0.01
_EMPTY_AT_START, _TRIALS = 20, 10
_MOST_HIDDEN, _ALIKE, _SLOW_CALL_NS = 20, 1.5, 100_000_000
_MAKING_TIMES = 1.75
_JITTER = 8
_COUNTING_TIMES = 50
_GRAIN_NS = 3.0
_LEAST_CLOCK = 0.75
_GPU_TIMES = 1.5
_GPU_QUANTILE = 0.95
_LEAST_CALL_NS = 4.0
"""Some twenty cycles: an empty function's call costs several times that."""
_SINGLE = {"float32", "tf32"}
_TELL_EVERY_NS = 100_000_000
_NS = 1_000_000_000


@dataclass(slots=True)
class Pair:
    """Two variants by number, `against` and `name` (the same where one is timed alone), and their rounds."""

    against: int
    name: int
    logs: list[float] = field(default_factory=list)
    nulls: list[float] = field(default_factory=list)
    open: bool = True

    def interval(self) -> stats.Interval:
        """Give the interval of the log ratio, or of a lone variant's own spread."""
        return stats.enclose(self.logs)


@dataclass(frozen=True, slots=True)
class Round:
    """One round of some pairs: ns a call of each block by variant, and the lowest clock (MHz) seen around it."""

    mhz: int | None
    pairs: tuple[Pair, ...]
    times: dict[int, list[float]]


@dataclass(slots=True)
class Rounds:
    """One measuring: `sizes` are calls a block, `per_call` the expected ns a call, both by variant.

    `challenges` make each block on values of its own; None where the set-up makes no inputs. `mhz` reads the clock of
    the GPU from outside; None where there is none.
    """

    seats: tuple[Seat, ...]
    clock: Callable[[], int]
    rng: random.Random
    budget_s: float
    per_call: list[float]
    challenges: Challenges | None = None
    sizes: list[int] = field(default_factory=list)
    outer: OuterClock = field(default_factory=OuterClock)
    samples: dict[int, list[float]] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    flags: list[Flag] = field(default_factory=list)
    hearing: Hearing = field(init=False)
    counted: dict[int, Counted] = field(default_factory=dict)
    ceilings: Mapping[str, float] = field(default_factory=dict)
    precisions: Mapping[int, str] = field(default_factory=dict)
    cuda: bool = False
    held: bool = False
    mhz: Callable[[], int | None] = lambda: None
    _rounds: list[Round] = field(default_factory=list)
    _told: int = 0
    _timed: int = 0

    def __post_init__(self) -> None:
        self.hearing = Hearing(self.outer, self._block, self._empty_block, self.clock, self.harness.left_s)

    def on_gpu(self, mhz: Callable[[], int | None]) -> None:
        """Measure on a GPU, whose clock `mhz` reads from outside."""
        self.cuda, self.mhz = True, mhz
        self.outer.slack_ns = SLACK_CUDA_NS

    @property
    def harness(self) -> Harness:
        """The harness whose phase is the measuring's own."""
        return self.seats[0].harness

    @property
    def harnesses(self) -> list[Harness]:
        """Every harness that takes part, once."""
        return list({id(seat.harness): seat.harness for seat in self.seats}.values())

    async def run(self) -> None:
        """Measure until every pair is known well enough, or the time is over.

        Raises:
            Stopped, Tampered, HungUp: as `Harness.ask`; what was measured until then stays.
        """
        others = range(1, len(self.per_call)) or [0]
        self.pairs = [Pair(0, other) for other in others]
        self.samples = {variant: [] for variant in range(len(self.per_call))}
        await self._hold()
        await self._calibrate()
        begin = self.clock()
        allowed = self._allowed()
        if allowed is None:
            await self._few(begin)
        else:
            await self._many(begin, allowed)
        if self.challenges is not None:
            # Others change their inputs, or are ours.
            passed = self.challenges.free | self.outer.trusted
            steady = [i for i in range(len(self.per_call)) if i not in passed]
            await self.hearing.look_for_memory(self.challenges, self.samples, steady, begun=begin, cuda=self.cuda)
        if self.cuda:
            await self.hearing.look_for_late_work(self._read, self.sizes)
        await self.hearing.hear(self.sizes)
        await self._count()

    async def _count(self) -> None:
        """Count the work of one call of each, after all that is timed."""
        for harness in self.harnesses:
            await harness.ask(Held, "hold", still=False)
        for i, seat in enumerate(self.seats):
            if self.per_call[i] * _COUNTING_TIMES < self.harness.left_s() * _NS:
                self.counted[i], _, _ = await seat.harness.ask(Counted, "count", variant=seat.number)

    async def _hold(self) -> None:
        for harness in self.harnesses:
            held, _, _ = await harness.ask(Held, "hold", still=True)
            self.held = self.held or held.held

    async def _many(self, begin: int, allowed: float) -> None:
        for turn in count(1):
            await self._round([pair for pair in self.pairs if pair.open])
            for harness in self.harnesses:
                await harness.ask(Done, "calm")
            elapsed = (self.clock() - begin) / _NS
            self._close(turn, elapsed, allowed)
            self._tell(turn, elapsed)
            if not any(pair.open for pair in self.pairs):
                break
        self._drop_slow_clocks()

    async def _calibrate(self) -> None:
        """Size the blocks so that each lasts long enough for its clock and for the handshake around it."""
        for harness in self.harnesses:
            await harness.ask(Done, "calm")
        for i in range(_EMPTY_AT_START):
            await self._empty(i % len(self.seats))
        if self.cuda:
            target = self.outer.block_target_ns(LEAST_BLOCK_CUDA_NS, MOST_BLOCK_CUDA_NS, _GPU_QUANTILE)
        else:
            target = self.outer.block_target_ns(LEAST_BLOCK_NS, MOST_BLOCK_NS)
        self.sizes = [max(1, math.ceil(target / max(each, 1.0))) for each in self.per_call]
        for variant in range(len(self.per_call)):
            await self._calibrate_one(variant, target)
        self.per_call = _alike(self.per_call)
        self.sizes = [max(1, math.ceil(target / each)) for each in self.per_call]

    async def _calibrate_one(self, variant: int, target: int) -> None:
        """Size a variant's blocks by the shortest of some: a long one says only that the machine was busy.

        Blocks of unequal length would be interrupted unequally often, and equal variants would seem to differ.
        """
        for trial in range(_TRIALS):
            long = self.sizes[variant] == 1 and self.per_call[variant] >= 4 * target
            if long and (trial > 1 or self.per_call[variant] > _SLOW_CALL_NS):
                return
            claimed, wall = await self._block(variant)
            # A clock inside that stands still must not ask for calls without end: what the parent waited counts too.
            took = max(claimed, wall / _MOST_HIDDEN) / self.sizes[variant]
            self.per_call[variant] = max(min(took, self.per_call[variant]), 0.1)
            self.sizes[variant] = max(1, math.ceil(target / self.per_call[variant]))

    def _round_s(self) -> float:
        """Give the seconds that a round of all open pairs takes."""
        variants = _variants(pair for pair in self.pairs if pair.open)
        blocks = sum(self.sizes[v] * self.per_call[v] for v in variants)
        making = self.challenges.make_ns * len(variants) if self.challenges else 0.0
        return (2 + 2 * (len(variants) == 1)) * (blocks + making) / _NS

    def _allowed(self) -> float | None:
        """Give the seconds to measure for; None where eight rounds take longer than the budget may stretch."""
        budget = self.budget_s * len(self.pairs)
        eight = stats.LEAST_ROUNDS * self._round_s()
        if eight <= budget:
            return budget
        if eight > min(STRETCH_S, self.harness.left_s()):
            return None
        self.flags.append(Flag("stretched", {"budget_s": budget, "expected_s": round(eight, 2)}))
        return budget

    def _close(self, turn: int, elapsed: float, allowed: float) -> None:
        """Close the pairs that are known well enough, and all of them when the time is over."""
        round_s = self._round_s()
        for pair in self.pairs:
            n = len(pair.logs)
            looks = n >= ENOUGH_ROUNDS and (n - ENOUGH_ROUNDS) % CHECK_EVERY == 0
            enough = looks and pair.interval().half_width <= ENOUGH_WIDTH
            # Making inputs is no measuring, but the learner waits for it too.
            spent = self._timed / _NS >= allowed or elapsed >= allowed * (_MAKING_TIMES if self.challenges else 1)
            over = spent and turn >= stats.LEAST_ROUNDS
            worn_out = elapsed >= max(STRETCH_S, allowed) or self.harness.left_s() < 2 * round_s
            if enough or over or worn_out or n >= MOST_ROUNDS:
                pair.open = False

    async def _round(self, pairs: list[Pair]) -> None:
        """Run every variant of some pairs twice: in an order by chance, then the same order backwards."""
        variants = _variants(pairs)
        alone = len(variants) == 1
        self.rng.shuffle(variants)
        order = variants * 4 if alone else [*variants, *reversed(variants)]
        seeds = self._seeds(len(order), alone=alone)
        times: dict[int, list[float]] = {variant: [] for variant in variants}
        clock = self.mhz()
        for i, variant in enumerate(order):
            took, _ = await self._sample(variant, seeds[i])
            times[variant].append(took)
            if self.challenges and (alone or i + 1 in {len(variants), len(order)}):
                await self.challenges.settle()
        clocks = [mhz for mhz in (clock, self.mhz()) if mhz is not None]
        self._rounds.append(Round(min(clocks, default=None), tuple(pairs), times))
        _compare(pairs, times)

    def _drop_slow_clocks(self) -> None:
        """Drop the rounds (never a block alone) in which the GPU's clock fell, where enough are left without them."""
        known = [each.mhz for each in self._rounds if each.mhz is not None]
        least = _LEAST_CLOCK * max(known, default=0)
        kept = [each for each in self._rounds if each.mhz is None or each.mhz >= least]
        dropped = len(self._rounds) - len(kept)
        if not dropped:
            return
        if len(kept) < stats.LEAST_ROUNDS:
            kept, dropped = self._rounds, 0
        for pair in self.pairs:
            pair.logs, pair.nulls = [], []
        self.samples = {variant: [] for variant in self.samples}
        for each in kept:
            _compare(each.pairs, each.times)
            for variant, times in each.times.items():
                self.samples[variant] += times
        self.flags.append(Flag("gpu_clock_fell", {"part": round(min(known) / max(known), 3), "rounds": dropped}))

    def _seeds(self, count: int, *, alone: bool) -> list[int]:
        """Give the seeds of a round's blocks: each variant meets each of two once, so nothing is met twice."""
        if self.challenges is None:
            return [0] * count
        first, second = self.challenges.seed(), self.challenges.seed()
        if alone:
            return [first, first ^ 1, second, second ^ 1]
        return [first] * (count // 2) + [second] * (count - count // 2)

    async def _few(self, begin: int) -> None:
        """Measure what takes too long for eight rounds: AB or BA, then its reverse, while the next block fits."""
        forward = True
        for turn in range(2 * stats.LEAST_ROUNDS):
            order = list(range(len(self.per_call)))
            if turn % 2 == 0:
                forward = self.rng.random() < 0.5  # noqa: PLR2004 - a fair coin
            if forward == bool(turn % 2):
                order.reverse()
            (seed, *_) = self._seeds(2, alone=False)
            for variant in order:
                expected = self.sizes[variant] * self.per_call[variant] / _NS
                spent = (self.clock() - begin) / _NS
                seen = bool(self.samples[variant])
                if expected * 1.2 > self.harness.left_s() or (seen and spent + expected > STRETCH_S):
                    continue
                await self._sample(variant, seed)
                self._tell(turn, spent)
            if self.challenges:
                await self.challenges.settle()
            if (self.clock() - begin) / _NS > STRETCH_S:
                break
        if not all(self.samples.values()):
            raise self.harness.out_of_time()
        self._pair_up()
        if any(len(pair.logs) < stats.LEAST_ROUNDS for pair in self.pairs):
            self.flags.append(Flag("few_runs", {"seconds": STRETCH_S}))

    def _pair_up(self) -> None:
        """Two turns, one the reverse of the other, are a round: use them as such where every variant was in each."""
        if len({len(means) for means in self.samples.values()}) > 1:
            return
        for pair in self.pairs:
            a, b = self.samples[pair.against], self.samples[pair.name]
            if pair.against != pair.name:
                turns = range(0, len(a) - 1, 2)
                pair.logs = [stats.log_ratio(a[i : i + 2], b[i : i + 2]) for i in turns]
                pair.nulls = [math.log(each[i] / each[i + 1]) for i in turns for each in (a, b)]

    async def _sample(self, variant: int, seed: int) -> tuple[float, int]:
        size = self.sizes[variant]
        if self.challenges:
            block_ns = size * self.per_call[variant]
            # One more or less, so that nobody inside can count which call will be looked at.
            size += self.rng.randrange(1 + max(size > 1, size // _JITTER))
            await self.challenges.prepare(variant, seed, self.challenges.sets(block_ns, size))
        # A process that has just worked waits for its turn on a busy machine: here it may, and it is seen how long.
        await self._empty(variant)
        took, wall = await self._block(variant, size)
        if self.challenges:
            await self.challenges.mark(variant)
        each = took / size
        self.samples[variant].append(each)
        self.outer.blocks.setdefault(variant, []).append((took, wall))
        return each, wall

    async def _block(self, variant: int, size: int | None = None) -> Waited:
        size = self.sizes[variant] if size is None else size
        seat = self.seats[variant]
        try:
            went, _, wall = await seat.harness.ask(Went, "go", variant=seat.number, calls=size)
        except Stopped as stopped:
            if not self.held or stopped.fault is None or "recompil" not in stopped.fault.last_line:
                raise
            await self._let_compile()
            went, _, wall = await seat.harness.ask(Went, "go", variant=seat.number, calls=size)
        self._timed += wall
        return _one(went), wall

    async def _read(self, variant: int) -> int:
        """Have the result of a variant's last block read, and give the wall of it, ns."""
        seat = self.seats[variant]
        _, _, wall = await seat.harness.ask(Marked, "mark", variant=seat.number, share=self.rng.random())
        return wall

    async def _let_compile(self) -> None:
        """What compiles again on each new input cannot be held: let it, and say so."""
        self.held = False
        self.flags.append(Flag("recompiles"))
        for harness in self.harnesses:
            await harness.ask(Held, "hold", still=False)

    async def _empty(self, variant: int) -> None:
        self.outer.empty.append(await self._empty_block(variant))

    async def _empty_block(self, variant: int) -> Waited:
        seat = self.seats[variant]
        went, _, wall = await seat.harness.ask(Went, "go", variant=seat.number, calls=0)
        return _one(went), wall

    def _tell(self, done: int, elapsed: float) -> None:
        now = self.clock()
        if now - self._told < _TELL_EVERY_NS:
            return
        self._told = now
        rate = done / elapsed if elapsed > 0 else 0.0
        total = min(MOST_ROUNDS, max(stats.LEAST_ROUNDS, round(rate * self.budget_s * len(self.pairs)), done))
        self.harness.tell(Progress(Phase.MEASURE, done, total))

    def variants(self, named: tuple[Named, ...], checking: Checking) -> tuple[Variant, ...]:
        """Sum up each variant that has been measured at all."""
        found = []
        for i, variant in enumerate(named):
            if means := self.samples.get(i):
                each = stats.enclose(means)
                first = checking.first_ns[i]
                counted = self.counted.get(i, Counted())
                reached = self.reach(i, each.point)
                found.append(
                    Variant(
                        name=variant.name,
                        median_ns=each.point,
                        min_ns=min(means),
                        ci99_ns=(each.low, each.high),
                        n=len(means),
                        block=self.sizes[i],
                        first_call_ns=first,
                        compile_ns=max(first - each.point, 0.0) if checking.compiled[i] else 0.0,
                        precision=checking.precisions.get(i, ""),
                        error=checking.errors.get(i, 0.0),
                        flops=float(counted.flops),
                        bytes=float(counted.bytes),
                        bound=reached.bound,
                        reached=reached.share,
                        peak_flops=self.ceilings.get(f"matmul_{self._kind(i)}", 0.0),
                        peak_bytes=self.ceilings.get("copy", 0.0),
                        gpu_ns=_bounded(counted.gpu_ns, each.point),
                    )
                )
        return tuple(found)

    def reach(self, variant: int, median_ns: float) -> Reach:
        """Hold a time against what this machine can do."""
        counted = self.counted.get(variant, Counted())
        flops, moved = max(counted.flops, 0), max(counted.bytes, 0)
        return reach(median_ns, flops, moved, self._kind(variant), self.ceilings, max(counted.least, 0))

    def _kind(self, variant: int) -> str:
        """Name the precision of a variant's products: as its result shows it, else as the harness says."""
        said = self.counted.get(variant, Counted()).dtype
        shown = self.precisions.get(variant, "")
        return shown if said in _SINGLE and shown in _SINGLE else said

    def reached(self) -> dict[int, Reach]:
        """Hold the median of each variant that was measured against what this machine can do."""
        return {i: self.reach(i, stats.enclose(means).point) for i, means in self.samples.items() if means}

    def proven(self) -> Doubt | None:
        """Name a variant whose claims cannot be: by the outer clock, or because no call of Python's is that short."""
        for i, means in self.samples.items():
            if len(means) >= stats.LEAST_ROUNDS and median(means) < _LEAST_CALL_NS and i not in self.outer.trusted:
                return Doubt(i, *(median(pair[end] for pair in self.outer.blocks[i]) for end in (0, 1)))
        return self.outer.proven()

    def confirms(self) -> bool:
        """Tell whether the parent's clock confirms every figure, and the machine's ceilings none contradict."""
        doubtful = any(each.doubtful for each in self.reached().values())
        return self.outer.confirms() and not self.hearing.unsettled and not doubtful

    def impossible(self) -> tuple[int, Reach] | None:
        """Name a variant that is faster than the machine."""
        return next(((i, each) for i, each in self.reached().items() if each.impossible), None)

    def ratios(self, named: tuple[Named, ...], checking: Checking) -> tuple[Ratio, ...]:
        """Sum up each pair that has been measured at all, from paired rounds or, where they are few, from blocks."""
        found = []
        times = {variant.name: variant for variant in self.variants(named, checking)}
        for pair in self.pairs:
            a, b = self.samples[pair.against], self.samples[pair.name]
            if pair.against == pair.name or not a or not b:
                continue
            n = len(pair.logs)
            few = n < stats.LEAST_ROUNDS
            logs = stats.few_interval(a, b) if few else pair.interval()
            # Where machine code happens to lie is worth some nanoseconds a call, and is nobody's merit.
            least = math.log1p(_GRAIN_NS / max(min(*a, *b), _GRAIN_NS))
            noise = stats.noise(pair.nulls)
            claim = stats.claim(logs if few else stats.judged(pair.logs, noise), noise, max(n, 1), least)
            ci = (math.exp(logs.low), math.exp(logs.high))
            one, two = named[pair.name].name, named[pair.against].name
            pays = break_even(times[one], times[two]) if claim is Claim.FASTER else 0.0
            found.append(Ratio(one, two, math.exp(logs.point), ci, claim, n or min(len(a), len(b)), few, pays))
        return tuple(found)

    def noise(self) -> float:
        """Give the relative standard deviation of one block, from all A/A controls of this run."""
        return stats.noise([null for pair in self.pairs for null in pair.nulls])


def _compare(pairs: Iterable[Pair], times: Mapping[int, list[float]]) -> None:
    """Add to each pair what a round says of it."""
    for pair in pairs:
        a, b = times[pair.against], times[pair.name]
        if pair.against == pair.name:
            pair.logs += [math.log(took) for took in a]
            pair.nulls += [math.log(a[0] / a[1]), math.log(a[2] / a[3])]
        else:
            pair.logs.append(stats.log_ratio(a, b))
            pair.nulls += [math.log(first / second) for first, second in (a, b)]


def _alike(per_call: list[float]) -> list[float]:
    """Take for equal what differs by little: blocks as long as each other are interrupted as often as each other."""
    found = list(per_call)
    order = sorted(range(len(found)), key=found.__getitem__)
    for shorter, longer in pairwise(order):
        if per_call[longer] <= _ALIKE * found[shorter]:
            found[longer] = found[shorter]
    return found


def _variants(pairs: Iterable[Pair]) -> list[int]:
    return sorted({variant for pair in pairs for variant in (pair.against, pair.name)})


def break_even(compiled: Variant, eager: Variant) -> float:
    """Give the calls after which compiling has paid for itself; 0 where nothing was compiled or nothing is gained."""
    gained = eager.median_ns - compiled.median_ns
    return compiled.compile_ns / gained if compiled.compile_ns > 0 and gained > 0 else 0.0


def _bounded(gpu_ns: float, median_ns: float) -> float:
    """Take the GPU's own time as it was said, where it can be one: no more than the host waited for it."""
    return gpu_ns if math.isfinite(gpu_ns) and 0 < gpu_ns <= _GPU_TIMES * median_ns else 0.0


def _one(went: Went) -> int:
    if not 0 <= went.ns < 1 << 62:
        message = f"go: {went.ns!r} is no time"
        raise Tampered(message)
    return max(went.ns, 1)
