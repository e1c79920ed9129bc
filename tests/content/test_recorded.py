"""Records of machines: read strictly, named when stale or missing, and never a fault of the course."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot import recording
from bot.errors import BotError
from bot.testing import FixedDice, InstantRunner
from content import __main__ as command
from content import loader, recorded
from content.schema import Course, Example, Lesson
from sandbox_runner.protocol import Budget, Claim, Device, Ending, Job, JobKind, Ratio, Result, Stream, Variant

NOW = datetime(2026, 5, 4, tzinfo=UTC)


def measured(job: Job) -> Result:
    """Answer any job as a machine would."""
    variants = tuple(Variant(name, 2e6, 1.9e6, (1.9e6, 2.1e6), 20, 1, 3e6) for name in ("a", "b"))
    ratio = Ratio("b", "a", 2.0, (1.9, 2.1), Claim.FASTER, 20)
    timed = job.kind is JobKind.TIME
    return Result(
        job.id, job.kind, Ending.OK, job.device, Stream("printed", "", 7), variants=variants if timed else (),
        ratios=(ratio,) if timed else (), confirmed=timed,
    )  # fmt: skip


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of two lessons of the course, without any record."""
    root = tmp_path / "content"
    left = shutil.ignore_patterns("__pycache__", "measurements", "lessons", "glossary.yaml", "*.py")
    shutil.copytree(loader.HERE, root, ignore=left)
    for slug in ("vectorise", "measure"):
        shutil.copytree(loader.HERE / "lessons" / slug, root / "lessons" / slug)
    (root / "course.yaml").write_text("lessons: [vectorise, measure]\n")
    return root


async def recorded_course(root: Path) -> Course:
    """Record one lesson of the course in `root`, and read it again."""
    course, runner = loader.load_course(root), InstantRunner(measured)
    runs = [one.run async for one in recording.record(course, runner, FixedDice(), ["vectorise"])]
    recording.write(course, root, "A machine", await runner.capabilities(), runs, NOW)
    return loader.load_course(root)


async def test_what_was_recorded_is_read_again_and_what_is_missing_is_named(copied: Path) -> None:
    course = await recorded_course(copied)
    (machine,) = course.recorded
    assert (machine.title, machine.recorded_at) == ("A machine", NOW)
    assert {run.lesson for run in machine.runs} == {"vectorise"}
    assert any(run.ratios for run in machine.runs)
    wanting = recorded.wanting(course)
    assert not [each for each in wanting if "vectorise/" in each]
    assert all(each.endswith("missing") for each in wanting)


async def test_only_what_is_wanted_when_its_turn_comes_is_run_and_with_the_budget_that_is_given(copied: Path) -> None:
    course, jobs = loader.load_course(copied), list[Job]()

    def answer(job: Job) -> Result:
        jobs.append(job)
        return measured(job)

    def wanted(_lesson: Lesson, example: Example, _device: Device) -> bool:
        return example.kind == "time" and not jobs

    told = recording.record(
        course, InstantRunner(answer), FixedDice(), ["vectorise"], wanted=wanted, budget=Budget.QUICK
    )
    assert len([one async for one in told]) == 1
    assert [(job.kind, job.budget, job.device) for job in jobs] == [(JobKind.TIME, Budget.QUICK, Device.CPU)]


async def test_other_code_makes_a_record_stale_and_it_is_shown_no_more(copied: Path) -> None:
    course = await recorded_course(copied)
    lesson = course.lessons[0]
    example = next(one for one in lesson.examples if "cpu" in one.devices)
    assert list(course.seen(lesson.slug, example))
    path = copied / "lessons" / lesson.slug / example.file
    path.write_text(path.read_text() + "\n# changed\n")
    changed = loader.load_course(copied)
    assert not list(changed.seen(lesson.slug, example))
    assert f"A machine: {lesson.slug}/{example.id} on cpu: stale" in recorded.wanting(changed)


async def test_recording_one_lesson_keeps_what_was_recorded_of_another(copied: Path) -> None:
    course, runner = await recorded_course(copied), InstantRunner(measured)
    runs = [one.run async for one in recording.record(course, runner, FixedDice(), ["measure"])]
    recording.write(course, copied, "A machine", await runner.capabilities(), runs, NOW)
    (machine,) = loader.load_course(copied).recorded
    assert {run.lesson for run in machine.runs} == {"vectorise", "measure"}


@pytest.mark.parametrize("text", ["{", "[]", '{"title": 3}', "\ufeff", '{"title": "A", "runs": [{"code": "zz"}]}'])
def test_a_damaged_record_is_a_fault_that_names_its_file(tmp_path: Path, text: str) -> None:
    (tmp_path / recorded.FOLDER).mkdir()
    (tmp_path / recorded.FOLDER / "a.json").write_text(text)
    machines, (document,) = recorded.read(tmp_path)
    assert not machines
    assert {fault.file for fault in document.faults} == {"measurements/a.json"}


async def test_a_release_is_refused_while_something_is_not_recorded(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await recorded_course(copied)
    assert command.main(["check", "--root", str(copied)]) == 0
    assert command.main(["check", "--root", str(copied), "--release"]) == 1
    assert "not recorded: A machine: " in capsys.readouterr().out


@pytest.mark.parametrize("title", ["", "///", "جهاز"])
def test_a_title_without_a_name_for_a_file_is_refused(title: str) -> None:
    with pytest.raises(BotError, match="Latin letters"):
        recording.file_name(title)


def test_a_record_s_file_is_named_by_the_machine() -> None:
    assert recording.file_name("NVIDIA H200, 16 cores") == "nvidia-h200-16-cores.json"
