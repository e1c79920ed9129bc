"""A submission graded: what did not hold and why, the figures, what can be improved, and after success the reference.

Law: both must hold, the right results and the ratio that the exercise asks for; a run that failed for a reason of ours
is no attempt. The reference is shown beside a submission that passed, and never before.
"""

from dataclasses import dataclass
from typing import assert_never

from bot.engine import ladder, measured, outputs, presses, results, searching, tasks
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Edit, Effect, Record, Turn
from bot.engine.figures import percent, plain, within
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose
from bot.engine.replies import Block, Bullets, Choice, CodeBlock, Heading, Number, Paragraph, Spans, Strong, Text
from bot.engine.tries import Attempt, KeepAttempt, Standing
from bot.engine.wording import inline
from content.schema import Exercise, Lesson
from sandbox_runner.protocol import Budget, Checked, Ending, Job, Machine, Ratio, Result

SUBMISSION, STARTER = "submission", "starter"
_SHOWN = 6000
"""Characters of the learner's code that are shown beside the reference."""
_MACHINE = 80


@dataclass(frozen=True, slots=True)
class _Graded:
    """A submission's result held against its exercise; `outcome` is what attempts keep, empty when it is none."""

    lesson: Lesson
    task: Exercise
    job: Job
    result: Result
    outcome: str
    ratio: Ratio | None


def finished(moment: Moment, result: Result, job: Job, purpose: Purpose, slot: str) -> Turn:
    """Tell how a submission did in the place of its progress, and keep it as an attempt."""
    found = tasks.find(moment, purpose.item)
    if found is None or purpose.vote != f"r{found[1].rev}":
        first, *more = said(*_without_its_exercise(moment, result, job))
        return moment.turn(Edit(slot, first.reply), *more)
    lesson, task = found
    ratio = next((each for each in result.ratios if (each.name, each.against) == (SUBMISSION, STARTER)), None)
    graded = _Graded(lesson, task, job, result, outcome_of(result, ratio, task.ratio), ratio)
    standing = _after(tasks.standing(moment, task), graded.outcome)
    first, *more = said(*_told(moment, graded, standing))
    effects: tuple[Effect, ...] = (Edit(slot, first.reply), *more)
    attempt = _attempt(moment, graded)
    return moment.turn(*((Record((KeepAttempt(attempt),)),) if attempt else ()), *effects)


def outcome_of(result: Result, ratio: Ratio | None, goal: float) -> str:
    """Say how a submission did, as the code that attempts keep; empty where the run was none of the learner's."""
    if result.ending in results.OURS or result.ending is Ending.TIMEOUT_IMPORT:
        return ""
    failed = next((check.why for check in result.checks if not check.passed), "")
    if result.ending in {Ending.WRONG_RESULT, Ending.NONFINITE} and failed:
        return failed
    if result.ending is not Ending.OK:
        return result.ending.value
    if failed or not result.checks or ratio is None:
        return failed
    if ratio.point >= goal:
        return "passed"
    return "close" if ratio.ci99[1] >= goal else "slow"


def machine_of(machine: Machine, device: str) -> str:
    """Name the machine whose runs can be compared: what computes, and on how many cores where that is a processor."""
    if device != "cpu" and machine.device:
        return machine.device[:_MACHINE]
    cores = f" × {machine.cores}" if machine.cores else ""
    return f"{(machine.cpu or machine.name)[: _MACHINE - len(cores)]}{cores}"


def _attempt(moment: Moment, graded: _Graded) -> Attempt | None:
    result, ratio = graded.result, graded.ratio
    if not graded.outcome:
        return None
    low, high = ratio.ci99 if ratio else (0.0, 0.0)
    return Attempt(
        run=graded.job.id,
        exercise=graded.task.id,
        rev=graded.task.rev,
        outcome=graded.outcome,
        passed=graded.outcome == "passed",
        ratio=ratio.point if ratio else 0.0,
        low=low,
        high=high,
        share=result.share,
        confirmed=result.confirmed,
        board=not _not_for_the_board(moment, graded),
        machine=machine_of(result.machine, graded.job.device.value),
        device=graded.job.device.value,
    )


def _not_for_the_board(moment: Moment, graded: _Graded) -> str:
    """Give the phrase that says why the board takes no such run; empty when it does."""
    if graded.outcome != "passed":
        return "board.not_passed"
    if tasks.standing(moment, graded.task).gave_up:
        return "board.gave_up"
    if not graded.result.confirmed:
        return "board.not_confirmed"
    own, shown = (" ".join(text.split()) for text in (graded.job.source, tasks.solution(moment, *_of(graded))))
    return "board.reference" if own == shown else ""


def _of(graded: _Graded) -> tuple[Lesson, Exercise]:
    return graded.lesson, graded.task


def _after(standing: Standing, outcome: str) -> Standing:
    """Give the standing after this attempt: the store counts it only once it is written."""
    failures = standing.failures + bool(outcome and outcome != "passed")
    return Standing(failures, standing.passed or outcome == "passed", standing.gave_up)


# --- the reply --------------------------------------------------------------------------------------------------------


def _without_its_exercise(moment: Moment, result: Result, job: Job) -> tuple[Block, ...]:
    """Tell the end of a submission whose exercise changed or vanished while it ran: nothing is kept of it."""
    words = moment.words
    return (
        Heading(words.say("exercise.result_gone")),
        Paragraph(words.say("exercise.gone")),
        *outputs.fault(moment, result, job.source),
        *measured.timings(moment, measured.worded(moment, result)),
        *buttons(presses.command(moment, Command.EXERCISE), presses.command(moment, Command.MAP)),
    )


def _told(moment: Moment, graded: _Graded, standing: Standing) -> tuple[Block, ...]:
    result = graded.result
    passed = graded.outcome == "passed"
    return (
        Heading((*moment.words.say("exercise.result"), Text(" "), *inline(graded.task.title))),
        *_verdict(moment, graded),
        *_checks(moment, graded),
        *results.limit(moment, result.reached),
        *outputs.fault(moment, result, graded.job.source),
        *measured.timings(moment, measured.worded(moment, result)),
        *_share(moment, result),
        *_to_improve(moment, result),
        *outputs.streams(moment, result),
        *outputs.notes(moment, result),
        *_board(moment, graded),
        *(_beside(moment, graded) if passed else ()),
        *_ways_on(moment, graded, standing),
    )


def _verdict(moment: Moment, graded: _Graded) -> tuple[Block, ...]:
    words = moment.words
    goal = Number(f"{graded.task.ratio:g}×")
    ratio = graded.ratio
    match graded.outcome:
        case "passed" | "slow" | "close" if ratio is not None:
            low, high = ratio.ci99
            reached = Number(f"{within(ratio.point, low, high)}×")
            return (Paragraph(words.say(f"exercise.{graded.outcome}", ratio=reached, goal=goal)),)
        case "":
            ours = graded.result.ending is not Ending.OK
            said_of = results.ending_of(moment, graded.result) if ours else words.say("exercise.not_measured")
            return (Paragraph(said_of), Paragraph(words.say("exercise.no_attempt")))
        case outcome if outcome in set(Ending):
            sentence = results.ending_of(moment, graded.result)
            return (Paragraph((Strong(words.text("exercise.failed")), Text(" "), *sentence)),)
        case _:
            return (Paragraph(words.say("exercise.wrong")),)


def _checks(moment: Moment, graded: _Graded) -> tuple[Block, ...]:
    """Say which checks failed, each with its size and why; or how many held."""
    listed = graded.result.checks
    failed = [(i, check) for i, check in enumerate(listed) if not check.passed]
    if listed and not failed:
        return (Paragraph(moment.words.say("exercise.checks_held", n=len(listed))),)
    return (Bullets(tuple(_failed(moment, graded, i, check) for i, check in failed)),) if failed else ()


def _failed(moment: Moment, graded: _Graded, i: int, check: Checked) -> Spans:
    words = moment.words
    asked = graded.job.exercise.checks if graded.job.exercise else ()
    allowed = asked[i].rel if i < len(asked) else max((each for each in asked), key=lambda each: each.n).rel
    key = f"check.{check.why}"
    sentence = words.say(
        key if words.has(key) else "check.differ",
        size=Number(f"{check.n:,}"),
        error=Number(f"{check.error:.2g}"),
        allowed=Number(f"{allowed:.2g}"),
    )
    return (*sentence, *((Text(" "), *words.say("check.unknown_seed")) if i >= len(asked) else ()))


def _share(moment: Moment, result: Result) -> tuple[Block, ...]:
    if result.share <= 0:
        return ()
    key, figure = ("exercise.share", percent(result.share)) if result.share < 1 else (
        "exercise.share_beaten", f"{plain(result.share)}×"
    )  # fmt: skip
    return (Paragraph(moment.words.say(key, share=Number(figure))),)


def _to_improve(moment: Moment, result: Result) -> tuple[Block, ...]:
    """Give at most three things to improve, and what else there is to know of the figures."""
    found = measured.flags(moment, measured.worded(moment, result))
    mistakes = any("mistake" in flag.values for flag in result.flags)
    head = (Paragraph((Strong(moment.words.text("exercise.to_improve")),)),) if found and mistakes else ()
    return (*head, *found)


def _board(moment: Moment, graded: _Graded) -> tuple[Block, ...]:
    if graded.outcome != "passed":
        return ()
    words = moment.words
    why_not = _not_for_the_board(moment, graded)
    named = moment.known.tries.name
    return (Paragraph(words.say(why_not or ("board.taken" if named else "board.could_be"))),)


def _beside(moment: Moment, graded: _Graded) -> tuple[Block, ...]:
    """Show the reference beside what the learner wrote."""
    words = moment.words
    own = CodeBlock(outputs.middle_cut(graded.job.source, _SHOWN), "python", words.text("exercise.own_code"))
    shown = CodeBlock(tasks.solution(moment, *_of(graded)), "python", words.text("exercise.reference"))
    return (Paragraph(words.say("exercise.compare")), own, shown)


def _ways_on(moment: Moment, graded: _Graded, standing: Standing) -> tuple[Block, ...]:
    words, task = moment.words, graded.task
    again = Choice(words.text("button.grade_again"), encode(Op.AGAIN, graded.job.id, "run"))
    longer = Choice(words.text("button.time_longer"), encode(Op.AGAIN, graded.job.id, Budget.THOROUGH.value))
    board = Choice(words.text("button.board"), encode(Op.BOARD, task.id))
    attempts = presses.command(moment, Command.ATTEMPTS)
    outline = presses.outline(moment, graded.lesson)
    search = searching.offered(moment, graded.job, graded.result)
    helped = ladder.helps(moment, task, standing)
    note = ladder.price(moment, task, standing)
    match graded.outcome:
        case "passed":
            return buttons(board, search, attempts, longer, outline, columns=2)
        case "":
            return buttons(again, outline, columns=2)
        case "close":
            return (
                *note,
                *buttons(longer, search, *helped, attempts, outline, columns=2),
            )
        case str():
            return (
                *note,
                *buttons(search, *helped, attempts, again, outline, columns=2),
            )
        case never:
            assert_never(never)
