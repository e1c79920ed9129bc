"""Exercises: the task, the starter, a ladder of hints, and the solution for whoever gives up; `grading.py` grades.

Law: the reference reaches no reply before success or giving up; not knowing costs nothing.
"""

from bot.engine import asks, ladder, presses, tasks
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Effect, Record, Turn
from bot.engine.expects import EXERCISE, exercise_of, hints_of
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.reading import code_shown
from bot.engine.replies import Block, Choice, CodeBlock, Heading, Number, Paragraph, Text
from bot.engine.tries import GAVE_UP, Attempt, KeepAttempt
from bot.engine.wording import inline
from content.schema import Exercise, Lesson

_HINTS = ("_1", "_2", "_3")
"""Refs of the hint buttons; no lesson's name begins so."""
DONT_KNOW, SOLUTION = "_idk", "_sol"
_OWN_ERROR = 1
"""The hint that begins with what went wrong in the last attempt, counted from 0."""
_MEANT = {
    **dict.fromkeys(map(fold, ("لا أعرف", "لا أدري", "ما أعرف", "ما بعرف", "مش عارف", "dont know")), DONT_KNOW),
    **dict.fromkeys(map(fold, ("عرض الحل", "الحل", "أعرض الحل", "solution", "استسلام")), SOLUTION),
    **dict.fromkeys(
        map(
            fold,
            ("شو المطلوب", "ما المطلوب", "وش المطلوب", "إيش المطلوب", "المطلوب", "كيف أسلمه", "تسليم الحل"),
        ),
        "_task",
    ),
    **dict.fromkeys(map(fold, ("تلميح", "hint", "أعطني تلميحا", "تلميح آخر")), "_hint"),
}
"""Typed lines that mean one of the buttons under an exercise."""


def shown(moment: Moment, lesson: Lesson, task: Exercise) -> Turn:
    """Show the task and its starter, and wait for code."""
    words = moment.words
    key = f"{lesson.slug}.exercise.{task.id}"
    visited = moment.session.visited
    moment = moment.changed(expects=EXERCISE + task.id, visited=visited if key in visited else (*visited, key))
    standing = tasks.standing(moment, task)
    where = "exercise.solved_before" if standing.passed else "exercise.given_up_before" if standing.gave_up else ""
    return moment.turn(
        *said(
            Heading(inline(task.title)),
            *paragraphs(task.task),
            *code_shown(moment, lesson, task.starter),
            Paragraph(words.say("exercise.goal", ratio=Number(f"{task.ratio:g}×"))),
            Paragraph(words.say("exercise.how")),
            *((Paragraph(words.say(where)),) if where else ()),
            *_ways_on(moment, lesson, task),
        )
    )


def pressed(moment: Moment, ref: str, exercise_id: str) -> Turn:
    """Do what a button of an exercise asks for: a hint, the solution, not knowing, or the task itself."""
    found = tasks.find(moment, exercise_id)
    if found is None:
        return asks.refused(moment, "button.gone")
    lesson, task = found
    if ref in _HINTS:
        return _hinted(moment, lesson, task, _HINTS.index(ref))
    match ref:
        case "_idk":
            return _not_known(moment, lesson, task)
        case "_sol":
            return _solution(moment, lesson, task)
        case _:
            return shown(moment, lesson, task)


def typed(moment: Moment, text: str) -> Turn | None:
    """Read a line typed while code is expected; None when it means none of the buttons."""
    meant = _MEANT.get(fold(text))
    found = tasks.find(moment, exercise_of(moment.session.expects)) if meant else None
    if found is None or meant is None:
        return None
    seen = hints_of(moment.session.expects)
    return pressed(moment, _HINTS[min(seen, 2)] if meant == "_hint" else meant, found[1].id)


def purpose(moment: Moment) -> Purpose:
    """Give what code sent now is for: the exercise shown last, or nothing but itself."""
    task = exercise_of(moment.session.expects)
    return Purpose(Why.EXERCISE, task) if task and tasks.find(moment, task) else Purpose()


def _hinted(moment: Moment, lesson: Lesson, task: Exercise, index: int) -> Turn:
    words = moment.words
    if index >= len(task.hints):
        moment = _expecting(moment, task, len(task.hints))
        return moment.turn(*said(Paragraph(words.say("exercise.no_more_hints")), *_ways_on(moment, lesson, task)))
    moment = _expecting(moment, task, index + 1)
    step = words.say("quiz.hint", done=index + 1, total=len(task.hints))
    own = _own_error(moment, task) if index == _OWN_ERROR else ()
    spans = (*step, Text(" "), *inline(task.hints[index]))
    return moment.turn(*said(*own, Paragraph(spans), *_ways_on(moment, lesson, task)))


def _own_error(moment: Moment, task: Exercise) -> tuple[Block, ...]:
    """Say what went wrong in the learner's last attempt at this exercise, where one is known."""
    kept = (each.attempt for each in moment.known.tries.recent)
    last = next((each for each in kept if (each.exercise, each.rev) == (task.id, task.rev)), None)
    if last is None or last.passed or last.outcome == GAVE_UP:
        return ()
    words = moment.words
    key = f"attempt.{last.outcome}"
    outcome = words.say(key if words.has(key) else "attempt.failed")
    return (Paragraph(words.say("exercise.last_attempt", outcome=outcome)),)


def _not_known(moment: Moment, lesson: Lesson, task: Exercise) -> Turn:
    """Take "I don't know", which is no attempt: the next hint, or behind the last one the way to the solution."""
    expects = moment.session.expects
    seen = hints_of(expects) if exercise_of(expects) == task.id else 0
    note = said(Paragraph(moment.words.say("exercise.dont_know")))
    return _hinted(moment, lesson, task, seen).after(*note)


def _solution(moment: Moment, lesson: Lesson, task: Exercise) -> Turn:
    words = moment.words
    standing = tasks.standing(moment, task)
    if not ladder.may_be_shown(moment, task, standing):
        ways = _ways_on(moment, lesson, task)
        return moment.turn(*said(Paragraph(words.say("exercise.not_yet", n=tasks.FAILURES)), *ways))
    effects: tuple[Effect, ...] = ()
    if not (standing.passed or standing.gave_up):
        row = Attempt(moment.dice.identity(), task.id, task.rev, GAVE_UP)
        effects = (Record((KeepAttempt(row),)),)
    moment = moment.changed(expects=EXERCISE + task.id)
    told = "exercise.solution" if standing.passed else "exercise.gave_up"
    block = CodeBlock(tasks.solution(moment, lesson, task), "python", words.text("exercise.reference"))
    attempts = presses.command(moment, Command.ATTEMPTS)
    return moment.turn(
        *effects,
        *said(
            Heading(inline(task.title)),
            Paragraph(words.say(told)),
            block,
            *buttons(attempts, presses.outline(moment, lesson), columns=2),
        ),
    )


def _expecting(moment: Moment, task: Exercise, seen: int) -> Moment:
    """Wait for code of the exercise, with so many hints shown; fewer than before change nothing."""
    expects = moment.session.expects
    before = hints_of(expects) if exercise_of(expects) == task.id else 0
    return moment.changed(expects=f"{EXERCISE}{task.id}:{max(seen, before)}")


def _ways_on(moment: Moment, lesson: Lesson, task: Exercise) -> tuple[Block, ...]:
    words = moment.words
    standing = tasks.standing(moment, task)
    helps = ladder.helps(moment, task, standing)
    board = Choice(words.text("button.board"), encode(Op.BOARD, task.id))
    return (
        *ladder.price(moment, task, standing),
        *buttons(*helps, board, presses.outline(moment, lesson), columns=2),
    )
