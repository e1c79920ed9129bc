"""Measures one timing job on a harness: correct first, then warm, then paired rounds, then the outer clock's word.

Law: the trusted parent drives, the harness obeys. Seeds, order and the end of measuring are chosen here; what the
harness says is a claim. Whatever stops a run, all that was measured and can be believed is returned.
"""

import math
import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sandbox_runner.asking import Done, Harness, Held, Named, Parsed, Pinned, Seat, SetUp, Stopped, believable
from sandbox_runner.challenge import Challenges
from sandbox_runner.channel import Channel, HungUp, Tampered
from sandbox_runner.checking import Checking
from sandbox_runner.disturbing import look, told
from sandbox_runner.gpus import Strain, watch_strain
from sandbox_runner.mistakes import Mistakes, arranged
from sandbox_runner.pinning import Place, apart, place_on
from sandbox_runner.protocol import (
    Checked,
    Device,
    Ending,
    Fault,
    Flag,
    Insight,
    Job,
    Phase,
    Progress,
    Ratio,
    Reached,
    Variant,
)
from sandbox_runner.reaching import ceilings_on
from sandbox_runner.rounds import BUDGET_S, Rounds
from sandbox_runner.warming import WARM_CALLS, WARM_NS, WARM_NS_CUDA, Warming

__all__ = ["WARM_CALLS", "WARM_NS", "Measured", "measure"]

_NOISY = 0.10
_TINY_NS = 100.0
_MOST_SIZE = 1 << 40
_OWN_DIFFERS = 1.25
_ODD_COMPILES = 2.5
_MORE_CORES = 1.15


@dataclass(frozen=True, slots=True)
class Measured:
    """What a timing gave. `ending` is None where the harness fell silent: the wait status tells why.

    `checked`: `fresh_inputs` (results agree on fresh seeds and an odd size) or `time_only`.
    `confirmed`: the parent's own clock confirms every figure within a tenth. `checks` and `share` are an exercise's,
    `insights` an inspection's.
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
    checks: tuple[Checked, ...] = ()
    share: float = 0.0
    insights: tuple[Insight, ...] = ()


async def measure(  # noqa: PLR0913 - each is a thing of its own
    channel: Channel,
    job: Job,
    progress: Callable[[Progress], None],
    *,
    rng: random.Random,
    clock: Callable[[], int] = time.perf_counter_ns,
    ceilings: Mapping[str, float] | None = None,
    cpu_s: Callable[[], float | None] = lambda: None,
    gpus: Sequence[int] = (),
) -> Measured:
    """Measure the source that the harness behind `channel` serves; it must be `job`'s.

    The learner's faults, limits reached and tampering are endings in what is returned, never exceptions.
    `rng` chooses seeds and orders, and must not be guessable from inside; `clock` gives ns; `ceilings` are what this
    machine can do (`reaching.py`); `cpu_s` gives the CPU seconds that everything inside has used so far; `gpus` are the
    numbers of the device nodes that the job was lent, the host's only one where it is left out.
    While it measures, the calling thread keeps to a core of its own where there are two.
    """
    place = place_on(os.sched_getaffinity(0))
    known = ceilings_on(ceilings or {}, cuda=job.device is not Device.CPU)
    timing = _Timing(Harness(channel, job.limits, progress, clock), job, rng, clock, place, known)
    timing.cpu_s = cpu_s
    if job.device is not Device.CPU:
        timing.strain = watch_strain(gpus)
    try:
        with apart(place):
            await timing.run()
    except Stopped as stopped:
        return timing.told(stopped.ending, stopped)
    except Tampered:
        return Measured(Ending.TAMPERED, phases_ms=timing.harness.phases_ms)
    except HungUp:
        return timing.told(None)
    return timing.told(Ending.OK)


@dataclass(slots=True)
class _Timing:
    harness: Harness
    job: Job
    rng: random.Random
    clock: Callable[[], int]
    place: Place
    ceilings: Mapping[str, float]
    named: tuple[Named, ...] = ()
    cpu_s: Callable[[], float | None] = lambda: None
    strain: Strain = field(default_factory=Strain)
    more_cores: bool = False
    own: bool = False
    own_ns: tuple[int, ...] = ()
    checking: Checking | None = None
    rounds: Rounds | None = None
    mistakes: Mistakes | None = None
    checked: str = ""
    flags: list[Flag] = field(default_factory=list)

    async def run(self) -> None:
        with self.harness.phase(Phase.IMPORT):
            cuda, cores = self.job.device is not Device.CPU, list(self.place.inner)
            await self.harness.ask(Pinned, "pin", threads=self.place.threads, cores=cores, cuda=cuda)
            parsed, _, _ = await self.harness.ask(Parsed, "parse")
            believable(parsed)
            self.named, self.own = parsed.variants, parsed.own
            self.flags += [Flag(code[:80], {}, line) for code, line in parsed.remarks]
            lines = self.job.source.count("\n") + 1
            self.mistakes = Mistakes(self.harness, self.named, lines, cuda)
            await self.mistakes.look()
            await self.harness.ask(Done, "imports")
        # What is compiled may be called in the set-up already.
        with self.harness.phase(Phase.COMPILE if self._compiles() else Phase.RUN):
            setup, _, _ = await self.harness.ask(SetUp, "setup")
        if self.own:
            await self._after_its_own(setup)
        else:
            await self._measure(setup)

    async def _after_its_own(self, setup: SetUp) -> None:
        """Time again what the source has timed itself; where that cannot be repeated, it has at least run as it is."""
        if len(setup.own) == len(self.named):
            self.own_ns = setup.own
        if not self.named:
            self.flags.append(Flag("own_clock"))
            return
        try:
            await self._measure(SetUp(makes=False, n=1))
        except Stopped as stopped:
            if stopped.ending is not Ending.PY_ERROR:
                raise
            self.rounds = None
            self.flags += [Flag("own_clock"), Flag("own_once_only", {}, stopped.fault.line if stopped.fault else None)]

    async def _measure(self, setup: SetUp) -> None:
        n = min(max(setup.n, 1), _MOST_SIZE)
        seats = tuple(Seat(self.harness, i) for i in range(len(self.named)))
        checking = Checking(seats, self.named, self.rng, cuda=self.job.device is not Device.CPU)
        self.checking = checking
        with self.harness.phase(Phase.COMPILE if self._compiles() else Phase.CHECK):
            await (checking.fresh_first(n) if setup.makes else checking.given(compare=not self.own))
        self.checked = "time_only"
        if setup.makes:
            with self.harness.phase(Phase.CHECK):
                # A compiled variant that has seen two sizes may go on with code for any size: another size comes last.
                await checking.again(n, odd=not any(checking.compiled))
                await checking.leave_fresh(n)
            if len(self.named) > 1 and checking.comparable:
                self.checked = "fresh_inputs"
        with self.harness.phase(Phase.WARMUP):
            warm_ns = WARM_NS_CUDA if checking.cuda else WARM_NS
            warming = Warming(seats, checking.first_ns, compiles=self._compiles(), warm_ns=warm_ns)
            per_call = await warming.run()
            self.flags += warming.flags
        challenges = None
        if setup.makes:
            challenges = Challenges(
                seats, self.named, n, self.rng, checking.coarsest, checking.make_ns, checking.changing()
            )
        with self.harness.phase(Phase.MEASURE):
            self.rounds = Rounds(seats, self.clock, self.rng, BUDGET_S[self.job.budget], per_call, challenges)
            self.rounds.ceilings, self.rounds.precisions = self.ceilings, checking.precisions
            if checking.cuda:
                self.rounds.on_gpu(self.strain.mhz)
            before, begin, host = self.cpu_s(), self.clock(), look(self.place.inner)
            await self.rounds.run()
            after, wall_s = self.cpu_s(), (self.clock() - begin) / 1e9
            self._look_at_cores(before, after, wall_s)
            used = None if before is None or after is None else after - before
            self.flags += [*told(host, look(self.place.inner), used), *self.strain.told()]
        checking.hold_against({i: counted.dtype for i, counted in self.rounds.counted.items()})
        if setup.makes and any(checking.compiled):
            await self._odd_size_last(checking, n)
        if self.mistakes:
            await self.mistakes.instrument(n, max(self.rounds.per_call))

    def _look_at_cores(self, before: float | None, after: float | None, wall_s: float) -> None:
        """Name a job that computed on more cores than it was given: its time is shorter by what others paid."""
        if before is None or after is None or wall_s <= 0:
            return
        cores = (after - before) / wall_s
        if cores > self.place.threads * _MORE_CORES:
            self.more_cores = True
            values: dict[str, str | int | float] = {"cores": round(cores, 1), "threads": self.place.threads}
            self.flags.append(Flag("more_cores", values))

    async def _odd_size_last(self, checking: Checking, n: int) -> None:
        """Compare what was compiled on an odd size, where compiling it anew fits into the limit by far."""
        if max(checking.first_ns) * _ODD_COMPILES > self.job.limits.compile_s * 1e9:
            self.flags.append(Flag("odd_size_unchecked"))
            return
        with self.harness.phase(Phase.COMPILE):
            await self.harness.ask(Held, "hold", still=False)
            await checking.again(n)

    def told(self, ending: Ending | None, stopped: Stopped | None = None) -> Measured:
        """Sum up, with the mistakes that were found before all other remarks."""
        seen = self.summary(ending, stopped)
        fault = seen.fault.last_line if seen.fault else ""
        found = self.mistakes.flags(seen.variants, seen.ratios, self.own_ns, fault) if self.mistakes else []
        return replace(seen, flags=arranged((*seen.flags, *found)))

    def summary(self, ending: Ending | None, stopped: Stopped | None = None) -> Measured:
        """Sum up; figures that the outer clock contradicts are named and left out, whatever ended the run."""
        rounds, phases = self.rounds, self.harness.phases_ms
        fault, reached = (stopped.fault, stopped.reached) if stopped else (None, None)
        flags = (*self.flags, *(self.checking.flags if self.checking else ()), *(stopped.flags if stopped else ()))
        if rounds is None or ending in {Ending.WRONG_RESULT, Ending.SUSPICIOUS_TIMING}:
            return Measured(ending, checked=self.checked, flags=flags, phases_ms=phases, fault=fault, reached=reached)
        flags = (*flags, *rounds.flags)
        if (forgery := forged(rounds, self.named)) is not None or self.checking is None:
            flags = (*flags, forgery) if forgery else flags
            return Measured(Ending.SUSPICIOUS_TIMING, checked=self.checked, flags=flags, phases_ms=phases)
        confirmed = rounds.confirms() and not self.checking.free and not self.more_cores
        flags = (*flags, *remarks(rounds, self.named, self.checking, confirmed=confirmed))
        return Measured(
            ending,
            variants=rounds.variants(self.named, self.checking),
            ratios=rounds.ratios(self.named, self.checking),
            checked=self.checked,
            confirmed=confirmed,
            noise=rounds.noise(),
            flags=(*flags, *self._against_own(rounds, self.checking)),
            phases_ms=phases,
            fault=fault,
            reached=reached,
        )

    def _against_own(self, rounds: Rounds, checking: Checking) -> list[Flag]:
        """Say what a number that the source took itself missed: it was of one run, the first."""
        told = []
        for variant, named, own in zip(rounds.variants(self.named, checking), self.named, self.own_ns, strict=False):
            times = own / variant.median_ns
            code = "own_differs" if not 1 / _OWN_DIFFERS < times < _OWN_DIFFERS else "own_agrees"
            values: dict[str, str | int | float] = {"own_ns": own, "median_ns": variant.median_ns}
            told.append(Flag(code, {"name": named.name, **values}, named.line))
        return told

    def _compiles(self) -> bool:
        return "compile" in self.job.source


def forged(rounds: Rounds, named: tuple[Named, ...]) -> Flag | None:
    """Name what makes every figure of a run unbelievable; None where nothing does."""
    if (doubt := rounds.proven()) is not None:
        whose = named[doubt.variant]
        values: dict[str, str | int | float] = {"claimed_ns": doubt.claimed_ns, "wall_ns": doubt.wall_ns}
        return Flag("suspicious_timing", {"name": whose.name, **values}, whose.line)
    if (memory := rounds.hearing.memoised) is not None:
        whose = named[memory.variant]
        values = {"name": whose.name, "first_ns": memory.first_ns, "again_ns": memory.again_ns}
        return Flag("memoised", values, whose.line)
    if (left := rounds.hearing.left) is not None:
        whose = named[left.variant]
        values = {"name": whose.name, "late_ns": left.late_ns, "wall_ns": left.wall_ns}
        return Flag("work_left", values, whose.line)
    if impossible := rounds.impossible():
        variant, reached = impossible
        whose = named[variant]
        return Flag("faster_than_machine", {"name": whose.name, "times": round(reached.times, 2)}, whose.line)
    return None


def remarks(rounds: Rounds, named: tuple[Named, ...], checking: Checking, *, confirmed: bool) -> list[Flag]:
    """Say what a learner should know about the figures of a run."""
    found = []
    noise = rounds.noise()
    if noise > _NOISY:
        found.append(Flag("noisy", {"noise": noise}))
    tiny = min((mean for means in rounds.samples.values() for mean in means), default=_TINY_NS)
    if tiny < _TINY_NS:
        found.append(Flag("tiny_calls", {"ns": tiny}))
    if rounds.samples and not confirmed:
        found.append(Flag("unconfirmed", {"handshake_ns": rounds.outer.handshake_ns()}))
    variants = rounds.variants(named, checking)
    return found + [_pays(ratio, variants) for ratio in rounds.ratios(named, checking) if ratio.break_even]


def _pays(ratio: Ratio, variants: tuple[Variant, ...]) -> Flag:
    compiled = next(variant for variant in variants if variant.name == ratio.name)
    calls = math.ceil(ratio.break_even)
    return Flag("break_even", {"name": ratio.name, "calls": calls, "compile_ns": compiled.compile_ns})
