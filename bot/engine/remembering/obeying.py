"""What the commands and buttons of remembering do: review, progress, placement, the daily cap, a mistake reported."""

from bot.engine import practice
from bot.engine.buttons import Button, Op
from bot.engine.commands import Command, Said
from bot.engine.effects import Turn
from bot.engine.moment import Moment
from bot.engine.remembering import progress, reporting, reviewing


def pressed(moment: Moment, button: Button) -> Turn:
    """Answer a press."""
    if button.op is Op.REPORT:
        return reporting.pressed(moment, button.ref, button.option)
    return reviewing.pressed(moment, button.ref, button.option)


def obeyed(moment: Moment, command: Said) -> Turn:
    """Do what was asked for."""
    match command.command:
        case Command.PROGRESS:
            return progress.shown(moment)
        case Command.PLACEMENT:
            return practice.placed(moment)
        case Command.CAP:
            return reviewing.capped(moment, command.argument)
        case _:
            return reviewing.begun(moment)
