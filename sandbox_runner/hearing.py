"""Hears again what was doubted: fresh blocks of a variant whose claims can hardly be, what may be left undone.

Law: nobody is accused by what was measured once. A doubt that does not repeat is dropped, one that a busy machine lets
nobody settle stays a doubt: then the figures are not confirmed. What is asked here counts for no ratio.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from sandbox_runner.challenge import Challenges
from sandbox_runner.outerclock import FEW_BLOCKS, LONG_BLOCKS, MANY_BLOCKS, Heard, OuterClock, Waited
from sandbox_runner.remembering import STRETCH_NS, Memory, Remembering

HEAR_NS = 5_000_000_000
"""How long all hearing may take; STRETCH_NS where single blocks are longer than that."""
_CLEARED = MANY_BLOCKS // 4
_MOST_GROWTH, _MOST_STEPS = 16.0, 12
_LATE_TRIES, _LATE_SHARE, _LATE_NS, _LEFT_SHARE = 6, 0.05, 200_000, 0.25


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
        self,
        challenges: Challenges,
        samples: dict[int, list[float]],
        variants: Iterable[int],
        *,
        begun: int,
        cuda: bool = False,
    ) -> None:
        """Look whether what was measured is remembered, the measuring having `begun` then, until one proves to be."""
        spent = self.clock() - begun
        for variant in variants:
            if means := samples.get(variant):
                ways = self.outer, self.block, self.empty, self.clock, self.left_s
                tried = await Remembering(*ways, challenges, variant, means, spent, cuda).look()
                if tried:
                    self.memoised = Memory(variant, tried, min(means))
                    return
                self.unsettled = self.unsettled or tried is not None

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
