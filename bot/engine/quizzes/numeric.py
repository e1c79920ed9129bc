"""A number with a tolerance: absolute, relative, or exact."""

import math

from bot.engine.letters import fold, number, plain_digits, stripped
from bot.engine.quizzes.grades import Grade, Verdict, near_miss
from content.schema import NumberAnswer


def grade(item: NumberAnswer, text: str) -> Grade:
    """Grade a typed number; its unit may be written behind it."""
    given = _read(item, text)
    if given is None:
        return Grade(Verdict.UNREAD)
    if math.isfinite(given) and math.isclose(given, item.value, rel_tol=max(item.rel, 1e-9), abs_tol=item.within):
        return Grade(Verdict.RIGHT)
    near = near_miss(item.near, (number(miss.answer) == given for miss in item.near))
    return near or Grade(Verdict.WRONG)


def solution(item: NumberAnswer) -> str:
    """Give the value as it is shown."""
    return f"{item.value:,.10g}"


def _read(item: NumberAnswer, text: str) -> float | None:
    plain = number(text)
    if plain is not None:
        return plain
    words = plain_digits(stripped(text)).strip().rsplit(maxsplit=1)
    if len(words) == 2 and item.unit and fold(words[1]) == fold(item.unit):  # noqa: PLR2004 - a figure and its unit
        return number(words[0])
    return None
