"""Warms variants up in turn, by time and by calls; compiled ones until nothing is compiled any more.

Law: how much is asked for is sized by what the parent waited. A block of the warm-up is asked for as a measured one is,
so that nothing inside can tell the two apart.
"""

from dataclasses import dataclass, field

from sandbox_runner.asking import Seat, Went
from sandbox_runner.protocol import Flag

WARM_NS = 100_000_000
WARM_NS_CUDA = 250_000_000
WARM_CALLS = 3
_SLICE_NS = 25_000_000
_SLOW_CALL_NS = 500_000_000
_MOST_CALLS = 1 << 30
_STILL, _MOST_TURNS = 2, 40


@dataclass(slots=True)
class Warming:
    """The warm-up of some variants, of which the first call took `first_ns` each."""

    seats: tuple[Seat, ...]
    first_ns: list[float]
    compiles: bool = False
    warm_ns: int = WARM_NS
    flags: list[Flag] = field(default_factory=list)

    async def run(self) -> list[float]:
        """Warm up; give the ns a call that each has come to.

        Raises:
            Stopped, Tampered, HungUp: as `Harness.ask`.
        """
        per_call = [max(first, 1.0) for first in self.first_ns]
        spent, calls = [0] * len(per_call), [1] * len(per_call)
        compiled, still, turns = -1, 0, 0
        everyone = range(len(self.seats))
        while True:
            cold = [i for i in everyone if not self._is_warm(i, spent[i], calls[i], per_call[i])]
            if not cold and (compiled <= 0 or still >= _STILL or turns >= _MOST_TURNS):
                return per_call
            seen = compiled
            for i in cold or everyone:
                # Sized by what the parent waited: a clock inside that stands still must not ask for calls without end.
                made = 1 if turns == 0 else max(1, min(int(_SLICE_NS / per_call[i]), 4 * calls[i], _MOST_CALLS))
                seat = self.seats[i]
                went, _, wall = await seat.harness.ask(Went, "go", variant=seat.number, calls=made)
                # The first call may have compiled; of the others the quickest counts: one that waited says nothing.
                each = wall / made
                per_call[i] = each if turns == 0 else min(per_call[i], each)
                spent[i], calls[i] = spent[i] + wall, calls[i] + made
                seen = max(seen, went.compiled)
            still = still + 1 if seen == compiled else 0
            compiled, turns = seen, turns + 1

    def _is_warm(self, i: int, spent: int, calls: int, per_call: float) -> bool:
        """Tell whether a variant has had its time and calls; a slow one needs one call after its first.

        A first call that compiled says nothing about the next.
        """
        if self.compiles and calls == 1:
            return False
        if per_call * 2 * len(self.seats) > self.seats[i].harness.left_s() * 1e9:
            if not self.flags:
                self.flags.append(Flag("short_warmup"))
            return True
        slow = per_call > _SLOW_CALL_NS and calls > 1
        return slow or (spent >= self.warm_ns and calls >= WARM_CALLS)
