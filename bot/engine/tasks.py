"""The exercises of the course: found by id, handed to the runner, and where the learner stands in one.

Law: the reference leaves here inside a job, or as the solution once it was earned or given up for; nowhere else.
"""

import re

from bot.engine.moment import Moment
from bot.engine.purposes import Asked, Purpose, Why
from bot.engine.tries import Standing
from content.schema import Exercise, Lesson
from sandbox_runner import protocol
from sandbox_runner.protocol import Budget, JobKind

FAILURES = 2
"""Failed attempts after which the solution may be shown."""
SEARCH = "search"
"""The mark of a run that looks for known mistakes in a submission."""
_BEHIND = "_tasree_task = "
"""Begins what stands behind a submission that is looked through, so that its own lines keep their numbers."""
_SOLVE = re.compile(r"^(?:def[ \t]+solve\b|solve\b[ \t]*[=:]|.*\bimport\b.*\bsolve\b)", re.MULTILINE)


def find(moment: Moment, exercise_id: str) -> tuple[Lesson, Exercise] | None:
    """Give an exercise of the course by its id."""
    listed = ((lesson, task) for lesson in moment.course.lessons for task in lesson.exercises)
    return next((found for found in listed if found[1].id == exercise_id), None)


def standing(moment: Moment, task: Exercise) -> Standing:
    """Give where the learner stands, as it was loaded."""
    return moment.known.tries.standings.get((task.id, task.rev), Standing())


def solves(source: str) -> bool:
    """Tell whether code defines `solve`, so that it can be held against an exercise."""
    return _SOLVE.search(source) is not None


def graded(moment: Moment, exercise_id: str, source: str, filename: str, budget: Budget) -> Asked | None:
    """Give what grades a submission; None when the course has no such exercise."""
    found = find(moment, exercise_id)
    if found is None:
        return None
    lesson, task = found
    files = {name: moment.text_of(lesson, name) for name in (task.starter, task.reference)}
    checks = tuple(protocol.Check(check.n, check.seed, check.rel) for check in task.checks)
    return Asked(
        source,
        JobKind.EXERCISE,
        Purpose(Why.EXERCISE, task.id, f"r{task.rev}"),
        filename,
        budget=budget,
        exercise=protocol.Exercise(files[task.starter], files[task.reference], checks),
    )


def searched(moment: Moment, exercise_id: str, source: str, filename: str) -> Asked | None:
    """Give what looks for known mistakes in a submission: it is called and timed alone, on inputs of the starter's."""
    found = find(moment, exercise_id)
    if found is None:
        return None
    lesson, task = found
    largest = max(task.checks, key=lambda check: check.n)
    behind = (
        f"{_BEHIND}{{}}",
        f"exec({moment.text_of(lesson, task.starter)!r}, _tasree_task)",
        "import numpy as _tasree_numpy",
        f"_tasree_made = _tasree_task['make'](_tasree_numpy.random.default_rng({largest.seed}), {largest.n})",
        "# %% submission",
        "solve(**_tasree_made)",
    )
    purpose = Purpose(Why.EXERCISE, task.id, SEARCH)
    return Asked("\n".join((source.rstrip("\n"), *behind, "")), JobKind.TIME, purpose, filename, budget=Budget.QUICK)


def submitted(source: str) -> str:
    """Give the submission out of what `searched` made of it."""
    return source[: at + 1] if (at := source.rfind(f"\n{_BEHIND}")) >= 0 else source


def solution(moment: Moment, lesson: Lesson, task: Exercise) -> str:
    """Give the reference; ask only once it was earned or given up for."""
    return moment.text_of(lesson, task.reference).rstrip("\n")
