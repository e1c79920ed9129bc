"""The one place that knows every item kind: each function sends an item to the module of its kind."""

from collections.abc import Sequence
from typing import assert_never

from bot.engine import presses
from bot.engine.quizzes import blank, numeric, order, predict, several, single, true_false
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.replies import Block, Bullets, Choice, Code, CodeBlock, Number, Paragraph, Spans, Text
from bot.engine.wording import Wording, inline
from content.schema import (
    FillBlank,
    Item,
    NumberAnswer,
    OrderSteps,
    PredictOutput,
    SeveralChoice,
    SingleChoice,
    TrueFalse,
    WriteCode,
)

Marked = SeveralChoice | OrderSteps
"""Items answered by marks that are confirmed."""


def options(item: Item) -> tuple[str, ...]:
    """Give the option ids to be stored; none for typed answers."""
    match item:
        case SingleChoice():
            return single.options(item)
        case SeveralChoice():
            return several.options(item)
        case OrderSteps():
            return order.options(item)
        case TrueFalse():
            return true_false.OPTIONS
        case PredictOutput() | NumberAnswer() | FillBlank() | WriteCode():
            return ()
        case never:
            assert_never(never)


def arranged(item: Item, shuffled: tuple[str, ...]) -> tuple[str, ...]:
    """Give the options as they are shown, from a shuffled row of them."""
    match item:
        case OrderSteps():
            return order.disarranged(item, shuffled)
        case TrueFalse():
            return true_false.OPTIONS
        case _:
            return shuffled


def ask(
    item: Item, shown: Sequence[str], ask_id: str, tried: Sequence[str], words: Wording
) -> tuple[tuple[Block, ...], tuple[Choice, ...]]:
    """Give what stands under the question, and the buttons that answer it; marked items have a panel instead."""
    match item:
        case SingleChoice():
            return single.ask(item, shown, ask_id, tried)
        case TrueFalse():
            return (), true_false.ask(ask_id, tried, words)
        case _:
            return (), ()


def panel(
    item: Marked, shown: Sequence[str], ask_id: str, marked: Sequence[str], words: Wording
) -> tuple[tuple[Block, ...], tuple[Choice, ...], tuple[Choice, ...]]:
    """Give how far the marks are, the buttons that change them, and those that confirm them or take one back."""
    match item:
        case SeveralChoice():
            return (), *several.panel(item, shown, ask_id, marked, words)
        case OrderSteps():
            return order.placed(item, marked, words), *order.panel(item, shown, ask_id, marked, words)
        case never:
            assert_never(never)


def pressed(item: Marked, shown: Sequence[str], marked: Sequence[str], option: str) -> tuple[str, ...] | None:
    """Give the marks after a press; None when the press is none of this item's."""
    found = presses.marking(option)
    if found is None:
        return None
    if isinstance(item, SeveralChoice):
        return several.pressed(shown, marked, *found)
    return order.pressed(shown, marked, *found)


def whole(item: Marked, marked: Sequence[str]) -> str:
    """Give the marks as an answer; empty while they are none yet."""
    return several.whole(item, marked) if isinstance(item, SeveralChoice) else order.whole(item, marked)


def left_standing(item: Marked, marked: Sequence[str]) -> tuple[str, ...]:
    """Give the marks that stay for the next try: of an order the first steps that are right, of a choice all."""
    if isinstance(item, SeveralChoice):
        return tuple(marked)
    return tuple(marked[: order.right_so_far(item, marked)])


def exhausted(item: Item, tried: Sequence[str]) -> bool:
    """Tell whether only the right option of a choice is left, so that a further try would show nothing."""
    return isinstance(item, SingleChoice | TrueFalse) and len(options(item)) - len(tried) <= 1


def read(item: Item, shown: Sequence[str], text: str) -> str:
    """Give a typed text as the answer to be graded; empty when it is none of this item's answers."""
    match item:
        case SingleChoice():
            return single.read(item, shown, text)
        case SeveralChoice():
            return several.read(item, shown, text)
        case OrderSteps():
            return order.read(item, shown, text)
        case TrueFalse():
            return true_false.read(text)
        case PredictOutput() | NumberAnswer() | FillBlank():
            return text
        case WriteCode():
            return ""
        case never:
            assert_never(never)


def grade(item: Item, answer: str) -> Grade:
    """Grade an option's id, the ids of marks, or a typed text."""
    match item:
        case SingleChoice():
            return single.grade(item, answer)
        case SeveralChoice():
            return several.grade(item, answer)
        case TrueFalse():
            return true_false.grade(item, answer)
        case PredictOutput():
            return predict.grade(item, answer)
        case OrderSteps():
            return order.grade(item, answer)
        case NumberAnswer():
            return numeric.grade(item, answer)
        case FillBlank():
            return blank.grade(item, answer)
        case WriteCode():
            return Grade(Verdict.UNREAD)  # graded by what a run prints, in `writing.py`
        case never:
            assert_never(never)


def solution(item: Item, lead: Spans, words: Wording) -> tuple[Block, ...]:
    """Give the right answer behind its lead; what has several lines or parts stands in a block of its own."""
    match item:
        case SingleChoice():
            return (_behind(lead, inline(single.solution(item))),)
        case SeveralChoice():
            right = several.solution(item)
            notes = tuple((*inline(each.text), Text(" — "), *inline(each.feedback)) for each in right)
            return (Paragraph(lead), Bullets(notes))
        case TrueFalse():
            return (_behind(lead, (Text(true_false.solution(item, words)),)),)
        case PredictOutput() if "\n" in item.answer:
            return (Paragraph(lead), CodeBlock(item.answer, "text"))
        case PredictOutput():
            return (_behind(lead, (Code(item.answer),)),)
        case OrderSteps():
            return (Paragraph(lead), Bullets(tuple(inline(step.text) for step in item.steps), numbered=True))
        case NumberAnswer():
            unit = (Text(f" {item.unit}"),) if item.unit else ()
            return (_behind(lead, (Number(numeric.solution(item)), *unit)),)
        case FillBlank():
            return (_behind(lead, (Code(item.answer),)),)
        case WriteCode():
            return (Paragraph(lead),)  # the file itself is shown by who has the course
        case never:
            assert_never(never)


def _behind(lead: Spans, right: Spans) -> Paragraph:
    return Paragraph((*lead, Text(" "), *right))
