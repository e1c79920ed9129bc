"""A number with a tolerance: absolute, relative, or exact.

Law: a figure in another unit, or one that is no finite number, is no answer: it is said so and costs nothing.
"""

import math
import re
import unicodedata

from bot.engine.letters import figure, fold, number, plain_digits, stripped
from bot.engine.quizzes import units
from bot.engine.quizzes.grades import Grade, Verdict, near_miss
from content.schema import NumberAnswer

_WITH_UNIT = re.compile(r"([-+−]?[0-9][0-9.,eE+\-−^*×⁰-⁹¹²³⁻\s]*?)\s*([^\W\d_]+(?:\s[^\W\d_]+)?|[×%٪])\.?")
"""A figure and one or two words, or a sign, behind it."""
_ENDLESS = frozenset(("nan", "inf", "infinity", "لا نهاية", "لانهاية"))
_LONGEST = 60


def grade(item: NumberAnswer, text: str) -> Grade:
    """Grade a typed number; its unit may be written behind it."""
    given, unit = _parted(text)
    if given is None:
        return Grade(Verdict.UNREAD)
    if unit and not units.same(unit, item.unit):
        return Grade(Verdict.OTHER_UNIT)
    if not math.isfinite(given):
        return Grade(Verdict.NOT_FINITE)
    if math.isclose(given, item.value, rel_tol=max(item.rel, 1e-9), abs_tol=item.within):
        return Grade(Verdict.RIGHT)
    near = near_miss(item.near, (number(miss.answer) == given for miss in item.near))
    return near or Grade(Verdict.WRONG)


def solution(item: NumberAnswer) -> str:
    """Give the value as it is shown."""
    return f"{item.value:,.10g}"


def _parted(text: str) -> tuple[float | None, str]:
    """Give the figure and the unit behind it, if any; None when the text is no figure."""
    plain = "".join(each for each in plain_digits(stripped(text)).strip() if unicodedata.category(each) != "Mn")
    if fold(plain) in {fold(word) for word in _ENDLESS} or plain.strip("+-") == "∞":
        return math.inf, ""
    found = _WITH_UNIT.fullmatch(plain) if len(plain) <= _LONGEST else None
    if found:
        given = figure(found.group(1))
        return given, found.group(2)
    return figure(plain), ""
