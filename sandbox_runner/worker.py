"""One job from staging to its result: start it inside the walls, keep its budgets, end it, say how it ended.

Law: whatever happens, nothing of the job runs when `run_job` returns, and nothing of it is left; of one on a GPU that
ended by itself the driver may still be clearing away what can run no line, which its lender waits for. The harness's
word is bounded by our own clocks; our faults come out as `infra_error`, never as the learner's.
"""

import asyncio
import os
import random
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from sandbox_runner import inspecting, measuring
from sandbox_runner.channel import Channel, HungUp, Tampered
from sandbox_runner.companions import EXERCISE_BESIDE, companions
from sandbox_runner.endings import Cause, Facts, Told, Verdict, judge, judge_measured, read_told
from sandbox_runner.errors import SetupError
from sandbox_runner.exercising import measure_exercise
from sandbox_runner.leftovers import hand_on
from sandbox_runner.measuring import Measured
from sandbox_runner.output import Kept, drain, plain, plain_line
from sandbox_runner.pinning import place_on
from sandbox_runner.protocol import (
    Device,
    Ending,
    Fault,
    Job,
    JobKind,
    Machine,
    Note,
    Phase,
    Progress,
    Result,
)
from sandbox_runner.sandbox.port import Confined, Ended, Later, Sandbox, Staged

GRACE_S = 2.0
"""So long may exit hooks run once the verdict is known."""
COLLECT_S = 8.0
"""So long may ending and collecting take before everything is killed instead."""
_CPU_POLL_S = 0.25
_COMPILER_GAP_S = 10.0
"""So long may a compiler be out of sight between two of its runs."""
_TIMEOUTS = {Ending.TIMEOUT_RUN, Ending.TIMEOUT_COMPILE, Ending.TIMEOUT_WALL}
_SAFE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,60}\.py")

WARM = "warm"

Emit = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class GpuInside:
    """The GPUs of one job: the numbers of their device nodes, and whether one works on though the job stands still.

    `names` are their own in the same order, by which CUDA inside numbers them from 0 on; empty where none is known.
    `later`, where given, takes what the driver still clears away of a job whose answer is known.
    """

    minors: tuple[int, ...]
    hangs: Callable[[], Awaitable[bool]]
    names: tuple[str, ...] = ()
    later: Later | None = None


class SandboxWorker:
    """Runs jobs in a sandbox. `emit`s progress only; the queue around it says accepted and finished.

    A job for a GPU that is not given one is `infra_error`, never run elsewhere.
    """

    def __init__(
        self, sandbox: Sandbox, machine: Machine, *, walls: tuple[str, ...] = (), grace_s: float = GRACE_S
    ) -> None:
        self._sandbox = sandbox
        self.machine = machine
        self.walls = walls
        self.grace_s = grace_s
        self.ceilings: dict[str, float] = {}

    async def run_job(self, job: Job, slot: int, emit: Emit, gpu: GpuInside | None = None) -> Result:
        """Run one job in `slot`, on what `gpu` names. Cancelled as a task, it kills within a second."""
        blank = Result(job.id, job.kind, Ending.INFRA_ERROR, job.device, machine=self.machine, walls=self.walls)
        filename = job.filename if _SAFE_NAME.fullmatch(job.filename) else "code.py"
        gpu = None if job.device is Device.CPU else gpu
        if job.device is not Device.CPU and gpu is None:
            return replace(blank, notes=(Note("no_gpu"),))
        code, gpus = job.source.encode("utf-8", "surrogatepass"), gpu.minors if gpu else ()
        staged = Staged(job.id, code, filename, job.limits, slot, job.device, gpus, gpu.names if gpu else ())
        emit(Progress(Phase.START))
        try:
            result = await self._run_staged(job, staged, emit, blank, gpu)
            if result.ending is Ending.INFRA_ERROR and result.start == WARM:
                again = replace(staged, cold="parent_died")  # or whatever it was: once more, from nothing
                result = await self._run_staged(job, again, emit, blank, gpu)
            return result  # noqa: TRY300 - read as one with what is above
        except (SetupError, TimeoutError, HungUp, Tampered) as fault:
            return replace(blank, notes=(Note("setup", {"detail": str(fault)[:500]}),))
        except asyncio.CancelledError:
            return replace(blank, ending=Ending.CANCELLED)

    async def _run_staged(self, job: Job, staged: Staged, emit: Emit, blank: Result, gpu: GpuInside | None) -> Result:
        async with companions(self._sandbox, job, staged) as beside:
            return await self._run_beside(_Run(job, emit, self.grace_s, beside, gpu), staged, blank)

    async def _run_beside(self, run: "_Run", staged: Staged, blank: Result) -> Result:
        run.ceilings = self.ceilings
        try:
            run.confined = await self._sandbox.start(staged)
        except SetupError as fault:
            return replace(blank, notes=(Note("setup", {"detail": str(fault)[:500]}),))
        try:
            await run.carry_out()
        except asyncio.CancelledError:
            run.stop(Cause.CANCELLED)
        ended = await run.finish()
        return run.result(replace(blank, start=run.confined.began), ended)


@dataclass(slots=True)
class _Run:
    """A job under way."""

    job: Job
    emit: Emit
    grace_s: float
    beside: tuple[Channel, ...] = ()
    gpu: GpuInside | None = None
    phase: Phase = Phase.START
    cause: Cause = Cause.NONE
    told: Told | None = None
    measured: Measured | None = None
    phases_ms: dict[str, float] = field(default_factory=dict)
    ceilings: dict[str, float] = field(default_factory=dict)
    wall_s: float = 0.0
    used_s: float | None = None
    gpu_hung: bool = False
    out: Kept = field(init=False)
    err: Kept = field(init=False)
    _confined: Confined | None = None
    _channel: Channel | None = None
    _ears: list["asyncio.Task[None]"] = field(default_factory=list)
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _began: float = field(default_factory=time.perf_counter)
    _phase_began: float = field(default_factory=time.perf_counter)
    _cpu_before: float | None = None
    _compiler_seen: float = float("-inf")

    def __post_init__(self) -> None:
        self.out, self.err = Kept(self.job.limits.output_kept_bytes), Kept(self.job.limits.output_kept_bytes)

    @property
    def confined(self) -> Confined:
        """The job inside its walls."""
        if self._confined is None:
            message = "the job has not been started"
            raise SetupError(message)
        return self._confined

    @confined.setter
    def confined(self, confined: Confined) -> None:
        self._confined = confined
        self._channel = Channel(confined.channel)
        ceiling = self.job.limits.output_ceiling_bytes
        over = lambda: self.stop(Cause.OUTPUT)  # noqa: E731 - one expression
        self._ears = [
            asyncio.create_task(drain(confined.stdout, self.out, ceiling, over)),
            asyncio.create_task(drain(confined.stderr, self.err, ceiling, over)),
            asyncio.create_task(self._watch_cpu()),
        ]

    def stop(self, cause: Cause) -> None:
        """End the run for `cause`; the first cause counts."""
        if self.cause is Cause.NONE:
            self.cause = cause
        self._stopping.set()

    async def carry_out(self) -> None:
        """Speak with the harness until there is a verdict, or a reason to stop."""
        talk = asyncio.create_task(self._talk())
        stopping = asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait({talk, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._leave()
            for task in (talk, stopping):
                task.cancel()
            await asyncio.gather(talk, stopping, return_exceptions=True)
        if talk.done() and not talk.cancelled() and (fault := talk.exception()) is not None:
            raise fault

    async def finish(self) -> Ended:
        """End what is left and collect; after a cancellation, kill at once. Nothing is alive when it returns."""
        ending = asyncio.create_task(self._end())
        while not ending.done():
            try:
                await asyncio.shield(ending)
            except asyncio.CancelledError:
                if not ending.cancelled():
                    self.stop(Cause.CANCELLED)
                    await self.confined.kill()
        return ending.result()

    async def _end(self) -> Ended:
        confined = self.confined
        if self._channel is not None:
            self._channel.close()
        began = time.perf_counter()
        later = self.gpu.later if self.gpu is not None and self.told is not None and not self.cause else None
        waiting = asyncio.create_task(confined.wait(later))
        if self.cause is Cause.CANCELLED:
            await confined.kill()
        else:
            await self._look_at_gpu()
            confined.end()
            done, _ = await asyncio.wait({waiting}, timeout=COLLECT_S)
            if not done:
                await confined.kill()
        ended = await waiting
        self._ears[2].cancel()
        await asyncio.gather(*self._ears, return_exceptions=True)
        self.phases_ms[Phase.COLLECT.value] = (time.perf_counter() - began) * 1e3
        return ended

    async def _look_at_gpu(self) -> None:
        """Tell a kernel that never ends from a program that does not: stopped, the program can start no other."""
        late = self.measured is not None and self.measured.ending in _TIMEOUTS
        if self.gpu is not None and (self.cause is Cause.TIME or late):
            await asyncio.to_thread(self.confined.stand_still)
            self.gpu_hung = await self.gpu.hangs()

    async def _talk(self) -> None:
        try:
            harness = JobKind.RUN if self.job.kind is JobKind.RUN else JobKind.TIME
            threads = place_on(os.sched_getaffinity(0)).threads
            await self._ask("start", self.job.limits.start_s, kind=harness.value, threads=threads)
            if harness is JobKind.TIME:
                await self._time()
            else:
                await self._run()
        except Tampered:
            self.stop(Cause.TAMPERED)
        except TimeoutError:
            self.stop(Cause.TIME)
        except HungUp:
            await self._await_end()
            return
        if self.cause is Cause.NONE and self.job.kind is not JobKind.INSPECT:
            await self._grace()

    async def _run(self) -> None:
        self._enter(Phase.IMPORT)
        said = await self._ask("import", self.job.limits.import_s)
        if not ({"fault", "empty"} & set(said)):
            self._enter(Phase.RUN)
            budget = asyncio.create_task(self._hold_to_budget())
            try:
                said = await self._ask("run", self.job.limits.run_s + self.job.limits.compile_s + COLLECT_S)
            finally:
                budget.cancel()
        self.told = read_told(said)
        if self.told is None:
            self.stop(Cause.TAMPERED)

    async def _hold_to_budget(self) -> None:
        """End a run at its time, and up to `compile_s` later while a compiler is at work in it."""
        await asyncio.sleep(self.job.limits.run_s)
        end = time.perf_counter() + self.job.limits.compile_s
        if time.perf_counter() - self._compiler_seen < _COMPILER_GAP_S:
            self._enter(Phase.COMPILE)
        while time.perf_counter() < end and time.perf_counter() - self._compiler_seen < _COMPILER_GAP_S:  # noqa: ASYNC110
            await asyncio.sleep(_CPU_POLL_S)
        self.stop(Cause.TIME)

    async def _time(self) -> None:
        if self._channel is None:
            return
        rng = random.Random()  # noqa: S311 - seeded by the system; the nonces are secrets of their own
        if len(self.beside) == len(EXERCISE_BESIDE):
            starter, reference = self.beside
            three = (starter, self._channel, reference)
            self.measured = await measure_exercise(three, self.job, self._heard, rng=rng, ceilings=self.ceilings)
        elif self.job.kind is JobKind.INSPECT:
            self.measured = await inspecting.inspect(self._channel, self.job, self._heard)
        else:
            self.measured = await measuring.measure(
                self._channel, self.job, self._heard, rng=rng, ceilings=self.ceilings, cpu_s=self.confined.cpu_s,
                gpus=self.gpu.minors if self.gpu is not None else (),
            )  # fmt: skip
        self._leave()
        if self.measured.ending is None:
            raise HungUp
        if self.measured.ending is Ending.TAMPERED:
            self.stop(Cause.TAMPERED)
        self.told = Told(fault=self.measured.fault)

    def _heard(self, progress: Progress) -> None:
        if progress.phase is not self.phase:
            self._leave()
            self._note_phase(progress.phase)
        self.emit(progress)

    async def _ask(self, op: str, seconds: float, **fields: object) -> dict[str, object]:
        if self._channel is None:
            raise HungUp
        return (await self._channel.ask(op, timeout=seconds, **fields)).header

    async def _await_end(self) -> None:
        """The line is dead: the process ended, or shut its descriptor and goes on; its budget still holds."""
        limit = float(getattr(self.job.limits, f"{self.phase.value}_s", self.job.limits.run_s))
        left = limit - (time.perf_counter() - self._phase_began)
        try:
            async with asyncio.timeout(max(left, 0.1)):
                await self.confined.main_ended()
        except TimeoutError:
            self.stop(Cause.TIME)

    async def _grace(self) -> None:
        """The verdict is known: let the process end by itself, for a while."""
        self._leave()
        if self._channel is not None:
            self._channel.close()
        if self.gpu is not None and self.gpu.later is not None:
            self.confined.may_leave()
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self.grace_s):
                await self.confined.main_ended()
        except TimeoutError:
            self.stop(Cause.GRACE)
        self.phases_ms["exit"] = (time.perf_counter() - began) * 1e3

    async def _watch_cpu(self) -> None:
        while True:
            used = self.confined.cpu_s()
            if used is not None and used > self.job.limits.cpu_s:
                self.stop(Cause.CPU)
            if self.confined.compiling():
                self._compiler_seen = time.perf_counter()
            await asyncio.sleep(_CPU_POLL_S)

    def _enter(self, phase: Phase) -> None:
        self._leave()
        self._note_phase(phase)
        self.emit(Progress(phase))

    def _note_phase(self, phase: Phase) -> None:
        self.phase = phase
        self._phase_began = time.perf_counter()
        self._cpu_before = self.confined.cpu_s()

    def _leave(self) -> None:
        """Book the time of the phase that ends."""
        if self.phase.value not in self.phases_ms:
            self.wall_s = time.perf_counter() - self._phase_began
            self.phases_ms[self.phase.value] = self.wall_s * 1e3
            now, before = self.confined.cpu_s(), self._cpu_before
            self.used_s = None if now is None or before is None else max(now - before, 0.0)

    def result(self, blank: Result, ended: Ended) -> Result:
        """Put together what is known."""
        facts = Facts(
            self.cause, self.phase, ended, self.told, self.job.limits, self.job.device, self.wall_s, self.used_s,
            self.gpu_hung,
        )  # fmt: skip
        measured = self.measured
        if measured is not None and measured.ending is not None:
            verdict = judge_measured(facts, measured.ending, measured.reached)
        else:
            verdict = judge(facts)
        files, notes = hand_on(ended.files, ended.skipped, ended.skipped_more)
        if verdict.ending is Ending.INFRA_ERROR and ended.broken:
            notes += (Note("broken", {"detail": ended.broken[:500]}),)
        fault = self.told.fault if self.told is not None else None
        shown = replace(
            blank,
            ending=verdict.ending,
            reached=verdict.reached,
            stdout=self.out.stream(),
            stderr=self.err.stream(),
            value=plain(self.told.value) if self.told is not None and verdict.ending is Ending.OK else "",
            fault=_plain(fault),
            files=files,
            notes=verdict.notes + notes,
            phases_ms={name: round(value, 3) for name, value in self.phases_ms.items()},
        )
        return _with_figures(shown, measured, verdict) if measured is not None else shown


def _plain(fault: Fault | None) -> Fault | None:
    return None if fault is None else Fault(plain_line(fault.name), plain_line(fault.last_line), fault.line)


def _with_figures(result: Result, measured: Measured, verdict: Verdict) -> Result:
    """Add what was measured; nothing is believed of a run that was tampered with."""
    if verdict.ending is Ending.TAMPERED:
        return result
    return replace(
        result,
        fault=_plain(measured.fault) or result.fault,
        variants=measured.variants,
        ratios=measured.ratios,
        checked=measured.checked,
        confirmed=measured.confirmed,
        noise=measured.noise,
        checks=measured.checks,
        share=measured.share,
        insights=measured.insights,
        flags=measured.flags,
        phases_ms=result.phases_ms | measured.phases_ms,
    )
