"""Blocks on values that never were before, whose last results are shown afterwards and compared outside.

Law: the child is told what will be looked at only when the work is said to be done. What it showed by digest at once
must be what it reveals; what it reveals must be what another variant, or another process, made of the same values.
No expected value ever enters the child.
"""

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox_runner import agreement
from sandbox_runner.agreement import Agreement, Part
from sandbox_runner.asking import Done, Items, Marked, Named, Prepared, Seat, Stopped
from sandbox_runner.channel import Tampered
from sandbox_runner.protocol import Ending, Flag

CHUNK_ELEMENTS = 1 << 13
_REVEALED, _ALL_CHUNKS = 4, 8
_MOST_SETS, _MOST_CHUNKS = 4, 1 << 12
_APART, _MOST_CROSSED = {"apart", "large", "not"}, 1 << 28
"""How inputs can be said to have been made apart, and more bytes than a harness lets cross."""


@dataclass(frozen=True, slots=True)
class _Shown:
    variant: int
    items: Items
    marks: tuple[tuple[str, ...], ...]


@dataclass(slots=True)
class Challenges:
    """Makes the blocks of a measuring checkable. `n` is the size that `make` is given, `coarsest` its inputs' type.

    `free` are variants whose results say nothing, because they change their inputs; `make_ns` is what making costs.
    """

    seats: tuple[Seat, ...]
    named: tuple[Named, ...]
    n: int
    rng: random.Random
    coarsest: str = ""
    make_ns: float = 0.0
    free: frozenset[int] = frozenset()
    flags: list[Flag] = field(default_factory=list)
    compared: int = 0
    _share: float = 0.0
    _shown: list[_Shown] = field(default_factory=list)

    def seed(self) -> int:
        """Give a seed that nobody can know before."""
        return self.rng.getrandbits(32)

    async def prepare(
        self, variant: int, seed: int, sets: int = 1, *, apart: bool = False, forgotten: bool = False
    ) -> tuple[Prepared, int]:
        """Have new inputs made for the next block: the same for each variant that is given the same `seed`.

        `apart` in a process that ends with it; `forgotten`: the standard library remembers nothing then. How it went is
        given, and how long it took, in ns.

        Raises:
            Tampered: it is told to have gone as no harness can have done it.
        """
        seeds = [(seed + 0x9E3779B1 * i) & 0xFFFFFFFF for i in reversed(range(sets))]
        seat = self.seats[variant]
        asked = {"variant": seat.number, "seeds": seeds, "n": self.n, "apart": apart, "forgotten": forgotten}
        prepared, _, wall = await seat.harness.ask(Prepared, "prepare", **asked)
        crossed = prepared.arrays, prepared.others
        if prepared.how not in (_APART if apart else {""}) or not all(0 <= size <= _MOST_CROSSED for size in crossed):
            message = "prepare: inputs made as no harness makes them"
            raise Tampered(message)
        return prepared, wall

    async def arrange(self, variant: int, turns: Sequence[int]) -> None:
        """Have the next block call once on each of the inputs prepared last, in the order of their places, `turns`."""
        seat = self.seats[variant]
        await seat.harness.ask(Done, "arrange", variant=seat.number, turns=list(turns))

    async def restore(self, variant: int) -> None:
        """Give a variant back the inputs that it had before others were made apart."""
        seat = self.seats[variant]
        await seat.harness.ask(Done, "restore", variant=seat.number)

    def sets(self, block_ns: float, calls: int) -> int:
        """Give how many inputs a block rotates over: making them may take half the block's own time."""
        return max(1, min(_MOST_SETS, calls, int(block_ns / 2 / max(self.make_ns, 1.0))))

    async def mark(self, variant: int) -> None:
        """Take the digest of a block's last result, at once after it."""
        if not self._shown:
            self._share = self.rng.random()
        seat = self.seats[variant]
        marked, _, _ = await seat.harness.ask(Marked, "mark", variant=seat.number, share=self._share)
        if tuple(item[0] for item in marked.items) != self.named[variant].result:
            message = "mark: other parts than the variant has"
            raise Tampered(message)
        counts = [_chunks(dtype, size) for _, dtype, _, size in marked.items]
        if [len(each) for each in marked.marks] != counts or sum(counts) > _MOST_CHUNKS:
            message = "mark: other chunks than the result has"
            raise Tampered(message)
        self._shown.append(_Shown(variant, marked.items, marked.marks))

    async def settle(self) -> None:
        """Look at what the blocks since the last time returned, which were all of one seed, and compare.

        Raises:
            Stopped: a result changed after it was said to be done, or is not what the others made of these values.
        """
        shown, self._shown = self._shown, []
        results = [(one.variant, await self._revealed(one)) for one in shown]
        if len(results) < 2:  # noqa: PLR2004 - nothing to compare with
            return
        first, reference = results[0]
        for variant, result in results[1:]:
            if self.free & {first, variant}:
                continue
            found = agreement.compare(reference, result, self.coarsest)
            if found.outcome in {Agreement.DIFFER, Agreement.NONFINITE}:
                named = self.named[max(first, variant)]
                flag = Flag("skipped_work", {"name": named.name, "error": found.error}, named.line)
                raise Stopped(Ending.SUSPICIOUS_TIMING, flags=(flag,))
            self.compared += found.outcome is not Agreement.INCOMPARABLE

    async def _revealed(self, shown: _Shown) -> tuple[Part, ...]:
        wanted = self._choose(shown.items)
        seat = self.seats[shown.variant]
        _, payload, _ = await seat.harness.ask(Done, "reveal", variant=seat.number, share=self._share, chunks=wanted)
        parts: list[Part] = []
        start = 0
        for (name, dtype, shape, size), marks, chunks in zip(shown.items, shown.marks, wanted, strict=True):
            raw = b""
            for chunk in chunks:
                length = _chunk_bytes(dtype, size, chunk)
                taken = payload[start : start + length]
                start += length
                if hashlib.blake2b(taken, digest_size=16).hexdigest() != marks[chunk]:
                    named = self.named[shown.variant]
                    flag = Flag("late_work", {"name": named.name}, named.line)
                    raise Stopped(Ending.SUSPICIOUS_TIMING, flags=(flag,))
                raw += taken
            parts += agreement.read(((name, dtype, shape, len(raw)),), raw)
        return tuple(parts)

    def _choose(self, items: Items) -> list[list[int]]:
        """Choose chunks, the same for one shape whatever its type: results of one seed are compared by place."""
        everything = sum(_chunks(dtype, size) for _, dtype, _, size in items) <= _ALL_CHUNKS
        chooser = random.Random(self._share)  # noqa: S311 - drawn from the parent's own chance, after the block
        wanted = []
        for _, dtype, _, size in items:
            count = _chunks(dtype, size)
            fewer = not everything and count > _REVEALED
            wanted.append(sorted(chooser.sample(range(count), _REVEALED)) if fewer else list(range(count)))
        return wanted


def _chunk_size(dtype: str, size: int) -> int:
    width = agreement.width(dtype)
    return CHUNK_ELEMENTS * width if width else max(size, 1)


def _chunks(dtype: str, size: int) -> int:
    return -(-size // _chunk_size(dtype, size)) if size > 0 else 0


def _chunk_bytes(dtype: str, size: int, chunk: int) -> int:
    each = _chunk_size(dtype, size)
    return min(each, size - chunk * each)
