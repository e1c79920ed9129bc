from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.protocol import JobKind
from sandbox_runner.queueing import Durations, FairQueue, Pace, Waiting, expected_waits


def waiting(job_id: str, learner: str, *, alone: bool = False, gpus: int = 0) -> Waiting:
    return Waiting(job_id, learner, JobKind.TIME if alone else JobKind.RUN, alone, gpus)


def filled(*jobs: str) -> FairQueue:
    """Fill a queue with jobs named by learner and number, such as `a1`."""
    queue = FairQueue()
    for job in jobs:
        queue.add(waiting(job, job[0]))
    return queue


def drained(queue: FairQueue) -> list[str]:
    return [queue.pop().job_id for _ in range(len(queue))]


def test_learners_take_turns_whoever_sent_more() -> None:
    assert drained(filled("a1", "a2", "a3", "a4", "b1", "c1", "c2")) == ["a1", "b1", "c1", "a2", "c2", "a3", "a4"]


def test_a_learner_who_comes_again_waits_for_everyone_else_once() -> None:
    queue = filled("a1", "b1", "b2")
    assert queue.pop().job_id == "a1"
    queue.add(waiting("a2", "a"))
    assert drained(queue) == ["b1", "a2", "b2"]


def test_one_who_floods_delays_another_by_one_job_at_most() -> None:
    queue = filled(*[f"a{number}" for number in range(50)])
    queue.pop()
    queue.add(waiting("b1", "b"))
    assert [item.job_id for item in queue.order()].index("b1") <= 1


def test_while_the_gpu_is_taken_those_who_wait_for_it_let_others_by_and_keep_their_turn() -> None:
    queue = FairQueue()
    for item in (waiting("a1", "a", gpus=1), waiting("b1", "b"), waiting("c1", "c", alone=True)):
        queue.add(item)
    head = queue.head(gpus_free=0)
    assert head is not None
    assert queue.pop(head.job_id).job_id == "b1"
    assert queue.head(gpus_free=0) is None  # a measurement does not overtake: the GPU job would wait for it too
    head = queue.head()
    assert head is not None
    assert head.job_id == "a1"


def test_a_job_for_several_gpus_is_not_overtaken_by_those_for_one() -> None:
    queue = FairQueue()
    for item in (waiting("a1", "a", gpus=2), waiting("b1", "b", gpus=1), waiting("c1", "c")):
        queue.add(item)
    for free, next_one in ((1, "c1"), (2, "a1")):
        head = queue.head(gpus_free=free)
        assert head is not None
        assert head.job_id == next_one


def test_a_job_is_taken_out_of_any_place() -> None:
    queue = filled("a1", "a2", "b1")
    assert queue.remove("a1")
    assert not queue.remove("a1")
    assert drained(queue) == ["a2", "b1"]


def test_a_learner_whose_last_job_was_removed_leaves_no_trace() -> None:
    queue = filled("a1")
    queue.remove("a1")
    assert queue.head() is None
    assert queue.held_by("a") == 0
    assert len(queue) == 0


@given(st.lists(st.sampled_from("abcd"), max_size=30))
def test_the_order_told_is_the_order_taken(learners: list[str]) -> None:
    queue = FairQueue()
    for number, learner in enumerate(learners):
        queue.add(waiting(f"{learner}{number}", learner))
    told = [item.job_id for item in queue.order()]
    assert told == drained(queue)


@given(st.lists(st.sampled_from("abcd"), max_size=30))
def test_between_two_jobs_of_a_learner_every_waiting_learner_has_a_turn(learners: list[str]) -> None:
    queue = FairQueue()
    for number, learner in enumerate(learners):
        queue.add(waiting(f"{learner}{number}", learner))
    taken = [job[0] for job in drained(queue)]
    for place, learner in enumerate(taken):
        after = taken[place + 1 :]
        if learner in after:
            between = after[: after.index(learner)]
            assert set(after) - {learner} == set(between)


def test_the_wait_is_what_runs_and_what_is_before_over_the_slots() -> None:
    assert expected_waits([(2.0, False)], [(3.0, False), (1.0, False)], slots=1) == [2.0, 5.0]
    assert expected_waits([(2.0, False), (4.0, False)], [(3.0, False), (1.0, False)], slots=2) == [2.0, 4.0]


def test_a_job_alone_is_expected_after_all_that_runs_and_before_all_that_follows() -> None:
    running = [(2.0, False), (4.0, False)]
    assert expected_waits(running, [(3.0, True), (1.0, False)], slots=2) == [4.0, 7.0]
    assert expected_waits([(5.0, True)], [(1.0, False), (1.0, False)], slots=2) == [5.0, 5.0]


def test_a_run_past_its_expected_end_counts_as_ending_now() -> None:
    assert expected_waits([(-3.0, False)], [(1.0, False)], slots=1) == [0.0]


def test_the_expected_duration_is_the_median_of_recent_ones_of_the_kind() -> None:
    durations = Durations()
    assert durations.expect(JobKind.RUN) == durations.first_guess_s
    for seconds in (1.0, 9.0, 2.0):
        durations.add(JobKind.RUN, seconds)
    assert durations.expect(JobKind.RUN) == 2.0
    assert durations.expect(JobKind.TIME) == durations.first_guess_s


def test_a_pace_counts_the_last_minute_and_forgets_who_paused() -> None:
    pace = Pace()
    for second in (0.0, 30.0, 59.0):
        pace.add("a", second)
    pace.add("b", 1.0)
    assert pace.count("a", 59.5) == 3
    assert pace.count("a", 61.5) == 2
    assert pace.count("a", 200.0) == 0
    assert not pace._taken
