"""Finds answers that are remembered: of some last inputs, of all, or known before they are asked for.

Law: by the parent's clock alone. What was slow once accuses nobody: tries must agree, and one that was disturbed
acquits nobody either. Named is only who is quick on equal values made anew, where the standard library has forgotten
its own; what is left of a doubt leaves the figures unconfirmed. What is asked here counts for no ratio.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from sandbox_runner.asking import Prepared, Stopped
from sandbox_runner.challenge import Challenges
from sandbox_runner.outerclock import OuterClock, Waited
from sandbox_runner.protocol import Ending

STRETCH_NS = 10_000_000_000
"""How long calls may be tried that are long one by one."""
_SINGLE_TRIES, _MANY_TRIES, _MOST_TRIES, _QUICK_SHARE = 5, 8, 16, 0.75
_SINGLE_TIMES, _SINGLE_NS, _DIFFERS_TIMES, _FLAGRANT_TIMES = 1.5, 300_000, 5.0, 10
_MOST_VALUES, _LEAST_VALUES, _VALUES_CUDA = 129, 3, 3
_CALLING_NS, _MAKING_NS, _MOST_MAKING_NS, _LEAST_LEFT_NS = 20e6, 60e6, 200e6, 2e9
_MAKING_SHARE, _PROCESS_NS = 1 / 6, 50e6
_MAKING_TIMES = 2
"""How often inputs may have to be made for a first call: in another process, in vain, and then in its own."""
_TRIES, _MOST = 5, 3
_FIRST_TIMES, _FIRST_CALL_NS = 2.5, 3_000
_TURNS_TIMES, _TURNS_CALL_NS, _LEARNT_TIMES, _PROVEN_TIMES = 4.0, 500, 12.0, 8.0
_VARIES_TIMES = 2.0
_IN_A_ROW, _LEAST_CALLS = 8, 100
_COLD_ARRAY, _COLD_OTHER = 0.25, 1.0
"""Ns to read a byte of an input that lies in no cache, at most: of an array, and of what is made of many objects."""
_ALONE_TRIES, _ALONE_TIMES, _ALONE_NS, _SHORT_NS, _TELLING_NS = 12, 8.0, 30_000, 1e6, 1e5
_ASKED_AGAIN = 3


@dataclass(frozen=True, slots=True)
class Memory:
    """A variant whose first call on new values is always slow: the fastest such call and its usual one, in ns."""

    variant: int
    first_ns: float
    again_ns: float


@dataclass(frozen=True, slots=True)
class _Try:
    """Calls on many values, in ns a call: the first on each, the second, one that follows its like, one by turns.

    `known` is a first call on values made where they are used, None where it was not asked for. `slack` is what a first
    call may take longer since its value lies in no cache, with its share of a handshake; `less` one by turns.
    """

    first: float
    again: float
    hot: float
    turns: float
    slack: float
    less: float
    known: float | None = None


@dataclass(slots=True)
class Remembering:
    """One variant's trial: `block` asks for calls of a variant, `empty` for none, `left_s` are the seconds left.

    `means` are the ns a call that its blocks took, `spent_ns` what the measuring took. On a GPU inputs are made where
    they are used, and few are: making large ones takes no time there, but room.
    """

    outer: OuterClock
    block: Callable[[int, int], Awaitable[Waited]]
    empty: Callable[[int], Awaitable[Waited]]
    clock: Callable[[], int]
    left_s: Callable[[], float]
    challenges: Challenges
    variant: int
    means: Sequence[float]
    spent_ns: float = 0.0
    cuda: bool = False
    _untold: bool = field(default=False)
    _crossed: bool = field(default=False)
    _crossing_ns: float = field(default=0.0)
    _values_taken: int = field(default=1)

    async def look(self) -> float | None:
        """Give the ns of a first call that is proven to be slow, 0 where it cannot be told, None where nothing is."""
        try:
            found = await self._singly()
            if found is None and self._short:
                found = await self._together()
            if found is None and (self._untold or await self._works_alone()):
                found = 0.0
        except Stopped as stopped:
            # What cannot work on inputs that another process made knows something that is not in them.
            if stopped.ending is not Ending.PY_ERROR or not self._crossed:
                raise
            found = 0.0
        if not found:
            await self.challenges.restore(self.variant)
        return found

    @property
    def _short(self) -> bool:
        return max(self.means) <= _SHORT_NS

    async def _singly(self) -> float | None:
        """Hold the first call on new values against the second. One first call that is quick drops the doubt."""
        if self.left_s() * 1e9 < _MAKING_TIMES * self.challenges.make_ns + max(self.means):
            return 0.0
        begin, quick = self.clock(), 0
        firsts: list[float] = []
        seed = 0
        while len(firsts) < _MOST_TRIES:
            spent = self.clock() - begin
            if firsts and spent / len(firsts) * (len(firsts) + 1) > min(STRETCH_NS, self.left_s() * 1e9 / 2):
                return 0.0
            seed = self.challenges.seed()
            await self._prepare(seed)
            if (first := await self._single()) <= self._bound:
                return None
            firsts.append(first)
            quick += await self._single() <= min(self._bound, first / 2)
            flagrant = min(firsts) > _FLAGRANT_TIMES * self.outer.long_wait_ns()
            enough = len(firsts) >= (_SINGLE_TRIES if flagrant else _MANY_TRIES)
            many = min(firsts) > _DIFFERS_TIMES * max(self.means) + self._waits_ns
            if enough and quick >= _QUICK_SHARE * len(firsts):
                return min(firsts) if many and await self._knows(seed) else 0.0
            if enough and not quick:  # slow each time: its values may differ as much, but hardly all from all before
                return None if not many else min(firsts) if await self._knows(None) else 0.0
        return 0.0

    @property
    def _bound(self) -> float:
        return _SINGLE_TIMES * median(self.means) + self._waits_ns

    @property
    def _waits_ns(self) -> float:
        return _SINGLE_NS + 2 * self.outer.usual_ns()

    async def _single(self) -> float:
        """Give how long one call takes; who has just worked may wait for its turn before it."""
        self.outer.empty.append(await self.empty(self.variant))
        _, wall = await self.block(self.variant, 1)
        return wall - self.outer.usual_ns()

    async def _knows(self, seed: int | None) -> bool:
        """Whether it is quick at once on values made in its own process: of a seed again, else on all new ones.

        They are other objects, and the standard library has forgotten its answers: what is left is the learner's.
        """
        for _ in range(_ASKED_AGAIN):
            made = self.challenges.seed() if seed is None else seed
            await self.challenges.prepare(self.variant, made, forgotten=True)
            if (await self._single() <= self._bound) is (seed is not None):
                return seed is not None
        return seed is None

    async def _together(self) -> float | None:
        """Hold calls on many new values against what a call was measured to take.

        Where a call is too short to be told from a handshake by itself, many are not. A block that is as quick as the
        figures say acquits, for a busy machine only adds. One that is not is held against the same calls again, against
        calls that each follow their like, and against values made where they are used: what remembers all its answers
        is quick when the values come again, what remembers fewer than there are where each follows itself, what knew
        them where it made them itself. A processor that learns how the values of a block lie is none of these.
        """
        values = self._values()
        if values is None:  # a single call was quick: that says little of one that is far shorter than a handshake
            return None if self.cuda or median(self.means) > _TELLING_NS else 0.0
        self._values_taken = values
        tries: list[_Try] = []
        seeds: list[int] = []
        while len(tries) < _TRIES:
            if self.left_s() * 1e9 < _LEAST_LEFT_NS:
                return 0.0 if tries else None
            seeds.append(self.challenges.seed())
            tried = await self._try(seeds[-1], values)
            if tried is None:
                if (self._values() or 0) < 2 * values:
                    return None
                self._values_taken = values = self._values() or values  # making them seemed slow, and was not
                continue
            tries.append(tried)
            if sum(not self._doubts(each) for each in tries) > 1:  # one that a busy machine disturbed acquits nobody
                return None
        return await self._judged(tries, seeds[-1])

    def _values(self) -> int | None:
        """Give how many values are taken, by the time that making them and calling takes; None where it is too long."""
        if self.cuda:
            return _VALUES_CUDA if 2 * _VALUES_CUDA * self.challenges.make_ns <= _MOST_MAKING_NS else None
        make = max(min(self.challenges.make_ns - self.outer.usual_ns(), self._crossing_ns), 1.0)
        values = max(_LEAST_VALUES, min(_MOST_VALUES, int(_CALLING_NS / max(self.means)), int(_MAKING_NS / make)))
        most = min(max(_MOST_MAKING_NS, self.spent_ns * _MAKING_SHARE), self.left_s() * 1e9 / (4 * _TRIES))
        make = max(make, self._crossing_ns - _PROCESS_NS)
        return values if values * make <= most else None

    async def _try(self, seed: int, values: int) -> _Try | None:
        """Try calls on values made of a seed; None where they are as quick as was measured."""
        prepared, wall = await self._prepare(seed, values)
        cold = min(prepared.arrays * _COLD_ARRAY + prepared.others * _COLD_OTHER, wall) / values
        times = -(-_LEAST_CALLS // values)
        waits = self.outer.usual_ns() + self.outer.slack_ns
        slack, less = (_TURNS_CALL_NS + waits / calls for calls in (values, 2 * values * times))
        first = await self._walled(values) / values
        if not self.cuda and first <= _TURNS_TIMES * median(self.means) + slack:
            return None
        slack, less = slack + cold, less + cold
        again = await self._walled(values) / values
        each = times if self.cuda else max(times, _IN_A_ROW)
        await self.challenges.arrange(self.variant, [value for value in range(values) for _ in range(each)])
        rows = await self._walled(values * each) / values
        await self.challenges.arrange(self.variant, list(range(values)) * times)
        turns = await self._walled(values * times) / values / times
        hot = rows / each if self.cuda else max(rows - turns, 0.0) / (each - 1)
        tried = _Try(first, again, hot, turns, slack, less)
        quick = first <= _TURNS_TIMES * median(self.means) + slack
        if self.cuda or quick or self._remembers_all(tried) or self._remembers_some(tried):
            return tried
        await self.challenges.prepare(self.variant, self.challenges.seed(), values)
        return replace(tried, known=await self._walled(values) / values)

    def _remembers_all(self, tried: _Try) -> bool:
        return not self.cuda and self._is_quicker(tried.again, tried.first)

    def _remembers_some(self, tried: _Try) -> bool:
        return tried.turns > _TURNS_TIMES * tried.hot + tried.less

    def _knew(self, tried: _Try) -> bool:
        return tried.known is not None and self._is_quicker(tried.known, tried.first)

    def _doubts(self, tried: _Try) -> bool:
        usual = min(fmean(self.means), _VARIES_TIMES * median(self.means))
        differs = not self.cuda and tried.first > _LEARNT_TIMES * usual + tried.slack
        return differs or self._remembers_all(tried) or self._remembers_some(tried) or self._knew(tried)

    def _is_quicker(self, one: float, other: float) -> bool:
        return other > _FIRST_TIMES * one and other - one > _FIRST_CALL_NS + self._least_ns

    @property
    def _least_ns(self) -> float:
        return self.outer.usual_ns() / 2 / self._values_taken

    async def _judged(self, tries: list[_Try], seed: int) -> float:
        """Give the ns of a first call where the tries prove a memory, else 0: nearly all of them must say the same."""
        first, again, turns = (min(getattr(each, name) for each in tries) for name in ("first", "again", "turns"))
        if sum(map(self._remembers_all, tries)) > _MOST and self._is_proven(first, again):
            values = self._values_taken
            await self.challenges.prepare(self.variant, seed, values, forgotten=True)
            return first if self._is_quicker(await self._walled(values) / values, first) else 0.0
        if sum(map(self._remembers_some, tries)) > _MOST:
            hot = median(each.hot for each in tries)
            quick = hot if self.cuda else max(hot, median(self.means))
            return turns if self._is_proven(turns, quick) else 0.0
        known = [each.known for each in tries if each.known is not None and self._knew(each)]
        return first if len(known) > _MOST and self._is_proven(first, max(known)) else 0.0

    def _is_proven(self, slow: float, quick: float) -> bool:
        """Whether calls are so much slower that neither their values nor a busy machine explain it."""
        clear = (slow - quick) * self._values_taken > 2 * self.outer.long_wait_ns() or self.cuda
        return slow > _PROVEN_TIMES * max(quick, self._least_ns) and clear

    async def _prepare(self, seed: int, sets: int = 1) -> tuple[Prepared, int]:
        """Have inputs made in a process of their own, and remember where they could not be."""
        prepared, wall = await self.challenges.prepare(self.variant, seed, sets, apart=not self.cuda)
        self._crossing_ns = wall / sets
        self._crossed = self._crossed or prepared.how == "apart"
        self._untold = self._untold or prepared.how == "not" or (prepared.how == "large" and self._short)
        return prepared, wall

    async def _walled(self, calls: int) -> float:
        """Give how long the parent waited for a block of calls beyond a handshake, in ns."""
        self.outer.empty.append(await self.empty(self.variant))
        _, wall = await self.block(self.variant, calls)
        return max(wall - self.outer.usual_ns(), 1.0)

    async def _works_alone(self) -> bool:
        """Whether one call by itself is far longer than a call among many: then the others may have been left out.

        What a single call costs is told by the shortest of some: a busy machine only adds.
        """
        slowest = max(self.means)
        if slowest > _SHORT_NS:
            return False
        ones, nones = [], []
        for _ in range(_ALONE_TRIES):
            nones.append((await self.empty(self.variant))[1])
            ones.append((await self.block(self.variant, 1))[1])
        return min(ones) - min(nones) > _ALONE_TIMES * slowest + _ALONE_NS
