"""What a button carries: `1:op:<ref>:<option>`, ASCII, at most 60 bytes, the same on every platform.

Law: payloads are forgeable and live for years. Parsing never raises; what it does not know is None.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

LIMIT = 60
_ASK = 12
INSPECT, KERNEL = "inspect", "kernel"
"""Options of `again`: look inside what a run was of; show the kernels that an inspection found."""
_PATTERN = re.compile(r"1:([a-z]{1,8}):([A-Za-z0-9_.-]{0,40}):([A-Za-z0-9_.-]{0,40})")


class Op(StrEnum):
    """What a press asks for."""

    GO = "go"
    """to a place: ref `<lesson>.<part>`, option a section id or empty"""
    ANSWER = "ans"
    """answer the ask `ref` with `option`"""
    EXAMPLE = "ex"
    """run the example `option` of the lesson `ref`"""
    QUIZ = "quiz"
    """start or go on with the check of the lesson `ref`"""
    CARDS = "cards"
    """start or go on with the cards of the lesson `ref`"""
    MYTHS = "myths"
    """start or go on with the myth cards of the lesson `ref`"""
    EXERCISE = "task"
    """the exercise `option` of the lesson `ref`; ref `_1` to `_3`: hints, `_sol`: the solution, `_idk`: not known"""
    EXPLORE = "play"
    """the explorer of the lesson `ref` at the setting `option`"""
    CANCEL = "stop"
    """cancel the run `ref`"""
    AGAIN = "again"
    """run the job of the run `ref` again; option `time`, `run`, `inspect`, `kernel` or a budget"""
    ACCEPT = "fix"
    """accept (option `yes`) or refuse (`no`) the repair of the check `ref`"""
    REVIEW = "rev"
    """reviews: ref empty begins them, `more` goes past the cap, `undo` takes back the grade of the ask `option`, `held`
    lists the cards held back, `hold` and `resume` are of the card `option`"""
    REPORT = "rep"
    """a mistake in the card or item `ref`; option the reason's code, empty asks for it"""
    BOARD = "board"
    """the board of the exercise `ref`; option `_join` asks for a name, `_leave` takes the learner off"""
    REMIND = "when"
    """reminders: ref `<what>.<slot>`, what is `on`, `off`, `show`, or a wish: `option` sets it, empty asks for it"""
    ERASE = "erase"
    """the second word that deletes everything: ref its token, option `no` keeps it all"""
    LINK = "link"
    """join accounts: ref the code, option `yes` or `no`; `drop` takes the learner's own code back"""
    GROUP = "grp"
    """in a group's quiz: answer its question `ref` with `option`; `_close`, `_next`, `_end`, `_board` are no answers"""
    COMMAND = "cmd"
    """the command named by `ref`"""


@dataclass(frozen=True, slots=True)
class Button:
    """A parsed payload."""

    op: Op
    ref: str = ""
    option: str = ""


def ask_of(ref: str) -> tuple[str, int]:
    """Read which ask an answer is to, and how many tries were spent on it when the button was shown.

    An ask's id has 12 characters; a digit behind it counts the tries, none means 0.
    """
    seen = ref[_ASK:]
    return ref[:_ASK], int(seen) if seen.isascii() and seen.isdecimal() else 0


def encode(op: Op, ref: str = "", option: str = "") -> str:
    """Write a payload.

    Raises:
        ValueError: when it is over the limit or not in the grammar, which is our own fault.
    """
    payload = f"1:{op.value}:{ref}:{option}"
    if len(payload) > LIMIT or _PATTERN.fullmatch(payload) is None:
        message = f"not a payload: {payload!r}"
        raise ValueError(message)
    return payload


def parse(payload: str) -> Button | None:
    """Read a payload; None when it is from another version, forged or damaged."""
    found = _PATTERN.fullmatch(payload) if len(payload) <= LIMIT else None
    if found is None:
        return None
    op, ref, option = found.groups()
    try:
        return Button(Op(op), ref, option)
    except ValueError:
        return None
