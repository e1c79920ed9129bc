"""Order the steps: tapped one after the other, the last one taken back, then confirmed.

Law: the steps are never shown in their right order; a second tap on a step or on "undo" changes nothing.
"""

import re
from collections.abc import Sequence

from bot.engine.letters import plain_digits, stripped
from bot.engine.presses import CONFIRM, answer, mark
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.replies import Block, Bullets, Choice, Paragraph
from bot.engine.wording import Wording, inline, plain
from content.schema import OrderSteps


def options(item: OrderSteps) -> tuple[str, ...]:
    """Give the ids of the steps."""
    return tuple(step.id for step in item.steps)


def disarranged(item: OrderSteps, shuffled: tuple[str, ...]) -> tuple[str, ...]:
    """Give a shuffled order, turned by one where chance made it the right one."""
    return (*shuffled[1:], shuffled[0]) if shuffled == options(item) else shuffled


def placed(item: OrderSteps, marked: Sequence[str], words: Wording) -> tuple[Block, ...]:
    """Show the order so far."""
    if not marked:
        return ()
    texts = {step.id: inline(step.text) for step in item.steps}
    listed = Bullets(tuple(texts[name] for name in marked if name in texts), numbered=True)
    return (Paragraph(words.say("quiz.order_so_far")), listed)


def panel(
    item: OrderSteps, order: Sequence[str], ask_id: str, marked: Sequence[str], words: Wording
) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """Give a button a step not placed yet, and apart the ones that confirm the whole and take the last back."""
    texts = {step.id: plain(inline(step.text)) for step in item.steps}
    steps = tuple(
        answer(texts[name], ask_id, mark("put", at))
        for at, name in enumerate(order)
        if name in texts and name not in marked
    )
    undo = (answer(words.text("button.undo"), ask_id, mark("undo", len(marked))),) if marked else ()
    done = (answer(words.text("button.confirm"), ask_id, CONFIRM),) if not steps else ()
    return steps, (*done, *undo)


def pressed(order: Sequence[str], marked: Sequence[str], what: str, at: int) -> tuple[str, ...] | None:
    """Give the order after a press; None when the press names none of these."""
    match what:
        case "put" if 0 <= at < len(order):
            return tuple(marked) if order[at] in marked else (*marked, order[at])
        case "undo" if at >= 0:
            return tuple(marked[:-1]) if at == len(marked) else tuple(marked)
        case _:
            return None


def whole(item: OrderSteps, marked: Sequence[str]) -> str:
    """Give the order as an answer; empty while a step is not placed."""
    return " ".join(marked) if len(marked) == len(item.steps) else ""


def read(item: OrderSteps, order: Sequence[str], text: str) -> str:
    """Read typed numbers of all steps in the order shown, as `2 1 3`; empty when they are none."""
    places = [int(each) - 1 for each in re.findall(r"\d+", plain_digits(stripped(text)))]
    only_numbers = re.fullmatch(r"[\d\s،,;>→←-]+", plain_digits(stripped(text)).strip())
    if not only_numbers or sorted(places) != list(range(len(order))):
        return ""
    return whole(item, [order[place] for place in places])


def grade(item: OrderSteps, given: str) -> Grade:
    """Grade the ids in the order given, divided by spaces."""
    names = given.split()
    right = list(options(item))
    if sorted(names) != sorted(right):
        return Grade(Verdict.UNREAD)
    first = right_so_far(item, names)
    if first == len(right):
        return Grade(Verdict.RIGHT)
    step = item.steps[first]
    return Grade(Verdict.WRONG, step.feedback, step.misconception or "", points=first, of=len(right))


def right_so_far(item: OrderSteps, names: Sequence[str]) -> int:
    """Count the first steps that stand in their places."""
    pairs = zip(names, options(item), strict=False)
    return next((at for at, (given, right) in enumerate(pairs) if given != right), min(len(names), len(item.steps)))
