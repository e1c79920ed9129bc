"""A statement that is true or not: two buttons, always in the same order, each with its own feedback."""

from collections.abc import Sequence

from bot.engine.letters import fold
from bot.engine.presses import answer
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.replies import Choice
from bot.engine.wording import Wording
from content.schema import TrueFalse

OPTIONS = ("true", "false")

_TYPED = {
    **dict.fromkeys(map(fold, ("صواب", "صح", "صحيح", "صحيحة", "نعم", "true", "yes", "1")), "true"),
    **dict.fromkeys(map(fold, ("خطأ", "غلط", "خاطئ", "خاطئة", "لا", "غير صحيح", "false", "no", "2")), "false"),
}


def ask(ask_id: str, tried: Sequence[str], words: Wording) -> tuple[Choice, ...]:
    """Give the two buttons, less what was tried."""
    return tuple(answer(words.text(f"choice.{each}"), ask_id, each) for each in OPTIONS if each not in tried)


def read(text: str) -> str:
    """Read a typed answer; empty when it is none."""
    return _TYPED.get(fold(text), "")


def grade(item: TrueFalse, given: str) -> Grade:
    """Grade `true` or `false`."""
    if given not in OPTIONS:
        return Grade(Verdict.UNREAD)
    side = item.to_true if given == "true" else item.to_false
    right = (given == "true") == item.answer
    return Grade(Verdict.RIGHT if right else Verdict.WRONG, side.feedback, side.misconception or "")


def solution(item: TrueFalse, words: Wording) -> str:
    """Give the right answer in words."""
    return words.text("choice.true" if item.answer else "choice.false")
