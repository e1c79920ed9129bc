"""What each command does."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from bot.engine import (
    attempts,
    boards,
    cards,
    code,
    course_map,
    exercises,
    help,  # noqa: A004
    myths,
    practice,
    presses,
    reading,
    runs,
)
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command, Said, ordinal, step
from bot.engine.course_map import Part
from bot.engine.effects import CancelRun, Turn
from bot.engine.expects import Expects
from bot.engine.explorers import playing
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.owned import obeying as owned
from bot.engine.purposes import Purpose, Why
from bot.engine.remembering import obeying as remembering
from bot.engine.replies import Choice, Code, Paragraph
from bot.engine.session import Place
from bot.engine.teaching import telling
from content.schema import Example, Exercise, Lesson

_LESSON_LINK, _SECTION_LINK, _ITEM_LINK = "lesson-", "section-", "item-"
"""What a link into the chat begins with; the id behind it is forgeable, and leads to what is shown to everybody."""
_NO_EXAMPLE = ("example.unknown", "example.unnamed")
_NO_EXERCISE = ("exercise.unknown", "exercise.unnamed")
"""What is said of a number, and of a name, that is none in a lesson."""
_MOST_NAMED = 40
"""Characters of a name that is not known which are said again."""
_OneT = TypeVar("_OneT", Example, Exercise)


def obeyed(moment: Moment, command: Said) -> Turn:
    """Do what was asked for in words or by a command's button."""
    match command.command:
        case Command.HELP | Command.WHERE:
            return help.helped(moment) if command.command is Command.HELP else help.located(moment)
        case Command.MAP:
            return moment.turn(*course_map.course_map(moment))
        case Command.LESSON:
            return _lesson(moment, command.argument)
        case Command.NEXT | Command.BACK:
            return reading.moved(moment, 1 if command.command is Command.NEXT else -1)
        case Command.CANCEL | Command.START:
            return cancelled(moment) if command.command is Command.CANCEL else _started(moment, command.argument)
        case Command.TIME | Command.RUN:
            return _code_wanted(moment, command.command)
        case Command.ATTEMPTS | Command.BOARD:
            return attempts.listed(moment) if command.command is Command.ATTEMPTS else _board(moment, command.argument)
        case Command.REVIEW | Command.PROGRESS | Command.PLACEMENT | Command.CAP:
            return remembering.obeyed(moment, command)
        case Command.TEACHER:
            return telling.asked(moment)
        case Command.MACHINE | Command.PRIVACY | Command.EXPORT | Command.DELETE | Command.REMIND | Command.LINK:
            return owned.obeyed(moment, command)
        case Command.GROUP:
            return moment.turn(*said(Paragraph(moment.words.say("group.for_groups"))))
        case _:
            return _in_lesson(moment, command)


def lesson_named(moment: Moment, name: str) -> Lesson | None:
    """Find a lesson by its number, slug or title, or by words that only one title holds."""
    number = ordinal(name)
    lessons = moment.course.lessons
    if number is not None:
        return lessons[number - 1] if 1 <= number <= len(lessons) else None
    folded = fold(name)
    exact = next((lesson for lesson in lessons if folded in {fold(lesson.slug), fold(lesson.title)}), None)
    if exact or not folded:
        return exact
    holding = [lesson for lesson in lessons if f" {folded} " in f" {fold(lesson.title)} "]
    return holding[0] if len(holding) == 1 else None


def lesson_meant(moment: Moment, name: str) -> Lesson | None:
    """Find a lesson by what `lesson_named` reads, or by where it stands from the one at hand."""
    here, lessons = moment.here(), moment.course.lessons
    number = step(name, lessons.index(here) + 1, len(lessons)) if here else None
    if number is None:
        return lesson_named(moment, name)
    return lessons[number - 1] if 1 <= number <= len(lessons) else None


def cancelled(moment: Moment) -> Turn:
    """Stop every run under way and forget code that waits; a series is left in the middle, and stays."""
    running = moment.session.running
    words = moment.words
    moment, dropped = code.cancelled(moment)
    waited = moment.session.expects
    moment = moment.changed(expects=Expects.NOTHING.value)
    if running:
        stops = tuple(CancelRun(run) for run in running)
        return moment.turn(*stops, *dropped, *said(Paragraph(words.say("run.cancel_sent"))))
    if dropped:
        return moment.turn(*dropped)
    go_on = presses.go_on_with_series(moment)
    key = "cancel.series_stays" if go_on else "cancel.waiting_over" if waited else "cancel.nothing"
    return moment.turn(*said(Paragraph(words.say(key)), *buttons(go_on, presses.command(moment, Command.MAP))))


def example_run(moment: Moment, lesson: Lesson, example: Example) -> Turn:
    """Run or measure an example of a lesson."""
    asked = runs.of_example(moment, lesson.slug, example, Purpose(Why.EXAMPLE, example.id))
    return runs.started(moment, asked, presses.run_example(moment, lesson, example))


def _started(moment: Moment, argument: str) -> Turn:
    return _linked(moment.changed(greeted=True), argument) or help.greeted(moment)


def _linked(moment: Moment, argument: str) -> Turn | None:
    """Follow a link to a lesson, a section or a question; None when it leads nowhere."""
    if argument.startswith(_LESSON_LINK):
        lesson = moment.lesson(argument.removeprefix(_LESSON_LINK))
        return reading.outline(moment, lesson) if lesson else None
    for lesson in moment.course.lessons:
        if argument.removeprefix(_SECTION_LINK) in {section.id for section in lesson.sections}:
            return reading.opened(moment, Place(lesson.slug, Part.SECTION, argument.removeprefix(_SECTION_LINK)))
        if argument.removeprefix(_ITEM_LINK) in {item.id for item in lesson.check}:
            return practice.begun_with(moment, lesson, argument.removeprefix(_ITEM_LINK))
    return None


def _lesson(moment: Moment, argument: str) -> Turn:
    lesson = lesson_meant(moment, argument) if argument else moment.here()
    if lesson:
        return reading.outline(moment, lesson)
    note = said(Paragraph(moment.words.say("lesson.unknown", last=len(moment.course.lessons))))
    return moment.turn(*note, *course_map.course_map(moment))


def _code_wanted(moment: Moment, command: Command) -> Turn:
    words = moment.words
    last = moment.session.last_run
    option = (Expects.TIME if command is Command.TIME else Expects.RUN).value
    key = "button.time_last" if command is Command.TIME else "button.run_last"
    again = Choice(words.text(key), encode(Op.AGAIN, last, option)) if last else None
    moment = moment.changed(expects=option)
    return moment.turn(*said(Paragraph(words.say(f"code.wanted_{option}")), *buttons(again)))


def _in_lesson(moment: Moment, command: Said) -> Turn:
    lesson = moment.here()
    if lesson is None:
        return moment.turn(*course_map.course_map(moment))
    match command.command:
        case Command.QUIZ:
            return practice.begun(moment, lesson)
        case Command.CARDS:
            return cards.begun(moment, lesson)
        case Command.MYTHS:
            return myths.begun(moment, lesson)
        case Command.EXAMPLE:
            if meant := _named(moment, lesson, lambda each: each.examples, command.argument):
                return example_run(moment, *meant)
            if command.argument:
                choices = tuple(presses.run_example(moment, lesson, example) for example in lesson.examples)
                return _none_such(moment, _NO_EXAMPLE, command.argument, choices)
            return example_run(moment, lesson, _example_at_hand(moment, lesson))
        case Command.EXERCISE:
            if wanted := _named(moment, lesson, lambda each: each.exercises, command.argument or "1"):
                return exercises.shown(moment, *wanted)
            listed = tuple(presses.exercise(moment, lesson, task) for task in lesson.exercises)
            return _none_such(moment, _NO_EXERCISE, command.argument, listed)
        case Command.EXPLORE:
            place = Place(lesson.slug, Part.EXPLORER)
            typed = command.argument
            return playing.shown(moment, lesson, typed) if typed else reading.opened(moment, place)
        case _:
            return help.helped(moment)


def _named(
    moment: Moment, lesson: Lesson, listed: Callable[[Lesson], Sequence[_OneT]], argument: str
) -> tuple[Lesson, _OneT] | None:
    """Find one of a lesson's by its place in the row or its title, and one of any lesson's by its id."""
    number, folded = ordinal(argument) if argument else None, fold(argument)
    own = listed(lesson)
    if number is not None:
        return (lesson, own[number - 1]) if 1 <= number <= len(own) else None
    for each in (lesson, *moment.course.lessons) if folded else ():
        for one in listed(each):
            if folded == fold(one.id) or (each is lesson and folded == fold(one.title)):
                return each, one
    return None


def _none_such(moment: Moment, keys: tuple[str, str], argument: str, choices: tuple[Choice, ...]) -> Turn:
    """Say that nothing in the lesson has this number or name, and which there are."""
    number = ordinal(argument)
    if number is None:
        note = moment.words.say(keys[1], name=Code(argument[:_MOST_NAMED]))
    else:
        note = moment.words.say(keys[0], n=len(choices), number=number)
    return moment.turn(*said(Paragraph(note), *buttons(*choices)))


def _board(moment: Moment, argument: str) -> Turn:
    """Show the board of the exercise with a number in the lesson at hand, or of the one at hand."""
    lesson = moment.here()
    if lesson is None or not argument or ordinal(argument) is None:
        return boards.at_hand(moment)
    meant = _named(moment, lesson, lambda each: each.exercises, argument)
    if meant is None:
        return _none_such(moment, _NO_EXERCISE, argument, boards.choices(moment, lesson))
    return boards.pressed(moment, meant[1].id, "")


def _example_at_hand(moment: Moment, lesson: Lesson) -> Example:
    """Choose the example that is meant where none is named: the one at hand, else the lesson's worked one."""
    place = moment.session.place
    near = reading.examples_at(lesson, place) if place in course_map.stops(lesson) and place else ()
    worked = [example for example in lesson.examples if example.id == lesson.worked.example]
    return (*near, *worked, *lesson.examples)[0]
