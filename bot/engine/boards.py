"""The board of best ratios, one an exercise and machine: shown, joined under a name of one's own, left with one tap.

Law: only who chose a name is on it; the store ranks only runs that passed and that the outer clock confirmed.
"""

from itertools import groupby

from bot.engine import asks, grading, names, presses, tasks
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Record, Turn
from bot.engine.expects import EXERCISE, NAME, Expects, exercise_of
from bot.engine.figures import interval, within
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Choice, Code, Heading, Number, Paragraph, Spans, Strong, Text
from bot.engine.tries import DropName, Ranked, TakeName
from bot.engine.wording import inline
from content.schema import Exercise, Lesson

JOIN, LEAVE = "_join", "_leave"


def at_hand(moment: Moment) -> Turn:
    """Show the board of the exercise at hand, or offer those of the exercises tried or of the lesson."""
    found = tasks.find(moment, exercise_of(moment.session.expects))
    if found:
        return _shown(moment, *found)
    tried = dict.fromkeys(kept.attempt.exercise for kept in moment.known.tries.recent)
    lesson = moment.here()
    pairs = [pair for each in tried if (pair := tasks.find(moment, each))]
    offered = tuple(_choice(moment, task) for _, task in pairs) or (choices(moment, lesson) if lesson else ())
    return moment.turn(*said(Paragraph(moment.words.say("board.which")), *buttons(*offered)))


def choices(moment: Moment, lesson: Lesson) -> tuple[Choice, ...]:
    """Give the buttons to the boards of a lesson's exercises."""
    return tuple(_choice(moment, task) for task in lesson.exercises)


def _choice(moment: Moment, task: Exercise) -> Choice:
    return Choice(_title(moment, task), encode(Op.BOARD, task.id))


def pressed(moment: Moment, exercise_id: str, option: str) -> Turn:
    """Do what a button of the board asks for."""
    found = tasks.find(moment, exercise_id)
    if option == LEAVE:
        return _left(moment)
    if found is None:
        return asks.refused(moment, "button.gone")
    return _asked_for_a_name(moment, found[1]) if option == JOIN else _shown(moment, *found)


def named(moment: Moment, text: str) -> Turn:
    """Take the name that was typed, or say what is wrong with it and wait for another."""
    words = moment.words
    name = names.chosen(text)
    if name.fault:
        sign: Spans = (Code(name.sign),) if name.sign else ()
        return moment.turn(*said(Paragraph(words.say(f"name.{name.fault}", sign=sign, most=names.LONGEST))))
    if moment.known.tries.taken:
        return moment.turn(*said(Paragraph(words.say("name.taken", name=name.text))))
    exercise = moment.session.expects.removeprefix(NAME)
    found = tasks.find(moment, exercise)
    moment = moment.changed(expects=EXERCISE + exercise if found else Expects.NOTHING.value)
    show = Choice(words.text("button.board"), encode(Op.BOARD, exercise)) if found else None
    leave = Choice(words.text("button.leave_board"), encode(Op.BOARD, exercise if found else "", LEAVE))
    return moment.turn(
        Record((TakeName(name.text, names.likeness(name.text)),)),
        *said(Paragraph(words.say("board.joined", name=name.text)), *buttons(show, leave, columns=2)),
    )


def _asked_for_a_name(moment: Moment, task: Exercise) -> Turn:
    moment = moment.changed(expects=NAME + task.id)
    return moment.turn(*said(Paragraph(moment.words.say("board.name_wanted", most=names.LONGEST))))


def _left(moment: Moment) -> Turn:
    words = moment.words
    if not moment.known.tries.name:
        return moment.turn(*said(Paragraph(words.say("board.not_on"))))
    gone = Paragraph(words.say("board.left"))
    return moment.turn(Record((DropName(),)), *said(gone, *buttons(presses.command(moment, Command.MAP))))


def _shown(moment: Moment, lesson: Lesson, task: Exercise) -> Turn:
    words = moment.words
    own = moment.known.tries.name
    join = Choice(words.text("button.join_board"), encode(Op.BOARD, task.id, JOIN))
    rename = Choice(words.text("button.rename_on_board"), encode(Op.BOARD, task.id, JOIN))
    leave = Choice(words.text("button.leave_board"), encode(Op.BOARD, task.id, LEAVE))
    ways = (rename, leave) if own else (join,)
    stands = words.say("board.on_as", name=own) if own else words.say("board.opt_in")
    return moment.turn(
        *said(
            Heading((*words.say("board.title"), Text(" "), *inline(task.title))),
            *(_lines(moment) or (Paragraph(words.say("board.empty")),)),
            Paragraph(words.say("board.law")),
            Paragraph(stands),
            *buttons(*ways, presses.exercise(moment, lesson, task)),
        )
    )


def _lines(moment: Moment) -> tuple[Block, ...]:
    """Give the board's lines machine by machine, the machine at hand first."""
    able = moment.known.capabilities
    here = {grading.machine_of(able.machine, device.value) for device in able.devices} if able else set()
    rows = sorted(moment.known.tries.board, key=lambda row: (row.machine not in here, row.machine, row.rank))
    blocks: list[Block] = []
    for machine, ranked in groupby(rows, key=lambda row: row.machine):
        blocks.append(Paragraph(moment.words.say("board.machine", machine=Code(machine))))
        blocks.append(Bullets(tuple(_line(moment, row) for row in ranked)))
    return tuple(blocks)


def _line(moment: Moment, row: Ranked) -> Spans:
    ratio = Number(f"{within(row.ratio, row.low, row.high)}×")
    mine = (Text(" "), *moment.words.say("board.mine")) if row.mine else ()
    ends = Number(interval(row.low, row.high))
    rank = Number(f"{row.rank}.")
    line = moment.words.say("board.line", rank=rank, name=Strong(row.name), ratio=ratio, interval=ends)
    return (*line, *mine)


def _title(moment: Moment, task: Exercise) -> str:
    return moment.words.text("board.of", title=inline(task.title))
