"""Which rows of a group's quiz a turn will look at."""

from bot.engine import buttons
from bot.engine.events import Event, GroupAsked, GroupFellDue, GroupPressed
from bot.engine.groups.quiz import Wanted
from bot.engine.session import Session


def wanted(session: Session, event: Event) -> Wanted | None:
    """Say which rows the turn on this event will look at; None for an event of no group."""
    quiz = session.group
    match event:
        case GroupAsked() | GroupFellDue() if quiz is not None:
            return Wanted(quiz.id, quiz.ask, board=True)
        case GroupPressed(by, payload) if quiz is not None:
            button = buttons.parse(payload)
            return Wanted(quiz.id, quiz.ask, by.chat, board=button is not None and button.option.startswith("_"))
        case _:
            return None
