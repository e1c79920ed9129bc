"""One learner's place in one chat: frozen, versioned, stored as JSON after every turn."""

import json
from dataclasses import dataclass, field, replace
from typing import cast

from bot.engine.groups.quiz import Quiz
from bot.engine.questions import Offered
from bot.errors import SessionError
from sandbox_runner import codec
from sandbox_runner.errors import WireError
from sandbox_runner.protocol import Ratio

VERSION = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a lesson: `part` is a code of `course_map.py`, `section` an id when the part is `section`."""

    lesson: str
    part: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """Items asked one after the other: a lesson's check, cards or myths; `missed` are ids to read up on."""

    kind: str
    lesson: str
    ahead: tuple[str, ...]
    done: int = 0
    credit: float = 0.0
    missed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PendingCode:
    """Code that waits for the limited child, or (`offered`) for the learner's word.

    The word is consent to a repair, or (`choosing`) on which device it is to run.
    """

    check: str
    candidates: tuple[str, ...]
    filename: str
    measure: bool
    offered: bool = False
    choosing: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """Where a learner left a lesson's explorer: its settings in its own order, and which one a typed number sets."""

    lesson: str
    values: tuple[float, ...]
    at: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One of two runs of the same snippet, each on a device of its own; `ending` is empty while it is under way."""

    run: str
    device: str
    ending: str = ""
    ratios: tuple[Ratio, ...] = ()
    printed: str = ""
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Pressed:
    """The press that the last event was: its payload, and when (seconds since 1970)."""

    payload: str
    at: float


@dataclass(frozen=True, slots=True)
class Graded:
    """The last grade of a card, while it can be undone: its ask, its review, and the series as it stood before."""

    ask: str
    review: str
    series: Series


@dataclass(frozen=True, slots=True)
class Session:
    """Everything a turn remembers. `asked` is the ask that is open; `expects` says what a typed line would be.

    `told` is the section from which the last question was answered, for what carries on from it; `ran` says that the
    end of a run was told since the learner came here; `offered` are the stops that the last question was answered with.
    `phrasing` is the ask for other words that is under way.
    `aside` are series left in the middle. To the open ask belong `hinted` (hints shown), `tried` (failed answers),
    `marked` (options marked or placed, not confirmed yet), `panel` (the slot of the reply that shows the marks) and
    `earned` (the best credit of a partial answer); to that of a card `quick` (flipped at once).
    `group` is the quiz of a group; the session of a group's own chat has nothing else, and no learner.
    """

    learner: str
    course_hash: str = ""
    place: Place | None = None
    series: Series | None = None
    asked: str = ""
    pending: PendingCode | None = None
    running: tuple[str, ...] = ()
    last_run: str = ""
    greeted: bool = False
    visited: tuple[str, ...] = field(default=())
    aside: tuple[Series, ...] = ()
    expects: str = ""
    hinted: int = 0
    tried: tuple[str, ...] = ()
    played: tuple[Played, ...] = ()
    marked: tuple[str, ...] = ()
    panel: str = ""
    earned: float = 0.0
    quick: bool = False
    told: Place | None = None
    ran: bool = False
    offered: Offered | None = None
    phrasing: str = ""
    graded: Graded | None = None
    placed: tuple[str, ...] = ()
    pressed: Pressed | None = None
    pairs: tuple[tuple[Side, ...], ...] = ()
    reminded: int = 0
    group: Quiz | None = None

    def with_(self, **changes: object) -> "Session":
        """Give a copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]

    def unasked(self) -> "Session":
        """Give a copy without an open ask, and without what belongs to one."""
        return replace(self, asked="", hinted=0, tried=(), marked=(), panel="", earned=0.0, quick=False)


def to_json(session: Session) -> str:
    """Serialise with the version."""
    return json.dumps({"version": VERSION, **codec.encode(session)}, ensure_ascii=False)


def from_json(text: str) -> Session:
    """Load what `to_json` wrote.

    Raises:
        SessionError: when the text is damaged or of a version that cannot be carried over.
    """
    try:
        value = cast("dict[str, object]", json.loads(text))
        version = value.pop("version")
        if version != VERSION:
            message = f"session version {version} is not {VERSION}"
            raise SessionError(message)
        return codec.decode(Session, value)
    except (ValueError, KeyError, AttributeError, WireError) as error:
        message = f"session does not load: {error}"
        raise SessionError(message) from error
