"""An argument of `bot say` as an event: text as it is, `@FILE` uploads, `[N]` or `[LABEL]` presses a button."""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath

from bot.engine.events import ButtonPressed, Event, FileSent, TextSent
from bot.engine.replies import Choice, Choices
from bot.ports import Shown

_PRESS = re.compile(r"\[(.+)\]", re.DOTALL)


class NoSuchButtonError(Exception):
    """No button of the replies so far fits the argument."""


def parse(argument: str, shown: Sequence[Shown], read: Callable[[str], bytes]) -> Event:
    """Read one argument; `shown` are the replies so far, `read` gives a file's bytes.

    Raises:
        NoSuchButtonError: naming the argument and the buttons there are.
        OSError: when a file cannot be read.
    """
    if argument.startswith("@") and len(argument) > 1:
        return FileSent(PurePath(argument[1:]).name, read(argument[1:]))
    press = _PRESS.fullmatch(argument)
    if press is None:
        return TextSent(argument)
    choices = _newest_choices(shown)
    wanted = press.group(1).strip()
    for number, choice in enumerate(choices, start=1):
        if wanted in {str(number), choice.label, choice.payload}:
            return ButtonPressed(choice.payload)
    if wanted.startswith("1:"):
        return ButtonPressed(wanted)
    labels = ", ".join(f"[{number}] {choice.label}" for number, choice in enumerate(choices, start=1))
    message = f"no button fits {argument}; there are: {labels or 'none'}"
    raise NoSuchButtonError(message)


def _newest_choices(shown: Sequence[Shown]) -> tuple[Choice, ...]:
    for one in sorted(shown, key=lambda each: each.change, reverse=True):
        found = tuple(choice for block in one.reply.blocks if isinstance(block, Choices) for choice in block.choices)
        if found:
            return found
    return ()
