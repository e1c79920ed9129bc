import asyncio
import io
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandbox_runner import dispatch as dispatch_module
from sandbox_runner.dispatch import Dispatcher, Rules
from sandbox_runner.frames import Refusal, ToldFinished, parse, tell_of
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal
from sandbox_runner.protocol import (
    Accepted,
    Device,
    Ending,
    Event,
    Finished,
    Job,
    JobKind,
    Limits,
    OutFile,
    Progress,
    Reached,
    Result,
)
from sandbox_runner.runs import Run
from sandbox_runner.testing import CAPABILITIES, StandInWorker


class Watching:
    """A watcher that reads what it is told at once."""

    def __init__(self) -> None:
        self.events: dict[str, list[Event]] = {}
        self._seen: dict[Run, int] = {}
        self._changed = asyncio.Event()

    def touch(self, run: Run) -> None:
        frames, self._seen[run] = run.news(self._seen.get(run, 0))
        for frame in frames:
            told = tell_of(parse(frame[4:]))
            self.events.setdefault(run.job.id, []).append(told.event)  # type: ignore[union-attr]
        self._changed.set()

    async def until(self, true: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def result(self, job_id: str) -> Result:
        await self.until(lambda: self.ending(job_id) is not None)
        return self.events[job_id][-1].result  # type: ignore[union-attr]

    def ending(self, job_id: str) -> Ending | None:
        events = self.events.get(job_id)
        return events[-1].result.ending if events and isinstance(events[-1], Finished) else None

    def places(self, job_id: str) -> list[int]:
        return [event.position for event in self.events[job_id] if isinstance(event, Accepted)]


class Bench:
    """A dispatcher with its stand-in worker, one watcher, and its log."""

    def __init__(self, lock: Path, rules: Rules) -> None:
        self.worker = StandInWorker()
        self.watcher = Watching()
        self.log = io.StringIO()
        self.seconds = 0.0
        journal = Journal(self.log, lambda: datetime(2026, 1, 1, tzinfo=UTC), b"salt")
        self.dispatcher = Dispatcher(
            self.worker, CAPABILITIES, rules, lock=HostLock(lock), clock=lambda: self.seconds, journal=journal
        )

    def submit(self, job_id: str, source: str = "wait", *, learner: str = "", kind: JobKind = JobKind.RUN) -> None:
        rejected = self.dispatcher.submit(Job(job_id, kind, source, learner or job_id[0]), self.watcher)
        assert rejected is None, rejected

    async def running(self, *job_ids: str) -> None:
        async with asyncio.timeout(20):
            while not set(job_ids) <= self.worker.under_way:  # noqa: ASYNC110 - the stand-in has no event
                await asyncio.sleep(0.005)


Make = Callable[..., Bench]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    made: list[Bench] = []

    def build(**rules: float) -> Bench:
        made.append(Bench(tmp_path / "lock", Rules(**rules)))  # type: ignore[arg-type]
        return made[-1]

    yield build
    for bench in made:
        await bench.dispatcher.stop(0.0)


async def test_a_job_is_accepted_runs_and_ends(make: Make) -> None:
    bench = make()
    bench.submit("a1", "say hello")
    result = await bench.watcher.result("a1")
    assert (result.ending, result.stdout.head) == (Ending.OK, "hello")
    assert isinstance(bench.watcher.events["a1"][0], Accepted)
    assert isinstance(bench.watcher.events["a1"][1], Progress)


async def test_one_job_at_a_time_has_the_gpu_and_others_run_beside_it(make: Make) -> None:
    bench = make(slots=3)
    bench.dispatcher.capabilities = replace(CAPABILITIES, devices=(Device.CPU, Device.CUDA))
    for job_id in ("a1", "b1"):
        job = Job(job_id, JobKind.RUN, "wait", job_id[0], Device.CUDA)
        assert bench.dispatcher.submit(job, bench.watcher) is None
    bench.submit("c1")
    await bench.running("a1", "c1")
    assert bench.worker.under_way == {"a1", "c1"}
    bench.worker.let_go("a1")
    await bench.running("b1")
    assert bench.worker.beside["b1"] == {"c1"}


async def test_jobs_for_as_many_gpus_as_there_are_run_at_once_and_one_for_all_waits_for_them(make: Make) -> None:
    bench = make(slots=4)
    bench.dispatcher.capabilities = replace(CAPABILITIES, devices=(Device.CPU, Device.CUDA), device_count=2)
    for job_id, gpus in (("a1", 1), ("b1", 1), ("c1", 2), ("d1", 1)):
        job = Job(job_id, JobKind.RUN, "wait", job_id[0], Device.CUDA, gpus=gpus)
        assert bench.dispatcher.submit(job, bench.watcher) is None
    await bench.running("a1", "b1")
    bench.worker.let_go("a1")
    await bench.watcher.result("a1")
    assert bench.worker.under_way == {"b1"}
    bench.worker.let_go("b1")
    await bench.running("c1")
    assert bench.worker.beside["c1"] == set()
    bench.worker.let_go("c1")
    await bench.running("d1")


async def test_a_job_for_more_gpus_than_there_are_ends_with_how_many_there_are(make: Make) -> None:
    bench = make()
    bench.dispatcher.capabilities = replace(CAPABILITIES, devices=(Device.CPU, Device.CUDA), device_count=2)
    bench.dispatcher.submit(Job("a1", JobKind.RUN, "say x", "a", Device.CUDA, gpus=3), bench.watcher)
    result = await bench.watcher.result("a1")
    assert (result.ending, result.reached) == (Ending.TOO_FEW_GPUS, Reached("gpus", 2, "count"))
    assert bench.worker.started == []


@pytest.mark.parametrize(("device", "gpus"), [(Device.CPU, 2), (Device.CUDA, 0), (Device.CUDA, 65)])
async def test_a_number_of_gpus_that_means_nothing_is_refused_by_name(make: Make, device: Device, gpus: int) -> None:
    bench = make()
    bench.dispatcher.capabilities = replace(CAPABILITIES, devices=(Device.CPU, Device.CUDA), device_count=1)
    rejected = bench.dispatcher.submit(Job("a1", JobKind.RUN, "say x", "a", device, gpus=gpus), bench.watcher)
    assert rejected is not None
    assert (rejected.code, rejected.detail.partition(":")[0]) == (Refusal.BAD_JOB, "gpus")


async def test_a_job_for_a_gpu_that_is_not_there_is_refused_by_a_code(make: Make) -> None:
    bench = make()
    rejected = bench.dispatcher.submit(Job("a1", JobKind.RUN, "say x", "a", Device.CUDA), bench.watcher)
    assert rejected is not None
    assert rejected.code is Refusal.UNSUPPORTED
    assert bench.worker.started == []


async def test_the_same_id_attaches_and_never_runs_twice(make: Make) -> None:
    bench = make()
    other = Watching()
    job = Job("a1", JobKind.RUN, "wait", "a")
    bench.dispatcher.submit(job, bench.watcher)
    await bench.running("a1")
    bench.dispatcher.submit(job, other)
    assert [type(event) for event in other.events["a1"]] == [Accepted, Progress]
    bench.worker.let_go("a1")
    assert (await other.result("a1")).ending is Ending.OK
    late = Watching()
    bench.dispatcher.submit(job, late)
    assert late.ending("a1") is Ending.OK
    assert isinstance(late.events["a1"][0], Accepted)
    assert bench.worker.started == ["a1"]


async def test_another_job_under_a_known_id_is_refused_and_changes_nothing(make: Make) -> None:
    bench = make()
    bench.submit("a1")
    rejected = bench.dispatcher.submit(Job("a1", JobKind.RUN, "say other", "a"), Watching())
    assert rejected is not None
    assert rejected.code is Refusal.ID_CONFLICT
    bench.worker.let_go("a1")
    assert (await bench.watcher.result("a1")).stdout.head == ""


async def test_a_finished_result_is_kept_for_its_time_only(make: Make) -> None:
    bench = make(keep_s=600.0)
    bench.submit("a1", "say x")
    await bench.watcher.result("a1")
    bench.seconds = 599.0
    bench.submit("a1", "say x")
    bench.seconds = 601.0
    assert bench.worker.started == ["a1"]
    bench.submit("a1", "say x")
    await bench.running()
    await bench.watcher.until(lambda: bench.worker.started == ["a1", "a1"])


async def test_finished_results_are_kept_up_to_a_number_and_a_size(make: Make) -> None:
    bench = make(keep_count=2)
    for job_id in ("a1", "b1", "c1"):
        bench.submit(job_id, "say x")
        await bench.watcher.result(job_id)
    assert bench.dispatcher.counts()["kept"] == 2
    small = make(keep_bytes=100)
    small.submit("a1", "say x")
    await small.watcher.result("a1")
    assert small.dispatcher.counts()["kept"] == 0


async def test_a_learner_has_two_jobs_at_most_and_may_ask_again_later(make: Make) -> None:
    bench = make()
    for job_id in ("a1", "a2", "a3"):
        bench.submit(job_id)
    assert bench.watcher.ending("a3") is Ending.RATE_LIMITED
    bench.worker.let_go("a1")
    await bench.watcher.result("a1")
    bench.submit("a3")
    assert bench.watcher.places("a3") == [1]


async def test_a_learner_has_so_many_jobs_a_minute(make: Make) -> None:
    bench = make(a_minute=2)
    for job_id in ("a1", "a2", "a3"):
        bench.submit(job_id, "say x")
        await bench.watcher.result(job_id)
    assert bench.watcher.ending("a3") is Ending.RATE_LIMITED
    bench.submit("b1", "say x")
    assert (await bench.watcher.result("b1")).ending is Ending.OK
    bench.seconds = 61.0
    bench.submit("a3", "say x")
    assert (await bench.watcher.result("a3")).ending is Ending.OK


async def test_a_full_queue_says_so(make: Make) -> None:
    bench = make(queue=2)
    for job_id in ("a1", "b1", "c1", "d1"):
        bench.submit(job_id)
    assert bench.watcher.ending("d1") is Ending.QUEUE_FULL
    assert bench.dispatcher.counts() == {"queued": 2, "running": 1, "kept": 0}


async def test_a_source_over_its_size_is_too_large_counted_in_bytes(make: Make) -> None:
    bench = make(source_bytes=10)
    bench.submit("a1", "say سلام")
    bench.submit("b1", "say سلامات")
    assert bench.watcher.ending("b1") is Ending.TOO_LARGE
    assert (await bench.watcher.result("b1")).reached == Reached("source_bytes", 10, "bytes")
    assert "b1" not in bench.worker.started


async def test_one_learner_who_floods_does_not_delay_another(make: Make) -> None:
    bench = make(a_learner=50)
    for number in range(50):
        bench.submit(f"a{number}", learner="a")
    bench.submit("b1", learner="b")
    await bench.running("a0")
    bench.worker.let_go("a0")
    await bench.running("a1")
    bench.worker.let_go("a1")
    await bench.running("b1")
    assert bench.worker.started == ["a0", "a1", "b1"]


async def test_places_are_told_again_as_the_queue_moves(make: Make) -> None:
    bench = make()
    for job_id in ("a1", "b1", "c1"):
        bench.submit(job_id)
    assert bench.watcher.places("c1") == [2]
    await bench.running("a1")
    bench.worker.let_go("a1")
    await bench.running("b1")
    bench.worker.let_go("b1")
    await bench.running("c1")
    assert bench.watcher.places("a1") == [0]
    assert bench.watcher.places("b1") == [1, 0]
    assert bench.watcher.places("c1") == [2, 1, 0]


async def test_the_wait_told_comes_from_recent_durations(make: Make) -> None:
    bench = make()
    bench.submit("a1")
    await bench.running("a1")
    bench.seconds = 8.0
    bench.worker.let_go("a1")
    await bench.watcher.result("a1")
    for job_id in ("b1", "c1", "d1"):
        bench.submit(job_id)
    waits = [bench.watcher.events[job_id][0].wait_s for job_id in ("b1", "c1", "d1")]  # type: ignore[union-attr]
    assert waits == [0.0, 8.0, 16.0]


async def test_jobs_run_side_by_side_in_slots_of_their_own(make: Make) -> None:
    bench = make(slots=3)
    for job_id in ("a1", "b1", "c1", "d1"):
        bench.submit(job_id)
    await bench.running("a1", "b1", "c1")
    assert bench.worker.slots == {"a1": 0, "b1": 1, "c1": 2}
    bench.worker.let_go("b1")
    await bench.running("d1")
    assert bench.worker.slots["d1"] == 1


async def test_nothing_runs_beside_a_measurement_and_nothing_overtakes_it(make: Make) -> None:
    bench = make(slots=3)
    bench.submit("a1")
    bench.submit("b1", kind=JobKind.TIME)
    bench.submit("c1")
    await bench.running("a1")
    assert bench.worker.started == ["a1"]
    bench.worker.let_go("a1")
    await bench.running("b1")
    assert bench.worker.started == ["a1", "b1"]
    bench.worker.let_go("b1")
    await bench.running("c1")
    assert bench.worker.beside == {"a1": set(), "b1": set(), "c1": set()}


async def test_two_runners_of_a_host_measure_one_after_the_other(make: Make) -> None:
    one, other = make(), make()
    one.submit("a1", kind=JobKind.TIME)
    await one.running("a1")
    other.submit("b1")
    await asyncio.sleep(0.1)
    assert other.worker.started == []
    one.worker.let_go("a1")
    await other.running("b1")


async def test_a_cancelled_queued_job_never_starts_and_the_queue_moves(make: Make) -> None:
    bench = make()
    for job_id in ("a1", "b1", "c1"):
        bench.submit(job_id)
    bench.dispatcher.cancel("b1")
    assert bench.watcher.ending("b1") is Ending.CANCELLED
    assert bench.watcher.places("c1") == [2, 1]
    await bench.running("a1")
    bench.worker.let_go("a1")
    await bench.running("c1")
    assert "b1" not in bench.worker.started


async def test_a_cancelled_running_job_is_killed_and_its_slot_serves_the_next(make: Make) -> None:
    bench = make()
    bench.submit("a1")
    bench.submit("b1")
    await bench.running("a1")
    bench.dispatcher.cancel("a1")
    assert (await bench.watcher.result("a1")).ending is Ending.CANCELLED
    assert bench.worker.cancelled == ["a1"]
    await bench.running("b1")


async def test_a_job_cancelled_before_its_first_step_gives_its_slot_back(make: Make) -> None:
    bench = make()
    bench.submit("a1")
    bench.dispatcher.cancel("a1")
    assert (await bench.watcher.result("a1")).ending is Ending.CANCELLED
    bench.submit("b1")
    await bench.running("b1")
    assert bench.worker.started == ["b1"]


async def test_a_cancelled_job_is_reported_in_time_though_its_slot_is_not_empty_yet(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch_module, "CANCEL_S", 0.05)
    bench = make()
    bench.submit("a1", "stubborn")
    bench.submit("b1")
    await bench.running("a1")
    bench.dispatcher.cancel("a1")
    assert (await bench.watcher.result("a1")).ending is Ending.CANCELLED
    assert bench.worker.under_way == {"a1"}
    assert "b1" not in bench.worker.started
    await bench.running("b1")
    assert bench.worker.beside["b1"] == set()


async def test_a_job_cancelled_before_it_came_never_starts(make: Make) -> None:
    bench = make()
    bench.dispatcher.cancel("a1")
    bench.submit("a1")
    assert bench.watcher.ending("a1") is Ending.CANCELLED
    assert bench.worker.started == []


async def test_cancelling_twice_or_after_the_end_changes_nothing(make: Make) -> None:
    bench = make()
    bench.submit("a1", "say x")
    result = await bench.watcher.result("a1")
    bench.dispatcher.cancel("a1")
    bench.dispatcher.cancel("a1")
    bench.submit("a1", "say x")
    assert await bench.watcher.result("a1") == result


async def test_a_fault_of_ours_is_tried_once_more(make: Make) -> None:
    bench = make()
    bench.submit("a1", "fail_once")
    assert (await bench.watcher.result("a1")).ending is Ending.OK
    assert bench.worker.started == ["a1", "a1"]


@pytest.mark.parametrize("source", ["raise", "broken"])
async def test_a_fault_of_ours_that_stays_is_ours_by_name(make: Make, source: str) -> None:
    bench = make()
    bench.submit("a1", source)
    assert (await bench.watcher.result("a1")).ending is Ending.INFRA_ERROR
    assert bench.worker.started == ["a1", "a1"]
    bench.submit("b1", "say still here")
    assert (await bench.watcher.result("b1")).ending is Ending.OK


async def test_a_worker_that_never_ends_is_a_fault_of_ours(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch_module, "deadline_s", lambda _job: 0.05)
    bench = make()
    bench.submit("a1")
    assert (await bench.watcher.result("a1")).ending is Ending.INFRA_ERROR


async def test_stopping_lets_what_runs_end_and_says_nothing_of_the_rest(make: Make) -> None:
    bench = make()
    bench.submit("a1")
    bench.submit("b1")
    await bench.running("a1")
    stopping = asyncio.create_task(bench.dispatcher.stop(20.0))
    await asyncio.sleep(0)
    rejected = bench.dispatcher.submit(Job("c1", JobKind.RUN, "wait", "c"), Watching())
    assert rejected is not None
    assert rejected.code is Refusal.STOPPING
    bench.worker.let_go("a1")
    await stopping
    assert bench.watcher.ending("a1") is Ending.OK
    assert bench.watcher.ending("b1") is None
    assert bench.worker.started == ["a1"]


async def test_stopping_at_once_cuts_what_runs_and_blames_nobody(make: Make) -> None:
    bench = make()
    bench.submit("a1")
    await bench.running("a1")
    await bench.dispatcher.stop(0.0)
    assert bench.worker.cancelled == ["a1"]
    assert bench.watcher.ending("a1") is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": ""}, "id: ''"),
        ({"id": "../x"}, "id:"),
        ({"id": "x" * 65}, "id:"),
        ({"learner": ""}, "learner:"),
        ({"learner": "a b"}, "learner:"),
        ({"source": "\ud800"}, "lone surrogate"),
        ({"filename": "../etc/passwd"}, "filename:"),
        ({"filename": ".."}, "filename:"),
        ({"filename": ""}, "filename:"),
        ({"limits": Limits(run_s=0.0)}, "limits.run_s: 0.0"),
        ({"limits": Limits(run_s=1e9)}, "limits.run_s"),
        ({"limits": Limits(memory_bytes=-1)}, "limits.memory_bytes: -1"),
        ({"device": Device.CUDA}, "no 'cuda'"),
        ({"device": Device.BOTH}, "no 'cuda'"),
        ({"kind": JobKind.EXERCISE}, "does not do 'exercise'"),
    ],
)
async def test_a_malformed_job_is_refused_by_field_and_value(make: Make, change: dict[str, object], words: str) -> None:
    bench = make()
    job = replace(Job("a1", JobKind.RUN, "wait", "a"), **change)  # type: ignore[arg-type]
    rejected = bench.dispatcher.submit(job, bench.watcher)
    assert rejected is not None
    assert words in rejected.detail
    assert bench.worker.started == []


async def test_files_that_do_not_fit_a_frame_are_left_out_and_counted(make: Make) -> None:
    files = tuple(OutFile(f"{size}.txt", "text/plain", size, "x" * size) for size in (1 << 20, 20 << 20, 20 << 20))
    run = Run(Job("a1", JobKind.RUN, "", "a"))
    watcher = Watching()
    run.watchers.add(watcher)
    bench = make()
    bench.dispatcher._conclude(run, Result("a1", JobKind.RUN, Ending.OK, files=files))
    result = await watcher.result("a1")
    assert [file.size for file in result.files] == [1 << 20, 20 << 20]
    assert [(note.code, note.values) for note in result.notes] == [("files_too_large_to_send", {"count": 1})]


async def test_the_log_names_no_learner_and_quotes_no_code(make: Make) -> None:
    bench = make()
    bench.submit("a1", "raise secret_of_the_learner", learner="learner-hash-of-someone")
    await bench.watcher.result("a1")
    log = bench.log.getvalue()
    assert "fault" in log
    assert "secret_of_the_learner" not in log
    assert "learner-hash-of-someone" not in log


async def test_a_result_carries_the_walls_that_were_accepted_as_missing(make: Make) -> None:
    bench = make()
    bench.dispatcher.capabilities = replace(CAPABILITIES, accepted_missing=("cgroup",))
    bench.submit("a1", "say x")
    assert (await bench.watcher.result("a1")).accepted_missing == ("cgroup",)


async def test_a_watcher_that_reads_late_gets_the_newest_of_each_sort(make: Make) -> None:
    bench = make()
    bench.submit("a1")
    run = bench.dispatcher._find("a1")
    assert run is not None
    await bench.running("a1")
    frames, number = run.news(0)
    assert len(frames) == 2
    assert run.news(number) == ([], number)
    bench.worker.let_go("a1")
    await bench.watcher.result("a1")
    frames, _ = run.news(number)
    assert isinstance(tell_of(parse(frames[-1][4:])), ToldFinished)
