"""The shell: event, turn, save, carry out the effects; the only place that awaits between an event and its reply.

Law: one lock a chat, held from the reading of the session to the showing of the replies, and never while a run or a
check is under way. What is shown or sent was saved before; what was saved and not carried out is taken up at start.
"""

import asyncio
import contextlib
import logging
import secrets
import string
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from bot.engine.answering import answerer
from bot.engine.effects import AskPhrasing, CancelRun, CheckCode, Forget, MakeReport, RunCode, Say, TellOther, Turn
from bot.engine.events import (
    AccountsJoined,
    ChatOpened,
    CodeChecked,
    CodeSent,
    Event,
    FileSent,
    GroupAsked,
    GroupFellDue,
    GroupPressed,
    IncidentTold,
    RunFinished,
    RunProgressed,
    TextSent,
)
from bot.engine.groups import playing as groups
from bot.engine.known import Dice, Known, needs
from bot.engine.owned.rows import Keeping
from bot.engine.replies import Paragraph, Reply
from bot.engine.session import Session
from bot.engine.turn import take_turn
from bot.engine.wording import Wording
from bot.errors import StoreAwayError
from bot.holding import Holding
from bot.patience import PAUSES_S, Doubt, patiently
from bot.ports import Chat, ChatRow, Checker, Clock, Counts, Errands, Leaving, Runner, Shown, Store, StoredFile
from bot.posting.ports import GPU_LEFT
from content.schema import Course
from sandbox_runner.errors import RunnerError
from sandbox_runner.protocol import Accepted, Capabilities, Ending, Finished, Job, Note, Progress, Result

LOG = logging.getLogger("tasree.app")

PROGRESS_EVERY = timedelta(seconds=0.4)
ASK_RUNNER_EVERY_S = 20.0
LONG = 10_000
"""Characters or bytes from which a turn is answered in a thread of its own."""
TRIES, AGAIN_S = 8, 0.01
"""So often a turn is tried in a chat that others change, and after what pause, which grows with each try."""
FIRST_ANSWER_S = 10.0
"""So long may the first events wait for the runner's first answer."""
_LETTERS = string.ascii_lowercase + string.digits
_WITHOUT_RUNNER = ChatOpened | IncidentTold | RunProgressed | RunFinished | GroupAsked | GroupPressed | GroupFellDue
"""What is answered in the same way whether a runner is there or not."""

T = TypeVar("T")


class SystemDice:
    """Chance and identity from the system."""

    def identity(self) -> str:
        """Give 12 characters of `[a-z0-9]`: 62 bits."""
        return "".join(secrets.choice(_LETTERS) for _ in range(12))

    def shuffled(self, items: tuple[T, ...]) -> tuple[T, ...]:
        """Give the items in an order by chance."""
        mixed = list(items)
        secrets.SystemRandom().shuffle(mixed)
        return tuple(mixed)


class SystemClock:
    """The system's time."""

    def now(self) -> datetime:
        """Give the time in UTC."""
        return datetime.now(UTC)


class App:
    """One bot: a course, a store, a runner, and the chat in which replies are shown."""

    def __init__(  # noqa: PLR0913 - one argument a port
        self,
        *,
        course: Course,
        store: Store,
        runner: Runner,
        checker: Checker,
        clock: Clock,
        dice: Dice,
        chat: Chat,
        errands: Errands | None = None,
        keeping: Keeping = Keeping(),  # noqa: B008 - frozen
        figures: Counts | None = None,
        platforms: Sequence[str] = (),
    ) -> None:
        answerer.of(course)  # built before the first question
        self.course = course
        self._store = store
        self._runner = runner
        self._checker = checker
        self._clock = clock
        self._dice = dice
        self._chat = chat
        self._errands = errands
        self._keeping = keeping
        self._figures = figures
        self._platforms = tuple(platforms)
        self._holding = Holding(store)
        self._checking: set[str] = set()
        self._left_checks: set[str] = set()
        self._capabilities: Capabilities | None = None
        self._asked = asyncio.Event()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns: set[asyncio.Task[Turn | None]] = set()
        self._expected: dict[str, asyncio.TimerHandle] = {}
        self._lasting: list[asyncio.Task[None]] = []
        self._closing = False

    async def start(self, *, adopt: bool) -> None:
        """Begin to ask the runner; with `adopt`, take up what an ended process left under way, now and from now on."""
        self._lasting.append(asyncio.create_task(self._ask_runner()))
        if adopt:
            await self._take_up(first=True)
        again = partial(self._take_up, first=False) if adopt else None
        self._lasting.append(asyncio.create_task(self._holding.keep(again)))

    async def _take_up(self, *, first: bool) -> None:
        """Take up runs and checks that nobody follows: of checks those that were found so twice, but at the start."""
        while runs := await self._store.take_up(self._platforms, first=first):
            for run in runs:
                if run.job.id not in self._holding:
                    self._begin(run.chat, run.job, run.result)
        waiting = {check.check: check for check in await self._store.unchecked(self._platforms)}
        for name in waiting if first else waiting.keys() & self._left_checks:
            if name not in self._checking:
                self._spawn(self._check(waiting[name].chat, CheckCode(name, waiting[name].candidates)))
        self._left_checks = set(waiting)

    async def close(self) -> None:
        """Stop; runs and groups' quizzes under way stay in the store, for another bot or the next start to take up."""
        self._closing = True
        for chat in tuple(self._expected):
            self._expect_no_more(chat)
        tasks = [*self._tasks, *self._lasting]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*self._turns, return_exceptions=True)
        await self._holding.leave()

    async def runner_asked(self) -> None:
        """Wait until the runner answered, or failed to, for the first time."""
        await self._asked.wait()

    async def idle(self) -> None:
        """Wait until no turn, no run and no check is under way."""
        while under_way := {*self._tasks, *self._turns}:
            await asyncio.wait(under_way)

    # --- what adapters call -------------------------------------------------------------------------------------------

    async def enter(self, platform: str, external: str, account: str = "", *, greet: bool = True) -> ChatRow:
        """Give the chat of an account; a new one is greeted, where the platform has no word of its own for that.

        `account` names the learner where `external` names one of several chats.
        """
        row = await patiently(lambda: self._store.enter(platform, external, self._clock.now(), account))
        if greet:
            await self.take(row.id, ChatOpened(), "opened")
        return row

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give every reply said or edited after `change`."""
        return await self._store.since(chat, change)

    async def take(self, chat: str, event: Event, key: str) -> bool:
        """Answer one event; False when its key was taken before. An empty key is never a duplicate.

        A caller that goes away (a closed tab) does not stop the turn between its saving and its effects.

        Raises:
            TimeoutError: when other processes changed the chat under every try; nothing was changed.
        """
        return await self.answered(chat, event, key) is not None

    async def answered(self, chat: str, event: Event, key: str) -> Turn | None:
        """Answer one event as `take` does; give its turn, None when its key was taken before."""
        turn = asyncio.create_task(self._counted(chat, event, key))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        return await asyncio.shield(turn)

    async def room(self, platform: str, external: str) -> str:
        """Give the chat of a group, which has a session of its own and is nobody's."""
        return await self._store.room(platform, external, self._clock.now())

    def expect(self, chat: str, event: GroupFellDue, at: datetime) -> None:
        """Answer an event of a group when its time comes, in the place of what was expected there before."""
        self._expect_no_more(chat)
        wait_s = max((at - self._clock.now()).total_seconds(), 0.0)
        loop = asyncio.get_running_loop()
        self._expected[chat] = loop.call_later(wait_s, lambda: self._spawn(self._fell_due(chat, event)))

    def _expect_no_more(self, chat: str) -> None:
        before = self._expected.pop(chat, None)
        if before is not None:
            before.cancel()

    async def _fell_due(self, chat: str, event: GroupFellDue) -> None:
        self._expected.pop(chat, None)
        await self.take(chat, event, f"due:{event.ask}:{event.open:d}")

    async def _counted(self, chat: str, event: Event, key: str) -> Turn | None:
        began = asyncio.get_running_loop().time()
        taken = await self._take(chat, event, key)
        if self._figures is not None and taken is not None:
            self._figures.turned(type(event).__name__, asyncio.get_running_loop().time() - began)
        return taken

    async def _take(self, chat: str, event: Event, key: str) -> Turn | None:
        if not self._asked.is_set() and not isinstance(event, _WITHOUT_RUNNER):
            # In the first seconds a runner of our own is still proving its walls; "there is none" would be wrong.
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), FIRST_ANSWER_S)
        lock = self._locks.setdefault(chat, asyncio.Lock())
        doubt: Doubt | None = None
        leaving: Leaving | None = None
        pauses = iter(PAUSES_S)
        tries = 0
        async with lock:
            while tries < TRIES:
                try:
                    opened = await self._store.open(chat, key)
                    if doubt is not None and doubt.was_saved(opened):
                        await self._make_up(chat, doubt.turn, leaving)
                        return doubt.turn
                    doubt = None
                    if opened is None:
                        return None
                    known = await self._store.load(chat, needs(opened.session, event))
                    known = await self._errands.seen(known, event, self.course) if self._errands else known
                    turn = await self._answer(opened.session, event, known)
                    leaving = await self._leaving(chat, turn)
                    doubt = Doubt(turn, opened.revision)
                    shown = await self._store.commit(chat, key, opened.revision, turn, self._clock.now())
                except StoreAwayError:
                    pause = next(pauses, None)
                    if pause is None:
                        raise
                    await asyncio.sleep(pause)
                    continue
                doubt = None
                if shown is None:
                    tries += 1
                    await asyncio.sleep(AGAIN_S * (tries - 1))
                    continue  # the key was taken, or another process changed the chat: look again
                if leaving is not None:
                    await self._let_go(chat, leaving, shown)
                    return turn
                for one in shown:
                    await self._chat.show(chat, one)
                self._carry_out(chat, turn)
                return turn
        LOG.error("a turn was given up after %d tries, event %s", TRIES, type(event).__name__)
        message = "the chat changed under every try"
        raise TimeoutError(message)

    async def file(self, chat: str, file: str) -> StoredFile | None:
        """Give a file that was offered in this very chat."""
        return await self._store.owned().file(chat, file)

    async def _leaving(self, chat: str, turn: Turn) -> Leaving | None:
        forgets = any(isinstance(effect, Forget) for effect in turn.effects)
        return await self._store.owned().leaving(chat) if forgets else None

    async def _let_go(self, chat: str, leaving: Leaving, farewell: Sequence[Shown]) -> None:
        """Stop what runs for a learner who is stored no more, and close their chats with the last words."""
        for run in leaving.runs:
            self._spawn(self._cancel(run))
        for each, address in leaving.chats:
            await self._chat.forget(each, address, farewell if each == chat else ())
        self._spawn(self._store.owned().scrub())

    async def _make_up(self, chat: str, turn: Turn, leaving: Leaving | None) -> None:
        """Show and carry out a turn that was saved by a commit which broke before it could say so."""
        if leaving is not None:
            said = [Shown(0, 0, "", effect.reply) for effect in turn.effects if isinstance(effect, Say)]
            await self._let_go(chat, leaving, said)
            return
        shown = await self._store.since(chat, 0)
        if shown:  # the newest is enough: a chat that sees a gap fills it from the store
            await self._chat.show(chat, max(shown, key=lambda one: one.change))
        self._carry_out(chat, turn)

    def reload(self, course: Course) -> None:
        """Put another course in the place of this one, whole, between two turns."""
        answerer.of(course)  # built here, so that no learner's question waits for it
        self.course = course

    # --- one turn -----------------------------------------------------------------------------------------------------

    async def _answer(self, session: Session, event: Event, known: Known) -> Turn:
        if _length(event) <= LONG:
            return self._turn(session, event, known)
        # Reading a hostile text of 100,000 characters may take a second, and other learners are waiting.
        return await asyncio.to_thread(self._turn, session, event, known)

    def _turn(self, session: Session, event: Event, known: Known) -> Turn:
        seen = replace(known, capabilities=self._capabilities, keeping=self._keeping, gpu_left=GPU_LEFT.get())
        try:
            return take_turn(session, event, seen, self.course, self._clock.now(), self._dice)
        except Exception:
            # A fault of ours must cost the learner nothing: the session stays, and a sentence says so.
            LOG.exception("a turn failed on %s", type(event).__name__)
            sorry = Reply((Paragraph(Wording(self.course.phrases).say("turn_failed")),))
            return Turn(session, (Say(sorry),))

    def _carry_out(self, chat: str, turn: Turn) -> None:
        if self._closing:  # a turn that ends at last begins nothing: it is in the store, for whoever comes
            return
        if turn.session.group is not None:
            due = groups.when(turn.session.group)
            self.expect(chat, *due) if due else self._expect_no_more(chat)
        for effect in turn.effects:
            match effect:
                case CheckCode():
                    self._spawn(self._check(chat, effect))
                case RunCode(job, _):
                    self._begin(chat, job)
                case CancelRun(run):
                    self._spawn(self._cancel(run))
                case TellOther(_, platform) if not self._platforms or platform in self._platforms:
                    self._spawn(self._tell_other(effect))
                case MakeReport() | AskPhrasing() if self._errands is not None:
                    self._spawn(self._run_errand(self._errands, chat, effect))
                case _:
                    pass  # replies and records were written by the commit

    async def _check(self, chat: str, wanted: CheckCode) -> None:
        self._checking.add(wanted.check)
        try:
            checked: CodeChecked = await self._checker.check(wanted.check, wanted.candidates)
            await self.take(chat, checked, f"check:{wanted.check}")
        finally:
            self._checking.discard(wanted.check)

    async def _run_errand(self, errands: Errands, chat: str, errand: MakeReport | AskPhrasing) -> None:
        await self.take(chat, await errands.run(chat, errand, self.course), "")

    async def _tell_other(self, wanted: TellOther) -> None:
        await self.take(wanted.chat, AccountsJoined(), wanted.key)

    async def _cancel(self, run: str) -> None:
        try:
            await self._runner.cancel(run)
        except RunnerError as error:
            LOG.warning("run %s could not be cancelled: %s", run, error)

    def _begin(self, chat: str, job: Job, result: Result | None = None) -> None:
        """Follow a run that is held here: to its end, or, where that is known, to its telling."""
        work = self._follow(chat, job) if result is None else self._tell(chat, result)
        self._holding.follow(job.id, self._spawn(work))

    async def _follow(self, chat: str, job: Job) -> None:
        try:
            result = await self._to_its_end(chat, job)
        except RunnerError as error:
            LOG.warning("run %s has no result: %s", job.id, error)
            result = Result(job.id, job.kind, Ending.INFRA_ERROR, job.device, notes=(Note("no_runner"),))
        await self._tell(chat, await patiently(lambda: self._store.finish(job.id, result, self._clock.now())))

    async def _to_its_end(self, chat: str, job: Job) -> Result:
        shown: Accepted | Progress | None = None
        shown_at = self._clock.now() - PROGRESS_EVERY
        async for event in self._runner.submit(job):
            match event:
                case Finished(result):
                    return result
                case Accepted() | Progress():
                    now = self._clock.now()
                    if event == shown or (_same_phase(event, shown) and now - shown_at < PROGRESS_EVERY):
                        continue
                    shown, shown_at = event, now
                    await self.take(chat, RunProgressed(job.id, event), "")
        message = "the runner ended the stream without a result"
        raise RunnerError(message)

    async def _tell(self, chat: str, result: Result) -> None:
        await self.take(chat, RunFinished(result.job_id, result), f"run:{result.job_id}")
        await patiently(lambda: self._store.close_run(result.job_id))

    async def _ask_runner(self) -> None:
        wait = 1.0
        while True:
            try:
                self._capabilities = await self._runner.capabilities()
                wait = ASK_RUNNER_EVERY_S
            except RunnerError as error:
                if self._capabilities is not None or not self._asked.is_set():
                    LOG.warning("no runner answers: %s", error)
                self._capabilities = None
                wait = min(wait * 2, ASK_RUNNER_EVERY_S)
            self._asked.set()
            await asyncio.sleep(wait)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            LOG.error("work in the background failed", exc_info=task.exception())


def _length(event: Event) -> int:
    match event:
        case TextSent(text) | CodeSent(text):
            return len(text)
        case FileSent(_, data):
            return len(data)
        case _:
            return 0


def _same_phase(new: Accepted | Progress, old: Accepted | Progress | None) -> bool:
    return isinstance(new, Progress) and isinstance(old, Progress) and new.phase is old.phase
