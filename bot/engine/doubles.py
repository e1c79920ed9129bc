"""A button pressed twice in a row is pressed once: on a slow line, or in two tabs, nothing is said or begun twice.

Law: only the same press, at once after itself, is passed over. Answers are not judged here: they say which state of
their question they saw, and `asks` and `practice` know what became of it.
"""

from datetime import datetime, timedelta

from bot.engine import buttons, presses
from bot.engine.buttons import Op
from bot.engine.effects import Record, Turn
from bot.engine.events import ButtonPressed, Event
from bot.engine.remembering.rows import Visited
from bot.engine.session import Pressed, Session

AT_ONCE = timedelta(seconds=3)
"""So soon after itself a press is the same press."""
_OPENING = frozenset(
    {Op.GO, Op.QUIZ, Op.CARDS, Op.MYTHS, Op.EXPLORE, Op.EXAMPLE, Op.AGAIN, Op.REVIEW, Op.REPORT, Op.LINK, Op.COMMAND}
)
"""What these lead to would be said or begun a second time; the others know by themselves what they were pressed for."""


def twice(session: Session, event: Event, now: datetime) -> bool:
    """Tell whether the event is the last press once more."""
    last = session.pressed
    if last is None or not isinstance(event, ButtonPressed) or event.payload != last.payload:
        return False
    return abs(now.timestamp() - last.at) < AT_ONCE.total_seconds()


def noted(before: Session, event: Event, turn: Turn, now: datetime) -> Turn:
    """Remember the press for the next event, and keep the stops that were visited in this turn."""
    pressed = Pressed(event.payload, now.timestamp()) if isinstance(event, ButtonPressed) and _opens(event) else None
    new = tuple(Visited(stop) for stop in turn.session.visited if stop not in before.visited)
    kept = Turn(turn.session.with_(pressed=pressed), turn.effects)
    return kept.after(Record(new)) if new else kept


def _opens(event: ButtonPressed) -> bool:
    button = buttons.parse(event.payload)
    if button is None:
        return False
    return button.op in _OPENING or (button.op is Op.ANSWER and button.option.startswith(presses.HINT))
