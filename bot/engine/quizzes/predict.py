"""Predict the output: a typed answer compared after spaces, digits and quotes were brought to one form.

Law: letter case counts, for it counts in Python; a number is right however it is written.
"""

import re
import unicodedata

from bot.engine.letters import number, plain_digits, stripped
from bot.engine.quizzes.grades import Grade, Verdict, near_miss
from content.schema import PredictOutput

_SPACE_IN_BRACKETS = re.compile(r"(?<=[\[({,])\s+|\s+(?=[\])},])")
_QUOTES = str.maketrans("‘’‚‛“”„‟«»`", '\'\'\'\'""""""\'')
_PROSE = re.compile(r"[؟?]\s*$|(?:[\u0621-\u064a]{2,}\s+){2}[\u0621-\u064a]{2,}")
"""A question, or at least three Arabic words in a row: somebody talks instead of answering."""
_TOKEN = re.compile(r"[^\s\[\](){},]+|[\[\](){},]")


def grade(item: PredictOutput, text: str) -> Grade:
    """Grade a typed prediction."""
    if any(same_output(text, right) for right in (item.answer, *item.alternatives)):
        return Grade(Verdict.RIGHT)
    near = near_miss(item.near, (same_output(text, miss.answer) for miss in item.near))
    if near:
        return near
    return Grade(Verdict.UNREAD if not _normal(text) or is_talk(text, item.answer) else Verdict.WRONG)


def same_output(given: str, right: str) -> bool:
    """Tell whether two texts say the same, however spaces, digits and quotes are written."""
    return _same(_normal(given), _normal(right))


def is_talk(text: str, answer: str) -> bool:
    """Tell whether somebody talks instead of answering."""
    return _PROSE.search(text) is not None and _PROSE.search(answer) is None


def _normal(text: str) -> str:
    text = text.replace("،", ",")
    text = plain_digits(unicodedata.normalize("NFKC", stripped(text)).translate(_QUOTES)).strip()
    return _SPACE_IN_BRACKETS.sub("", " ".join(text.split()))


def _same(given: str, right: str) -> bool:
    if given == right or given.strip("'\"") == right.strip("'\""):
        return True
    if (number(given), number(right)) != (None, None):
        return number(given) == number(right)
    mine, theirs = _TOKEN.findall(given), _TOKEN.findall(right)
    return len(mine) == len(theirs) and all(_same_token(a, b) for a, b in zip(mine, theirs, strict=True))


def _same_token(given: str, right: str) -> bool:
    if given == right:
        return True
    mine = number(given)
    return mine is not None and mine == number(right)
