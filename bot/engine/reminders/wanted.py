"""Whether the turn on an event looks at the learner's wishes: named here, so that other turns cost nothing."""

from bot.engine import buttons, commands
from bot.engine.buttons import Op
from bot.engine.commands import Command
from bot.engine.events import ButtonPressed, ChatBlocked, DigestFellDue, Event, TextSent
from bot.engine.expects import WHEN
from bot.engine.letters import fold
from bot.engine.session import Session

_LABEL = 40
_OF_REMINDERS = fold("تذكير")
"""Stands in the labels of the buttons that turn reminders on and off, which may be typed."""


def wanted(session: Session, event: Event) -> bool:
    """Tell whether the wishes are to be loaded."""
    if session.reminded:
        return True
    match event:
        case DigestFellDue() | ChatBlocked():
            return True
        case ButtonPressed(payload):
            button = buttons.parse(payload)
            asked = button is not None and button.op is Op.COMMAND and button.ref == Command.REMIND
            return asked or (button is not None and button.op is Op.REMIND)
        case TextSent(text):
            said = commands.parse(text)
            label = len(text) <= _LABEL and _OF_REMINDERS in fold(text)
            return session.expects.startswith(WHEN) or label or (said is not None and said.command is Command.REMIND)
        case _:
            return False
