"""What is kept of attempts at exercises, of votes on myth cards and of names on the board: rows to write and rows read.

Law: types and what an event needs of them, nothing else. An outcome is a code; `GAVE_UP` is the one that no run has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from bot.engine import buttons, commands
from bot.engine.buttons import Button, Op
from bot.engine.commands import Command
from bot.engine.events import ButtonPressed, Event, RunFinished, TextSent
from bot.engine.expects import EXERCISE, NAME, exercise_of
from bot.engine.names import likeness
from bot.engine.session import Session

GAVE_UP = "gave_up"
"""The outcome of a row that stands for the solution shown before success."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A submission as it was graded. `ratio` is starter against submission with its 99 % interval; 0: not measured.

    `board` tells whether the board may take it; `share` is the reference's time divided by the submission's.
    """

    run: str
    exercise: str
    rev: int
    outcome: str
    passed: bool = False
    ratio: float = 0.0
    low: float = 0.0
    high: float = 0.0
    share: float = 0.0
    confirmed: bool = False
    board: bool = False
    machine: str = ""
    device: str = ""


@dataclass(frozen=True, slots=True)
class KeepAttempt:
    """Store an attempt; the first row of a run stands."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class CastVote:
    """Store a vote on a myth card; the first one on each `rev` stands."""

    myth: str
    rev: int
    vote: str


@dataclass(frozen=True, slots=True)
class TakeName:
    """Store the learner's name on the board; `likeness` is unique among all names."""

    name: str
    likeness: str


@dataclass(frozen=True, slots=True)
class DropName:
    """Take the learner's name off the board."""


Row = KeepAttempt | CastVote | TakeName | DropName


@dataclass(frozen=True, slots=True)
class Kept:
    """An attempt as it was stored."""

    attempt: Attempt
    at: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a learner stands in one revision of an exercise."""

    failures: int = 0
    passed: bool = False
    gave_up: bool = False


@dataclass(frozen=True, slots=True)
class Ranked:
    """A line of the board: the best run of a name on a machine, and its rank there from 1."""

    machine: str
    rank: int
    name: str
    ratio: float
    low: float
    high: float
    mine: bool = False


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be loaded: own attempts, the board of an exercise, whether a name is taken, votes on myth cards."""

    attempts: bool = False
    board: str = ""
    name: bool = False
    taken: str = ""
    votes: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What was loaded. Keys of `standings` are (exercise, rev), of `counts` (rev, vote) of the myth card `counted`.

    `voted` gives to each myth card (rev, vote) of the learner; `taken` whether somebody else has the name asked about.
    """

    standings: Mapping[tuple[str, int], Standing] = field(default_factory=dict)
    recent: tuple[Kept, ...] = ()
    board: tuple[Ranked, ...] = ()
    name: str = ""
    taken: bool = False
    voted: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    counted: str = ""
    counts: Mapping[tuple[int, str], int] = field(default_factory=dict)


def wanted(session: Session, event: Event) -> Wanted:
    """Say what the turn on this event will look at."""
    match event:
        case RunFinished():
            return Wanted(attempts=True, name=True, votes=True)
        case TextSent(text):
            if session.expects.startswith(NAME):
                return Wanted(attempts=True, name=True, taken=likeness(text), board=session.expects.removeprefix(NAME))
            said = commands.parse(text)
            return _of_command(session, said.command if said else None)
        case ButtonPressed(payload):
            return _of_button(session, buttons.parse(payload))
        case _:
            return Wanted()


def _of_command(session: Session, command: Command | None) -> Wanted:
    match command:
        case Command.ATTEMPTS | Command.EXERCISE:
            return Wanted(attempts=True)
        case Command.BOARD:
            return Wanted(attempts=True, name=True, board=exercise_of(session.expects))
        case Command.MYTHS:
            return Wanted(votes=True)
        case _:
            # A typed label or answer: what it leads to is read later than this.
            at_exercise = session.expects.startswith(EXERCISE)
            return Wanted(attempts=at_exercise, name=at_exercise, votes=bool(session.asked))


def _of_button(session: Session, button: Button | None) -> Wanted:
    match button:
        case Button(op=Op.EXERCISE):
            return Wanted(attempts=True)
        case Button(op=Op.BOARD, ref=exercise):
            return Wanted(attempts=True, name=True, board=exercise)
        case Button(op=Op.COMMAND, ref=name) if name in set(Command):
            return _of_command(session, Command(name))
        case Button(op=Op.MYTHS | Op.ANSWER):
            return Wanted(votes=True)
        case _:
            return Wanted()
