"""What a turn asks of the shell, in the imperative; returned, never performed here.

Law: effects are carried out only after the session, the records, the replies and the runs of the turn were saved in one
transaction.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.engine import questions, tries
from bot.engine.groups.quiz import KeepGroupAnswer
from bot.engine.linking import rows as linking
from bot.engine.owned.rows import KeepFile
from bot.engine.phrasing import Passage
from bot.engine.remembering import rows as remembering
from bot.engine.reminders.wishes import KeepWishes
from bot.engine.replies import Reply
from bot.engine.session import Session
from sandbox_runner.protocol import Job


@dataclass(frozen=True, slots=True)
class Say:
    """Say something new. A `slot` is the turn's own name for the reply, unique in its chat, by which it is edited."""

    reply: Reply
    slot: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """Put another reply in the place of the one said in `slot`; said anew when the slot is unknown."""

    slot: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class CheckCode:
    """Let the limited child parse the candidates; `CodeChecked` with the same `check` is the answer."""

    check: str
    candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunCode:
    """Send the job to the runner; the run's id is the job's. `slot` names the reply that shows it."""

    job: Job
    slot: str


@dataclass(frozen=True, slots=True)
class CancelRun:
    """Stop the run, or take it out of the queue."""

    run: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question as it was asked: a stored row, answered once.

    `options` are the option ids in the order shown; `answer` is the last one given; `closed` once it was graded;
    `asked_at` is known once it was stored.
    """

    id: str
    kind: Literal["item", "card", "myth"]
    lesson: str
    item: str
    rev: int
    options: tuple[str, ...]
    course_hash: str
    answer: str = ""
    tries: int = 0
    closed: bool = False
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class OpenAsk:
    """Store a new ask."""

    ask: Ask


@dataclass(frozen=True, slots=True)
class CloseAsk:
    """Store the answer to an ask; the first answer stands, `credit` from 0 to 1.

    `learned` is what the answer says of the learner; it counts only with the first answer.
    """

    ask: str
    answer: str
    credit: float
    misconception: str = ""
    learned: remembering.Learned | None = None


@dataclass(frozen=True, slots=True)
class CountTry:
    """Store that an ask was tried once more without being closed, and the misconception which that answer shows."""

    ask: str
    answer: str
    misconception: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """Rows to be written in the transaction that saves the session."""

    rows: tuple["Row", ...]


OfOthers = linking.Row | KeepGroupAnswer
Row = OpenAsk | CloseAsk | CountTry | remembering.Row | tries.Row | questions.Row | KeepWishes | KeepFile | OfOthers


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete everything of the learner, and stop their runs; what the turn says is shown and not stored."""


@dataclass(frozen=True, slots=True)
class MakeReport:
    """Gather the teacher's report, where the chat is an admin's; `ReportMade` with the same slot is the answer."""

    slot: str


@dataclass(frozen=True, slots=True)
class AskPhrasing:
    """Ask a model for other words of admitted passages; `Phrased` with the same `ask` is the answer."""

    ask: str
    question: str
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class TellOther:
    """Tell the learner in another of their chats, too, that accounts were joined, by an `AccountsJoined` of this key.

    A chat of a platform that this bot does not serve hears it from the bot that does.
    """

    chat: str
    platform: str
    key: str


@dataclass(frozen=True, slots=True)
class Whisper:
    """Tell a few words to whoever pressed, and to nobody else; not stored, and lost where nobody waits for them."""

    text: str


Effect = Whisper | Say | Edit | CheckCode | RunCode | CancelRun | Record | Forget | MakeReport | AskPhrasing | TellOther


@dataclass(frozen=True, slots=True)
class Turn:
    """The answer to one event: the session after it, and what is to be done."""

    session: Session
    effects: tuple[Effect, ...] = ()

    def after(self, *effects: Effect) -> "Turn":
        """Put effects before those of this turn."""
        return Turn(self.session, (*effects, *self.effects))

    def then(self, *effects: Effect) -> "Turn":
        """Put effects behind those of this turn."""
        return Turn(self.session, (*self.effects, *effects))
