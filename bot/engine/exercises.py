"""Exercises: the task, the starter, hints one by one; what is sent is run as the learner's own code.

Law: the reference never reaches a reply.
"""

from bot.engine import presses
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.buttons import Op, encode
from bot.engine.effects import Turn
from bot.engine.expects import EXERCISE
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.reading import code_shown
from bot.engine.replies import Choice, Choices, Heading, Number, Paragraph, Text
from bot.engine.wording import inline
from content.schema import Exercise, Lesson

_HINTS = ("_1", "_2", "_3")
"""Refs of the hint buttons; no lesson's name begins so."""


def find(moment: Moment, exercise_id: str) -> tuple[Lesson, Exercise] | None:
    """Give an exercise of the course by its id."""
    listed = ((lesson, task) for lesson in moment.course.lessons for task in lesson.exercises)
    return next((found for found in listed if found[1].id == exercise_id), None)


def shown(moment: Moment, lesson: Lesson, task: Exercise) -> Turn:
    """Show the task and its starter, and wait for code."""
    words = moment.words
    key = f"{lesson.slug}.exercise.{task.id}"
    visited = moment.session.visited
    moment = moment.changed(expects=EXERCISE + task.id, visited=visited if key in visited else (*visited, key))
    return moment.turn(
        *said(
            Heading(inline(task.title)),
            *paragraphs(task.task),
            *code_shown(moment, lesson, task.starter),
            Paragraph(words.say("exercise.goal", ratio=Number(f"{task.ratio:g}×"))),
            Paragraph(words.say("exercise.how")),
            *_ways_on(moment, lesson, task, 0),
        )
    )


def hinted(moment: Moment, ref: str, exercise_id: str) -> Turn | None:
    """Show the hint that a button names; None when it names none."""
    found = find(moment, exercise_id)
    if found is None or ref not in _HINTS:
        return None
    lesson, task = found
    index = _HINTS.index(ref)
    if index >= len(task.hints):
        return None
    moment = moment.changed(expects=EXERCISE + task.id)
    step = moment.words.say("quiz.hint", done=index + 1, total=len(task.hints))
    spans = (*step, Text(" "), *inline(task.hints[index]))
    return moment.turn(*said(Paragraph(spans), *_ways_on(moment, lesson, task, index + 1)))


def purpose(moment: Moment) -> Purpose:
    """Give what code sent now is for: the exercise shown last, or nothing but itself."""
    expects = moment.session.expects
    task = expects.removeprefix(EXERCISE) if expects.startswith(EXERCISE) else ""
    return Purpose(Why.EXERCISE, task) if task and find(moment, task) else Purpose()


def _ways_on(moment: Moment, lesson: Lesson, task: Exercise, seen: int) -> tuple[Choices, ...]:
    hint = (
        Choice(moment.words.text("button.hint"), encode(Op.EXERCISE, _HINTS[seen], task.id))
        if seen < len(task.hints)
        else None
    )
    return buttons(hint, presses.outline(moment, lesson))
