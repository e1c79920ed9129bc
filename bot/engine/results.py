"""How a run ended, in words: the ending, the limit it reached, what was measured or printed, and what can be done next.

Law: every ending of the protocol has its sentence; everything out of the sandbox stays in code spans and code blocks.
"""

import re

from bot.engine import devices, insights, measured, outputs, presses, seen, sides, verdicts
from bot.engine.bubbles import buttons
from bot.engine.buttons import INSPECT, KERNEL, Op, encode
from bot.engine.commands import Command
from bot.engine.course_map import Part, go
from bot.engine.figures import plain, size
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.reading import examples_at
from bot.engine.replies import Block, Choice, Code, Heading, Number, Paragraph, Spans, Text
from bot.engine.session import Place
from bot.engine.wording import inline
from content.schema import Example, Lesson
from sandbox_runner.protocol import Budget, Device, Ending, Job, JobKind, Reached, Result

OURS = (Ending.INFRA_ERROR, Ending.QUEUE_FULL, Ending.RATE_LIMITED, Ending.CANCELLED, Ending.SUPERSEDED)
"""Endings after which the same job is worth sending again as it is."""

_TITLES = {JobKind.TIME: "time.title", JobKind.INSPECT: "inspect.title"}


def told(moment: Moment, run: str, result: Result, job: Job | None, purpose: Purpose) -> tuple[Block, ...]:
    """Give the reply that takes the place of the run's progress."""
    source = job.source if job else ""
    ending = Paragraph(ending_of(moment, result))
    blocks = (
        *_title(moment, job, purpose),
        *(() if _speaks_for_itself(result) else (ending,)),
        *limit(moment, result.reached),
        *outputs.fault(moment, result, source),
        *measured.timings(moment, result),
        *measured.flags(moment, result),
        *_seen(moment, result, purpose),
        *insights.told(moment, result),
        *outputs.streams(moment, result),
        *outputs.notes(moment, result),
        *outputs.files(moment, result),
        *verdicts.of_myth(moment, result, purpose, sides.side_of(moment.session, run)),
        *_honest_word(moment, purpose),
    )
    return (*blocks, *buttons(*_next(moment, run, result, job, purpose), columns=2))


def ending_of(moment: Moment, result: Result) -> Spans:
    """Word an ending; a quiet success of a run says that nothing was printed."""
    words = moment.words
    if result.ending is Ending.OK:
        if result.kind is JobKind.TIME:
            return words.say("ending.ok_time" if result.variants else "ending.ok_nothing_timed")
        quiet = not (result.stdout.bytes or result.stderr.bytes or result.value or result.files)
        return words.say("ending.ok_quiet" if quiet else "ending.ok")
    if outputs.is_cut_badly(result):
        return words.say("ending.cells")
    own = _own_exit(moment, result)
    return own or words.say(f"ending.{result.ending}")


def _own_exit(moment: Moment, result: Result) -> Spans:
    """Word an ending by `sys.exit`, with its status where the runner tells it; nothing for other endings."""
    fault = result.fault
    if fault is None or fault.name != "SystemExit":
        return ()
    if result.ending is Ending.NO_RESULT:
        return moment.words.say("ending.exit_early")
    status = re.fullmatch(r"SystemExit: (-?\d{1,10})", fault.last_line.strip())
    if result.ending is not Ending.EXIT_NONZERO or status is None:
        return ()
    return moment.words.say("ending.exit_code", status=Number(status.group(1)))


def _speaks_for_itself(result: Result) -> bool:
    return result.ending is Ending.OK and bool(result.variants or result.insights)


def _seen(moment: Moment, result: Result, purpose: Purpose) -> tuple[Block, ...]:
    found = seen.example_of(moment, purpose)
    return seen.told(moment, *found) if found and result.kind is JobKind.TIME else ()


def _title(moment: Moment, job: Job | None, purpose: Purpose) -> tuple[Block, ...]:
    found = seen.example_of(moment, purpose)
    on_gpu = job is not None and job.device is not Device.CPU
    where = (Text(" — "), *moment.words.say(f"device.{job.device}")) if job and on_gpu else ()
    if found:
        return (Heading((*inline(found[1].title), *where)),)
    key = _TITLES.get(job.kind if job else JobKind.RUN, "run.title")
    return (Heading((*moment.words.say(key, file=Code(job.filename[:60] if job else "code.py")), *where)),)


def limit(moment: Moment, reached: Reached | None) -> tuple[Block, ...]:
    """Name the limit that was reached, with its value."""
    if reached is None:
        return ()
    words = moment.words
    key = f"limit.{reached.name}"
    name = words.say(key if words.has(key) else "limit.other")
    value: Spans = (Number(size(reached.value) if reached.unit == "bytes" else plain(reached.value)),)
    if reached.unit == "s":
        value = words.say("unit.seconds", n=Number(plain(reached.value)))
    return (Paragraph(words.say("limit.reached", limit=name, value=value)),)


def _honest_word(moment: Moment, purpose: Purpose) -> tuple[Block, ...]:
    return (Paragraph(moment.words.say("exercise.not_graded")),) if purpose.why is Why.EXERCISE else ()


def _next(moment: Moment, run: str, result: Result, job: Job | None, purpose: Purpose) -> tuple[Choice | None, ...]:
    words = moment.words
    to_run = Choice(words.text("button.run_again"), encode(Op.AGAIN, run, "run"))
    to_time = Choice(words.text("button.time_again"), encode(Op.AGAIN, run, "time"))
    longer = Choice(words.text("button.time_longer"), encode(Op.AGAIN, run, Budget.THOROUGH.value))
    measure = Choice(words.text("button.measure_this"), encode(Op.AGAIN, run, "time"))
    own: tuple[Choice | None, ...]
    if job is None:
        own = ()
    elif result.ending in OURS:
        own = (to_time if result.kind is JobKind.TIME else to_run,)
    elif result.kind is JobKind.TIME:
        able = moment.known.capabilities
        offered = able is not None and JobKind.INSPECT in able.kinds and bool(result.variants)
        inside = Choice(words.text("button.inside"), encode(Op.AGAIN, run, INSPECT)) if offered else None
        longer_still = longer if result.variants and job.budget is not Budget.THOROUGH else None
        own = (inside, to_time, longer_still)
    elif result.kind is JobKind.INSPECT:
        written = any(found.kernels for found in result.insights)
        kernel = Choice(words.text("button.kernel"), encode(Op.AGAIN, run, KERNEL)) if written else None
        own = (kernel, to_time)
    else:
        own = (measure if result.ending is Ending.OK else None, to_run)
    return (*own, _on_both(moment, run, job, purpose), *_onward(moment, purpose))


def _on_both(moment: Moment, run: str, job: Job | None, purpose: Purpose) -> Choice | None:
    """Offer both devices for what was run on one, where the code or the example is for both."""
    found = seen.example_of(moment, purpose)
    plain_run = job is not None and job.kind in {JobKind.RUN, JobKind.TIME}
    if job is None or not plain_run or sides.paired(moment.session, run):
        return None
    return devices.other(moment, run, job.device, job.source, found[1].devices if found else ())


def _onward(moment: Moment, purpose: Purpose) -> tuple[Choice | None, ...]:
    words = moment.words
    found = seen.example_of(moment, purpose)
    if found is None:
        return (presses.command(moment, Command.MACHINE), presses.go_on_with_series(moment))
    lesson, example = found
    if purpose.why is Why.MYTH:
        return (presses.after_myth(moment, lesson), presses.outline(moment, lesson))
    place = _told_at(lesson, example)
    why = Choice(words.text("button.why"), go(place)) if place and place != moment.session.place else None
    go_on = Choice(words.text("button.go_on_reading"), encode(Op.COMMAND, Command.NEXT.value))
    return (why, go_on, presses.go_on_with_series(moment))


def _told_at(lesson: Lesson, example: Example) -> Place | None:
    """Give the stop that explains an example: the section that offers it, else the worked example."""
    for section in lesson.sections:
        place = Place(lesson.slug, Part.SECTION, section.id)
        if example in examples_at(lesson, place):
            return place
    return Place(lesson.slug, Part.STEPS) if lesson.worked.example == example.id else None
