"""Whether the turn on an event looks at all that is kept of the learner, so that other turns do not pay for it."""

from bot.engine import buttons, commands
from bot.engine.buttons import Button, Op
from bot.engine.commands import Command
from bot.engine.events import ButtonPressed, Event, TextSent
from bot.engine.expects import Expects
from bot.engine.letters import fold
from bot.engine.session import Session

_COMMANDS = frozenset(
    {Command.REVIEW, Command.PROGRESS, Command.PLACEMENT, Command.CAP, Command.QUIZ, Command.CARDS, Command.MYTHS}
)
_OPS = frozenset({Op.REVIEW, Op.QUIZ, Op.CARDS, Op.MYTHS})
_UNDO = fold("تراجع")
_LABEL = 60
"""Characters of a text that may be a button's label."""


def wanted(session: Session, event: Event) -> bool:
    """Tell whether everything kept of the learner is to be loaded."""
    placed = session.series is not None and session.series.kind == "placement"
    match event:
        case ButtonPressed(payload):
            return _of_button(buttons.parse(payload), placed=placed)
        case TextSent(text):
            said = commands.parse(text)
            if said is not None:
                return said.command in _COMMANDS
            return placed or (session.expects != Expects.ANSWER and len(text) <= _LABEL)
        case _:
            return False


def ask_for(session: Session, text: str) -> str:
    """Give the ask that a text is about: the open one, or, where it would undo a grade, the one graded last."""
    undoes = session.graded is not None and fold(text) == _UNDO
    return session.graded.ask if session.graded and undoes else session.asked


def _of_button(button: Button | None, *, placed: bool) -> bool:
    match button:
        case None:
            return False
        case Button(op=Op.COMMAND, ref=command):
            return command in _COMMANDS
        case Button(op=Op.ANSWER):
            return placed
        case _:
            return button.op in _OPS
