"""Code written as the answer to an open question: sent with its check behind it, and graded by what that prints.

Law: a run that does not reach the end of the check costs nothing, and a result that comes after the question was closed
changes nothing.
"""

from dataclasses import replace

from bot.engine import asks, buttons, outputs, practice, presses, results
from bot.engine.effects import Ask, Edit, Turn
from bot.engine.expects import Expects
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.quizzes import written
from bot.engine.replies import Block, CodeBlock, Heading, Paragraph, Reply
from content.schema import WriteCode
from sandbox_runner.protocol import Ending, Result


def to_run(moment: Moment, source: str) -> tuple[str, Purpose] | None:
    """Give what is to be run for code that answers the open question; None when none waits for code."""
    ask = moment.known.ask
    item = _item(moment, ask) if moment.session.expects == Expects.ANSWER else None
    if ask is None or item is None:
        return None
    check = moment.course.files.get(f"{ask.lesson}/{item.check}", "")
    mark = moment.dice.identity()
    return written.composed(source, check, mark), Purpose(Why.ITEM, presses.seen(ask), mark)


def finished(moment: Moment, result: Result, source: str, purpose: Purpose, slot: str) -> Turn:
    """Tell the end of a run that answers a question, and grade it where the question is still open."""
    words = moment.words
    parted = written.parted(result.stdout, purpose.vote)
    own = replace(result, stdout=parted[0]) if parted else result
    blocks: tuple[Block, ...] = (
        Heading(words.say("quiz.code_run")),
        *(() if result.ending is Ending.OK and parted else (Paragraph(results.ending_of(moment, result)),)),
        *outputs.fault(moment, result, source),
        *outputs.streams(moment, own),
        *outputs.notes(moment, result),
    )
    ask = moment.known.ask
    item = _item(moment, ask)
    name, tries = buttons.ask_of(purpose.item)
    if ask is None or item is None or ask.id != name:
        return moment.turn(Edit(slot, Reply((*blocks, Paragraph(words.say("quiz.code_late"))))))
    if result.ending is not Ending.OK or parted is None:
        return moment.turn(Edit(slot, Reply((*blocks, Paragraph(words.say("quiz.code_not_counted"))))))
    if tries != ask.tries:
        return moment.turn(Edit(slot, Reply((*blocks, Paragraph(words.say("quiz.code_meanwhile"))))))
    printed = parted[1]
    shown = CodeBlock(outputs.middle_cut(printed.rstrip("\n")), "text", words.text("quiz.code_printed"))
    expected = moment.course.files.get(f"{ask.lesson}/{item.expect}", "")
    graded = practice.written(moment, ask, written.own_of(source, purpose.vote), written.grade(item, printed, expected))
    return graded.after(Edit(slot, Reply((*blocks, shown))))


def _item(moment: Moment, ask: Ask | None) -> WriteCode | None:
    """Give the item of an ask that takes an answer now, where that is written code."""
    if ask is None or ask.kind != "item" or asks.fault(moment, ask):
        return None
    lesson = moment.lesson(ask.lesson)
    item = asks.find(lesson, "item", ask.item) if lesson else None
    return item if isinstance(item, WriteCode) else None
