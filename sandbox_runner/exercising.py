"""Measures a submission against an exercise's starter and reference, each in a process of its own.

Law: expected values come from the reference's process and are compared here; nothing of the reference, its source or
its answers is ever said to the submission's process or in a result. The three alternate: no two work at once.
"""

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from sandbox_runner import agreement
from sandbox_runner.agreement import Agreement, Part
from sandbox_runner.asking import Done, Harness, Made, Named, OursFailedError, Pinned, Seat, SetUp, Shown, Stopped
from sandbox_runner.challenge import Challenges
from sandbox_runner.channel import Channel, HungUp, Tampered
from sandbox_runner.checking import Checking
from sandbox_runner.disturbing import look, told
from sandbox_runner.measuring import Measured, forged, remarks
from sandbox_runner.mistakes import Mistakes, arranged
from sandbox_runner.pinning import Place, apart, place_on
from sandbox_runner.protocol import Check, Checked, Device, Ending, Exercise, Flag, Job, Phase, Progress
from sandbox_runner.reaching import ceilings_on
from sandbox_runner.rounds import BUDGET_S, Rounds
from sandbox_runner.warming import Warming

NAMES = ("starter", "submission", "reference")
_STARTER, _SUBMISSION, _REFERENCE = range(3)
_OF_INPUTS = frozenset({"constant_inputs", "in_cache", "crossover", "view_only"})
"""What would be said of the inputs, which the exercise makes, or is told by the checks already."""


async def measure_exercise(  # noqa: PLR0913 - each is a thing of its own
    channels: tuple[Channel, Channel, Channel],
    job: Job,
    progress: Callable[[Progress], None],
    *,
    rng: random.Random,
    clock: Callable[[], int] = time.perf_counter_ns,
    ceilings: Mapping[str, float] | None = None,
) -> Measured:
    """Check and measure the submission behind the second of `channels`; starter and reference are behind the others.

    As `measure`: the learner's faults and limits reached are endings. What goes wrong in starter or reference is ours:
    `infra_error`, with a flag for the operator.
    """
    if job.exercise is None:
        return Measured(Ending.INFRA_ERROR, flags=(Flag("exercise_missing"),))
    silent: Callable[[Progress], None] = lambda _: None  # noqa: E731 - one expression
    harnesses = tuple(
        Harness(
            channel, job.limits, progress if i == _SUBMISSION else silent, clock, ours="" if i == _SUBMISSION else name
        )
        for i, (channel, name) in enumerate(zip(channels, NAMES, strict=True))
    )
    place = place_on(os.sched_getaffinity(0))
    known = ceilings_on(ceilings or {}, cuda=job.device is not Device.CPU)
    run = _Exercise(harnesses, job, job.exercise, rng, clock, place, known)
    try:
        with apart(place):
            await run.carry_out()
    except OursFailedError as failed:
        return Measured(Ending.INFRA_ERROR, flags=(Flag("exercise_broken", {"detail": str(failed)[:500]}),))
    except Stopped as stopped:
        return run.told(stopped.ending, stopped)
    except Tampered:
        return Measured(Ending.TAMPERED, phases_ms=run.submission.phases_ms)
    except HungUp:
        return run.told(None)
    return run.told(Ending.OK)


@dataclass(slots=True)
class _Exercise:
    harnesses: tuple[Harness, ...]
    job: Job
    exercise: Exercise
    rng: random.Random
    clock: Callable[[], int]
    place: Place
    ceilings: Mapping[str, float]
    checks: list[Checked] = field(default_factory=list)
    checking: Checking = field(init=False)
    mistakes: Mistakes = field(init=False)
    rounds: Rounds | None = None
    flags: list[Flag] = field(default_factory=list)

    def __post_init__(self) -> None:
        named = tuple(Named(name, 1, ("",)) for name in NAMES)
        self.checking = Checking(tuple(Seat(harness) for harness in self.harnesses), named, self.rng)
        lines, cuda = self.job.source.count("\n") + 1, self.job.device is not Device.CPU
        self.mistakes = Mistakes(self.submission, (named[_SUBMISSION],), lines, cuda)

    @property
    def submission(self) -> Harness:
        """The learner's harness."""
        return self.harnesses[_SUBMISSION]

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The three, each the only variant of its harness."""
        return self.checking.seats

    async def carry_out(self) -> None:
        cuda, cores = self.job.device is not Device.CPU, list(self.place.inner)
        with self._phase(Phase.IMPORT):
            for harness in self.harnesses:
                await harness.ask(Pinned, "pin", threads=self.place.threads, cores=cores, cuda=cuda)
                await harness.ask(Done, "task", make=self.exercise.starter)
                if harness is self.submission:
                    await self.mistakes.look()
                await harness.ask(Done, "imports")
        with self._phase(Phase.RUN):
            for harness in self.harnesses:
                await harness.ask(SetUp, "setup")
        with self._phase(Phase.CHECK):
            await self._check()
        largest = max(check.n for check in self.exercise.checks)
        with self._phase(Phase.CHECK):
            await self._first_calls(largest)
        with self._phase(Phase.WARMUP):
            compiles = "compile" in self.job.source
            warming = Warming(self.seats, self.checking.first_ns, compiles=compiles)
            per_call = await warming.run()
            self.flags += warming.flags
        challenges = Challenges(
            self.seats, self.checking.named, largest, self.rng, self.checking.coarsest, self.checking.make_ns,
            self.checking.changing(),
        )  # fmt: skip
        with self._phase(Phase.MEASURE):
            self.rounds = Rounds(self.seats, self.clock, self.rng, BUDGET_S[self.job.budget], per_call, challenges)
            self.rounds.ceilings = self.ceilings
            self.rounds.outer.trusted = frozenset({_STARTER, _REFERENCE})
            host = look(self.place.inner)
            await self.rounds.run()
            self.flags += told(host, look(self.place.inner), None)
        # The verdict stands: what is found now changes no figure of it, and is looked for while there is time.
        await self.mistakes.instrument(largest, self.rounds.per_call[_SUBMISSION])

    async def _check(self) -> None:
        """Run every check and one more on a seed that nobody knew; all are run, so that all that fails is told.

        Raises:
            Stopped: one has failed, or the submission raised.
        """
        largest = max(self.exercise.checks, key=lambda check: check.n)
        hidden = Check(largest.n | 1, self.rng.getrandbits(32), largest.rel)
        for check in (*self.exercise.checks, hidden):
            try:
                self.checks.append(await self._one_check(check))
            except Stopped:
                self.checks.append(Checked(check.n, passed=False, why="raised"))
                raise
        failed = [check for check in self.checks if not check.passed]
        if failed:
            nonfinite = all(check.why == "nonfinite" for check in failed)
            raise Stopped(Ending.NONFINITE if nonfinite else Ending.WRONG_RESULT)

    async def _one_check(self, check: Check) -> Checked:
        share = self.rng.random()
        answer = await self._answer(_SUBMISSION, check, share)
        expected = await self._answer(_REFERENCE, check, share)
        return _compared(check, expected, answer)

    async def _answer(self, i: int, check: Check, share: float) -> Part:
        harness = self.harnesses[i]
        made, _, _ = await harness.ask(Made, "fresh", seed=check.seed, n=check.n)
        self.checking.coarsest = made.coarsest if made.coarsest in agreement.FLOATS else ""
        loud = not self.checks  # what a submission prints is shown once
        shown, payload, _ = await harness.ask(Shown, "result", variant=0, share=share, loud=loud)
        if tuple(item[0] for item in shown.items) != ("",):
            message = "result: other parts than an exercise has"
            raise Tampered(message)
        if shown.changed and i == _SUBMISSION:
            self.checking.free.add(i)
            self.checking.flag(Flag("input_changed", {"name": NAMES[i]}))
        return agreement.read(shown.items, payload)[0]

    async def _first_calls(self, n: int) -> None:
        """Time the first call of each on new inputs of the size that is measured."""
        seed, share = self.rng.getrandbits(32), self.rng.random()
        for harness in self.harnesses:
            _, _, wall = await harness.ask(Made, "fresh", seed=seed, n=n)
            self.checking.make_ns = max(self.checking.make_ns, float(wall))
            shown, _, wall = await harness.ask(Shown, "first", variant=0, share=share)
            self.checking.first_ns.append(float(min(max(shown.ns, 0), wall)))
            self.checking.compiled.append(max(shown.compiled, 0))

    @contextmanager
    def _phase(self, phase: Phase) -> Iterator[None]:
        with ExitStack() as stack:
            for harness in self.harnesses:
                stack.enter_context(harness.phase(phase))
            yield

    def told(self, ending: Ending | None, stopped: Stopped | None = None) -> Measured:
        """Sum up, with the submission's mistakes before all other remarks; what the inputs are is not its doing."""
        seen = self.summary(ending, stopped)
        fault = seen.fault.last_line if seen.fault else ""
        found = [flag for flag in self.mistakes.flags(seen.variants, fault=fault) if flag.code not in _OF_INPUTS]
        return replace(seen, flags=arranged((*seen.flags, *found)))

    def summary(self, ending: Ending | None, stopped: Stopped | None = None) -> Measured:
        """Sum up: checks always, figures where nothing contradicts them."""
        flags = (*self.flags, *self.checking.flags, *(stopped.flags if stopped else ()))
        measured = Measured(
            ending,
            checks=tuple(self.checks),
            flags=flags,
            phases_ms=self.submission.phases_ms,
            fault=stopped.fault if stopped else None,
            reached=stopped.reached if stopped else None,
        )
        rounds = self.rounds
        if rounds is None or ending in {Ending.WRONG_RESULT, Ending.SUSPICIOUS_TIMING}:
            return measured
        flags = (*flags, *rounds.flags)
        named = self.checking.named
        if (forgery := forged(rounds, named)) is not None:
            return replace(measured, ending=Ending.SUSPICIOUS_TIMING, flags=(*flags, forgery))
        confirmed = rounds.confirms() and not self.checking.free
        variants = rounds.variants(named, self.checking)
        times = {variant.name: variant.median_ns for variant in variants}
        share = times["reference"] / times["submission"] if {"reference", "submission"} <= set(times) else 0.0
        return replace(
            measured,
            variants=variants,
            ratios=rounds.ratios(named, self.checking),
            checked="fresh_inputs",
            confirmed=confirmed,
            noise=rounds.noise(),
            share=share,
            flags=(*flags, *remarks(rounds, named, self.checking, confirmed=confirmed)),
        )


def _compared(check: Check, expected: Part, answer: Part) -> Checked:
    """Compare an answer with what was expected: its kind and shape exactly, its values within what the check allows."""
    if answer.kind or type(answer.values) is not type(expected.values):
        return Checked(check.n, passed=False, why="lazy" if answer.kind in agreement.LAZY else "type")
    if answer.shape != expected.shape:
        return Checked(check.n, passed=False, why="shape")
    found = agreement.compare([expected], [answer])
    if found.outcome is Agreement.NONFINITE:
        return Checked(check.n, passed=False, why="nonfinite")
    if found.outcome is Agreement.INCOMPARABLE:
        return Checked(check.n, passed=False, why="type")
    exact = agreement.width(expected.dtype) == 0 or expected.dtype not in agreement.FLOATS | {"complex64", "complex128"}
    right = found.outcome is Agreement.AGREE if exact else found.error <= check.rel
    return Checked(check.n, right, "" if right else "differ", found.error)
