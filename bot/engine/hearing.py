"""What a text means: a command, an answer, code, a number to go to, a question, or none of these.

Law: readings are tried from the surest to the vaguest, and the last one still says what was understood and what can be
done. What a learner wrote is shown back, if at all, as code and cut.
"""

from bot.engine import boards, code, commands, exercises, labels, obeying, practice, presses, pressing, reading
from bot.engine.answering import answerer, followups, glossary, inside, lastrun, learning, replying
from bot.engine.answering.bands import Band
from bot.engine.answering.manners import Talk
from bot.engine.bubbles import buttons, said
from bot.engine.commands import Command
from bot.engine.effects import Turn
from bot.engine.events import TextSent
from bot.engine.expects import ERASE, EXERCISE, LINK, NAME, PLAY, WHEN, Expects
from bot.engine.explorers import playing
from bot.engine.intake import reading as intake
from bot.engine.intake.types import Code, NotCode
from bot.engine.letters import count, stripped
from bot.engine.linking import asking as linking
from bot.engine.moment import Moment
from bot.engine.owned import erasing
from bot.engine.questions import OF_CODE, OF_TERM
from bot.engine.remembering import reporting
from bot.engine.reminders import asking as reminders
from bot.engine.replies import Code as CodeSpan
from bot.engine.replies import Paragraph

_ECHO = 40
"""Characters of a learner's text that are shown back."""
_PROSE_LINE = 200
"""Characters of a line beside code that are read."""


def heard(moment: Moment, event: TextSent) -> Turn:
    """Answer a text."""
    if not stripped(event.text).strip():
        return moment.turn(*said(Paragraph(moment.words.say("unknown.blank"))))
    kind = answerer.of(moment.course).manners.followup(event.text)
    carried = followups.carried_on(moment, kind) if kind else None
    if carried:
        return carried
    voted = labels.vote(moment, event.text)
    if voted:
        return pressing.pressed(moment, voted)
    said_command = commands.parse(event.text)
    if said_command:
        return _of_subject(moment, said_command) or obeying.obeyed(moment, said_command)
    label = labels.payload(moment, event.text)
    if label:
        return pressing.pressed(moment, label)
    found = intake.read_text(event.text, event.entities)
    expected = _expected(moment, event, is_code=isinstance(found, Code))
    if expected:
        return expected
    if not isinstance(found, NotCode):
        return code.taken(moment, found, measure=_asks_to_measure(event.text))
    return _prose(moment, stripped(event.text).strip())


def _of_subject(moment: Moment, asked: commands.Said) -> Turn | None:
    """Answer what asks for a lesson by a subject («درس البث»); None when it names a lesson or nothing known."""
    name = asked.argument
    if asked.command is not Command.LESSON or asked.slashed or not name or commands.ordinal(name) is not None:
        return None
    if obeying.lesson_meant(moment, name) or commands.step(name, 1, 1) is not None:
        return None
    meaning = glossary.defined(moment, name)
    if meaning:
        return learning.beside(moment, name, meaning, OF_TERM)
    known = answerer.of(moment.course).ask(name).band is not Band.REFUSE
    return replying.answered(moment, name) if known else None


def _expected(moment: Moment, event: TextSent, *, is_code: bool) -> Turn | None:
    """Read the text as what the last reply asked for; None when it is not that."""
    match moment.session.expects:
        case Expects.ANSWER:
            fenced = "`" in event.text or "\n" in event.text.strip() or any(e.kind == "pre" for e in event.entities)
            manners = answerer.of(moment.course).manners
            asks = manners.asks(event.text) or manners.talk(event.text) is not None
            return practice.typed(moment, event.text, only_right=asks or (is_code and fenced))
        case waits if waits.startswith(EXERCISE):
            return exercises.typed(moment, event.text)
        case waits if waits.startswith(NAME):
            return None if "\n" in event.text.strip() else boards.named(moment, event.text)
        case waits if waits.startswith(reporting.REPORT):
            return reporting.typed(moment, event.text)
        case waits if waits.startswith(WHEN):
            return None if is_code else reminders.typed(moment, event.text)
        case waits if waits.startswith(LINK):
            return linking.typed(moment, event.text)
        case waits if waits.startswith(ERASE):
            return erasing.typed(moment, event.text)
        case waits if waits.startswith(PLAY):
            lesson = moment.lesson(waits.removeprefix(PLAY))
            return playing.typed(moment, lesson, event.text) if lesson else None
        case _:
            return None


def _asks_to_measure(text: str) -> bool:
    """Tell whether the line before or behind code asks for its time."""
    lines = [line for line in text.splitlines() if line.strip()]
    ends = {lines[0], lines[-1]} if lines else set()
    return any(commands.asks_for_time(line.partition("```")[0][:_PROSE_LINE]) for line in ends)


def _prose(moment: Moment, text: str) -> Turn:
    place_number = count(text)
    if place_number is not None:
        return _numbered(moment, place_number)
    lesson = obeying.lesson_named(moment, text) if text else None
    if lesson:
        return reading.outline(moment, lesson)
    manners = answerer.of(moment.course).manners
    talk = manners.talk(text)
    if talk and not answerer.of(moment.course).ask(text).terms.own:
        return _talked(moment, talk)
    meaning = glossary.defined(moment, text)
    if meaning:
        return learning.beside(moment, text, meaning, OF_TERM)
    vague = manners.followup(text) in {"why", "more", "simple"}
    near = None if vague or manners.asks(text) or glossary.of(moment.course).named(text) else commands.nearest(text)
    if near:
        return _suggested(moment, text, near)
    measured = inside.offered(moment, text)
    if measured:
        return learning.beside(moment, text, measured, OF_CODE)
    of_run = lastrun.answered(moment, text)
    if vague and not of_run:
        return followups.of_what(moment)
    return of_run or replying.answered(moment, text)


def _talked(moment: Moment, talk: Talk) -> Turn:
    words = moment.words
    go_on = presses.go_on_with_series(moment)
    map_too = presses.command(moment, Command.MAP) if talk in {"greeting", "who"} else None
    sentence = Paragraph(words.say(f"talk.{talk}"))
    return moment.turn(*said(sentence, *replying.still_open(moment), *buttons(go_on, map_too)))


def _numbered(moment: Moment, place_number: int) -> Turn:
    if moment.session.place is None and moment.course.lessons:
        return obeying.obeyed(moment, commands.Said(Command.LESSON, str(place_number)))
    return reading.jumped(moment, place_number)


def _suggested(moment: Moment, text: str, near: Command) -> Turn:
    words = moment.words
    sentence = words.say("unknown.near", text=CodeSpan(text[:_ECHO]), command=words.text(f"button.{near}"))
    help_too = presses.command(moment, Command.HELP) if near is not Command.HELP else None
    choices = buttons(presses.command(moment, near), help_too, columns=2)
    return moment.turn(*said(Paragraph(sentence), *choices))
