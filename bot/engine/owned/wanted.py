"""Whether the turn on an event looks at everything that is stored of the learner."""

from bot.engine import buttons, commands
from bot.engine.buttons import Op
from bot.engine.commands import Command
from bot.engine.events import ButtonPressed, Event, TextSent


def wanted(event: Event) -> bool:
    """Tell whether everything is to be loaded."""
    match event:
        case ButtonPressed(payload):
            button = buttons.parse(payload)
            return button is not None and (button.op, button.ref) == (Op.COMMAND, Command.EXPORT)
        case TextSent(text):
            said = commands.parse(text)
            return said is not None and said.command is Command.EXPORT
        case _:
            return False
