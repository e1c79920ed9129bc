"""The one place that knows every item kind: each function sends an item to the module of its kind."""

from collections.abc import Sequence
from typing import assert_never

from bot.engine.quizzes import numeric, predict, single
from bot.engine.quizzes.grades import Grade
from bot.engine.replies import Block, Choice, Code, CodeBlock, Number, Paragraph, Spans, Text
from bot.engine.wording import inline
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


def solution(item: Item, lead: Spans) -> tuple[Block, ...]:
    """Give the right answer behind its lead; output of several lines stands in a block of its own."""
    match item:
        case SingleChoice():
            return (Paragraph((*lead, Text(" "), *inline(single.solution(item)))),)
        case PredictOutput() if "\n" in item.answer:
            return (Paragraph(lead), CodeBlock(item.answer, "text"))
        case PredictOutput():
            return (Paragraph((*lead, Text(" "), Code(item.answer))),)
        case NumberAnswer():
            unit = (Text(f" {item.unit}"),) if item.unit else ()
            return (Paragraph((*lead, Text(" "), Number(numeric.solution(item)), *unit)),)
        case never:
            assert_never(never)
