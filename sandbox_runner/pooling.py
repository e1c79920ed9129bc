"""Which of a host's GPUs a job gets: one that is free, or as many as it names, all at once or none.

Law: jobs are served in the order in which they came, and each takes what it needs while nobody else may, so that two
that need several never wait for each other. A GPU in quarantine is passed over while others can serve; it is tried
again after a while, and when there is no other.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sandbox_runner.lending import Lender, Prove

AGAIN_S = 60.0
"""After so long a GPU in quarantine is tried again though others could serve."""
_POLL_S = 0.05
GAVE_WAY = "a job waits for it"

Proving = Callable[[tuple[Lender, ...]], Prove]
"""Gives what proves the GPUs of these lenders by a kernel of ours."""


class Lock(Protocol):
    """What keeps other runners of this host from a GPU."""

    def take(self) -> bool:
        """Take it if nobody has it; never waits."""

    def let_go(self) -> None:
        """Give it back."""

    def want(self) -> None:
        """Tell whoever holds it that a job waits; as often as one likes."""

    def want_no_more(self) -> None:
        """Take that back."""


class FreeLock:
    """A lock that nobody else knows of: of a GPU that only this runner lends."""

    def take(self) -> bool:
        """It is always free."""
        return True

    def let_go(self) -> None:
        """There is nothing to give back."""

    def want(self) -> None:
        """Nobody else holds it."""

    def want_no_more(self) -> None:
        """Nobody was told."""


@dataclass(frozen=True, slots=True)
class Taken:
    """GPUs that a job has, in the order in which it sees them; or `why` it has none."""

    lenders: tuple[Lender, ...] = ()
    why: str = ""


class Pool:
    """The GPUs of this host, each with its lender and a lock."""

    def __init__(self, gpus: Sequence[tuple[Lender, Lock]], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.lenders = tuple(lender for lender, _ in gpus)
        self._locks = {lender.gpu.minor: lock for lender, lock in gpus}
        self._free = {lender.gpu.minor for lender in self.lenders}
        self._again = dict.fromkeys(self._free, float("-inf"))
        self._turn = asyncio.Lock()
        self._clock = clock

    async def take(self, count: int, proving: Proving) -> Taken:
        """Wait for `count` GPUs and take them; what was taken must be given back, each by `give_back`."""
        if count > len(self.lenders):
            return Taken(why=f"{count} GPUs are wanted and there are {len(self.lenders)}")
        taken: list[Lender] = []
        refused: dict[int, str] = {}
        try:
            async with self._turn:
                while len(taken) < count:
                    if len(self.lenders) - len(refused) < count:
                        break
                    lender = self._next(refused, taken, count)
                    if lender is None:
                        for one in self._locks.values():
                            one.want()
                        await asyncio.sleep(_POLL_S)
                        continue
                    why = await self._taken(lender, proving)
                    if why:
                        refused[lender.gpu.minor] = why
                    else:
                        taken.append(lender)
        except BaseException:
            await asyncio.shield(self.give_back(taken, ""))
            raise
        finally:
            for one in self._locks.values():
                one.want_no_more()
        if len(taken) == count:
            return Taken(tuple(sorted(taken, key=lambda lender: lender.gpu.minor)))
        await self.give_back(taken, "")
        return Taken(why="; ".join(f"GPU {minor}: {why}" for minor, why in sorted(refused.items())))

    async def take_this(self, lender: Lender, proving: Proving, give_way: Callable[[], bool] = lambda: False) -> str:
        """Wait for one GPU and take it; say why not where it is not to be had, or while others want it more."""
        async with self._turn:
            while not self._claim(lender):  # another process may have it, which tells nothing
                if give_way():
                    return GAVE_WAY
                await asyncio.sleep(_POLL_S)
            return await self._taken(lender, proving)

    async def give_back(self, lenders: Sequence[Lender], doubt: str) -> None:
        """End a loan; `doubt` says why each must be proven first, if it must."""
        await asyncio.gather(*(self._return(lender, doubt) for lender in lenders))

    async def _return(self, lender: Lender, doubt: str) -> None:
        try:
            await lender.give_back(doubt)
        finally:
            self._release(lender)

    def _next(self, refused: dict[int, str], taken: Sequence[Lender], count: int) -> Lender | None:
        """Choose the next to try and claim it: of those that are well the first, else one in quarantine."""
        left = [one for one in self.lenders if one.gpu.minor not in refused and one not in taken]
        well = [one for one in left if not one.quarantine]
        few, now = len(well) < count - len(taken), self._clock()
        shut = [one for one in left if one.quarantine and (few or now >= self._again[one.gpu.minor])]
        return next((one for one in (*well, *shut) if self._claim(one)), None)

    def _claim(self, lender: Lender) -> bool:
        minor = lender.gpu.minor
        if minor not in self._free or not self._locks[minor].take():
            return False
        self._free.discard(minor)
        return True

    def _release(self, lender: Lender) -> None:
        self._locks[lender.gpu.minor].let_go()
        self._free.add(lender.gpu.minor)

    async def _taken(self, lender: Lender, proving: Proving) -> str:
        """Have a GPU that was claimed lent; where it is not, it is free again."""
        why = "the wait was given up"
        try:
            why = await lender.take(proving((lender,)))
        finally:
            if why:
                self._again[lender.gpu.minor] = self._clock() + AGAIN_S
                self._release(lender)
        return why
