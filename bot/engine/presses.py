"""The buttons that many replies share: labels from the phrases, payloads that fit.

Law: every payload made here is one that `pressing.py` leads somewhere. A lesson's name is left out of a payload where
a long id leaves no room; ids are unique in the course.
"""

import re

from bot.engine import buttons
from bot.engine.buttons import Op
from bot.engine.commands import Command
from bot.engine.course_map import Part, go, label
from bot.engine.effects import Ask
from bot.engine.moment import Moment
from bot.engine.replies import Choice
from bot.engine.session import Place
from bot.engine.wording import inline, plain
from content.schema import Example, Exercise, Lesson

DONT_KNOW = "_skip"
HINT = "_hint"
FLIP = "_flip"
KNEW = "_knew"
MISSED = "_missed"
HARD = "_hard"
EASY = "_easy"
CONFIRM = "_done"
"""Options that no id can be: ids begin with a letter."""


def fitting(op: Op, ref: str, option: str) -> str:
    """Write a payload, without its ref where both are too long."""
    whole = len(f"1:{op.value}:{ref}:{option}") <= buttons.LIMIT
    return buttons.encode(op, ref if whole else "", option)


def command(moment: Moment, what: Command) -> Choice:
    """Give the button of a command."""
    return Choice(moment.words.text(f"button.{what}"), buttons.encode(Op.COMMAND, what.value))


def to_place(moment: Moment, lesson: Lesson, place: Place) -> Choice:
    """Give the button that leads to a place, labelled with its title."""
    return Choice(label(moment, lesson, place), go(place))


def outline(moment: Moment, lesson: Lesson) -> Choice:
    """Give the button to a lesson's list of stops."""
    return Choice(moment.words.text("button.outline"), go(Place(lesson.slug, Part.OUTLINE)))


def run_example(moment: Moment, lesson: Lesson, example: Example) -> Choice:
    """Give the button that runs or measures an example."""
    key = "button.time_example" if example.kind == "time" else "button.run_example"
    title = plain(inline(example.title))
    return Choice(moment.words.text(key, title=title), fitting(Op.EXAMPLE, lesson.slug, example.id))


def exercise(moment: Moment, lesson: Lesson, task: Exercise) -> Choice:
    """Give the button that shows an exercise."""
    title = plain(inline(task.title))
    return Choice(moment.words.text("button.one_exercise", title=title), fitting(Op.EXERCISE, lesson.slug, task.id))


def doors(moment: Moment, lesson: Lesson) -> tuple[Choice, ...]:
    """Give the buttons to what follows the reading: myths, check, cards, exercises."""
    words = moment.words
    return (
        Choice(words.text("button.myths"), buttons.encode(Op.MYTHS, lesson.slug)),
        Choice(words.text("button.quiz"), buttons.encode(Op.QUIZ, lesson.slug)),
        Choice(words.text("button.cards"), buttons.encode(Op.CARDS, lesson.slug)),
        *(exercise(moment, lesson, task) for task in lesson.exercises),
    )


def go_on_with_series(moment: Moment) -> Choice | None:
    """Give the button back to a series left in the middle, where there is one."""
    series = moment.session.series
    if series is None or not series.ahead:
        return None
    if series.kind == "placement":
        return Choice(moment.words.text("button.go_on_placement"), buttons.encode(Op.COMMAND, Command.PLACEMENT.value))
    op = {"check": Op.QUIZ, "cards": Op.CARDS, "myths": Op.MYTHS, "review": Op.REVIEW}.get(series.kind)
    key = f"button.go_on_{series.kind}"
    return Choice(moment.words.text(key), buttons.encode(op, series.lesson)) if op else None


def after_myth(moment: Moment, lesson: Lesson) -> Choice:
    """Give the button behind a myth card: to the next one, or, behind the last, to the check."""
    series = moment.session.series
    if series is not None and (series.kind, series.lesson) == ("myths", lesson.slug) and series.ahead:
        return Choice(moment.words.text("button.next_myth"), buttons.encode(Op.MYTHS, lesson.slug))
    return Choice(moment.words.text("button.quiz"), buttons.encode(Op.QUIZ, lesson.slug))


def mark(what: str, at: int) -> str:
    """Write the option that marks the place `at` of an ask's options; it says what is to be, so that it counts once."""
    return f"_{what}.{at}"


def marking(option: str) -> tuple[str, int] | None:
    """Read what `mark` wrote; None when it is another option."""
    what, dot, at = option.removeprefix("_").partition(".")
    return (what, int(at)) if option.startswith("_") and dot and re.fullmatch(r"\d{1,2}", at, re.ASCII) else None


def seen(ask: Ask) -> str:
    """Give the ask as an answer's button names it: with the tries that were spent when it was shown."""
    return f"{ask.id}{ask.tries}" if ask.tries else ask.id


def report(moment: Moment, item: str) -> Choice:
    """Give the button by which a mistake in a card or item is told to the teacher."""
    return Choice(moment.words.text("button.report"), buttons.encode(Op.REPORT, item))


def answer(text: str, ask: str, option: str) -> Choice:
    """Give the button of one option of an ask."""
    return Choice(text, buttons.encode(Op.ANSWER, ask, option))
