"""The rehearsal finds what is wrong: a claim that the measuring denies, output that changed, a reply that breaks."""

import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from bot import rehearsal
from bot.adapters.shell.render import plain
from bot.app import SystemDice
from bot.engine.replies import Reply
from bot.hosting import open_runner
from bot.settings import load
from bot.testing import FixedDice
from content.schema import Course
from sandbox_runner.protocol import (
    Budget,
    Capabilities,
    Checked,
    Claim,
    Device,
    Ending,
    Event,
    Fault,
    Finished,
    Job,
    JobKind,
    Ratio,
    Result,
    Stream,
)


class AnsweringRunner:
    """A runner that answers every job by a rule."""

    def __init__(self, rule: Callable[[Job], Result]) -> None:
        self._rule = rule

    async def capabilities(self) -> Capabilities:
        return Capabilities(kinds=tuple(JobKind), devices=(Device.CPU,))

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        yield Finished(self._rule(job))

    async def cancel(self, job_id: str) -> None: ...


@pytest.mark.parametrize(
    ("printed", "wanted", "rel", "same"),
    [
        ("a 1\n", "a 1", 0.0, True),
        ("a 1 \n\n", "a 1", 0.0, True),
        ("a 1", "a 2", 0.0, False),
        ("x 1.0001 y", "x 1.0 y", 1e-3, True),
        ("x 1.1 y", "x 1.0 y", 1e-3, False),
        ("x 1.0 z", "x 1.0 y", 1e-3, False),
        ("1.0 2.0", "1.0", 1e-3, False),
        ("-2.5e-3", "-0.0025", 1e-9, True),
    ],
)
def test_output_is_compared_by_words_and_numbers(printed: str, wanted: str, rel: float, *, same: bool) -> None:
    assert rehearsal.alike(printed, wanted, rel) is same


def test_every_stop_of_the_course_renders(course: Course) -> None:
    findings = list(rehearsal.rendered(course, FixedDice(), plain))
    assert len(findings) > 10
    assert [finding for finding in findings if not finding.good] == []
    places = " ".join(finding.where for finding in findings)
    assert all(item.id in places for lesson in course.lessons for item in lesson.check)
    assert "1:play:small:95" in places


def test_a_reply_that_does_not_render_is_found_with_its_place(course: Course) -> None:
    def broken(reply: Reply) -> str:
        message = "no"
        raise ValueError(message)

    findings = list(rehearsal.rendered(course, FixedDice(), broken))
    assert findings
    assert all(not finding.good and "ValueError" in finding.seen for finding in findings)


async def _run_through(course: Course, rule: Callable[[Job], Result]) -> dict[str, rehearsal.Finding]:
    found = rehearsal.run_through(course, AnsweringRunner(rule), FixedDice())
    return {finding.where: finding async for finding in found}


def _ratios(claim: Claim, point: float) -> Callable[[Job], Result]:
    def rule(job: Job) -> Result:
        cells = [line[4:].strip() for line in job.source.splitlines() if line.startswith("# %%")]
        against = next((name for name in cells if name not in {"", "setup"}), "a")
        names = [name for name in cells if name not in {"", "setup", against}]
        ratios = tuple(Ratio(name, against, point, (point, point), claim, 20) for name in names)
        return Result(job.id, job.kind, Ending.OK, ratios=ratios, stdout=Stream(head="?"))

    return rule


async def test_a_budget_is_that_of_every_timed_example_and_of_no_exercise(course: Course) -> None:
    asked: list[Job] = []

    def rule(job: Job) -> Result:
        asked.append(job)
        return Result(job.id, job.kind, Ending.OK)

    own: list[Job] = []
    for budget in (None, Budget.QUICK):
        own, asked = asked, []
        async for _ in rehearsal.run_through(course, AnsweringRunner(rule), FixedDice(), budget=budget):
            pass
    timed = [job.kind is JobKind.TIME for job in asked]
    assert any(timed)
    assert [job.budget for job, is_timed in zip(asked, timed, strict=True) if is_timed] == [Budget.QUICK] * sum(timed)
    others = [(job.kind, job.budget) for job, is_timed in zip(asked, timed, strict=True) if not is_timed]
    assert others == [(job.kind, job.budget) for job, is_timed in zip(own, timed, strict=True) if not is_timed]


async def test_an_example_that_fails_is_named_with_its_last_line(course: Course) -> None:
    def rule(job: Job) -> Result:
        return Result(job.id, job.kind, Ending.PY_ERROR, fault=Fault("ValueError", "ValueError: x", 1))

    findings = await _run_through(course, rule)
    example = course.lessons[0].examples[0]
    found = findings[f"{course.lessons[0].slug}: {example.id}"]
    assert not found.good
    assert "ValueError: x" in found.seen


async def test_a_prediction_that_the_run_denies_is_found(course: Course) -> None:
    findings = await _run_through(course, _ratios(Claim.FASTER, 9.0))
    predictions = [finding for finding in findings.values() if "the answer is" in finding.seen]
    assert predictions
    assert not any(finding.good for finding in predictions)


async def test_a_myth_that_the_measuring_denies_is_found_and_an_unclear_one_is_not(course: Course) -> None:
    faster, slower, unclear = [
        await _run_through(course, _ratios(claim, point))
        for claim, point in ((Claim.FASTER, 9.0), (Claim.SLOWER, 0.1), (Claim.UNCLEAR, 1.0))
    ]
    lesson = course.lessons[0]
    for myth in lesson.myths:
        where = f"{lesson.slug}: {myth.id}"
        if where in faster and myth.truth != "depends" and "was not measured" not in faster[where].seen:
            assert faster[where].good != slower[where].good
            assert unclear[where].good


async def test_an_example_for_both_devices_runs_on_the_one_that_is_there(course: Course) -> None:
    lesson = course.lessons[0]
    examples = tuple(each.model_copy(update={"devices": ("cuda", "cpu")}) for each in lesson.examples)
    there = course.model_copy(update={"lessons": (lesson.model_copy(update={"examples": examples}),)})
    sent: list[Job] = []

    def rule(job: Job) -> Result:
        sent.append(job)
        return Result(job.id, job.kind, Ending.OK)

    await _run_through(there, rule)
    assert {job.device for job in sent} == {Device.CPU}


async def test_a_reference_must_pass_and_a_starter_must_not(course: Course) -> None:
    files = {**course.files, "small/reference.py": "def solve():\n    return 1\n"}
    course = course.model_copy(update={"files": files, "lessons": course.lessons[:1]})

    def graded(points: dict[bool, float]) -> Callable[[Job], Result]:
        def rule(job: Job) -> Result:
            if job.exercise is None:
                return Result(job.id, job.kind, Ending.OK)
            point = points[job.source.strip() == job.exercise.reference.strip()]
            ratio = Ratio("submission", "starter", point, (point, point), Claim.FASTER, 20)
            return Result(job.id, job.kind, Ending.OK, ratios=(ratio,), checks=(Checked(10, passed=True),))

        return rule

    reference, starter = (f"small: task-one {name}.py" for name in ("reference", "starter"))
    right = await _run_through(course, graded({True: 12.0, False: 1.0}))
    assert right[reference].good
    assert right[starter].good
    wrong = await _run_through(course, graded({True: 4.0, False: 6.0}))
    assert not wrong[reference].good
    assert not wrong[starter].good


@pytest.mark.soak
@pytest.mark.sandbox
async def test_every_exercise_is_solved_by_its_reference_and_by_no_starter(own_course: Course, tmp_path: Path) -> None:
    settings = load({"TASREE_DATA": str(tmp_path)})
    alone = tuple(lesson.model_copy(update={"examples": (), "check": ()}) for lesson in own_course.lessons)
    course = own_course.model_copy(update={"lessons": alone})
    async with open_runner(settings, dict(os.environ)) as runner:
        found = [finding async for finding in rehearsal.run_through(course, runner, SystemDice())]
    assert len(found) == 2 * sum(len(lesson.exercises) for lesson in own_course.lessons)
    assert [finding for finding in found if not finding.good] == []
