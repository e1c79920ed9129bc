"""What happened, in the past tense: everything a turn may answer."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.engine.phrasing import Sentence
from bot.engine.teaching.figures import Report
from sandbox_runner.protocol import Accepted, Progress, Result


@dataclass(frozen=True, slots=True)
class Entity:
    """A platform's mark on a text: `offset` and `length` count UTF-16 units; `kind` is `pre`, `code`, `bold`, ..."""

    kind: str
    offset: int
    length: int
    language: str = ""


@dataclass(frozen=True, slots=True)
class ChatOpened:
    """A learner opened a chat in which nothing was said yet."""


@dataclass(frozen=True, slots=True)
class TextSent:
    """A learner wrote; the text is as the platform delivered it."""

    text: str
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class CodeSent:
    """A learner sent code by a way made for code (an editor box): no need to guess whether it is code."""

    source: str
    filename: str = "code.py"
    measure: bool = False


@dataclass(frozen=True, slots=True)
class FileSent:
    """A learner uploaded a file; `data` holds the bytes as they came."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class OddSent:
    """A learner sent what cannot be read: `photo`, `voice`, `video`, `sticker`, `location`, `large_file` or `other`."""

    kind: str


@dataclass(frozen=True, slots=True)
class ButtonPressed:
    """A learner pressed a button; the payload is untrusted and may be years old."""

    payload: str


@dataclass(frozen=True, slots=True)
class SyntaxTrouble:
    """Why code does not parse: a code of the closed set, line and column (from 1, in characters), and the line."""

    code: str
    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class CodeChecked:
    """The limited child answered: which candidate parses (the first that does), else the trouble of the first."""

    check: str
    index: int | None
    trouble: SyntaxTrouble | None = None


@dataclass(frozen=True, slots=True)
class RunProgressed:
    """A run stands in the queue or has entered a phase."""

    run: str
    progress: Accepted | Progress


@dataclass(frozen=True, slots=True)
class RunFinished:
    """A run ended."""

    run: str
    result: Result


@dataclass(frozen=True, slots=True)
class DigestFellDue:
    """The hour came at which the learner wished to be reminded."""


@dataclass(frozen=True, slots=True)
class ChatBlocked:
    """The platform said that nothing reaches the learner in this chat until they return."""


@dataclass(frozen=True, slots=True)
class ReportMade:
    """The teacher's report came; None where the chat is no admin's (`allowed`) or it failed.

    `files` are a name, a media type and base64 data each.
    """

    slot: str
    allowed: bool
    report: Report | None = None
    files: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Phrased:
    """Other words of an answer came, each sentence checked; none where there are none to be said."""

    ask: str
    sentences: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class AccountsJoined:
    """The code that was given in this chat was used elsewhere: the two accounts are one learner's."""


class Trouble(StrEnum):
    """What may be wrong with an installation."""

    RUNNER = "runner"
    """no runner answers"""
    QUEUE = "queue"
    """runs wait for long, or many do"""
    OUTBOX = "outbox"
    """replies, or updates, stay where they are"""
    STORE = "store"
    """the database does not answer"""
    GPU = "gpu"
    """a GPU is not lent until it is proven again"""


@dataclass(frozen=True, slots=True)
class IncidentTold:
    """An admin is told of an incident: that it began, or with `over_at` that it is over (UTC).

    `count` and `age_s` say how many things wait and for how long, `where` on which platform, empty where that is one.
    """

    trouble: Trouble
    since: datetime
    over_at: datetime | None = None
    where: str = ""
    count: int = 0
    age_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Person:
    """A member of a group: their own chat in it, their name as the platform tells it, and whether they are an admin."""

    chat: str
    name: str = ""
    admin: bool = False


@dataclass(frozen=True, slots=True)
class GroupAsked:
    """A member asked for a quiz of the group: to begin or to end one, or for its board. In the group's own chat."""

    by: Person
    argument: str = ""


@dataclass(frozen=True, slots=True)
class GroupPressed:
    """A member pressed a button of the group's quiz; the payload is untrusted."""

    by: Person
    payload: str


@dataclass(frozen=True, slots=True)
class GroupFellDue:
    """The time of a question came: to close it (`open`), or to go on behind it."""

    ask: str
    open: bool


Event = (
    ChatOpened
    | GroupAsked
    | GroupPressed
    | GroupFellDue
    | TextSent
    | CodeSent
    | FileSent
    | OddSent
    | ButtonPressed
    | CodeChecked
    | RunProgressed
    | RunFinished
    | DigestFellDue
    | ChatBlocked
    | ReportMade
    | Phrased
    | IncidentTold
    | AccountsJoined
)
