"""What stands behind the command of a group's quiz: how many questions, of which lesson, how long; or end, or board.

Law: reading never guesses: what is out of range or not understood comes back as a fault that names it.
"""

import re
from dataclasses import dataclass
from typing import Literal

from bot.engine.letters import fold

COUNT, MOST_COUNT = 5, 20
"""Questions of a quiz: when none are said, and at most."""
SECONDS, LEAST_SECONDS, MOST_SECONDS = 60, 10, 600
"""Seconds a question stays open: when none are said, at least, at most."""
MOST_ANSWERS = 500

_END = frozenset(map(fold, ("cancel", "stop", "end", "إلغاء", "ألغ", "إنهاء", "أنه", "أوقف", "إيقاف", "توقف", "وقف")))
_BOARD = frozenset(
    map(fold, ("board", "results", "النتائج", "النتيجة", "الترتيب", "ترتيب", "اللوحة", "لوحة", "النقاط"))
)
_FILLERS = frozenset(map(fold, ("من", "في", "عن", "كل", "لكل", "و", "حتى", "مع", "خلال", "بعد", "of", "in", "each")))
_LESSON = frozenset(map(fold, ("درس", "الدرس", "lesson")))
_UNITS = {
    **dict.fromkeys(map(fold, ("سؤال", "أسئلة", "سؤالا", "question", "questions", "q")), "count"),
    **dict.fromkeys(map(fold, ("ثانية", "ثوان", "ثواني", "ث", "s", "sec", "second", "seconds")), "seconds"),
    **dict.fromkeys(map(fold, ("دقيقة", "دقائق", "د", "m", "min", "minute", "minutes")), "minutes"),
    **dict.fromkeys(map(fold, ("إجابة", "إجابات", "جواب", "أجوبة", "answer", "answers")), "most"),
}
_DUALS = {
    **dict.fromkeys(map(fold, ("سؤالان", "سؤالين")), ("count", 2)),
    **dict.fromkeys(map(fold, ("دقيقتان", "دقيقتين")), ("minutes", 2)),
    **dict.fromkeys(map(fold, ("إجابتان", "إجابتين")), ("most", 2)),
    fold("دقيقة"): ("minutes", 1),
}
_NUMBER = re.compile(r"(\d{1,6})([^\d\W]*)")


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for; `lesson` is as written and empty for the whole course; `fault` is a phrase's code.

    `vague` when words stand there that are no figure, no lesson by its word and no command of ours.
    """

    what: Literal["start", "board", "end"] = "start"
    count: int = COUNT
    lesson: str = ""
    seconds: int = SECONDS
    most: int = 0
    fault: str = ""
    value: int = 0
    vague: bool = False


def read(argument: str) -> Wish:
    """Read what stands behind the command."""
    words = fold(argument).split()
    if " ".join(words) in _END:
        return Wish("end")
    if " ".join(words) in _BOARD:
        return Wish("board")
    said, rest = _figures(words)
    vague = bool(rest) and not _LESSON & set(words)
    lesson = " ".join(rest)
    if "bare" in said and not lesson:
        lesson = str(said["bare"])
    wish = Wish(
        count=said.get("count", COUNT),
        lesson=lesson,
        seconds=said.get("seconds", 60 * said.get("minutes", 0)) or SECONDS,
        most=said.get("most", 0),
        vague=vague,
    )
    return _bounded(wish, said)


def _figures(words: list[str]) -> tuple[dict[str, int], list[str]]:
    """Take the figures with their units out; a number alone counts questions, a second one names a lesson."""
    said: dict[str, int] = {}
    rest: list[str] = []
    at = 0
    while at < len(words):
        word, following = words[at], words[at + 1] if at + 1 < len(words) else ""
        found = _NUMBER.fullmatch(word)
        at += 1
        if word in _LESSON:
            named = [following] if _NUMBER.fullmatch(following) else words[at:]  # a title runs to the end
            rest += named
            at += len(named)
        elif word in _DUALS:
            kind, value = _DUALS[word]
            said[kind] = value
        elif found and (found[2] in _UNITS or not found[2]):
            unit = found[2] or (following if following in _UNITS else "")
            at += 1 if unit and not found[2] else 0
            said[_UNITS.get(unit, "bare" if "count" in said else "count")] = int(found[1])
        elif word not in _FILLERS and word not in _UNITS:
            rest.append(word)
    return said, rest


def _bounded(wish: Wish, said: dict[str, int]) -> Wish:
    for fault, value, least, most in (
        ("group.count_range", wish.count, 1, MOST_COUNT),
        ("group.seconds_range", wish.seconds, LEAST_SECONDS, MOST_SECONDS),
        ("group.most_range", wish.most if "most" in said else 1, 1, MOST_ANSWERS),
    ):
        if not least <= value <= most:
            return Wish(fault=fault, value=value)
    if said.get("seconds", 1) == 0 or said.get("minutes", 1) == 0:
        return Wish(fault="group.seconds_range")
    return wish
