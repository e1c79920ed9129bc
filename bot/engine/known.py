"""What a turn may look at beside the session, and what it needs of it: `needs` names it, the shell loads it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from bot.engine import buttons
from bot.engine.effects import Ask
from bot.engine.events import ButtonPressed, DigestFellDue, Event, RunFinished, RunProgressed, TextSent
from bot.engine.groups import quiz as groups
from bot.engine.groups import wanted as of_group
from bot.engine.linking import wanted as linking
from bot.engine.linking.rows import Linking
from bot.engine.owned import wanted as owned
from bot.engine.owned.rows import Keeping
from bot.engine.remembering import wanted as remembering
from bot.engine.remembering.kept import CardRow, Remembered
from bot.engine.reminders import wanted as reminders
from bot.engine.reminders.wishes import Wishes
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
    """Rows to be loaded for one event; empty names mean none. `link` is a code, empty for the own accounts alone."""

    ask: str = ""
    run: str = ""
    remembered: bool = False
    tries: Wanted = field(default_factory=Wanted)
    last: str = ""
    wishes: bool = False
    own: bool = False
    link: str | None = None
    group: groups.Wanted | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What was loaded.

    `capabilities` is None while no runner answers; `phrasing` says that a model gives other words,
    `doubted` that a second opinion names another topic than the answer. `card` is what is
    remembered of the card that the ask is about, `remembered` all that is kept of the learner's memory. `own` are all
    rows of the learner by table, for a copy; `keeping` says how long things are kept here. `gpu_left` are
    the runs on a GPU that are left today where somebody counts them.
    """

    ask: Ask | None = None
    run: KnownRun | None = None
    capabilities: Capabilities | None = None
    card: CardRow | None = None
    remembered: Remembered | None = None
    tries: Found = field(default_factory=Found)
    last: KnownRun | None = None
    wishes: Wishes | None = None
    own: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    keeping: Keeping = field(default_factory=Keeping)
    phrasing: bool = False
    doubted: bool = False
    linking: Linking | None = None
    gpu_left: int | None = None
    group: groups.Found = field(default_factory=groups.Found)


def needs(session: Session, event: Event) -> Needs:
    """Say which rows the turn on this event will look at."""
    own = owned.wanted(event)
    return replace(
        _rows(session, event),
        tries=wanted(session, event),
        remembered=remembering.wanted(session, event) or own or isinstance(event, DigestFellDue),
        wishes=reminders.wanted(session, event),
        own=own,
        link=linking.wanted(session, event),
        group=of_group.wanted(session, event),
    )


def _rows(session: Session, event: Event) -> Needs:
    match event:
        case ButtonPressed(payload):
            return _of_button(session, buttons.parse(payload))
        case RunProgressed(run, _) | RunFinished(run, _):
            return Needs(run=run, ask=session.asked)
        case TextSent(text):
            ask = remembering.ask_for(session, text)
            return Needs(ask=ask, last=session.last_run if len(text) <= MOST_ASKED else "")
        case _:
            return Needs(ask=session.asked)


def _of_button(session: Session, button: buttons.Button | None) -> Needs:
    match button:
        case None:
            return Needs()
        case buttons.Button(op=buttons.Op.ANSWER, ref=ref):
            return Needs(ask=buttons.ask_of(ref)[0])
        case buttons.Button(op=buttons.Op.REVIEW, ref="undo", option=ask):
            return Needs(ask=ask)
        case buttons.Button(op=buttons.Op.AGAIN, ref=run):
            return Needs(run=run, last=run)
        case buttons.Button(op=buttons.Op.CANCEL, ref=run):
            return Needs(run=run)
        case _:
            return Needs(ask=session.asked)
