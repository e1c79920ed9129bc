"""What each button does.

Law: a payload is untrusted and may be years old: whatever does not lead anywhere any more is refused kindly and changes
nothing.
"""

from typing import assert_never

from bot.engine import (
    asks,
    boards,
    buttons,
    cards,
    code,
    course_map,
    exercises,
    myths,
    obeying,
    practice,
    reading,
    runs,
)
from bot.engine.answering import learning
from bot.engine.buttons import Button, Op
from bot.engine.commands import Command, Said
from bot.engine.course_map import Part
from bot.engine.effects import Turn
from bot.engine.explorers import playing
from bot.engine.moment import Moment
from bot.engine.owned import obeying as owned
from bot.engine.remembering import obeying as remembering
from bot.engine.session import Place


def pressed(moment: Moment, payload: str) -> Turn:
    """Answer a press."""
    button = buttons.parse(payload)
    if button is None:
        return asks.refused(moment, "button.outdated")
    match button.op:
        case Op.GO:
            return _gone(moment, button)
        case Op.ANSWER:
            return _answered(moment, button)
        case Op.CANCEL | Op.AGAIN:
            return runs.again(moment, button.option) if button.op is Op.AGAIN else runs.cancelled(moment, button.ref)
        case Op.ACCEPT:
            return code.decided(moment, button.ref, button.option)
        case Op.REMIND | Op.ERASE | Op.LINK:
            return owned.pressed(moment, button)
        case Op.COMMAND | Op.GROUP:
            return _commanded(moment, button)
        case Op.REVIEW | Op.REPORT:
            return remembering.pressed(moment, button)
        case Op.BOARD:
            return boards.pressed(moment, button.ref, button.option)
        case Op.EXAMPLE | Op.EXERCISE:
            return _of_an_id(moment, button)
        case Op.QUIZ | Op.CARDS | Op.MYTHS | Op.EXPLORE:
            return _of_a_lesson(moment, button)
        case never:
            assert_never(never)


def _commanded(moment: Moment, button: Button) -> Turn:
    if button.op is Op.GROUP:
        return obeying.obeyed(moment, Said(Command.GROUP))
    known = button.ref in set(Command)
    return obeying.obeyed(moment, Said(Command(button.ref))) if known else asks.refused(moment, "button.outdated")


def _gone(moment: Moment, button: Button) -> Turn:
    place = course_map.place_of(button.ref, button.option)
    if place is None:
        return asks.refused(moment, "button.outdated")
    return learning.opened(moment, place, reading.opened(moment, place))


def _answered(moment: Moment, button: Button) -> Turn:
    name, tries = buttons.ask_of(button.ref)
    ask = moment.known.ask if moment.known.ask and moment.known.ask.id == name else None
    fault = asks.fault(moment, ask)
    if fault or ask is None:
        return asks.refused(moment, fault or "ask.unknown")
    match ask.kind:
        case "item":
            return practice.pressed(moment, ask, button.option, tries)
        case "card":
            return cards.answered(moment, ask, button.option)
        case "myth":
            return myths.answered(moment, ask, button.option)
        case never:
            assert_never(never)


def _of_an_id(moment: Moment, button: Button) -> Turn:
    if button.op is Op.EXERCISE:
        return exercises.pressed(moment, button.ref, button.option)
    listed = ((lesson, example) for lesson in moment.course.lessons for example in lesson.examples)
    example = next((pair for pair in listed if pair[1].id == button.option), None)
    return obeying.example_run(moment, *example) if example else asks.refused(moment, "button.gone")


def _of_a_lesson(moment: Moment, button: Button) -> Turn:
    lesson = moment.lesson(button.ref)
    if lesson is None:
        return asks.refused(moment, "button.gone")
    match button.op:
        case Op.QUIZ:
            return practice.begun(moment, lesson)
        case Op.CARDS:
            return cards.begun(moment, lesson)
        case Op.MYTHS:
            return myths.begun(moment, lesson)
        case _ if button.option:
            return playing.shown(moment, lesson, button.option)
        case _:
            return reading.opened(moment, Place(lesson.slug, Part.EXPLORER))
