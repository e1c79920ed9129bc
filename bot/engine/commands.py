"""Words that are commands: "/start", "ابدأ", "مساعدة" … -> a command with its argument.

Law: parsing is a table look-up on folded words; it never guesses. `nearest` offers, and the learner decides.
"""

import difflib
import re
from dataclasses import dataclass
from enum import StrEnum

from bot.engine.groups import asking
from bot.engine.letters import ARABIC, count, fold, stripped
from bot.engine.linking import codes
from bot.engine.spoken import FILLERS, FORMS, NO_REMINDERS


class Command(StrEnum):
    """What a learner can ask for in words."""

    START = "start"
    HELP = "help"
    MAP = "map"
    LESSON = "lesson"
    NEXT = "next"
    BACK = "back"
    WHERE = "where"
    QUIZ = "quiz"
    CARDS = "cards"
    REVIEW = "review"
    PROGRESS = "progress"
    PLACEMENT = "placement"
    CAP = "cap"
    MYTHS = "myths"
    EXAMPLE = "example"
    EXERCISE = "exercise"
    EXPLORE = "explore"
    CANCEL = "cancel"
    TIME = "time"
    RUN = "run"
    ATTEMPTS = "attempts"
    BOARD = "board"
    TEACHER = "teacher"
    MACHINE = "machine"
    PRIVACY = "privacy"
    REMIND = "remind"
    LINK = "link"
    GROUP = "group"
    EXPORT = "export"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Said:
    """A command and what stood behind it; `slashed` when it was written as one."""

    command: Command
    argument: str = ""
    slashed: bool = False


_TAKES_ARGUMENT = (
    Command.LESSON,
    Command.START,
    Command.EXPLORE,
    Command.EXAMPLE,
    Command.EXERCISE,
    Command.CAP,
    Command.REMIND,
    Command.LINK,
    Command.GROUP,
)
_NUMBERED = (Command.EXAMPLE, Command.EXERCISE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_AS_WRITTEN = (Command.EXPLORE, Command.REMIND, Command.LINK)
_ORDINALS = {
    fold(form): number
    for number, words in enumerate(
        ("أول", "ثاني تاني", "ثالث تالت", "رابع", "خامس", "سادس", "سابع", "ثامن تامن", "تاسع", "عاشر"), 1
    )
    for word in words.split()
    for form in (word, f"ال{word}")
}
_STEPS = {
    fold(form): step
    for step, forms in (
        (1, ("التالي", "القادم", "الجاي", "اللي بعده", "الذي يليه", "next")),
        (-1, ("السابق", "الماضي", "اللي قبله", "الذي قبله", "previous")),
    )
    for form in forms
}
_LAST = frozenset(fold(form) for form in ("الأخير", "آخر", "last"))
_NUMBER = fold("رقم") + " "
_ROW = (fold("درس"), fold("lesson"))
"""Words that may stand behind the place in a row: «آخر درس», `next lesson`."""
_OF_TIME = frozenset(fold("قياس قس قيس قسي أقيس نقيس زمن الزمن وقت سرعة يستغرق تستغرق أسرع").split())
"""Words that speak of time, where Arabic stands beside code."""
_TABLE = {fold(word): Command(name) for name, listed in FORMS.items() for word in listed}
_LONGEST = max(len(word.split()) for word in _TABLE)
_SLASHED = re.compile(r"/([a-z0-9_]{1,32})(?:@\w+)?(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)
_MOST = 80
"""Characters beyond which a text is no command."""
_JOINED = re.compile(r"^(?:ع|ه)ال(?=\w{3})|^لل(?=\w{3})")
"""What the dialects write onto a word with its article: «عالدرس», «هالدرس», and «للدرس»."""
_FEW = 3
"""Words behind the command of a group's quiz that may be a lesson's name."""
_NEAR = 0.74
"""Likeness from which a word counts as a near miss: one letter of a short word, two of a longer one."""


def parse(text: str) -> Said | None:
    """Read a command; None when the text is none."""
    text = stripped(text).strip()
    if len(text) > _MOST or "\n" in text:
        return None
    slashed = _SLASHED.fullmatch(text)
    if slashed:
        command = _TABLE.get(fold(slashed.group(1)))
        return Said(command, (slashed.group(2) or "").strip(), slashed=True) if command else None
    words = _trimmed(fold(text.lstrip("/")).split())
    if len(words) == 2 and words[1] in _ROW and (step(words[0], 1, 1) is not None or ordinal(words[0])):  # noqa: PLR2004 - a pair
        words = words[::-1]
    if " ".join(words) in NO_REMINDERS:
        return Said(Command.REMIND, "off")
    return _looked_up(text, words) or _looked_up(text, [_JOINED.sub("ال", words[0]), *words[1:]] if words else [])


def _looked_up(text: str, words: list[str]) -> Said | None:
    """Find the longest form with which trimmed words begin, with what stands behind it."""
    for size in range(min(_LONGEST, len(words)), 0, -1):
        command = _TABLE.get(" ".join(words[:size]))
        rest = words[size:]
        if command is Command.CAP and rest and count(" ".join(rest)) is None:
            continue  # a question about some other limit
        if command is Command.GROUP and len(rest) > _FEW and asking.read(" ".join(rest)).vague:
            continue  # a question about something else
        if command in _NUMBERED and rest and not _is_one_of_many(_as_written(text, " ".join(words[:size]))):
            continue  # a question: an example of what, an exercise on what
        if command is Command.LINK and rest and not codes.read(" ".join(rest)):
            continue  # a question about joining something else
        if command and (not rest or (command in _TAKES_ARGUMENT and command is not Command.START)):
            figures = _as_written(text, " ".join(words[:size])) if command in _AS_WRITTEN else ""
            return Said(command, figures or " ".join(rest))
    return None


def _as_written(text: str, command: str) -> str:
    """Give what stands behind a command unfolded: folding would take the point and the sign off a number."""
    parts = text.split()
    while len(parts) > 1 and fold(parts[-1]) in FILLERS:
        parts = parts[:-1]
    ends = (i for i in range(1, len(parts) + 1) if fold(" ".join(parts[:i])).endswith(command))
    return " ".join(parts[next(ends, len(parts)) :])


def nearest(text: str) -> Command | None:
    """Give the command that a short text nearly is."""
    folded = fold(text.lstrip("/"))
    if not folded or len(folded) > max(len(word) for word in _TABLE):
        return None
    near = difflib.get_close_matches(folded, _TABLE, n=1, cutoff=_NEAR)
    return _TABLE[near[0]] if near else None


def asks_for_time(line: str) -> bool:
    """Tell whether a line beside code asks for its time rather than its output."""
    command = parse(line)
    if command is not None and command.command is Command.TIME:
        return True
    return ARABIC.search(line) is not None and not _OF_TIME.isdisjoint(fold(line).split())


def ordinal(argument: str) -> int | None:
    """Read which one in a row is meant: `2`, `٢`, `الثاني`; None when none is."""
    folded = fold(argument).removeprefix(_NUMBER)
    return _ORDINALS.get(folded, count(folded))


def step(argument: str, here: int, last: int) -> int | None:
    """Read which one in a row is meant seen from `here`: `التالي`, `السابق`, `الأخير`; None when none."""
    folded = fold(argument)
    if folded in _LAST:
        return last
    return here + _STEPS[folded] if folded in _STEPS else None


def _is_one_of_many(argument: str) -> bool:
    """Tell whether an argument is a place in a row, or may be the name of one in the lessons' files."""
    return ordinal(argument) is not None or _NAME.fullmatch(argument) is not None


def _trimmed(words: list[str]) -> list[str]:
    while len(words) > 1 and words[0] in FILLERS:
        words = words[1:]
    while len(words) > 1 and words[-1] in FILLERS:
        words = words[:-1]
    return words
