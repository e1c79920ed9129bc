"""Whether the turn on an event looks at codes that join accounts, and at which."""

from bot.engine import buttons, commands
from bot.engine.buttons import Op
from bot.engine.commands import Command
from bot.engine.events import AccountsJoined, ButtonPressed, Event, TextSent
from bot.engine.expects import LINK
from bot.engine.linking import codes
from bot.engine.session import Session


def wanted(session: Session, event: Event) -> str | None:
    """Give the code to be looked up, empty where only the learner's own accounts are; None for nothing."""
    match event:
        case AccountsJoined():
            return ""
        case ButtonPressed(payload):
            button = buttons.parse(payload)
            if button is not None and button.op is Op.LINK:
                return codes.read(button.ref)
            return "" if button is not None and (button.op, button.ref) == (Op.COMMAND, Command.LINK) else None
        case TextSent(text):
            said = commands.parse(text)
            if said is not None:
                return codes.read(said.argument) if said.command is Command.LINK else None
            return codes.read(text) or None if session.expects.startswith(LINK) else None
        case _:
            return None
