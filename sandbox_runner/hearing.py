"""Hears again what was doubted: fresh blocks of a variant whose claims can hardly be, first calls on fresh values.

Law: nobody is accused by what was measured once. A doubt that does not repeat is dropped, one that a busy machine lets
nobody settle stays a doubt: then the figures are not confirmed. What is asked here counts for no ratio.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from sandbox_runner.challenge import Challenges
from sandbox_runner.outerclock import FEW_BLOCKS, LONG_BLOCKS, MANY_BLOCKS, Heard, OuterClock, Waited

HEAR_NS, STRETCH_NS = 5_000_000_000, 10_000_000_000
"""How long all hearing may take, and how long where single blocks are longer than that."""
_CLEARED = MANY_BLOCKS // 4
_MOST_GROWTH, _MOST_STEPS = 16.0, 12
_MEMORY_TRIES, _MANY_TRIES, _MOST_TRIES, _QUICK_SHARE = 5, 8, 16, 0.75
_MOST_TOGETHER, _LEAST_TOGETHER, _TOGETHER_NS, _MAKING_NS = 128, 3, 20_000_000, 200_000_000
_TOGETHER_TIMES, _TOGETHER_PROVEN, _TOGETHER_CALL_NS, _LEAST_LEFT_NS = 2.5, 8.0, 3_000, 2e9
_TURNS_TIMES, _TURNS_CALL_NS, _QUICKLY_MADE_NS = 4.0, 1_000, 1_000_000
_TURNS = {True: (9, 20), False: (3, 40)}
"""How many values are taken by turns, and how often each: more of those that are made quickly, and so are small."""
_ALONE_TRIES, _ALONE_TIMES, _ALONE_NS, _ALONE_MOST_NS = 12, 8.0, 30_000, 1e6
_LATE_TRIES, _LATE_SHARE, _LATE_NS, _LEFT_SHARE = 6, 0.05, 200_000, 0.25
_MEMORY_TIMES, _MEMORY_NS, _FLAGRANT_TIMES = 5.0, 300_000, 10


@dataclass(frozen=True, slots=True)
class Memory:
    """A variant whose first call on new values is always slow: the fastest such call and its usual one, in ns."""

    variant: int
    first_ns: float
    again_ns: float


@dataclass(frozen=True, slots=True)
class Left:
    """A variant whose work goes on after it was said to be done: for how long at least, and its block's wall, in ns."""

    variant: int
    late_ns: float
    wall_ns: float


@dataclass(slots=True)
class Hearing:
    """One hearing; `block` asks for calls of a variant, `empty` for none, `left_s` are the phase's seconds left.

    `unsettled`: whether answers are remembered could not be told.
    """

    outer: OuterClock
    block: Callable[[int, int], Awaitable[Waited]]
    empty: Callable[[int], Awaitable[Waited]]
    clock: Callable[[], int]
    left_s: Callable[[], float]
    unsettled: bool = False
    memoised: Memory | None = None
    left: Left | None = None
    _begin: int = field(default=0)

    async def hear(self, sizes: list[int]) -> None:
        """Hear every variant that is doubted, or whose lie would not have been seen; `sizes` are calls a block.

        Raises:
            Stopped, Tampered, HungUp: as `Harness.ask`.
        """
        self._begin = self.clock()
        if self.outer.proven() is not None:
            return
        doubted = [doubt.variant for doubt in self.outer.doubts()]
        for variant in doubted:
            await self._again(variant, sizes[variant])
            if self.outer.proven() is not None:
                return
        for variant in dict.fromkeys((*doubted, *self.outer.cannot_tell())):
            if not self._is_cleared(self.outer.heard.setdefault(variant, Heard())):
                await self._longer(variant, sizes[variant])
            if self.outer.proven() is not None:
                return

    async def _again(self, variant: int, size: int) -> None:
        """Ask for blocks as they were measured, which nobody inside can tell from those."""
        heard = self.outer.heard.setdefault(variant, Heard())
        expected = max(wall for _, wall in self.outer.blocks[variant])
        for _ in range(MANY_BLOCKS):
            if self._is_over(expected, few=len(heard.again) < FEW_BLOCKS) or self._is_cleared(heard):
                return
            heard.empty.append(await self.empty(variant))
            heard.again.append(await self.block(variant, size))

    def _is_cleared(self, heard: Heard) -> bool:
        return sum(self.outer.clears(pair) for pair in heard.again) >= _CLEARED

    async def _longer(self, variant: int, size: int) -> None:
        """Ask for blocks long beside the waits of this run, until one acquits, or there are enough."""
        heard = self.outer.heard[variant]
        wall, growth = min(wall for _, wall in self.outer.blocks[variant]), 1.0
        for _ in range(_MOST_STEPS + LONG_BLOCKS):
            wanted = self.outer.long_ns()
            if wanted is None:
                return
            # Sized by what the parent waited: a clock inside that stands still must not ask for calls without end.
            growth *= min(max(wanted * 1.2 / wall, 1.0), _MOST_GROWTH) if wall < wanted else 1.0
            if self._is_over(max(wanted, wall), few=False):
                return
            heard.empty.append(await self.empty(variant))
            pair = await self.block(variant, max(1, round(size * growth)))
            wall = max(pair[1], 1)
            if self.outer.acquits(pair):
                return
            if wall >= wanted:
                heard.longer.append(pair)
            if self.outer.proven() is not None:
                return

    async def look_for_memory(
        self, challenges: Challenges, samples: dict[int, list[float]], variants: Iterable[int], *, together: bool = True
    ) -> None:
        """Hold the first call on new values against the others: what remembers its answers is slow once only.

        `together`: short calls are tried many at once, which needs room for many inputs; not so on a GPU, where making
        large ones takes no time. By the parent's clock. One first call that is quick drops the doubt; it is proven by
        some that were each far slower than what this machine keeps waiting, or by many, between second calls that were
        quick.
        """
        for variant in variants:
            means = samples.get(variant)
            if not means:
                continue
            tried = await self._tried(challenges, variant, max(means))
            if tried is None:
                short = max(means) <= _ALONE_MOST_NS
                tried = await self._tried_together(challenges, variant) if short and together else None
                if tried is None and short:
                    tried = await self._tried_by_turns(challenges, variant)
            if tried is None:
                self.unsettled = self.unsettled or await self._works_alone(variant, max(means))
                continue
            if tried > 0:
                self.memoised = Memory(variant, tried, min(means))
                return
            self.unsettled = True

    async def _tried(self, challenges: Challenges, variant: int, slowest: float) -> float | None:
        """Give the ns of the fastest first call where that is proven to be slow, 0 where it cannot be told, or None."""
        begin, quick = self.clock(), 0
        firsts: list[float] = []
        bound = _MEMORY_TIMES * slowest + _MEMORY_NS + 2 * self.outer.usual_ns()
        while len(firsts) < _MOST_TRIES:
            spent = self.clock() - begin
            if firsts and spent / len(firsts) * (len(firsts) + 1) > min(STRETCH_NS, self.left_s() * 1e9 / 2):
                return 0.0
            await challenges.prepare(variant, challenges.seed())
            self.outer.empty.append(await self.empty(variant))
            _, wall = await self.block(variant, 1)
            if wall - self.outer.usual_ns() <= bound:
                return None
            firsts.append(wall - self.outer.usual_ns())
            self.outer.empty.append(await self.empty(variant))  # who has just worked waits for its turn: here it may
            _, wall = await self.block(variant, 1)
            quick += wall - self.outer.usual_ns() <= bound
            flagrant = min(firsts) > _FLAGRANT_TIMES * self.outer.long_wait_ns()
            enough = len(firsts) >= (_MEMORY_TRIES if flagrant else _MANY_TRIES)
            if enough and quick >= _QUICK_SHARE * len(firsts):
                return min(firsts)
        return 0.0

    async def _tried_together(self, challenges: Challenges, variant: int) -> float | None:
        """Hold blocks of many first calls, each on values of its own, against the same calls again.

        Where a call is too short to be told from a handshake by itself, many are not. What both kinds of block pay
        alike, such as reading values that lie in no cache, makes no difference between them. Answers as `_tried`; what
        could only be remembered in part, or by a library for an input of its own, is not proven, and not confirmed.
        """
        sets = min(_MOST_TOGETHER, max(_LEAST_TOGETHER, int(_TOGETHER_NS / max(challenges.make_ns, 1.0))))
        if sets * challenges.make_ns > _MAKING_NS:  # it takes too long, and may take too much memory
            return None
        firsts: list[float] = []
        agains: list[float] = []
        while len(firsts) < _MEMORY_TRIES:
            if self.left_s() * 1e9 < _LEAST_LEFT_NS:
                return None
            await challenges.prepare(variant, challenges.seed(), sets)
            self.outer.empty.append(await self.empty(variant))
            for walls in (firsts, agains):
                claimed, wall = await self.block(variant, sets)
                walls.append(max(wall - self.outer.usual_ns(), 1.0))
            first, again = min(firsts), min(agains)  # a busy machine only adds, to both
            if first <= _TOGETHER_TIMES * again or first - again <= _TOGETHER_CALL_NS * sets + self.outer.usual_ns():
                if wall - claimed > 2 * self.outer.usual_ns() and len(agains) < _MEMORY_TRIES:
                    continue  # the second block was kept waiting: it acquits nobody
                return None
        proven = first > _TOGETHER_PROVEN * max(again, self.outer.usual_ns() / 2)
        return first / sets if proven else 0.0

    async def _tried_by_turns(self, challenges: Challenges, variant: int) -> float | None:
        """Hold calls on a few values by turns against as many on one value after the other. Answers as `_tried`.

        What remembers the last answers alone is found so: by turns it never has the one that is asked for. The values
        are the same few in both, so that what the processor keeps near helps both.
        """
        values, each = _TURNS[challenges.make_ns < _QUICKLY_MADE_NS]
        if 2 * values * challenges.make_ns > _MAKING_NS:
            return None
        rows = [value for value in range(values) for _ in range(each)]
        by_turns = list(range(values)) * each
        alike: list[float] = []
        apart: list[float] = []
        slack = _TURNS_CALL_NS * len(rows) + self.outer.usual_ns()
        while len(apart) < _MEMORY_TRIES:
            if self.left_s() * 1e9 < _LEAST_LEFT_NS:
                return None
            seeds = [challenges.seed() for _ in range(values)]
            for order, walls in ((rows, alike), (by_turns, apart)):
                await challenges.prepare_turns(variant, seeds, order)
                _, wall = await self.block(variant, len(order))
                walls.append(max(wall - self.outer.usual_ns(), 1.0))
            if min(apart) <= _TURNS_TIMES * min(alike) + slack:
                return None
        proven = min(apart) > _TOGETHER_PROVEN * max(min(alike), self.outer.usual_ns() / 2)
        return min(apart) / len(rows) if proven else 0.0

    async def _works_alone(self, variant: int, slowest: float) -> bool:
        """Whether one call by itself is far longer than a call among many: then the others may have been left out.

        What a single call costs is told by the shortest of some: a busy machine only adds.
        """
        if slowest > _ALONE_MOST_NS:
            return False
        ones, nones = [], []
        for _ in range(_ALONE_TRIES):
            nones.append((await self.empty(variant))[1])
            ones.append((await self.block(variant, 1))[1])
        return min(ones) - min(nones) > _ALONE_TIMES * slowest + _ALONE_NS

    async def look_for_late_work(self, read: Callable[[int], Awaitable[int]], sizes: list[int]) -> None:
        """Have each variant's result read twice right after a block, where a GPU may still be at work on it.

        `read` gives the wall of one reading. Only the first waits for what was not done when it was said to be; one
        block after which it does not acquits. What is left is proven when it is much of every block.
        """
        for variant, size in enumerate(sizes):
            late: list[Waited] = []
            while len(late) < _LATE_TRIES:
                if late and self.left_s() * 1e9 < 4 * late[-1][1]:
                    break
                _, wall = await self.block(variant, size)
                rest = await read(variant) - await read(variant)
                if rest <= _LATE_SHARE * wall + _LATE_NS + self.outer.usual_ns():
                    late = []
                    break
                late.append((rest, wall))
            if not late:
                continue
            wait = self.outer.long_wait_ns()
            if len(late) == _LATE_TRIES and all(rest > max(_LEFT_SHARE * wall, wait) for rest, wall in late):
                self.left = Left(variant, *min(late))
                return
            self.unsettled = True

    def _is_over(self, expected: float, *, few: bool) -> bool:
        """Tell whether a block of `expected` ns is more than there is time for; some few may take longer."""
        most = STRETCH_NS if few else HEAR_NS
        return self.clock() - self._begin + expected > most or self.left_s() * 1e9 < 2 * expected
