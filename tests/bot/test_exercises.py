"""Exercises from the task to the board: what is graded and kept, and that no reference is told before it was earned."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine import grading, names, replies, tasks
from bot.engine.events import ButtonPressed, CodeSent, Event, FileSent, RunProgressed, TextSent
from bot.engine.replies import Reply
from bot.engine.session import to_json
from bot.engine.tries import GAVE_UP, Attempt, KeepAttempt, Kept, TakeName
from bot.testing import CAPABLE, MACHINE, Conversation
from content.schema import Course
from sandbox_runner.protocol import (
    Accepted,
    Checked,
    Claim,
    Device,
    Ending,
    Flag,
    Job,
    JobKind,
    Machine,
    Progress,
    Ratio,
    Result,
    Stream,
)
from sandbox_runner.protocol import Phase as RunPhase

MARK = "SECRET_REFERENCE"
SOLVE = "def solve():\n    return 1\n"
OURS = (Ending.INFRA_ERROR, Ending.CANCELLED, Ending.QUEUE_FULL, Ending.RATE_LIMITED, Ending.SUPERSEDED)


def result(
    job: Job, point: float, *, confirmed: bool = True, spread: float = 0.02, machine: Machine = MACHINE
) -> Result:
    """Give a result with right answers, so many times as fast as the starter."""
    if job.kind is not JobKind.EXERCISE:
        return Result(job.id, job.kind, Ending.OK, stdout=Stream("x\n", bytes=2), machine=MACHINE)
    ratio = Ratio("submission", "starter", point, (point * (1 - spread), point * (1 + spread)), Claim.FASTER, 20)
    checks = (Checked(10, passed=True), Checked(11, passed=True))
    return Result(
        job.id, job.kind, Ending.OK, job.device, ratios=(ratio,), checks=checks, share=0.5, confirmed=confirmed,
        machine=MACHINE,
    )  # fmt: skip


def wrong(job: Job, why: str = "differ") -> Result:
    return Result(job.id, job.kind, Ending.WRONG_RESULT, checks=(Checked(10, passed=False, why=why, error=0.5),))


def outcomes(talk: Conversation) -> list[str]:
    return [kept.attempt.outcome for _, kept in talk.store.tries.attempts.values()]


def text(said: tuple[Reply, ...]) -> str:
    return "\n".join(replies.to_json(reply) for reply in said)


def solved(talk: Conversation, point: float = 12.0, *, confirmed: bool = True) -> str:
    talk.take(CodeSent(SOLVE))
    return text(talk.finish(lambda job: result(job, point, confirmed=confirmed)))


@pytest.fixture
def task(talk: Conversation) -> Conversation:
    """Give a conversation in which the exercise was just shown."""
    talk.take(TextSent("تمرين"))
    return talk


def test_a_submission_goes_to_the_runner_with_starter_reference_and_hidden_checks(task: Conversation) -> None:
    task.take(CodeSent(SOLVE))
    (job,) = task.waiting
    assert (job.kind, job.device, job.source) == (JobKind.EXERCISE, Device.CPU, SOLVE)
    assert job.exercise is not None
    assert MARK in job.exercise.reference
    assert [(check.n, check.seed, check.rel) for check in job.exercise.checks] == [(10, 1, 1e-6)]


@pytest.mark.parametrize(
    "event",
    [
        TextSent(f"```python\n{SOLVE}```"),
        FileSent("mine.py", SOLVE.encode()),
        CodeSent("from math import fsum as solve\n"),
        CodeSent("solve = print\n", measure=True),
    ],
)
def test_a_submission_may_come_pasted_as_a_file_or_from_the_editor(task: Conversation, event: Event) -> None:
    task.take(event)
    assert [job.kind for job in task.waiting] == [JobKind.EXERCISE]


def test_code_that_defines_no_solve_is_run_as_it_is(task: Conversation) -> None:
    task.take(CodeSent("print(1)"))
    assert [job.kind for job in task.waiting] == [JobKind.RUN]
    assert "لم يُقيَّم" in text(task.finish())
    assert outcomes(task) == []


@pytest.mark.parametrize(
    ("point", "spread", "outcome"),
    [(5.0, 0.02, "passed"), (4.95, 0.02, "close"), (4.0, 0.02, "slow"), (5.01, 0.3, "passed"), (0.5, 0.02, "slow")],
)
def test_the_ratio_decides_once_the_results_are_right(
    task: Conversation, point: float, spread: float, outcome: str
) -> None:
    task.take(CodeSent(SOLVE))
    task.finish(lambda job: result(job, point, spread=spread))
    assert outcomes(task) == [outcome]


@pytest.mark.parametrize("why", ["differ", "shape", "type", "lazy", "nonfinite"])
def test_a_wrong_result_says_which_check_failed_and_why(task: Conversation, course: Course, why: str) -> None:
    task.take(CodeSent(SOLVE))
    said = text(task.finish(lambda job: wrong(job, why)))
    assert outcomes(task) == [why]
    assert str(course.phrases[f"check.{why}"]).partition(":")[2].strip()[:9] in said
    assert MARK not in said


@pytest.mark.parametrize("ending", OURS)
def test_what_failed_for_a_reason_of_ours_is_no_attempt(task: Conversation, ending: Ending) -> None:
    task.take(CodeSent(SOLVE))
    said = text(task.finish(lambda job: Result(job.id, job.kind, ending)))
    assert outcomes(task) == []
    assert MARK not in said
    assert "1:again:" in said


def test_an_exercise_that_changed_while_it_ran_is_not_graded(task: Conversation, course: Course) -> None:
    task.take(CodeSent(SOLVE))
    lesson = course.lessons[0]
    newer = lesson.exercises[0].model_copy(update={"rev": 2})
    changed = lesson.model_copy(update={"exercises": (newer,)})
    task.course = course.model_copy(update={"lessons": (changed,), "hash": "b" * 64})
    said = text(task.finish(lambda job: result(job, 12.0)))
    assert outcomes(task) == []
    assert MARK not in said


def test_the_standing_is_of_one_revision(task: Conversation, course: Course) -> None:
    for _ in range(2):
        task.take(CodeSent(SOLVE))
        task.finish(wrong)
    lesson = course.lessons[0]
    changed = lesson.model_copy(update={"exercises": (lesson.exercises[0].model_copy(update={"rev": 2}),)})
    task.course = course.model_copy(update={"lessons": (changed,), "hash": "b" * 64})
    assert MARK not in text(task.take(ButtonPressed("1:task:_sol:task-one")))


def test_grading_again_sends_the_same_submission(task: Conversation) -> None:
    task.take(CodeSent(SOLVE))
    (job,) = task.waiting
    task.finish(lambda job: Result(job.id, job.kind, Ending.INFRA_ERROR))
    task.take(ButtonPressed(f"1:again:{job.id}:run"))
    assert task.waiting == [replace(job, id=task.waiting[0].id)]


def test_only_confirmed_runs_that_passed_before_giving_up_are_for_the_board(task: Conversation) -> None:
    solved(task, confirmed=False)
    solved(task, 2.0)
    solved(task)
    assert [kept.attempt.board for _, kept in task.store.tries.attempts.values()] == [False, False, True]


def test_the_reference_itself_is_not_for_the_board(task: Conversation, course: Course) -> None:
    reference = course.files["small/reference.py"]
    files = {**course.files, "small/reference.py": f"{reference}{SOLVE}"}
    task.course = course.model_copy(update={"files": files})
    task.take(CodeSent(f"{reference}\n{SOLVE}"))
    task.finish(lambda job: result(job, 12.0))
    assert [(kept.attempt.passed, kept.attempt.board) for _, kept in task.store.tries.attempts.values()] == [
        (True, False)
    ]


def test_giving_up_is_kept_once_and_bars_the_board(task: Conversation) -> None:
    for _ in range(2):
        task.take(CodeSent(SOLVE))
        task.finish(wrong)
    for _ in range(3):
        assert MARK in text(task.take(ButtonPressed("1:task:_sol:task-one")))
        task.take(TextSent("محاولاتي"))
        task.take(TextSent("تمرين"))
    assert outcomes(task).count(GAVE_UP) == 1
    assert "لا تأخذ اللوحة" in solved(task)
    assert not any(kept.attempt.board for _, kept in task.store.tries.attempts.values())


def test_the_solution_after_success_is_no_giving_up(task: Conversation) -> None:
    solved(task)
    assert MARK in text(task.take(TextSent("عرض الحل")))
    assert GAVE_UP not in outcomes(task)


def test_the_second_hint_begins_with_the_last_attempts_own_error(task: Conversation, course: Course) -> None:
    lesson = course.lessons[0]
    hinted = lesson.exercises[0].model_copy(update={"hints": ("الأول.", "الثاني.", "الثالث.")})
    task.course = course.model_copy(update={"lessons": (lesson.model_copy(update={"exercises": (hinted,)}),)})
    task.take(CodeSent(SOLVE))
    task.finish(lambda job: wrong(job, "shape"))
    assert str(course.phrases["attempt.shape"]) not in text(task.take(TextSent("تلميح")))
    assert str(course.phrases["attempt.shape"]) in text(task.take(TextSent("تلميح")))


def test_a_machine_is_named_by_what_computes() -> None:
    machine = Machine(name="h", cpu="c" * 100, cores=16, device="NVIDIA H200")
    assert grading.machine_of(machine, "cuda") == "NVIDIA H200"
    assert grading.machine_of(machine, "cpu").endswith("c × 16")
    assert len(grading.machine_of(machine, "cpu")) == 80
    assert grading.machine_of(Machine(name="h"), "cuda") == "h"


# --- no sequence of events tells a reference before it was earned -----------------------------------------------------

PAYLOADS = tuple(
    f"1:{op}:{ref}:{option}"
    for name in ("task-one", "two-task-one")
    for op, ref, option in (
        ("task", "_1", name), ("task", "_2", name), ("task", "_idk", name), ("task", "_sol", name),
        ("task", "small", name), ("board", name, ""), ("board", name, "_join"), ("board", name, "_leave"),
    )
)  # fmt: skip
events = st.one_of(
    st.sampled_from(("تمرين", "درس 2", "محاولاتي", "لوحة الأفضل", "لا أعرف", "عرض الحل", "تلميح", "نور", "إلغاء")).map(
        TextSent
    ),
    st.sampled_from(PAYLOADS).map(ButtonPressed),
    st.sampled_from((SOLVE, "print(1)", "# %% a\n1\n# %% b\n2", "def solve(:\n")).map(CodeSent),
    st.sampled_from((12.0, 4.95, 1.0, -1.0, 0.0)),
    st.sampled_from(("again", "longer", "search", "double", "progress", "queued", "reload", "away", "back")),
)


class Learner:
    """Takes any event, and looks at what must hold after each."""

    def __init__(self, course: Course) -> None:
        files = {"small/reference.py": f"{MARK}_1 = 1\n", "second/reference.py": f"{MARK}_2 = 1\n"}
        self.course = course.model_copy(update={"files": {**course.files, **files}})
        self.talk = Conversation(self.course)
        self.graded = 0
        self.jobs: dict[str, Job] = {}
        self.last: Event = TextSent("تمرين")

    def step(self, event: Event | float | str) -> None:
        told = text(self.said(event))
        assert not (f"{MARK}_1" in told and "task-one" not in self.earned()), event
        assert not (f"{MARK}_2" in told and "two-task-one" not in self.earned()), event
        assert MARK not in to_json(self.talk.session)
        assert len(self.talk.session.running) <= 2
        for job in self.talk.waiting:
            self.jobs[job.id] = job
            assert MARK not in job.source
            assert (job.exercise is None) != (job.kind is JobKind.EXERCISE)

    def earned(self) -> set[str]:
        kept: list[tuple[str, Kept]] = list(self.talk.store.tries.attempts.values())
        tried = (each.attempt for _, each in kept)
        return {each.exercise for each in tried if each.passed or each.outcome == GAVE_UP}

    def said(self, event: Event | float | str) -> tuple[Reply, ...]:
        match event:
            case float():
                return self.finished(event)
            case str():
                return self.special(event)
            case _:
                self.last = event
                return self.talk.take(event)

    def finished(self, point: float) -> tuple[Reply, ...]:
        if not self.talk.waiting:
            return ()
        job = self.talk.waiting[0]
        before = len(self.talk.store.tries.attempts)
        if point < 0:
            said = self.talk.finish(lambda job: Result(job.id, job.kind, Ending.INFRA_ERROR))
        elif point == 0:
            said = self.talk.finish(wrong)
        else:
            said = self.talk.finish(lambda job: result(job, point))
        new = list(self.talk.store.tries.attempts.values())[before:]
        assert len(new) <= 1
        for _, kept in new:
            assert kept.attempt.run == job.id
            assert kept.attempt.passed == (point == 12.0)
        return said

    def special(self, what: str) -> tuple[Reply, ...]:
        job = next(reversed(self.jobs.values()), None)
        match what:
            case "again" | "longer" | "search" if job:
                option = {"again": "run", "longer": "thorough"}.get(what, what)
                return self.talk.take(ButtonPressed(f"1:again:{job.id}:{option}"))
            case "double":
                return self.talk.take(self.last)
            case "progress" | "queued" if self.talk.waiting:
                at = Progress(RunPhase.MEASURE, 1, 4) if what == "progress" else Accepted(1, 2.0)
                return self.talk.take(RunProgressed(self.talk.waiting[0].id, at))
            case "reload":
                other = "b" * 64 if self.talk.course.hash == "a" * 64 else "a" * 64
                kept = self.course.lessons[: 1 if other == "b" * 64 else 2]
                self.talk.course = self.course.model_copy(update={"hash": other, "lessons": kept})
            case "away" | "back":
                self.talk.capabilities = None if what == "away" else CAPABLE
        return ()


@settings(max_examples=80, deadline=None)
@given(st.lists(events, max_size=30))
def test_no_sequence_of_events_tells_the_reference_before_it_was_earned(
    course: Course, given_events: list[Event | float | str]
) -> None:
    learner = Learner(course)
    for event in given_events:
        learner.step(event)


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["نور", "نور 7", "Ali", "علي-Ali", "أحمد.", "N", "a" * 24, "سَارة"])
def test_a_name_is_taken_as_it_is_written(name: str) -> None:
    assert names.chosen(name) == names.Name(name)


@pytest.mark.parametrize(
    ("text_", "fault"),
    [
        ("", "empty"),
        ("--", "empty"),
        ("a" * 25, "long"),
        ("x" * 5000, "long"),
        ("a\u202eb", "invisible"),
        ("a\u200bb", "invisible"),
        ("a\nb", "invisible"),
        ("a\tb", "invisible"),
        ("a\x1b[31m", "invisible"),
        ("\u00a0a", "invisible"),
        ("a  b", "spaces"),
        ("@ali", "sign"),
        ("a/b", "sign"),
        ("<b>", "sign"),
        ("t.me", "link"),
        ("www", "link"),
        ("аli", "script"),
        ("Αli", "script"),
        ("a\u0301\u0301", "sign"),
        ("१", "script"),
    ],
)
def test_a_name_that_could_mislead_is_refused_with_the_reason(text_: str, fault: str) -> None:
    assert names.chosen(text_).fault == fault


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("أحمد", "احمد"),
        ("نور", "نُور"),
        ("Ali", "ali"),
        ("Ali", "A1i"),
        ("Noor", "N00r"),
        ("نور 7", "نور٧"),
        ("a-b", "ab"),
        ("é", "e"),
        ("ﬁ", "fi"),
    ],
)
def test_names_that_look_alike_are_the_same(one: str, other: str) -> None:
    assert names.likeness(one) == names.likeness(other)


@given(st.text(max_size=40))
def test_whatever_is_typed_as_a_name_is_read_without_raising(typed: str) -> None:
    name = names.chosen(typed)
    assert bool(name.text) != bool(name.fault)
    assert len(name.text) <= names.LONGEST
    assert not set(name.text) & set("@/<>&`*_\n\u202e") - {"_"}


def test_a_taken_name_is_refused_and_nothing_changes(task: Conversation) -> None:
    task.store.tries.names["somebody"] = TakeName("نورُ", names.likeness("نورُ"))
    task.take(ButtonPressed("1:board:task-one:_join"))
    said = text(task.take(TextSent("نور")))
    assert "مأخوذ" in said
    assert list(task.store.tries.names) == ["somebody"]
    task.take(TextSent("نور الهدى"))
    assert task.store.tries.names[task.session.learner].name == "نور الهدى"


def test_the_board_ranks_each_name_once_a_machine(task: Conversation) -> None:
    for name, ratio in (("a", 9.0), ("b", 30.0), ("c", 7.0)):
        for point in (ratio, ratio / 2):
            row = Attempt(
                f"{name}{point}", "task-one", 1, "passed", passed=True, ratio=point, low=point, high=point, board=True,
                machine="m", device="cpu",
            )  # fmt: skip
            task.store.tries.record(name, KeepAttempt(row), task.clock.now())
        task.store.tries.record(name, TakeName(name, name), task.clock.now())
    said = text(task.take(TextSent("لوحة الأفضل")))
    assert said.index('"b"') < said.index('"a"') < said.index('"c"')
    assert said.count('"b"') == 1


def test_what_is_graded_is_found_by_its_solve() -> None:
    assert tasks.solves("x = 1\ndef solve(x):\n    return x")
    assert tasks.solves("solve = compile_it(f)")
    assert not tasks.solves("# def solve(x): ...\nresolve = 1\n    def solve(): ...")


def test_the_labels_of_the_board_may_be_typed(task: Conversation) -> None:
    task.take(TextSent("اختيار اسم للوحة"))
    task.take(TextSent("نور"))
    assert task.store.tries.names[task.session.learner].name == "نور"
    task.take(TextSent("مغادرة اللوحة"))
    assert task.store.tries.names == {}


def test_a_submission_counts_while_a_name_for_the_board_is_waited_for(task: Conversation) -> None:
    task.take(ButtonPressed("1:board:task-one:_join"))
    task.take(CodeSent(SOLVE))
    assert [job.kind for job in task.waiting] == [JobKind.EXERCISE]
    task.take(TextSent("نور"))
    assert task.store.tries.names[task.session.learner].name == "نور"


def test_the_search_for_mistakes_is_a_run_of_the_submission_alone(task: Conversation, course: Course) -> None:
    task.take(CodeSent(SOLVE))
    (job,) = task.waiting
    said = text(task.finish(lambda job: result(job, 2.0)))
    assert f"1:again:{job.id}:search" in said
    task.take(ButtonPressed(f"1:again:{job.id}:search"))
    (search,) = task.waiting
    assert (search.kind, search.exercise) == (JobKind.TIME, None)
    assert search.source.startswith(SOLVE)
    assert tasks.submitted(search.source).rstrip() == SOLVE.rstrip()
    compile(search.source, "code.py", "exec")
    flags = (
        Flag("np_vectorize", {"mistake": 32, "what": "np.vectorize"}, 2),
        Flag("view_only", {"mistake": 31}, 40),
        Flag("noisy", {"noise": 0.5}),
    )
    told = text(task.finish(lambda job: Result(job.id, job.kind, Ending.OK, flags=flags)))
    assert "np.vectorize" in told
    assert "السطر" in told
    assert str(course.phrases["flag.view_only"])[:20] not in told
    assert outcomes(task) == ["slow"]


def test_a_graded_submission_shows_at_most_three_of_its_mistakes_and_offers_no_search(
    task: Conversation, course: Course
) -> None:
    task.take(CodeSent(SOLVE))
    codes = ("np_vectorize", "creation_timed", "print_timed", "loop_over_array")
    flags = tuple(Flag(code, {"name": "submission", "mistake": 32, "what": "np.vectorize"}, 2) for code in codes)
    told = text(task.finish(lambda job: replace(result(job, 2.0), flags=flags)))
    assert str(course.phrases["exercise.to_improve"])[:10] in told
    assert "np.vectorize" in told
    assert str(course.phrases["flag.loop_over_array"])[:20] not in told
    assert ":search" not in told
    assert outcomes(task) == ["slow"]


def test_a_search_that_finds_nothing_says_so(task: Conversation, course: Course) -> None:
    task.take(CodeSent(SOLVE))
    (job,) = task.waiting
    task.finish(lambda job: result(job, 12.0))
    task.take(ButtonPressed(f"1:again:{job.id}:search"))
    told = text(task.finish(lambda job: Result(job.id, job.kind, Ending.OK)))
    assert str(course.phrases["exercise.no_mistake"])[:30] in told
