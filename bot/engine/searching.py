"""The search for known mistakes in a submission: a run of its own, asked for by a tap, told with at most three of them.

Law: it is no attempt and grades nothing; only the submission and the starter's inputs are run, never the reference.
"""

from dataclasses import replace

from bot.engine import measured, outputs, presses, results, tasks
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Edit, Turn
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose
from bot.engine.replies import Choice, Heading, Paragraph, Text
from bot.engine.wording import inline
from sandbox_runner.protocol import Ending, Job, JobKind, Result


def finished(moment: Moment, result: Result, job: Job, purpose: Purpose, slot: str) -> Turn:
    """Tell which known mistakes were found in a submission, at most three, with its own lines; this is no attempt."""
    words = moment.words
    found = tasks.find(moment, purpose.item)
    title = inline(found[1].title) if found else ()
    own = tasks.submitted(job.source)
    last = own.count("\n") + 1
    mistakes = tuple(
        flag for flag in result.flags if "mistake" in flag.values and (flag.line is None or flag.line <= last)
    )
    told = measured.flags(moment, measured.in_words(moment, replace(result, flags=mistakes)))
    well = result.ending is Ending.OK
    task = presses.exercise(moment, *found) if found else presses.command(moment, Command.EXERCISE)
    first, *more = said(
        Heading((*words.say("exercise.to_improve"), Text(" "), *title)),
        *(() if well else (Paragraph(results.ending_of(moment, result)),)),
        *outputs.fault(moment, result, own),
        *(told or ((Paragraph(words.say("exercise.no_mistake")),) if well else ())),
        *buttons(task, presses.command(moment, Command.ATTEMPTS), columns=2),
    )
    return moment.turn(Edit(slot, first.reply), *more)


def offered(moment: Moment, job: Job, result: Result) -> Choice | None:
    """Offer the search where the results were right and no mistakes came with them."""
    told = any("mistake" in flag.values for flag in result.flags)
    able = moment.known.capabilities
    if told or not result.ratios or able is None or JobKind.TIME not in able.kinds:
        return None
    return Choice(moment.words.text("button.search"), encode(Op.AGAIN, job.id, tasks.SEARCH))
