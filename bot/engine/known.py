"""What a turn may look at beside the session, and what it needs of it: `needs` names it, the shell loads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from bot.engine import buttons
from bot.engine.effects import Ask
from bot.engine.events import ButtonPressed, Event, RunFinished, RunProgressed, TextSent
from bot.engine.remembering.kept import CardRow, Remembered
from bot.engine.session import Session
from bot.engine.tries import Found, Wanted, wanted
from sandbox_runner.protocol import Capabilities, Job, Result

T = TypeVar("T")

MOST_ASKED = 200
"""Characters of a text that may be a question about the last run."""


class Dice(Protocol):
    """Chance and identity, as an argument."""

    def identity(self) -> str:
        """Give a fresh id: 12 characters of `[a-z0-9]`, unique for good."""
        ...

    def shuffled(self, items: tuple[T, ...]) -> tuple[T, ...]:
        """Give the same items in an order by chance."""
        ...


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run as it is stored: its job, its reply's slot, whether its end was told; `result` of the last run only."""

    job: Job
    slot: str
    done: bool
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class Needs:
    """Rows to be loaded for one event; empty names mean none."""

    ask: str = ""
    run: str = ""
    votes: bool = False
    remembered: bool = False
    tries: Wanted = field(default_factory=Wanted)
    last: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What was loaded. `capabilities` is None while no runner answers; `votes` counts answers of a myth's ask.

    `card` is what is remembered of the card that the ask is about, `remembered` all that is kept of the learner.
    """

    ask: Ask | None = None
    run: KnownRun | None = None
    votes: Mapping[str, int] = field(default_factory=dict)
    capabilities: Capabilities | None = None
    card: CardRow | None = None
    remembered: Remembered | None = None
    tries: Found = field(default_factory=Found)
    last: KnownRun | None = None


def needs(session: Session, event: Event) -> Needs:
    """Say which rows the turn on this event will look at."""
    return replace(_rows(session, event), tries=wanted(session, event))


def _rows(session: Session, event: Event) -> Needs:
    match event:
        case ButtonPressed(payload):
            return _of_button(session, buttons.parse(payload))
        case RunProgressed(run, _) | RunFinished(run, _):
            return Needs(run=run, ask=session.asked, votes=True)
        case TextSent(text):
            return Needs(ask=session.asked, votes=True, last=session.last_run if len(text) <= MOST_ASKED else "")
        case _:
            return Needs(ask=session.asked, votes=True)


def _of_button(session: Session, button: buttons.Button | None) -> Needs:
    match button:
        case None:
            return Needs()
        case buttons.Button(op=buttons.Op.ANSWER, ref=ask):
            return Needs(ask=ask, votes=True)
        case buttons.Button(op=buttons.Op.AGAIN | buttons.Op.CANCEL, ref=run):
            return Needs(run=run)
        case _:
            return Needs(ask=session.asked)
