"""What the shell needs of the world, as protocols of one to three methods each."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, runtime_checkable

from bot.engine.effects import AskPhrasing, MakeReport, Turn
from bot.engine.events import CodeChecked, Phrased, ReportMade
from bot.engine.events import Event as Asked
from bot.engine.known import Known, Needs
from bot.engine.replies import Reply
from bot.engine.session import Session
from bot.engine.teaching.figures import Report
from content.schema import Course
from sandbox_runner.protocol import Capabilities, Event, Job, Result


@dataclass(frozen=True, slots=True)
class Shown:
    """A reply as it stands in a chat: `number` counts replies, `change` counts what was said or edited.

    On a chat platform `answers` is the platform's id of what it answers, and `address` where it goes, empty when
    that is wherever the chat is now.
    """

    number: int
    change: int
    slot: str
    reply: Reply
    answers: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class ChatRow:
    """A chat of ours: its id, and the learner (hashed) whose chat it is."""

    id: str
    learner: str


@dataclass(frozen=True, slots=True)
class Opened:
    """What a turn starts from; `revision` rises with every commit and guards against another process."""

    session: Session
    revision: int


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """A run that was submitted and whose end was not told; `result` when it ended but the end was not told."""

    chat: str
    job: Job
    result: Result | None = None


@dataclass(frozen=True, slots=True)
class UnfinishedCheck:
    """A check that was asked for and whose answer did not come."""

    chat: str
    check: str
    candidates: tuple[str, ...]


class Chat(Protocol):
    """The platform side: shows what was said or edited, after it was saved."""

    async def show(self, chat: str, shown: Shown) -> None:
        """Show a reply, or put it in the place of the one with the same number. Must not raise."""
        ...

    async def forget(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:
        """Say the last words of a chat that is in the store no more, and let go of it. Must not raise.

        `address` is where its replies went, for a platform that keeps that in the store.
        """
        ...


class Turns(Protocol):
    """The part of a store that turns need."""

    async def open(self, chat: str, key: str) -> Opened | None:
        """Give the chat's session; None when an event with this key was already taken. An empty key is never taken."""
        ...

    async def load(self, chat: str, needs: Needs) -> Known:
        """Load the rows that a turn will look at (all but the capabilities); only rows of this chat."""
        ...

    async def commit(self, chat: str, key: str, revision: int, turn: Turn, now: datetime) -> tuple[Shown, ...] | None:
        """Save session, records, replies, runs and the event's key in one transaction.

        Gives what is to be shown. None, and nothing is changed, when the key was taken or the chat changed meanwhile.
        """
        ...


class Chats(Protocol):
    """Who is who, and what was said."""

    async def enter(self, platform: str, external: str, now: datetime, account: str = "") -> ChatRow:
        """Give the chat of this account, made when it is new; `account` names whose, where one may have several."""
        ...

    async def room(self, platform: str, external: str, now: datetime) -> str:
        """Give the chat of a group, which is nobody's and has a session of its own; made when it is new."""
        ...

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give every reply that was said or edited after `change`, each as it stands now, in order of number."""
        ...


class Runs(Protocol):
    """Durable runs."""

    @property
    def lease_s(self) -> float:
        """Say how many seconds a run stays this bot's own without being renewed."""
        ...

    async def take_up(self, platforms: Sequence[str], *, first: bool) -> tuple[UnfinishedRun, ...]:
        """Take runs whose end was not told and that no bot holds, in chats of these platforms; oldest first.

        All platforms when none is named; some runs at a time, none when there are no more. `first` is said at a bot's
        start: where one bot alone can serve, it takes what an earlier one held.
        """
        ...

    async def renew(self, runs: Sequence[str]) -> frozenset[str]:
        """Hold runs for longer; give those that are still held here: another bot took the others, or they are gone."""
        ...

    async def let_go(self) -> None:
        """Leave every run that is held here to whoever comes."""
        ...

    async def finish(self, run: str, result: Result, now: datetime) -> Result:
        """Keep the first result of a run, before its end is told; give the one that is kept."""
        ...

    async def close_run(self, run: str) -> None:
        """Mark that the end of a run was told."""
        ...


class Checks(Protocol):
    """Durable checks of code."""

    async def unchecked(self, platforms: Sequence[str] = ()) -> tuple[UnfinishedCheck, ...]:
        """Give the checks that have no answer yet, in chats of these platforms; of all when none is named."""
        ...


class Runner(Protocol):
    """The client of a sandboxed runner."""

    async def capabilities(self) -> Capabilities:
        """Ask what the runner can do.

        Raises:
            sandbox_runner.errors.RunnerError: when none answers.
        """
        ...

    def submit(self, job: Job) -> AsyncIterator[Event]:
        """Send a job and follow it to its end; the same id again attaches to the same run."""
        ...

    async def cancel(self, job_id: str) -> None:
        """Stop a job."""
        ...


class Checker(Protocol):
    """The limited child that parses code."""

    async def check(self, check: str, candidates: Sequence[str]) -> CodeChecked:
        """Parse; never raises for what a learner wrote."""
        ...


class Clock(Protocol):
    """Time, as an argument."""

    def now(self) -> datetime:
        """Give the time, in UTC and aware."""
        ...


class Reports(Protocol):
    """What the teacher's report is made of."""

    async def accounts(self, chat: str) -> tuple[str, ...]:
        """Give the accounts (`platform:external`) of the learner whose chat this is."""
        ...

    async def report(self, course: Course, now: datetime) -> Report:
        """Gather the report of everything that is kept; learners in it are hashes."""
        ...


class Errands(Protocol):
    """What takes a while beside runs and checks, and always ends with its event."""

    async def seen(self, known: Known, event: Asked, course: Course) -> Known:
        """Add to what was loaded what only the shell can tell of an event."""
        ...

    async def run(self, chat: str, errand: MakeReport | AskPhrasing, course: Course) -> ReportMade | Phrased:
        """Run one errand to its event; never raises for what it asks others."""
        ...


@dataclass(frozen=True, slots=True)
class Leaving:
    """What must end when a learner is forgotten: their chats with their addresses, and their runs not told yet."""

    chats: tuple[tuple[str, str], ...]
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is kept for a chat."""

    name: str
    media: str
    data: bytes


class Owned(Protocol):
    """What belongs to one learner."""

    async def leaving(self, chat: str) -> Leaving:
        """Say what must end when the learner of this chat is forgotten."""
        ...

    async def file(self, chat: str, file: str) -> StoredFile | None:
        """Give a file of this very chat; None when it is gone or another's."""
        ...

    async def scrub(self) -> None:
        """Have what was deleted overwritten, where the database leaves that to us."""
        ...


@dataclass(frozen=True, slots=True)
class DueDigest:
    """A digest that fell due at `at` and is claimed; `silent` when nothing reaches the learner in any chat."""

    chat: str
    at: datetime
    silent: bool = False


class Reminding(Protocol):
    """Digests that fell due."""

    async def claim(
        self, now: datetime, holder: str, lease: timedelta, platforms: Sequence[str], most: int
    ) -> tuple[DueDigest, ...]:
        """Take those of these platforms that nobody is sending; who does not send in time has lost them to others."""
        ...

    async def joined(self, platforms: Sequence[str]) -> tuple[tuple[str, datetime], ...]:
        """Give the chats of these platforms whose code was used and that were not told, with when it was given."""
        ...

    async def postpone(self, due: DueDigest, to: datetime) -> None:
        """Put a digest off that is still due as it was claimed."""
        ...


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits: runs without an end, chats of a platform whose replies are not out, updates without an answer.

    Each with the age of its oldest in seconds.
    """

    runs: int = 0
    runs_s: float = 0.0
    behind: int = 0
    behind_s: float = 0.0
    unanswered: int = 0
    unanswered_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Incident:
    """Something that is, or was, wrong: its name, since when, and which bot looks after it."""

    name: str
    since: datetime
    holder: str
    over_at: datetime | None = None
    count: int = 0
    age_s: float = 0.0


class Incidents(Protocol):
    """What is wrong with the installation, as all bots on one store see it."""

    async def backlog(self, platform: str, now: datetime, settled: timedelta) -> Backlog:
        """Count what waits; replies and updates only once they are older than `settled`."""
        ...

    async def all(self) -> tuple[Incident, ...]:
        """Give every incident, those that are over too."""
        ...

    async def hold(self, name: str, holder: str, now: datetime, lease: timedelta) -> bool:
        """Take or renew the lease of a name; False while another bot has it."""
        ...

    async def began(self, seen: Incident, now: datetime, lease: timedelta) -> None:
        """Say that something is wrong: begins the incident, or goes on looking after it."""
        ...

    async def ended(self, name: str, holder: str, now: datetime, lease: timedelta, *, anyone: bool) -> None:
        """Say that all is well: ends the incident, where this bot looks after it, nobody does, or `anyone` may tell."""
        ...

    async def passed(self, name: str, holder: str, since: datetime, now: datetime) -> None:
        """Say of something that could not be written down while it lasted that it is over; one bot's word stands."""
        ...

    async def admins(self, accounts: Sequence[str], platform: str) -> tuple[tuple[str, str], ...]:
        """Give the private chats of these accounts (`platform:external`) on a platform, each with its address."""
        ...


@runtime_checkable
class CallsOut(Protocol):
    """A platform that can say something without the store: that the store is away."""

    async def call_out(self, chat: str, address: str, reply: Reply) -> None:
        """Say it, once or not at all. Must not raise."""
        ...


@runtime_checkable
class Stands(Protocol):
    """A platform that knows whether it is connected."""

    def trouble(self) -> str:
        """Say what is wrong with the connection; empty when nothing is."""
        ...


class Counts(Protocol):
    """Where turns are counted."""

    def turned(self, event: str, took_s: float) -> None:
        """Count an event that was answered; `event` is its kind."""
        ...


class Store(Turns, Chats, Runs, Checks, Reports, Protocol):
    """All that the shell asks of a database."""

    def owned(self) -> Owned:
        """Give the part that knows what belongs to one learner."""
        ...
