"""Fill the blank: typed, compared as predictions are, and in Arabic words without regard to forms of letters."""

from bot.engine.letters import ARABIC, fold
from bot.engine.quizzes.grades import Grade, Verdict, near_miss
from bot.engine.quizzes.predict import is_talk, same_output
from content.schema import FillBlank

_LONGEST = 120
"""Characters beyond which a text is no answer to a blank."""


def grade(item: FillBlank, text: str) -> Grade:
    """Grade what was typed for the blank."""
    given = text.strip().strip("`").strip()
    if not given or "\n" in given or len(given) > _LONGEST or is_talk(given, item.answer):
        return Grade(Verdict.UNREAD)
    if any(_same(given, right) for right in (item.answer, *item.alternatives)):
        return Grade(Verdict.RIGHT)
    near = near_miss(item.near, (_same(given, miss.answer) for miss in item.near))
    return near or Grade(Verdict.WRONG)


def _same(given: str, right: str) -> bool:
    if same_output(given, right):
        return True
    return ARABIC.search(right) is not None and bool(fold(right)) and fold(given) == fold(right)
