"""From a submitted job to its run: who may, who is next, where it runs, and what is said of it.

Law: a job's id runs at most once. What a learner is told was their doing never comes from a fault of ours: a fault
of ours is tried once more, then it is `infra_error`.
"""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from sandbox_runner.admission import fault_of
from sandbox_runner.errors import RunnerError
from sandbox_runner.frames import Refusal, Rejected
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal, where
from sandbox_runner.protocol import (
    Accepted,
    Capabilities,
    Device,
    Ending,
    Finished,
    Job,
    JobKind,
    Limits,
    Progress,
    Reached,
    Result,
)
from sandbox_runner.queueing import Durations, FairQueue, Pace, Waiting, expected_waits
from sandbox_runner.runs import Kept, Run, Watcher

ALONE = frozenset({JobKind.TIME, JobKind.EXERCISE})
"""The kinds that measure: nothing runs beside them."""
ATTEMPTS = 2
STOP_S = 5.0
"""How long stopping waits for cancelled jobs to be gone."""
CANCEL_S = 1.0
"""A cancelled job is reported as ended after this many seconds, though its slot stays taken until it is empty."""
MARGIN_S = 30.0
"""Beyond a job's own limits, for staging and clearing away; then it is a fault of ours."""

Emit = Callable[[Progress], None]


class Worker(Protocol):
    """What runs one job. Cancelled as a task, it kills within a second and returns `cancelled`, or raises."""

    async def run_job(self, job: Job, slot: int, emit: Emit) -> Result:
        """Run a job in slot 0, 1, … (each with a uid of its own) and tell its progress by `emit`."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What a runner takes on. Seconds and bytes."""

    slots: int = 1
    queue: int = 100
    a_learner: int = 2
    a_minute: int = 120
    source_bytes: int = 256 << 10
    keep_s: float = 600.0
    keep_count: int = 2_000
    keep_bytes: int = 256 << 20


@dataclass(slots=True, eq=False)
class _Busy:
    """A run that holds a slot, since when and for how long probably."""

    run: Run
    slot: int
    since: float
    expected_s: float
    task: "asyncio.Task[Result] | None" = None
    cut: bool = False


class Dispatcher:
    """Takes jobs, keeps them in order, gives them to the worker and says what becomes of them."""

    def __init__(  # noqa: PLR0913 - each is a thing of its own
        self,
        worker: Worker,
        capabilities: Capabilities,
        rules: Rules,
        *,
        lock: HostLock,
        clock: Callable[[], float],
        journal: Journal,
    ) -> None:
        self.capabilities = capabilities
        self._worker = worker
        self._rules = rules
        self._lock = lock
        self._clock = clock
        self._journal = journal
        self._queue = FairQueue()
        self._queued: dict[str, Run] = {}
        self._busy: dict[str, _Busy] = {}
        self._durations = Durations()
        self._pace = Pace()
        self._kept = Kept(clock, rules.keep_s, rules.keep_count, rules.keep_bytes)
        self._never = Kept(clock, rules.keep_s, rules.keep_count, rules.keep_bytes)
        self._stopping = False

    def submit(self, job: Job, watcher: Watcher) -> Rejected | None:
        """Take a job, or attach to the one with its id; its events go to `watcher`. Say why when it is not taken."""
        known = self._find(job.id)
        if known is not None:
            if known.job != job:
                return Rejected(job.id, Refusal.ID_CONFLICT, "another job has this id")
            known.watchers.add(watcher)
            watcher.touch(known)
            return None
        fault = fault_of(job, self.capabilities)
        if fault is not None:
            return Rejected(job.id, *fault)
        if self._stopping:
            return Rejected(job.id, Refusal.STOPPING, "the runner is stopping")
        run = Run(job, {watcher})
        ending = self._unwelcome(job)
        if ending is None:
            self._enqueue(run)
        else:
            most = self._most(ending)
            turned_away = Result(job.id, job.kind, ending, job.device, reached=most)
            self._conclude(run, turned_away, keep=ending is Ending.CANCELLED)
        return None

    def cancel(self, job_id: str) -> None:
        """End a job within a second; one that is queued, or not known yet, never starts."""
        run = self._queued.get(job_id)
        if run is not None:
            run.cancelled = True
            self._queue.remove(job_id)
            del self._queued[job_id]
            self._conclude(run, _cancelled(run.job))
            self._advance()
            return
        busy = self._busy.get(job_id)
        if busy is not None:
            if not busy.run.cancelled and busy.task is not None:
                busy.run.cancelled = True
                busy.task.cancel()
                asyncio.get_running_loop().call_later(CANCEL_S, self._conclude, busy.run, _cancelled(busy.run.job))
            return
        if self._kept.get(job_id) is None and len(job_id) <= 64:  # noqa: PLR2004 - the longest id there is
            self._never.add(Run(Job(job_id, JobKind.RUN, "", "")))

    async def stop(self, grace_s: float) -> None:
        """Start nothing more, let what runs end within `grace_s` seconds, then cancel it.

        Nothing is said of jobs that did not run: their bots still hold them and ask again elsewhere or later.
        """
        self._stopping = True
        for job_id in tuple(self._queued):
            self._queue.remove(job_id)
            del self._queued[job_id]
        tasks = {busy.task: busy for busy in self._busy.values() if busy.task is not None}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=grace_s)
            for task in late:
                tasks[task].cut = True
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=STOP_S)

    def counts(self) -> dict[str, int]:
        """Count what waits, runs and is kept."""
        return {"queued": len(self._queued), "running": len(self._busy), "kept": len(self._kept)}

    def _find(self, job_id: str) -> Run | None:
        busy = self._busy.get(job_id)
        return busy.run if busy else self._queued.get(job_id) or self._kept.get(job_id)

    def _unwelcome(self, job: Job) -> Ending | None:
        """Say with which ending a job that is well formed is turned away, if it is."""
        if self._never.get(job.id) is not None:
            return Ending.CANCELLED
        if len(job.source.encode()) > self._rules.source_bytes:
            return Ending.TOO_LARGE
        if gpus_of(job) > max(self.capabilities.device_count, 1):
            return Ending.TOO_FEW_GPUS
        running = sum(busy.run.job.learner == job.learner for busy in self._busy.values())
        if running + self._queue.held_by(job.learner) >= self._rules.a_learner:
            return Ending.RATE_LIMITED
        if self._pace.count(job.learner, self._clock()) >= self._rules.a_minute:
            return Ending.RATE_LIMITED
        if len(self._queue) >= self._rules.queue:
            return Ending.QUEUE_FULL
        return None

    def _most(self, ending: Ending) -> Reached | None:
        """Say how much there may be of what was too much."""
        match ending:
            case Ending.TOO_LARGE:
                return Reached("source_bytes", self._rules.source_bytes, "bytes")
            case Ending.TOO_FEW_GPUS:
                return Reached("gpus", max(self.capabilities.device_count, 1), "count")
            case _:
                return None

    def _enqueue(self, run: Run) -> None:
        job = run.job
        self._pace.add(job.learner, self._clock())
        self._queued[job.id] = run
        self._queue.add(Waiting(job.id, job.learner, job.kind, job.kind in ALONE, gpus_of(job)))
        self._journal.note("accepted", job=job.id, kind=job.kind, learner=self._journal.learner(job.learner))
        self._advance()

    def _advance(self) -> None:
        """Start what may start, and tell the others their new places."""
        while (head := self._queue.head(gpus_free=self._gpus_free())) is not None and self._has_room(head):
            self._queue.pop(head.job_id)
            run = self._queued.pop(head.job_id)
            slot = min(set(range(self._rules.slots)) - {busy.slot for busy in self._busy.values()})
            busy = _Busy(run, slot, self._clock(), self._durations.expect(head.kind))
            self._busy[run.job.id] = busy
            run.say(Accepted(0, 0.0))
            busy.task = asyncio.create_task(self._run(busy), name=f"job {run.job.id}")
            busy.task.add_done_callback(partial(self._settle, busy))
        self._announce()

    def _gpus_free(self) -> int:
        return max(self.capabilities.device_count, 1) - sum(gpus_of(busy.run.job) for busy in self._busy.values())

    def _has_room(self, head: Waiting) -> bool:
        if any(busy.run.job.kind in ALONE for busy in self._busy.values()):
            return False
        return not self._busy if head.alone else len(self._busy) < self._rules.slots

    def _announce(self) -> None:
        order = self._queue.order()
        now = self._clock()
        running = [(busy.since + busy.expected_s - now, busy.run.job.kind in ALONE) for busy in self._busy.values()]
        ahead = [(self._durations.expect(waiting.kind), waiting.alone) for waiting in order]
        waits = expected_waits(running, ahead, self._rules.slots)
        for place, (waiting, wait_s) in enumerate(zip(order, waits, strict=True), start=1):
            run = self._queued[waiting.job_id]
            if run.position != place:
                run.say(Accepted(place, round(wait_s, 1)))

    def _settle(self, busy: _Busy, task: "asyncio.Task[Result]") -> None:
        """Free the slot and say how the run ended.

        A callback rather than the task's own `finally`: a task cancelled before its first step never runs that.
        """
        run = busy.run
        del self._busy[run.job.id]
        if busy.cut and not run.cancelled:
            return
        if run.cancelled and task.cancelled():
            self._conclude(run, _cancelled(run.job))
        elif task.cancelled():
            self._conclude(run, _infra(run.job))
        elif (fault := task.exception()) is not None:
            self._journal.note("fault", job=run.job.id, fault=where(fault))
            self._conclude(run, _infra(run.job))
        else:
            self._conclude(run, task.result())
        if not self._stopping:
            self._advance()

    async def _run(self, busy: _Busy) -> Result:
        job = busy.run.job
        result = _infra(job)
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._lock.held(alone=job.kind in ALONE))
            except RunnerError as fault:
                self._journal.note("fault", job=job.id, fault=str(fault))
                return result
            busy.since = self._clock()
            for _ in range(ATTEMPTS):
                result = await self._attempt(busy)
                if result.ending is not Ending.INFRA_ERROR or busy.run.cancelled:
                    break
            self._durations.add(job.kind, self._clock() - busy.since)
        return result

    async def _attempt(self, busy: _Busy) -> Result:
        job = busy.run.job
        try:
            async with asyncio.timeout(deadline_s(job)):
                result = await self._worker.run_job(job, busy.slot, busy.run.say)
        except Exception as fault:  # noqa: BLE001 - whatever the worker's fault is, the runner goes on
            self._journal.note("fault", job=job.id, fault=where(fault))
            return _infra(job)
        if result.job_id != job.id or result.kind is not job.kind:
            self._journal.note("fault", job=job.id, fault="the worker answered for another job")
            return _infra(job)
        if result.ending is Ending.CANCELLED and not busy.run.cancelled:  # by our deadline, not by the learner
            return _infra(job)
        return result

    def _conclude(self, run: Run, result: Result, *, keep: bool = True) -> None:
        if run.ending is not None:
            return
        if run.cancelled and result.ending is Ending.INFRA_ERROR:
            result = replace(result, ending=Ending.CANCELLED)
        result = replace(result, accepted_missing=result.accepted_missing or self.capabilities.accepted_missing)
        try:
            run.say(Finished(result))
        except RunnerError as fault:
            self._journal.note("fault", job=run.job.id, fault=str(fault))
            run.say(Finished(_infra(run.job)))
        if keep:
            self._kept.add(run)
        self._journal.note("finished", job=run.job.id, kind=run.job.kind, ending=run.ending)


def deadline_s(job: Job) -> float:
    """Give the seconds after which a job that has not ended is a fault of ours: its limits' sum and a margin.

    An exercise runs three programs (starter, reference, submission), each within the limits.
    """
    limits: Limits = job.limits
    phases = (limits.start_s, limits.import_s, limits.run_s, limits.compile_s)
    measuring = (limits.warmup_s, limits.check_s, limits.measure_s)
    return (sum(phases) + sum(measuring)) * (3 if job.kind is JobKind.EXERCISE else 1) + MARGIN_S


def gpus_of(job: Job) -> int:
    """Give how many GPUs a job needs for itself."""
    return 0 if job.device is Device.CPU else job.gpus


def _infra(job: Job) -> Result:
    return Result(job.id, job.kind, Ending.INFRA_ERROR, job.device)


def _cancelled(job: Job) -> Result:
    return Result(job.id, job.kind, Ending.CANCELLED, job.device)
