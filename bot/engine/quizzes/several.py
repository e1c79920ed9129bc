"""Several choice: options marked one by one, then confirmed; credit for part of them, feedback for each.

Law: credit is max(0, (right - wrong) / right in all), and is whole only when every right option and no other is marked.
"""

import re
from collections.abc import Sequence

from bot.engine.letters import fold, plain_digits, stripped
from bot.engine.presses import CONFIRM, answer, mark
from bot.engine.quizzes.grades import Grade, Note, Verdict
from bot.engine.replies import Choice
from bot.engine.wording import Wording, inline, plain
from content.schema import Option, SeveralChoice

_NUMBERS = re.compile(r"\d{1,2}(?:(?:\s*[،,;+-]\s*|\s+و?\s*|و)\d{1,2})*")


def options(item: SeveralChoice) -> tuple[str, ...]:
    """Give the ids of the options."""
    return tuple(option.id for option in item.options)


def panel(
    item: SeveralChoice, order: Sequence[str], ask_id: str, marked: Sequence[str], words: Wording
) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """Give a button an option, which marks it or takes its mark off, and apart the one that confirms."""
    by_id = {option.id: option for option in item.options}
    toggles = tuple(
        answer(
            words.text("mark.on" if name in marked else "mark.off", text=plain(inline(by_id[name].text))),
            ask_id,
            mark("off" if name in marked else "on", at),
        )
        for at, name in enumerate(order)
        if name in by_id
    )
    return toggles, (answer(words.text("button.confirm"), ask_id, CONFIRM),)


def pressed(order: Sequence[str], marked: Sequence[str], what: str, at: int) -> tuple[str, ...] | None:
    """Give the marks after a press, the same ones after a second tap; None when the press names none of these."""
    if what not in {"on", "off"} or not 0 <= at < len(order):
        return None
    after = {*marked, order[at]} if what == "on" else {*marked} - {order[at]}
    return tuple(name for name in order if name in after)


def whole(item: SeveralChoice, marked: Sequence[str]) -> str:
    """Give the marks as an answer, in the item's own order; empty when nothing is marked."""
    return " ".join(option.id for option in item.options if option.id in marked)


def read(item: SeveralChoice, order: Sequence[str], text: str) -> str:
    """Read typed numbers of options in the order shown (`1 3`, `١ و٣`), or one option's text; empty when neither."""
    typed = plain_digits(stripped(text)).strip().strip(".")
    if _NUMBERS.fullmatch(typed):
        places = [int(each) - 1 for each in re.findall(r"\d+", typed)]
        if any(not 0 <= place < len(order) for place in places):
            return ""
        return whole(item, [order[place] for place in places])
    folded = fold(text)
    return next((option.id for option in item.options if folded and folded == fold(plain(inline(option.text)))), "")


def grade(item: SeveralChoice, given: str) -> Grade:
    """Grade the ids of the marked options, divided by spaces."""
    names = set(given.split())
    if not names or not names <= set(options(item)):
        return Grade(Verdict.UNREAD)
    marked = [option for option in item.options if option.id in names]
    total = sum(option.right for option in item.options)
    right = sum(option.right for option in marked)
    wrong = len(marked) - right
    points = max(0, right - wrong)
    shown = next((option.misconception for option in marked if option.misconception and not option.right), None)
    verdict = Verdict.RIGHT if (right, wrong) == (total, 0) else Verdict.PARTIAL if points else Verdict.WRONG
    notes = tuple(Note(option.text, option.feedback, option.right) for option in marked)
    return Grade(verdict, misconception=shown or "", credit=points / total, points=points, of=total, notes=notes)


def solution(item: SeveralChoice) -> tuple[Option, ...]:
    """Give the right options."""
    return tuple(option for option in item.options if option.right)
