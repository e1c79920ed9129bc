"""The ladder under an exercise: the next hint, not knowing, and the solution once it may be shown.

Law: what showing the solution costs is said beside its button.
"""

from bot.engine import tasks
from bot.engine.buttons import Op, encode
from bot.engine.expects import EXERCISE, exercise_of, hints_of
from bot.engine.moment import Moment
from bot.engine.replies import Block, Choice, Paragraph
from bot.engine.tries import Standing
from content.schema import Exercise


def helps(moment: Moment, task: Exercise, standing: Standing) -> tuple[Choice | None, ...]:
    """Give the buttons to the next hint, to not knowing, and to the solution once it may be shown."""
    words = moment.words
    expects = moment.session.expects
    seen = hints_of(expects) if exercise_of(expects) == task.id else 0
    left = seen < len(task.hints)
    hint = Choice(words.text("button.hint"), encode(Op.EXERCISE, f"_{seen + 1}", task.id)) if left else None
    dont_know = Choice(words.text("button.dont_know"), encode(Op.EXERCISE, "_idk", task.id))
    open_to = may_be_shown(moment, task, standing)
    solution = Choice(words.text("button.solution"), encode(Op.EXERCISE, "_sol", task.id)) if open_to else None
    return hint, (None if solution else dont_know), solution


def price(moment: Moment, task: Exercise, standing: Standing) -> tuple[Block, ...]:
    """Say beside the button of the solution what pressing it means; nothing where it is not there or means nothing."""
    gives_up = may_be_shown(moment, task, standing) and not (standing.passed or standing.gave_up)
    return (Paragraph(moment.words.say("exercise.giving_up")),) if gives_up else ()


def may_be_shown(moment: Moment, task: Exercise, standing: Standing) -> bool:
    """Tell whether the solution may be shown: after success, two failures, or the last hint."""
    earned = standing.passed or standing.gave_up or standing.failures >= tasks.FAILURES
    expects = moment.session.expects
    return earned or (expects.startswith(f"{EXERCISE}{task.id}:") and hints_of(expects) >= len(task.hints))
