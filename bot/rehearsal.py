"""What a static check of the lessons cannot say: every stop rendered, every example, prediction, card and exercise run.

Law: a lesson passes only by what the runner measured or printed here and now; a machine's noise is told, not failed on.
"""

import math
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath

from bot.engine import course_map
from bot.engine.buttons import Op, encode
from bot.engine.effects import CheckCode, Edit, Record, RunCode, Say, Turn
from bot.engine.events import ButtonPressed, ChatOpened, CodeChecked, CodeSent, Event, RunFinished
from bot.engine.known import Dice, Known, KnownRun
from bot.engine.presses import fitting
from bot.engine.quizzes import written
from bot.engine.quizzes.grades import Verdict
from bot.engine.replies import Reply
from bot.engine.session import Place, Series, Session
from bot.engine.tries import KeepAttempt
from bot.engine.turn import take_turn
from bot.ports import Runner
from content import schema
from content.schema import Course, Lesson
from sandbox_runner.errors import RunnerError
from sandbox_runner.protocol import (
    Budget,
    Capabilities,
    Claim,
    Device,
    Ending,
    Finished,
    Job,
    JobKind,
    Ratio,
    Result,
)

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
LEARNER = "0" * 32
WHEN = datetime(2026, 1, 1, tzinfo=UTC)
CAPABLE = Capabilities(kinds=tuple(JobKind), devices=(Device.CPU, Device.CUDA), device_count=1)

Draw = Callable[[Reply], str]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was tried: where in the course, whether it holds, and what was seen."""

    where: str
    good: bool
    seen: str


def shown(course: Course, slug: str, dice: Dice) -> Iterator[tuple[str, tuple[Reply, ...]]]:
    """Give every stop, door, setting and question of a lesson: the button that leads there, and the replies to it."""
    lesson = next(lesson for lesson in course.lessons if lesson.slug == slug)
    presses = [course_map.go(stop) for stop in course_map.stops(lesson)]
    presses += [encode(op, slug) for op in (Op.QUIZ, Op.CARDS, Op.MYTHS)]
    presses += [encode(Op.EXERCISE, slug, exercise.id) for exercise in lesson.exercises]
    stop = _replies(course, ButtonPressed(course_map.go(Place(slug, course_map.Part.EXPLORER))), dice)
    offered = (choice.payload for reply in stop for block in reply.blocks for choice in getattr(block, "choices", ()))
    presses += [payload for payload in offered if payload.startswith(f"1:{Op.EXPLORE.value}:")]
    for press in presses:
        yield press, _replies(course, ButtonPressed(press), dice)
    for item in lesson.check:
        there = Session(LEARNER, series=Series("check", slug, (item.id,)))
        yield f"{encode(Op.QUIZ, slug)} {item.id}", _replies(course, ButtonPressed(encode(Op.QUIZ, slug)), dice, there)


def rendered(course: Course, dice: Dice, draw: Draw) -> Iterator[Finding]:
    """Render the greeting, and all that `shown` gives of every lesson."""
    yield _drawn("greeting", _replies(course, ChatOpened(), dice), draw)
    for lesson in course.lessons:
        for press, replies in shown(course, lesson.slug, dice):
            yield _drawn(f"{lesson.slug}: {press}", replies, draw)


def _replies(course: Course, event: Event, dice: Dice, session: Session | None = None) -> tuple[Reply, ...]:
    turn = take_turn(session or Session(LEARNER), event, Known(capabilities=CAPABLE), course, WHEN, dice)
    return tuple(effect.reply for effect in turn.effects if isinstance(effect, Say | Edit))


def _drawn(where: str, replies: tuple[Reply, ...], draw: Draw) -> Finding:
    try:
        sizes = [len(draw(reply)) for reply in replies]
    except Exception as error:  # noqa: BLE001 - whatever a renderer raises is what this looks for
        return Finding(where, good=False, seen=f"does not render: {error!r}")
    return Finding(where, good=bool(replies) and all(sizes), seen=f"{len(replies)} replies")


async def run_through(
    course: Course, runner: Runner, dice: Dice, *, budget: Budget | None = None
) -> AsyncIterator[Finding]:
    """Run everything of every lesson that can be run on the runner's devices.

    With a `budget` each example is timed for so long, not as a learner's tap would have it; exercises keep their own.

    Raises:
        RunnerError: when no runner answers.
    """
    able = await runner.capabilities()
    for lesson in course.lessons:
        for example in lesson.examples:
            if not any(Device(name) in able.devices for name in example.devices):
                yield Finding(f"{lesson.slug}: {example.id}", good=True, seen=f"not run: needs {example.devices}")
                continue
            job = example_job(course, lesson, example, dice, able)
            if budget is not None and job.kind is JobKind.TIME:
                job = replace(job, budget=budget)
            result = await finished(runner, job)
            yield _of_example(course, lesson, example, result)
            for myth in lesson.myths:
                if myth.experiment == example.id:
                    yield _of_myth(lesson, myth, result)
        for item in lesson.check:
            if isinstance(item, schema.PredictOutput):
                source = course.files[f"{lesson.slug}/{item.code}"]
                job = Job(dice.identity(), JobKind.RUN, source, LEARNER, filename=PurePath(item.code).name)
                yield _of_prediction(lesson, item, await finished(runner, job))
            if isinstance(item, schema.WriteCode):
                mark = dice.identity()
                reference, check = (course.files[f"{lesson.slug}/{file}"] for file in (item.reference, item.check))
                job = Job(dice.identity(), JobKind.RUN, written.composed(reference, check, mark), LEARNER)
                expected = course.files[f"{lesson.slug}/{item.expect}"]
                yield _of_writing(lesson, item, await finished(runner, job), mark, expected)
        for exercise in lesson.exercises:
            for file in (exercise.reference, exercise.starter):
                yield await _of_submission(runner, course, lesson, exercise, file, dice)


async def finished(runner: Runner, job: Job) -> Result:
    """Follow a job to its result.

    Raises:
        RunnerError: when no runner answers, or the stream ends without a result.
    """
    async for event in runner.submit(job):
        if isinstance(event, Finished):
            return event.result
    message = "the runner ended the stream without a result"
    raise RunnerError(message)


def example_job(
    course: Course, lesson: Lesson, example: schema.Example, dice: Dice, able: Capabilities = CAPABLE
) -> Job:
    """Give the job that a learner's tap on an example sends to a runner that is able to do this."""
    press = ButtonPressed(encode(Op.EXAMPLE, lesson.slug, example.id))
    turn = take_turn(Session(LEARNER), press, Known(capabilities=able), course, WHEN, dice)
    return next(effect.job for effect in turn.effects if isinstance(effect, RunCode))


def _of_example(course: Course, lesson: Lesson, example: schema.Example, result: Result) -> Finding:
    where = f"{lesson.slug}: {example.id}"
    if result.ending is not Ending.OK:
        why = result.fault.last_line if result.fault else ""
        return Finding(where, good=False, seen=f"{result.ending.value} {why}".rstrip())
    if example.kind == "time":
        seen = ", ".join(_worded(ratio) for ratio in result.ratios)
        return Finding(where, good=bool(result.ratios), seen=seen or "no ratio was measured")
    if example.expected is None or example.expected.varies:
        return Finding(where, good=True, seen="ran")
    wanted = course.files[f"{lesson.slug}/{example.expected.file}"]
    printed = result.stdout.head + result.stdout.tail
    if alike(printed, wanted, example.expected.rel):
        return Finding(where, good=True, seen="printed what is expected")
    return Finding(where, good=False, seen=f"printed {printed.strip()!r}, not {wanted.strip()!r}")


def alike(printed: str, wanted: str, rel: float) -> bool:
    """Compare output: the words exactly (but for spaces at line ends), the numbers within `rel`."""
    left, right = ([line.rstrip() for line in text.strip().splitlines()] for text in (printed, wanted))
    if rel <= 0.0 or left == right:
        return left == right
    one, other = "\n".join(left), "\n".join(right)
    if NUMBER.sub("#", one) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=rel) for a, b in pairs)


def _of_myth(lesson: Lesson, myth: schema.Myth, result: Result) -> Finding:
    where = f"{lesson.slug}: {myth.id}"
    wanted = (myth.finding.name, myth.finding.against)
    ratio = next((one for one in result.ratios if (one.name, one.against) == wanted), None)
    if ratio is None:
        return Finding(where, good=False, seen=f"{wanted[0]} against {wanted[1]} was not measured")
    if ratio.claim is Claim.UNCLEAR or myth.truth == "depends":
        return Finding(where, good=True, seen=f"{_worded(ratio)}: nothing to hold it against")
    holds = ratio.claim.value in myth.finding.holds_when
    return Finding(where, good=holds == (myth.truth == "fact"), seen=f"{_worded(ratio)}, said to be a {myth.truth}")


def _of_prediction(lesson: Lesson, item: schema.PredictOutput, result: Result) -> Finding:
    printed = (result.stdout.head + result.stdout.tail).strip() or result.value
    good = result.ending is Ending.OK and " ".join(printed.split()) == " ".join(item.answer.split())
    return Finding(f"{lesson.slug}: {item.id}", good, f"printed {printed!r}, the answer is {item.answer!r}")


def _of_writing(lesson: Lesson, item: schema.WriteCode, result: Result, mark: str, expected: str) -> Finding:
    parted = written.parted(result.stdout, mark)
    printed = parted[1] if parted else ""
    good = result.ending is Ending.OK and written.grade(item, printed, expected).verdict is Verdict.RIGHT
    return Finding(f"{lesson.slug}: {item.id}", good, f"the check printed {printed.strip()!r} for the reference")


async def _of_submission(  # noqa: PLR0913 - what one submission is made of
    runner: Runner, course: Course, lesson: Lesson, exercise: schema.Exercise, file: str, dice: Dice
) -> Finding:
    """Send a file as a learner would send it as the solution: the reference must pass, the starter must not."""
    turn = Turn(Session(LEARNER))
    for event in (ButtonPressed(fitting(Op.EXERCISE, lesson.slug, exercise.id)), CodeSent(_of(course, lesson, file))):
        turn = take_turn(turn.session, event, Known(capabilities=CAPABLE), course, WHEN, dice)
    check = next(effect.check for effect in turn.effects if isinstance(effect, CheckCode))
    turn = take_turn(turn.session, CodeChecked(check, 0), Known(capabilities=CAPABLE), course, WHEN, dice)
    sent = next(effect for effect in turn.effects if isinstance(effect, RunCode))
    result = await finished(runner, sent.job)
    known = Known(run=KnownRun(sent.job, sent.slot, done=True), capabilities=CAPABLE)
    turn = take_turn(turn.session, RunFinished(sent.job.id, result), known, course, WHEN, dice)
    rows = (row for effect in turn.effects if isinstance(effect, Record) for row in effect.rows)
    kept = next((row.attempt for row in rows if isinstance(row, KeepAttempt)), None)
    where = f"{lesson.slug}: {exercise.id} {PurePath(file).name}"
    if kept is None or not kept.ratio:
        why = result.fault.last_line if result.fault else ", ".join(flag.code for flag in result.flags)
        return Finding(where, good=False, seen=f"{kept.outcome if kept else result.ending.value} {why}".rstrip())
    seen = f"{kept.outcome}: {kept.ratio:.3g} [{kept.low:.3g}, {kept.high:.3g}], {exercise.ratio:g} times wanted"
    return Finding(where, good=kept.passed == (file == exercise.reference), seen=seen)


def _of(course: Course, lesson: Lesson, file: str) -> str:
    return course.files[f"{lesson.slug}/{file}"]


def _worded(ratio: Ratio) -> str:
    low, high = ratio.ci99
    return f"{ratio.name} {ratio.claim.value} than {ratio.against}: {ratio.point:.3g} [{low:.3g}, {high:.3g}]"
