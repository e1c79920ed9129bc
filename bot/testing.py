"""Stand-ins with the ports' shapes, and a conversation without an event loop, so that tests read as scripts.

Law: they keep the promises that the ports state (one event a key, one answer an ask, edits by slot) and nothing else.
"""

import ast
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from bot.engine.effects import (
    Ask,
    CancelRun,
    CheckCode,
    CloseAsk,
    CountTry,
    Edit,
    Forget,
    OpenAsk,
    Record,
    RunCode,
    Say,
    Turn,
)
from bot.engine.events import CodeChecked, Event, RunFinished, SyntaxTrouble
from bot.engine.groups import quiz as groups
from bot.engine.groups.quiz import KeepGroupAnswer
from bot.engine.known import Known, KnownRun, Needs, needs
from bot.engine.linking.rows import DropLink, MissLink, OfferLink
from bot.engine.owned.rows import KeepFile
from bot.engine.questions import ChooseOffered, KeepQuestion
from bot.engine.remembering.rows import Complain, MoveCard, SetCap, SuspendCard, UndoReview, Visited
from bot.engine.reminders.wishes import KeepWishes, Wishes
from bot.engine.replies import Reply
from bot.engine.session import Session, from_json, to_json
from bot.engine.teaching.figures import Report
from bot.engine.tries import CastVote, DropName, KeepAttempt, TakeName
from bot.engine.turn import take_turn
from bot.ports import ChatRow, Leaving, Opened, Shown, Store, StoredFile, UnfinishedCheck, UnfinishedRun
from bot.stores.groups_in_memory import GroupAnswers
from bot.stores.in_memory import Tries
from bot.stores.links_in_memory import Links
from bot.stores.remembered_in_memory import Memories
from content.schema import Course
from sandbox_runner.errors import RunnerError
from sandbox_runner.protocol import (
    Accepted,
    Capabilities,
    Device,
    Ending,
    Finished,
    Job,
    JobKind,
    Machine,
    Phase,
    Progress,
    Result,
    Stream,
)
from sandbox_runner.protocol import Event as RunnerEvent

T = TypeVar("T")
Answer = Callable[[Job], Result]

MACHINE = Machine(cpu="Stand-in CPU", cores=2, threads=1, device="cpu", python="3.11.2", numpy="2.4.6", torch="2.13.0")
CAPABLE = Capabilities(kinds=(JobKind.RUN, JobKind.TIME, JobKind.EXERCISE), devices=(Device.CPU,), machine=MACHINE)


class StandStillClock:
    """A clock that stands until it is set."""

    def __init__(self, at: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)) -> None:
        self.at = at

    def now(self) -> datetime:
        """Give the time it stands at."""
        return self.at


class FixedDice:
    """Identities that count up, and an order that stays."""

    def __init__(self) -> None:
        self._count = 0

    def identity(self) -> str:
        """Give the next id."""
        self._count += 1
        return f"id{self._count:010d}"

    def shuffled(self, items: tuple[T, ...]) -> tuple[T, ...]:
        """Give the items as they are."""
        return items


class RecordingChat:
    """Keeps what was shown, in order."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, Shown]] = []
        self.forgotten: list[str] = []

    async def show(self, chat: str, shown: Shown) -> None:
        """Keep it."""
        self.shown.append((chat, shown))

    async def forget(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:  # noqa: ARG002 - as the port
        """Keep the last words, and that they were the last."""
        self.shown += [(chat, one) for one in farewell]
        self.forgotten.append(chat)


def printed(job: Job) -> Result:
    """Give a quiet success: the answer of an `InstantRunner` that was told nothing else."""
    return Result(job.id, job.kind, Ending.OK, job.device, Stream("ok\n", bytes=3), machine=MACHINE)


class InstantRunner:
    """Answers every job at once with what `answer` makes of it; without capabilities it is a runner that is away."""

    def __init__(self, answer: Answer = printed, capabilities: Capabilities | None = CAPABLE) -> None:
        self.answer = answer
        self.able = capabilities
        self.submitted: list[Job] = []
        self.cancelled: list[str] = []

    async def capabilities(self) -> Capabilities:
        """Say what it can do."""
        if self.able is None:
            message = "no runner answers"
            raise RunnerError(message)
        return self.able

    async def submit(self, job: Job) -> AsyncIterator[RunnerEvent]:
        """Accept, run and finish."""
        await self.capabilities()
        self.submitted.append(job)
        yield Accepted(0, 0.0)
        yield Progress(Phase.RUN)
        yield Finished(self.answer(job))

    async def cancel(self, job_id: str) -> None:
        """Keep the id."""
        self.cancelled.append(job_id)


class ParsingChecker:
    """Parses in this process: for code of tests only, never for a learner's."""

    async def check(self, check: str, candidates: Sequence[str]) -> CodeChecked:
        """Give the first candidate that parses."""
        return parsed(check, candidates)


def parsed(check: str, candidates: Sequence[str]) -> CodeChecked:
    """Parse candidates in this process."""
    trouble: SyntaxTrouble | None = None
    for index, source in enumerate(candidates):
        try:
            ast.parse(source)
        except SyntaxError as error:
            trouble = trouble or SyntaxTrouble("invalid_syntax", error.lineno or 1, error.offset or 1, error.text or "")
        else:
            return CodeChecked(check, index)
    return CodeChecked(check, None, trouble)


@dataclass(slots=True)
class _ChatState:
    session: str
    revision: int = 0
    change: int = 0
    shown: dict[int, Shown] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _RunState:
    chat: str
    job: Job
    slot: str
    result: Result | None = None
    told: bool = False


class MemoryStore:
    """A whole store in memory; sessions pass through their JSON, as in a database."""

    def __init__(self) -> None:
        self.asks: dict[str, Ask] = {}
        self.credits: dict[str, float] = {}
        self.tries = Tries()
        self.memories = Memories()
        self.questions: dict[str, KeepQuestion] = {}
        self.chosen: dict[str, str] = {}
        self.wishes: dict[str, Wishes] = {}
        self.files: dict[str, tuple[str, KeepFile]] = {}
        self.links = Links()
        self.group = GroupAnswers()
        self._chats: dict[str, _ChatState] = {}
        self._runs: dict[str, _RunState] = {}
        self._held: set[str] = set()
        self.lease_s = 20.0

    async def enter(self, platform: str, external: str, now: datetime, account: str = "") -> ChatRow:  # noqa: ARG002 - the port's shape
        """Give the chat of this account, made when it is new."""
        chat, learner = f"{platform}-{external}", f"learner-{account or external}"
        self._chats.setdefault(chat, _ChatState(to_json(Session(learner))))
        return ChatRow(chat, learner)

    async def room(self, platform: str, external: str, now: datetime) -> str:  # noqa: ARG002 - the port's shape
        """Give the chat of a group, made when it is new."""
        chat = f"{platform}-room-{external}"
        self._chats.setdefault(chat, _ChatState(to_json(Session(""))))
        return chat

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give what was said or edited after `change`."""
        shown = self._chats[chat].shown if chat in self._chats else {}
        return tuple(one for _, one in sorted(shown.items()) if one.change > change)

    async def open(self, chat: str, key: str) -> Opened | None:
        """Give the session; None when the key was taken, or the chat is gone."""
        state = self._chats.get(chat)
        return None if state is None or key in state.keys else Opened(from_json(state.session), state.revision)

    async def load(self, chat: str, needs: Needs) -> Known:
        """Load rows of this chat."""
        ask = self.asks.get(needs.ask)
        run = self._runs.get(needs.run)
        mine = run if run and run.chat == chat else None
        last = self._runs.get(needs.last)
        whole = KnownRun(last.job, last.slot, last.result is not None, last.result) if last else None
        run_alone = KnownRun(mine.job, mine.slot, mine.result is not None) if mine else None
        item = ask.item if ask and ask.kind == "myth" else ""
        tried = self.tries.load(self._learner(chat), needs.tries, item, mine.slot if mine else "")
        learner = self._learner(chat)
        card = self.memories.of(learner).cards.get(ask.item) if ask and ask.kind == "card" else None
        kept = self.memories.load(learner) if needs.remembered else None
        wishes = self.wishes.get(learner)
        if kept and wishes:
            kept = replace(kept, zone=wishes.zone, off=frozenset(wishes.off))
        own = {"learners": [{"id": learner}]} if needs.own else None
        wished = wishes if needs.wishes else None
        linking = self.links.load(needs.link) if needs.link is not None else None
        known = Known(ask, run_alone, last=whole, tries=tried, card=card, remembered=kept, wishes=wished, own=own)
        group = self.group.load(needs.group) if needs.group is not None else groups.Found()
        return replace(known, linking=linking, group=group)

    async def commit(self, chat: str, key: str, revision: int, turn: Turn, now: datetime) -> tuple[Shown, ...] | None:
        """Write everything of a turn, or nothing."""
        state = self._chats[chat]
        if key in state.keys or state.revision != revision:
            return None
        if any(isinstance(effect, Forget) for effect in turn.effects):
            self._forget(chat)
            said = [effect for effect in turn.effects if isinstance(effect, Say)]
            last = len(state.shown)
            return tuple(Shown(last + i, state.change + i, "", one.reply) for i, one in enumerate(said, start=1))
        state.keys |= {key} if key else set()
        state.revision += 1
        state.session = to_json(turn.session)
        for row in (row for effect in turn.effects if isinstance(effect, Record) for row in effect.rows):
            if isinstance(row, KeepAttempt | CastVote | TakeName | DropName):
                self.tries.record(self._learner(chat), row, now)
            if isinstance(row, OfferLink | DropLink | MissLink):
                self.links.keep(chat, row)
            if isinstance(row, KeepGroupAnswer):
                self._answered(row)
            if isinstance(row, KeepFile):
                self.files[row.id] = (chat, row)
            self._remember(self._learner(chat), row)
        return tuple(shown for effect in turn.effects for shown in self._carry_out(chat, state, effect, now))

    def _answered(self, row: KeepGroupAnswer) -> None:
        self.group.keep(row)
        learner = self._learner(row.by)
        self.memories.misconceived(learner, (row.misconception,))
        self.memories.learn(learner, row.learned)

    def _remember(self, learner: str, row: object) -> None:
        match row:
            case CloseAsk(ask, _, _, misconception, learnt) if not self.asks[ask].closed:
                self.memories.misconceived(learner, (misconception,))
                if learnt is not None:
                    self.memories.learn(learner, learnt)
            case CountTry(ask, _, misconception) if not self.asks[ask].closed:
                self.memories.misconceived(learner, (misconception,))
            case UndoReview(_, ask):
                self.memories.keep(learner, row)
                self.asks[ask] = replace(self.asks[ask], answer="", closed=False)
            case KeepWishes(wishes):
                self.wishes[learner] = wishes
            case SuspendCard() | MoveCard() | SetCap() | Complain() | Visited():
                self.memories.keep(learner, row)
            case _:
                pass

    def owned(self) -> "MemoryStore":
        """Give the part that knows what belongs to one learner: itself."""
        return self

    async def leaving(self, chat: str) -> Leaving:
        """Give this chat, and its runs that were not told."""
        waiting = (name for name, run in self._runs.items() if run.chat == chat and not run.told)
        return Leaving(((chat, ""),), tuple(waiting))

    async def file(self, chat: str, file: str) -> StoredFile | None:
        """Give a file of this chat."""
        of, kept = self.files.get(file, ("", None))
        return StoredFile(kept.name, kept.media, kept.data) if kept and of == chat else None

    async def scrub(self) -> None:
        """Nothing is on a disk."""

    def _forget(self, chat: str) -> None:
        learner = self._learner(chat)
        self.wishes.pop(learner, None)
        self.memories = Memories()  # of one learner, in the tests that forget one
        self.files = {name: pair for name, pair in self.files.items() if pair[0] != chat}
        self._runs = {name: run for name, run in self._runs.items() if run.chat != chat}
        del self._chats[chat]

    def _learner(self, chat: str) -> str:
        return from_json(self._chats[chat].session).learner

    async def unfinished(self) -> tuple[UnfinishedRun, ...]:
        """Give the runs whose end was not told."""
        return tuple(UnfinishedRun(run.chat, run.job, run.result) for run in self._runs.values() if not run.told)

    async def take_up(self, platforms: Sequence[str], *, first: bool) -> tuple[UnfinishedRun, ...]:  # noqa: ARG002 - as above
        """Give the runs whose end was not told and that nobody holds."""
        free = tuple(run for run in await self.unfinished() if run.job.id not in self._held)
        self._held |= {run.job.id for run in free}
        return free

    async def renew(self, runs: Sequence[str]) -> frozenset[str]:
        """Hold all that is there: nobody else takes any."""
        return frozenset(run for run in runs if run in self._runs)

    async def let_go(self) -> None:
        """Hold nothing."""
        self._held.clear()

    async def finish(self, run: str, result: Result, now: datetime) -> Result:  # noqa: ARG002 - the port's shape
        """Keep the first result."""
        self._runs[run].result = self._runs[run].result or result
        return self._runs[run].result or result

    async def close_run(self, run: str) -> None:
        """Mark a run as told."""
        self._runs[run].told = True

    async def accounts(self, chat: str) -> tuple[str, ...]:
        """Give the account of a chat."""
        return (chat.replace("-", ":", 1),)

    async def report(self, course: Course, now: datetime) -> Report:  # noqa: ARG002 - the port's shape
        """Give a report that knows how many learners there are, and nothing else."""
        return Report(now, len(self._chats))

    async def unchecked(self, platforms: Sequence[str] = ()) -> tuple[UnfinishedCheck, ...]:  # noqa: ARG002 - as above
        """Give the checks without an answer."""
        waiting = ((chat, from_json(state.session).pending) for chat, state in self._chats.items())
        return tuple(UnfinishedCheck(chat, p.check, p.candidates) for chat, p in waiting if p and not p.offered)

    def _carry_out(self, chat: str, state: _ChatState, effect: object, now: datetime) -> tuple[Shown, ...]:
        match effect:
            case Say(reply, slot):
                taken = bool(slot) and any(one.slot == slot for one in state.shown.values())
                assert not taken, f"the slot {slot} was said twice"  # noqa: S101 - what a database would refuse
                return (self._show(state, len(state.shown) + 1, slot, reply),)
            case Edit(slot, reply):
                number = next((n for n, one in state.shown.items() if slot and one.slot == slot), len(state.shown) + 1)
                return (self._show(state, number, slot, reply),)
            case Record(rows):
                for row in rows:
                    self._record(row, now)
            case RunCode(job, slot):
                self._runs[job.id] = _RunState(chat, job, slot)
                self._held.add(job.id)
            case _:
                pass
        return ()

    @staticmethod
    def _show(state: _ChatState, number: int, slot: str, reply: Reply) -> Shown:
        state.change += 1
        state.shown[number] = Shown(number, state.change, slot, reply)
        return state.shown[number]

    def _record(self, row: object, now: datetime) -> None:
        match row:
            case OpenAsk(ask):
                assert ask.id not in self.asks  # noqa: S101 - what a database would refuse
                self.asks[ask.id] = replace(ask, asked_at=now)
            case CloseAsk(ask, answer, credit) if not self.asks[ask].closed:
                self.asks[ask] = replace(self.asks[ask], answer=answer, closed=True)
                self.credits[ask] = credit
            case CountTry(ask, answer) if not self.asks[ask].closed:
                self.asks[ask] = replace(self.asks[ask], answer=answer, tries=self.asks[ask].tries + 1)
            case KeepQuestion():
                self.questions[row.id] = row
            case ChooseOffered(question, chosen):
                self.chosen.setdefault(question, chosen)
            case _:
                pass


class Conversation:
    """One learner and the engine, turn by turn, without an event loop.

    Code is checked at once; runs wait in `waiting` until `finish` ends them. With a store of another kind, `at_once`
    brings its coroutines to their end.
    """

    def __init__(
        self,
        course: Course,
        capabilities: Capabilities | None = CAPABLE,
        store: Store | None = None,
        at_once: "Callable[[Coroutine[Any, Any, Any]], Any] | None" = None,
    ) -> None:
        self.course = course
        self.capabilities = capabilities
        self.at_once = at_once or _at_once
        self.store: Any = store or MemoryStore()
        self.dice = FixedDice()
        self.clock = StandStillClock()
        self.waiting: list[Job] = []
        self.cancelled: list[str] = []
        self.chat = self.at_once(self.store.enter("test", "one", self.clock.now())).id

    @property
    def session(self) -> Session:
        """The session as it is stored."""
        opened: Opened | None = self.at_once(self.store.open(self.chat, ""))
        assert opened is not None  # noqa: S101 - an empty key is never taken
        return opened.session

    def take(self, event: Event) -> tuple[Reply, ...]:
        """Answer one event; give what was said or edited by it, and by the check of code it led to."""
        opened = self.at_once(self.store.open(self.chat, ""))
        assert opened is not None  # noqa: S101 - an empty key is never taken
        known = self.at_once(self.store.load(self.chat, needs(opened.session, event)))
        known = replace(known, capabilities=self.capabilities)
        turn = take_turn(opened.session, event, known, self.course, self.clock.now(), self.dice)
        shown = self.at_once(self.store.commit(self.chat, "", opened.revision, turn, self.clock.now())) or ()
        replies = [one.reply for one in shown]
        for effect in turn.effects:
            match effect:
                case CheckCode(check, candidates):
                    replies += self.take(parsed(check, candidates))
                case RunCode(job, _):
                    self.waiting.append(job)
                case CancelRun(run):
                    self.cancelled.append(run)
                case Forget():
                    self.cancelled += [job.id for job in self.waiting]
                    self.waiting.clear()
                    self.chat = self._entered()
                case _:
                    pass
        return tuple(replies)

    def _entered(self) -> str:
        return str(self.at_once(self.store.enter("test", "one", self.clock.now())).id)

    def finish(self, answer: Answer = printed) -> tuple[Reply, ...]:
        """End the run that waits longest, and tell it."""
        job = self.waiting.pop(0)
        result = answer(job)
        self.at_once(self.store.finish(job.id, result, self.clock.now()))
        replies = self.take(RunFinished(job.id, result))
        self.at_once(self.store.close_run(job.id))
        return replies


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    message = "a stand-in waited"
    raise RuntimeError(message)
