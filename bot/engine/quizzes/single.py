"""Single choice: options as buttons in a shuffled order, each with its own feedback.

Law: the order shown is the order of the stored ask; a typed answer may be an option's number in it or its text.
"""

from collections.abc import Sequence

from bot.engine.letters import count, fold
from bot.engine.presses import answer
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.replies import Block, Bullets, Choice
from bot.engine.wording import inline, plain
from content.schema import Option, SingleChoice

_LABEL_LIMIT = 60
"""Characters of an option that a button holds whole on every platform; longer ones are listed and numbered."""


def options(item: SingleChoice) -> tuple[str, ...]:
    """Give the ids of the options."""
    return tuple(option.id for option in item.options)


def ask(
    item: SingleChoice, order: Sequence[str], ask_id: str, tried: Sequence[str]
) -> tuple[tuple[Block, ...], tuple[Choice, ...]]:
    """Give what is shown under the question, and the buttons of the options not tried yet."""
    shown = _in_order(item, order)
    long = any(len(plain(inline(option.text))) > _LABEL_LIMIT for option in shown)
    listed: tuple[Block, ...] = (
        (Bullets(tuple(inline(option.text) for option in shown), numbered=True),) if long else ()
    )
    choices = tuple(
        answer(str(i) if long else plain(inline(option.text)), ask_id, option.id)
        for i, option in enumerate(shown, 1)
        if option.id not in tried
    )
    return listed, choices


def read(item: SingleChoice, order: Sequence[str], text: str) -> str:
    """Read a typed answer as an option's id; empty when it is none."""
    shown = _in_order(item, order)
    number = count(text)
    if number is not None:
        return shown[number - 1].id if 1 <= number <= len(shown) else ""
    folded = fold(text)
    return next((option.id for option in shown if folded and folded == fold(plain(inline(option.text)))), "")


def grade(item: SingleChoice, option_id: str) -> Grade:
    """Grade a choice."""
    option = next((option for option in item.options if option.id == option_id), None)
    if option is None:
        return Grade(Verdict.UNREAD)
    verdict = Verdict.RIGHT if option.right else Verdict.WRONG
    return Grade(verdict, option.feedback, option.misconception or "")


def solution(item: SingleChoice) -> str:
    """Give the right option's text, as prose."""
    return next((option.text for option in item.options if option.right), "")


def _in_order(item: SingleChoice, order: Sequence[str]) -> tuple[Option, ...]:
    by_id = {option.id: option for option in item.options}
    return tuple(by_id[option_id] for option_id in order if option_id in by_id)
