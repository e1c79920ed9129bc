"""The one place that knows every item kind: each function sends an item to the module of its kind."""

from collections.abc import Sequence
from typing import assert_never

from bot.engine.quizzes import numeric, predict, single
from bot.engine.quizzes.grades import Grade
from bot.engine.replies import Block, Choice
from content.schema import Item, NumberAnswer, PredictOutput, SingleChoice


def options(item: Item) -> tuple[str, ...]:
    """Give the option ids to be shuffled and stored; none for typed answers."""
    return single.options(item) if isinstance(item, SingleChoice) else ()


def ask(
    item: Item, order: Sequence[str], ask_id: str, tried: Sequence[str]
) -> tuple[tuple[Block, ...], tuple[Choice, ...]]:
    """Give what stands under the question, and the buttons that answer it."""
    return single.ask(item, order, ask_id, tried) if isinstance(item, SingleChoice) else ((), ())


def read(item: Item, order: Sequence[str], text: str) -> str:
    """Give a typed text as the answer to be graded; empty when it is none of this item's answers."""
    return single.read(item, order, text) if isinstance(item, SingleChoice) else text


def grade(item: Item, answer: str) -> Grade:
    """Grade an option's id or a typed text."""
    match item:
        case SingleChoice():
            return single.grade(item, answer)
        case PredictOutput():
            return predict.grade(item, answer)
        case NumberAnswer():
            return numeric.grade(item, answer)
        case never:
            assert_never(never)


def solution(item: Item) -> tuple[str, bool]:
    """Give the right answer, and whether it is code rather than prose."""
    match item:
        case SingleChoice():
            return single.solution(item), False
        case PredictOutput():
            return item.answer, True
        case NumberAnswer():
            return " ".join(part for part in (numeric.solution(item), item.unit) if part), True
        case never:
            assert_never(never)
