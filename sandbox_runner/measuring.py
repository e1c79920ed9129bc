"""Measures one timing job on a harness: correct first, then warm, then paired rounds, then the outer clock's word.

Law: the trusted parent drives, the harness obeys. Seeds, order and the end of measuring are chosen here; what the
harness says is a claim. Whatever stops a run, all that was measured and can be believed is returned.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from sandbox_runner import agreement
from sandbox_runner.agreement import Agreement, Comparison, Part
from sandbox_runner.asking import Done, Harness, Named, Parsed, SetUp, Shown, Stopped, Warmed, believable
from sandbox_runner.channel import Channel, HungUp, Tampered
from sandbox_runner.protocol import Ending, Fault, Flag, Job, Phase, Progress, Ratio, Reached, Variant
from sandbox_runner.rounds import BUDGET_S, Rounds

WARM_NS = 100_000_000
WARM_CALLS = 3
_SLICE_NS = 25_000_000
_SLOW_CALL_NS = 500_000_000
_STILL, _MOST_TURNS = 2, 40
_NOISY = 0.10
_TINY_NS = 100.0
_MOST_SIZE = 1 << 40


@dataclass(frozen=True, slots=True)
class Measured:
    """What a timing gave. `ending` is None where the harness fell silent: the wait status tells why.

    `checked`: `fresh_inputs` (results agree on fresh seeds and an odd size) or `time_only`.
    `confirmed`: the parent's own clock confirms every figure within a tenth.
    """

    ending: Ending | None
    variants: tuple[Variant, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    checked: str = ""
    confirmed: bool = False
    noise: float = 0.0
    flags: tuple[Flag, ...] = ()
    phases_ms: dict[str, float] = field(default_factory=dict)
    fault: Fault | None = None
    reached: Reached | None = None


async def measure(
    channel: Channel,
    job: Job,
    progress: Callable[[Progress], None],
    *,
    rng: random.Random,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Measured:
    """Measure the source that the harness behind `channel` serves; it must be `job`'s.

    The learner's faults, limits reached and tampering are endings in what is returned, never exceptions.
    `rng` chooses seeds and orders, and must not be guessable from inside; `clock` gives ns.
    """
    timing = _Timing(Harness(channel, job.limits, progress, clock), job, rng, clock)
    try:
        await timing.run()
    except Stopped as stopped:
        timing.flags += stopped.flags
        return timing.summary(stopped.ending, stopped.fault, stopped.reached)
    except Tampered:
        return Measured(Ending.TAMPERED, phases_ms=timing.harness.phases_ms)
    except HungUp:
        return timing.summary(None)
    return timing.summary(Ending.OK)


@dataclass(slots=True)
class _Timing:
    harness: Harness
    job: Job
    rng: random.Random
    clock: Callable[[], int]
    named: tuple[Named, ...] = ()
    first_ns: list[float] = field(default_factory=list)
    rounds: Rounds | None = None
    checked: str = ""
    flags: list[Flag] = field(default_factory=list)

    async def run(self) -> None:
        with self.harness.phase(Phase.IMPORT):
            parsed, _, _ = await self.harness.ask(Parsed, "parse")
            believable(parsed)
            self.named = parsed.variants
            self.flags += [Flag(code[:80], {}, line) for code, line in parsed.remarks]
            await self.harness.ask(Done, "imports")
        with self.harness.phase(Phase.RUN):
            setup, _, _ = await self.harness.ask(SetUp, "setup")
        await self._check(setup)
        with self.harness.phase(Phase.WARMUP):
            per_call = await self._warm()
        with self.harness.phase(Phase.MEASURE):
            self.rounds = Rounds(self.harness, self.clock, self.rng, BUDGET_S[self.job.budget], per_call)
            await self.rounds.run()

    async def _check(self, setup: SetUp) -> None:
        """Call every variant for the first time, and compare what they return; on fresh inputs where they are made."""
        n = min(max(setup.n, 1), _MOST_SIZE)
        fresh = (self._seed(), n) if setup.makes else None
        with self.harness.phase(Phase.COMPILE if self._compiles() else Phase.CHECK):
            self._judge(await self._results("first", fresh), strict=setup.makes)
        self.checked = "time_only"
        if not setup.makes:
            return
        with self.harness.phase(Phase.CHECK):
            odd = max(1, n // 3) | 1
            self._judge(await self._results("result", (self._seed(), odd)), strict=True)
            await self.harness.ask(Done, "fresh", seed=self._seed(), n=n)
        if len(self.named) > 1:
            self.checked = "fresh_inputs"

    async def _results(self, op: str, fresh: tuple[int, int] | None) -> list[tuple[Part, ...]]:
        """Call each variant once, on equal inputs where (seed, n) says how to make them, and read what it returned."""
        share, results = self.rng.random(), []
        for i, variant in enumerate(self.named):
            if fresh:
                await self.harness.ask(Done, "fresh", seed=fresh[0], n=fresh[1])
            shown, payload, wall = await self.harness.ask(Shown, op, variant=i, share=share)
            if tuple(item[0] for item in shown.items) != variant.result:
                message = f"{op}: other parts than the variant has"
                raise Tampered(message)
            if op == "first":
                self.first_ns.append(float(min(max(shown.ns, 0), wall)))
            results.append(agreement.read(shown.items, payload))
        return results

    def _judge(self, results: list[tuple[Part, ...]], *, strict: bool) -> None:
        """Compare every variant's result with the first's.

        Raises:
            Stopped: they differ or are not finite, on inputs that were made for the comparison (`strict`).
        """
        if len(results) == 1 and results[0] and not all(part.finite for part in results[0]):
            self._disagree(0, Comparison(Agreement.NONFINITE), strict=strict)
        for i, result in enumerate(results[1:], 1):
            self._disagree(i, agreement.compare(results[0], result), strict=strict)
            dtypes = {parts[0].dtype for parts in (results[0], result) if len(parts) == 1}
            if len(dtypes) > 1 and dtypes <= agreement.FLOATS:
                one, two = results[0][0].dtype, result[0].dtype
                self._flag(Flag("dtypes_differ", {"name": self.named[i].name, "dtype": two, "against": one}))

    def _disagree(self, i: int, found: Comparison, *, strict: bool) -> None:
        line = self.named[i].line
        flag = Flag(f"results_{found.outcome.value}", {"name": self.named[i].name, "error": found.error}, line)
        match found.outcome:
            case Agreement.AGREE:
                return
            case Agreement.CLOSE:
                self._flag(flag)
            case Agreement.INCOMPARABLE:
                self._flag(Flag(flag.code, {"name": self.named[i].name}, line))
            case Agreement.DIFFER:
                if strict:
                    raise Stopped(Ending.WRONG_RESULT, flags=(flag,))
                self._flag(flag)
            case Agreement.NONFINITE:
                if strict:
                    raise Stopped(Ending.NONFINITE, flags=(flag,))
                self._flag(flag)
            case _:
                assert_never(found.outcome)

    async def _warm(self) -> list[float]:
        """Warm the variants up in turn, by time and by calls; give the ns a call that each has come to."""
        per_call = list(self.first_ns)
        spent, calls = [0] * len(per_call), [1] * len(per_call)
        compiled, still, turns = -1, 0, 0
        while True:
            cold = [i for i in self._all() if not self._is_warm(spent[i], calls[i], per_call[i])]
            if not cold and (compiled <= 0 or still >= _STILL or turns >= _MOST_TURNS):
                return per_call
            seen = compiled
            for i in cold or self._all():
                # Sized by what the parent waited: a clock inside that stands still must not ask for calls without end.
                made = 1 if turns == 0 else max(1, min(int(_SLICE_NS / per_call[i]), 4 * calls[i]))
                warmed, _, wall = await self.harness.ask(Warmed, "warm", variant=i, calls=made)
                spent[i], calls[i], per_call[i] = spent[i] + wall, calls[i] + made, wall / made
                seen = max(seen, warmed.compiled)
            still = still + 1 if seen == compiled else 0
            compiled, turns = seen, turns + 1

    def _is_warm(self, spent: int, calls: int, per_call: float) -> bool:
        """Tell whether a variant has had its time and calls; a slow one needs one call after its first.

        A first call that compiled says nothing about the next.
        """
        if self._compiles() and calls == 1:
            return False
        if per_call * 2 * len(self.named) > self.harness.left_s() * 1e9:
            self._flag(Flag("short_warmup", {}))
            return True
        slow = per_call > _SLOW_CALL_NS and calls > 1
        return slow or (spent >= WARM_NS and calls >= WARM_CALLS)

    def summary(self, ending: Ending | None, fault: Fault | None = None, reached: Reached | None = None) -> Measured:
        """Sum up; figures that the outer clock contradicts are named and left out, whatever ended the run."""
        rounds = self.rounds
        if rounds is None:
            flags = tuple(self.flags)
            return Measured(ending, flags=flags, phases_ms=self.harness.phases_ms, fault=fault, reached=reached)
        flags = (*self.flags, *rounds.flags)
        doubt = rounds.outer.doubt()
        if doubt and doubt.settled:
            named = self.named[doubt.variant]
            values: dict[str, str | int | float] = {
                "name": named.name,
                "claimed_ns": doubt.claimed_ns,
                "wall_ns": doubt.wall_ns,
            }
            flag = Flag("suspicious_timing", values, named.line)
            phases = self.harness.phases_ms
            return Measured(Ending.SUSPICIOUS_TIMING, checked=self.checked, flags=(*flags, flag), phases_ms=phases)
        noise, confirmed = rounds.noise(), rounds.outer.confirms()
        if noise > _NOISY:
            flags = (*flags, Flag("noisy", {"noise": noise}))
        tiny = min((mean for means in rounds.samples.values() for mean in means), default=_TINY_NS)
        if tiny < _TINY_NS:
            flags = (*flags, Flag("tiny_calls", {"ns": tiny}))
        if rounds.samples and not confirmed:
            flags = (*flags, Flag("unconfirmed", {"handshake_ns": rounds.outer.handshake_ns()}))
        return Measured(
            ending,
            variants=rounds.variants(self.named, self.first_ns),
            ratios=rounds.ratios(self.named),
            checked=self.checked,
            confirmed=confirmed,
            noise=noise,
            flags=flags,
            phases_ms=self.harness.phases_ms,
            fault=fault,
            reached=reached,
        )

    def _compiles(self) -> bool:
        return "compile" in self.job.source

    def _all(self) -> range:
        return range(len(self.named))

    def _seed(self) -> int:
        return self.rng.getrandbits(32)

    def _flag(self, flag: Flag) -> None:
        if not any(other.code == flag.code and other.values.get("name") == flag.values.get("name")
                   for other in self.flags):  # fmt: skip
            self.flags.append(flag)
