"""The commands that belong to no lesson: what is kept, a copy, deletion, joining, reminders, the machine."""

from bot.engine import help, presses  # noqa: A004
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Button, Op
from bot.engine.commands import Command, Said
from bot.engine.effects import Turn
from bot.engine.linking import asking as linking
from bot.engine.moment import Moment
from bot.engine.owned import erasing, export
from bot.engine.reminders import asking
from bot.engine.replies import Bullets, Heading, Paragraph

_LISTED = ("identity", "kept", "code", "asked", "board", "group", "reminders", "never")


def obeyed(moment: Moment, command: Said) -> Turn:
    """Do what was asked for."""
    match command.command:
        case Command.EXPORT:
            return export.exported(moment)
        case Command.DELETE:
            return erasing.asked(moment)
        case Command.REMIND:
            return asking.asked(moment, command.argument)
        case Command.LINK:
            return linking.asked(moment, command.argument)
        case Command.PRIVACY:
            return privacy(moment)
        case _:
            return help.machine(moment)


def pressed(moment: Moment, button: Button) -> Turn:
    """Answer a button of reminders, or the second word of a deletion or of a joining."""
    if button.op is Op.LINK:
        return linking.pressed(moment, button)
    if button.op is Op.ERASE:
        return erasing.pressed(moment, button.ref, button.option)
    return asking.pressed(moment, button)


def privacy(moment: Moment) -> Turn:
    """Say what is kept of a learner, for how long, and how to have it or be rid of it."""
    words = moment.words
    keeping = moment.known.keeping
    listed = (*_LISTED, "model") if moment.known.phrasing else (*_LISTED, "nobody")
    items = tuple(words.say(f"privacy.{what}", n=keeping.days) for what in listed)
    backups = words.say("privacy.backups", n=keeping.backups) if keeping.backups else words.say("privacy.no_backups")
    ways = (presses.command(moment, Command.EXPORT), presses.command(moment, Command.DELETE))
    return moment.turn(
        *said(
            Heading(words.say("privacy.title")),
            Bullets((*items, backups)),
            Paragraph(words.say("privacy.ways")),
            *buttons(*ways, columns=2),
        )
    )
