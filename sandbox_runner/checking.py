"""Correct first: what variants return, compared on values made for it, and the precision that really ran.

Law: a result that is wrong, not finite, lazy, or computed in fewer digits than it pretends to have ends the run before
any time is believed, where the set-up makes inputs for the comparison; where it does not, it is flagged.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from sandbox_runner import agreement
from sandbox_runner.agreement import Agreement, Comparison, Part
from sandbox_runner.asking import Made, Named, Seat, Shown, Stopped, Widened
from sandbox_runner.channel import Tampered
from sandbox_runner.protocol import Ending, Flag

_ILL_CONDITIONED = 1e-5


@dataclass(slots=True)
class Checking:
    """The comparison of variants with the first of them; what it finds beside faults is kept here.

    `first_ns` is the time of each variant's first call, `compiled` the frames that torch compiled in it, `free` the
    variants that change their inputs, `precisions` and `errors` are by variant where they could be named;
    `reduced` are errors that TF32 explains, or float16 that nobody may hide behind it; `unsure` are those where the
    first variant's is as large: the values may be hard to sum, or all were computed so.
    """

    seats: tuple[Seat, ...]
    named: tuple[Named, ...]
    rng: random.Random
    cuda: bool = False
    first_ns: list[float] = field(default_factory=list)
    compiled: list[int] = field(default_factory=list)
    free: set[int] = field(default_factory=set)
    precisions: dict[int, str] = field(default_factory=dict)
    errors: dict[int, float] = field(default_factory=dict)
    reduced: dict[int, float] = field(default_factory=dict)
    unsure: dict[int, float] = field(default_factory=dict)
    coarsest: str = ""
    make_ns: float = 0.0
    comparable: bool = True
    flags: list[Flag] = field(default_factory=list)

    def seed(self) -> int:
        """Give a seed that nobody can know before."""
        return self.rng.getrandbits(32)

    async def given(self, *, compare: bool) -> None:
        """Call every variant for the first time on the inputs that the set-up left: differences are flagged."""
        results = await self._results("first", None)
        if compare:
            self.judge(results, strict=False)

    async def fresh_first(self, n: int) -> None:
        """Call every variant for the first time, on equal fresh inputs of size `n`."""
        self.judge(await self._results("first", (self.seed(), n)), strict=True)

    async def again(self, n: int, *, odd: bool = True) -> None:
        """Compare on other inputs, of an `odd` size, also with float64 where the first variant takes it.

        Inputs that nobody is given are made after each: an answer kept aside while `make` worked is then of those.
        """
        fresh = (self.seed(), max(1, n // 3) | 1 if odd else n)
        share, decoy = self.rng.random(), self.seed()
        results = await self._results("result", fresh, share, decoy)
        self.judge(results, strict=True)
        await self._name_precisions(results, *fresh, share, decoy)

    async def _results(
        self, op: str, fresh: tuple[int, int] | None, share: float | None = None, decoy: int | None = None
    ) -> list[tuple[Part, ...]]:
        """Call each variant once, on equal inputs where (seed, n) says how to make them, and read what it returned."""
        share, results = self.rng.random() if share is None else share, []
        for i, (seat, variant) in enumerate(zip(self.seats, self.named, strict=True)):
            if fresh:
                made, _, wall = await seat.harness.ask(Made, "fresh", seed=fresh[0], n=fresh[1], decoy=decoy)
                self.coarsest = made.coarsest if made.coarsest in agreement.FLOATS else ""
                self.make_ns = max(self.make_ns, float(wall)) if op == "first" else self.make_ns
            shown, payload, wall = await seat.harness.ask(Shown, op, variant=seat.number, share=share)
            if tuple(item[0] for item in shown.items) != variant.result:
                message = f"{op}: other parts than the variant has"
                raise Tampered(message)
            if op == "first":
                self.first_ns.append(float(min(max(shown.ns, 0), wall)))
                self.compiled.append(max(shown.compiled, 0))
            if shown.changed:
                self.free.add(i)
                self.flag(Flag("input_changed", {"name": variant.name}, variant.line))
            results.append(agreement.read(shown.items, payload))
        return results

    def judge(self, results: list[tuple[Part, ...]], *, strict: bool) -> None:
        """Compare every variant's result with the first's.

        Raises:
            Stopped: they differ or are not finite, on inputs that were made for the comparison (`strict`).
        """
        for i, result in enumerate(results):
            self._exact(i, result, strict=strict)
        if len(results) == 1 and results[0] and not all(part.finite for part in results[0]):
            self._disagree(0, Comparison(Agreement.NONFINITE), strict=strict)
        for i, result in enumerate(results[1:], 1):
            hidden = "" if strict else _hidden(results[0], result)
            found = agreement.compare(results[0], result, self.coarsest or hidden)
            kinds = [{part.kind for part in parts} - {""} for parts in (results[0], result)]
            if found.outcome is Agreement.INCOMPARABLE and strict and bool(kinds[0]) != bool(kinds[1]):
                kind = next(iter(kinds[1] or kinds[0]))
                self._refuse(Flag("results_type", {"name": self.named[i].name, "kind": kind}, self.named[i].line))
            self._disagree(i, found, strict=strict)
            dtypes = {parts[0].dtype for parts in (results[0], result) if len(parts) == 1}
            if len(dtypes) > 1 and dtypes <= agreement.FLOATS:
                one, two = results[0][0].dtype, result[0].dtype
                self.flag(Flag("dtypes_differ", {"name": self.named[i].name, "dtype": two, "against": one}))

    def _exact(self, i: int, result: tuple[Part, ...], *, strict: bool) -> None:
        """Name what has not been computed yet."""
        lazy = next((part.kind for part in result if part.kind in agreement.LAZY), "")
        if lazy:
            flag = Flag("results_lazy", {"name": self.named[i].name, "kind": lazy}, self.named[i].line)
            if strict:
                self._refuse(flag)
            self.flag(flag)

    @staticmethod
    def _refuse(flag: Flag) -> None:
        raise Stopped(Ending.WRONG_RESULT, flags=(flag,))

    def _disagree(self, i: int, found: Comparison, *, strict: bool) -> None:
        line = self.named[i].line
        flag = Flag(f"results_{found.outcome.value}", {"name": self.named[i].name, "error": found.error}, line)
        match found.outcome:
            case Agreement.AGREE:
                return
            case Agreement.CLOSE:
                self.flag(flag)
            case Agreement.INCOMPARABLE:
                self.comparable = False
                self.flag(Flag(flag.code, {"name": self.named[i].name}, line))
            case Agreement.DIFFER:
                if strict:
                    self._refuse(flag)
                self.flag(flag)
            case Agreement.NONFINITE:
                if strict:
                    raise Stopped(Ending.NONFINITE, flags=(flag,))
                self.flag(flag)
            case _:
                assert_never(found.outcome)

    async def _name_precisions(
        self, results: list[tuple[Part, ...]], seed: int, n: int, share: float, decoy: int
    ) -> None:
        """Name the precision of each variant by its error against the first variant on float64 inputs."""
        seat = self.seats[0]
        if any(len(result) != 1 or result[0].dtype not in agreement.FLOATS for result in results):
            return
        asked = {"variant": seat.number, "seed": seed, "n": n, "share": share, "decoy": decoy}
        shown, payload, _ = await seat.harness.ask(Widened, "wide", **asked)
        if shown.items is None:
            return
        wide = agreement.read(shown.items, payload)
        if len(wide) != 1 or wide[0].dtype != "float64" or wide[0].shape != results[0][0].shape:
            return
        errors = [agreement.compare(wide, result).error for result in results]
        for i, (error, result) in enumerate(zip(errors, results, strict=True)):
            self.errors[i] = error
            if errors[0] > _ILL_CONDITIONED and self.coarsest not in {"bfloat16", "float16"}:
                if self.cuda and agreement.lowered(result[0].dtype, self.coarsest, error):
                    self.unsure[i] = error
                continue
            self.precisions[i] = agreement.precision_of(result[0].dtype, error, cuda=self.cuda)
            if agreement.lowered(result[0].dtype, self.coarsest, error):
                named, precision = self.named[i], self.precisions[i]
                values: dict[str, str | int | float] = {"name": named.name, "dtype": result[0].dtype, "error": error}
                values["precision"] = precision
                if precision != "tf32":
                    self._refuse(Flag("lowered_precision", values, named.line))
                # What a GPU does with float32 where it is let: convolutions without being asked, products when asked.
                self.reduced[i] = error
                self.flag(Flag("reduced_precision", values, named.line))

    def hold_against(self, products: Mapping[int, str]) -> None:
        """Hold what looks like TF32 against the type in which a variant multiplies, `products`.

        Raises:
            Stopped: one multiplies in half precision, and pretends to have computed in more.
        """
        for i, error in self.reduced.items():
            if (kind := products.get(i, "")) in {"float16", "bfloat16"}:
                values: dict[str, str | int | float] = {"name": self.named[i].name, "dtype": "float32", "error": error}
                self.flags = [flag for flag in self.flags if flag.code != "reduced_precision"]
                self._refuse(Flag("lowered_precision", values | {"precision": kind}, self.named[i].line))
        for i, error in self.unsure.items():
            if products.get(i, "") == "tf32" and agreement.precision_of("float32", error, cuda=True) == "tf32":
                self.precisions[i] = "tf32"
                values = {"name": self.named[i].name, "dtype": "float32", "error": error, "precision": "tf32"}
                self.flag(Flag("reduced_precision", values, self.named[i].line))

    async def leave_fresh(self, n: int) -> None:
        """Leave inputs of size `n` that nobody has seen, for the warm-up.

        What making them costs is told by these: the first ones may have opened libraries, or the GPU.
        """
        seed, walls = self.seed(), []
        for harness in {id(seat.harness): seat.harness for seat in self.seats}.values():
            _, _, wall = await harness.ask(Made, "fresh", seed=seed, n=n)
            walls.append(float(wall))
        self.make_ns = max(walls)

    def flag(self, flag: Flag) -> None:
        """Keep a flag, once a variant."""
        if not any(other.code == flag.code and other.values.get("name") == flag.values.get("name")
                   for other in self.flags):  # fmt: skip
            self.flags.append(flag)

    def changing(self) -> frozenset[int]:
        """Give the variants whose results depend on how often they were called."""
        return frozenset(self.free)


def _hidden(one: tuple[Part, ...], two: tuple[Part, ...]) -> str:
    """Give the coarsest type that two results may have been computed in where `float()` hides it; "" elsewhere."""
    return "float32" if all((part.dtype, part.shape) == ("float64", ()) for part in (*one, *two)) else ""
