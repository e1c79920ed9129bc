"""Brings saved replies to a platform: in order, once each, within its limits, and over the end of a process.

Law: a chat's replies go out by one worker, new ones in the order in which they were said; an edit waits for its time
without holding up what is new; of several states of a reply only the newest is shown. Showing never raises.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from bot.engine.replies import Reply
from bot.ports import Shown
from bot.posting.errors import (
    BusyError,
    GoneError,
    MissingError,
    MovedError,
    NotSentError,
    PostingError,
    RefusedError,
    UnsureError,
)
from bot.posting.pacing import Pacing
from bot.posting.ports import Cursor, Line, Mark, Outbox, PostedPart, Silent, State

LOG = logging.getLogger("tasree.courier")

ANSWERS: ContextVar[str] = ContextVar("answers", default="")
"""The platform's id of what the turn under way answers; what the turn began inherits it."""

EDIT_EVERY_S = 3.0
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0
LEASE_S = 30.0
"""So long a process has a chat to itself without saying so again; on SQLite nobody asks."""
MOST_RESTING = 1000
TRIES = 5
"""So often the last words of a chat are tried, of which the store knows nothing."""


class Draft(Protocol):
    """One call's worth of a reply, drawn for a platform; parts of one kind can be edited into each other."""

    @property
    def kind(self) -> str:
        """The kind."""
        ...

    @property
    def digest(self) -> str:
        """What tells two contents apart."""
        ...


D = TypeVar("D", bound=Draft)


class Replies(Protocol):
    """The part of a store that gives replies back."""

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give every reply said or edited after `change`."""
        ...


@dataclass(frozen=True, slots=True)
class Drawing(Generic[D]):
    """How the replies of a chat are drawn; `offer` is the note about a lost reply."""

    draw: Callable[[str, Reply], Sequence[D]]
    offer: Callable[[int], D]
    is_group: Callable[[str], bool] = lambda _: False
    root: Callable[[str], str] = lambda address: address


class _SupersededError(Exception):
    """While a call waited for its turn, a newer state of the reply came: it goes out instead."""


@dataclass(slots=True)
class _Box:
    """A chat with something to go out. `answers` are by number, `written` is the last mark."""

    chat: str
    address: str
    delivered: int
    silent: bool
    waiting: dict[int, Shown] = field(default_factory=dict)
    untold: set[int] = field(default_factory=set)
    answers: dict[int, str] = field(default_factory=dict)
    parts: dict[int, dict[int, PostedPart]] = field(default_factory=dict)
    withdrawn: set[int] = field(default_factory=set)
    news: asyncio.Event = field(default_factory=asyncio.Event)
    empty: asyncio.Event = field(default_factory=asyncio.Event)
    newest: int = 0
    wait_s: float = 0.0
    written: Awaitable[None] | None = None
    renew_at: float = 0.0
    gap: bool = False


class Courier(Generic[D]):
    """The outgoing side of one platform; implements the port `Chat`."""

    def __init__(  # noqa: PLR0913 - the parts of delivery, each from elsewhere
        self,
        platform: str,
        outbox: Outbox,
        replies: Replies,
        line: Line[D],
        drawing: Drawing[D],
        pacing: Pacing,
        clock: Callable[[], float],
        edit_every_s: float = EDIT_EVERY_S,
        again_s: float = FIRST_WAIT_S,
    ) -> None:
        self._platform = platform
        self._outbox = outbox
        self._replies = replies
        self._line = line
        self._drawing = drawing
        self._pacing = pacing
        self._clock = clock
        self._edit_every_s = edit_every_s
        self._again_s = again_s
        self._boxes: dict[str, _Box] = {}
        self._opening: dict[str, list[tuple[Shown, str]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._holder = secrets.token_hex(6)
        self._due: dict[tuple[str, int], float] = {}
        self.silenced: set[str] = set()
        """Chats that took nothing any more, until somebody writes there again."""

    async def start(self) -> None:
        """Take up what an ended process left."""
        for chat in await self._outbox.behind(self._platform):
            self._begin(chat)

    async def close(self, within_s: float = 5.0) -> None:
        """Stop; calls under way have some seconds to end, so that what became of them is known."""
        self._closing = True
        for box in self._boxes.values():
            box.news.set()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=within_s)
        for task in set(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def idle(self) -> None:
        """Wait until nothing is left to go out."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def show(self, chat: str, shown: Shown) -> None:
        """Take a reply that was saved; it goes out in its turn."""
        box = self._boxes.get(chat)
        if box is not None:
            self._admit(box, shown, ANSWERS.get())
        elif chat in self._opening:
            self._opening[chat].append((shown, ANSWERS.get()))
        else:
            self._begin(chat, (shown, ANSWERS.get()))

    async def forget(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:
        """Let go of a chat that is in the store no more, and say its last words, of which nothing is kept."""
        self.silenced.add(chat)
        box = self._boxes.get(chat)
        if box is not None:
            box.silent = True
            box.waiting.clear()
            box.untold.clear()
            box.news.set()
        if address and farewell:
            self._spawn(self._take_leave(chat, address, farewell))

    async def _take_leave(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:
        for draft in (draft for shown in farewell for draft in self._drawing.draw(chat, shown.reply)):
            for _ in range(TRIES):
                await self._turn(address)
                try:
                    await self._line.send(address, draft, "")
                except BusyError as error:
                    self._pacing.hold(self._drawing.root(address), error.wait_s, group=self._drawing.is_group(address))
                except NotSentError:
                    await asyncio.sleep(self._again_s)
                except PostingError as error:
                    LOG.info("the last words may not have arrived: %s", error)
                    break
                else:
                    break

    async def again(self, chat: str, number: int) -> bool:
        """Send a reply anew whose sending had no known end; False when there is none such."""
        lost = [one for one in await self._outbox.parts(chat, number) if one.state in {State.UNKNOWN, State.OFFERED}]
        if not lost:
            return False
        await self._outbox.write([replace(one, state=State.REFUSED, digest="", change=0) for one in lost])
        shown = next((one for one in await self._replies.since(chat, 0) if one.number == number), None)
        box = self._boxes.get(chat)
        if box is not None:
            box.parts.pop(number, None)
        if shown is not None:
            await self.show(chat, shown)
        return shown is not None

    def placed(self, chat: str, address: str) -> None:
        """Hear where a chat's replies go from now on."""
        self.silenced.discard(chat)
        box = self._boxes.get(chat)
        if box is not None:
            box.address = address

    async def quiet(self, chat: str, within_s: float) -> None:
        """Wait until nothing of a chat is left to go out, for some seconds."""
        box = self._boxes.get(chat)
        if box is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(box.empty.wait(), within_s)

    async def take_back(self, chat: str, parts: Sequence[PostedPart]) -> None:
        """Take parts back that something newer replaces: they are edited no more, and soon they are gone."""
        box = self._boxes.get(chat)
        if box is not None:
            box.withdrawn |= {one.number for one in parts}
        await self._outbox.write([replace(one, state=State.GONE) for one in parts])
        self._spawn(self._removed(chat, parts))

    async def _removed(self, chat: str, parts: Sequence[PostedPart]) -> None:
        mailbox = await self._outbox.mailbox(chat)
        for one in parts if mailbox else ():
            address = mailbox.address if mailbox else ""
            try:
                await self._turn(address)
                await self._line.remove(address, one.external)
            except PostingError as error:
                LOG.info("a part could not be taken back: %s", error)

    # --- opening and admitting ----------------------------------------------------------------------------------------

    def _begin(self, chat: str, *first: tuple[Shown, str]) -> None:
        if self._closing:
            return
        self._opening[chat] = list(first)
        self._spawn(self._serve(chat))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    def _admit(box: _Box, shown: Shown, answers: str) -> None:
        waiting = box.waiting.get(shown.number)
        if waiting is None or waiting.change < shown.change:
            box.waiting[shown.number] = shown
        box.gap = box.gap or shown.change > box.newest + 1  # another process said something in between
        box.newest = max(box.newest, shown.change)
        if answers and shown.number not in box.answers:
            box.answers[shown.number] = answers
        box.news.set()

    async def _serve(self, chat: str) -> None:
        try:
            if not await self._outbox.hold(chat, self._holder, LEASE_S):
                # Another process brings replies here, and looks for news before it lets go; its lease ends with it.
                self._opening.pop(chat, None)
                asyncio.get_running_loop().call_later(LEASE_S, self._once_more, chat)
                return
            box = await self._open(chat)
            while box is not None and await self._worked_off(box):
                pass
        except Exception:
            # Nothing is lost: the store still says what has to go out.
            LOG.exception("the worker of a chat failed")
            asyncio.get_running_loop().call_later(LONGEST_WAIT_S, self._once_more, chat)
        finally:
            closed = self._boxes.pop(chat, None)
            if closed is not None:
                closed.empty.set()
            left = self._opening.pop(chat, [])
            if left:
                self._begin(chat, *left)

    async def _worked_off(self, box: _Box) -> bool:
        """Bring what waits; tell whether there is more to do here."""
        while (box.waiting or box.untold) and not box.silent and not self._closing:
            if self._clock() > box.renew_at:
                box.renew_at = self._clock() + LEASE_S / 3
                if not await self._outbox.hold(box.chat, self._holder, LEASE_S):
                    return False
            if box.gap:
                await self._read_on(box)
            await self._step(box)
        # Whoever opens the box anew reads what was written: it has to stand there by then.
        if box.written is not None:
            await asyncio.gather(box.written, return_exceptions=True)
        if await self._outbox.let_go(box.chat, self._holder):
            if not (box.waiting or box.untold) or box.silent or self._closing:
                return False
            return await self._outbox.hold(box.chat, self._holder, LEASE_S)
        await self._read_on(box)
        return not box.silent and not self._closing

    def _once_more(self, chat: str) -> None:
        if chat not in self._boxes and chat not in self._opening:
            self._begin(chat)

    async def _open(self, chat: str) -> _Box | None:
        mailbox = await self._outbox.mailbox(chat)
        if mailbox is None:
            LOG.error("a chat has no address")
            return None
        box = _Box(chat, mailbox.address, mailbox.delivered, mailbox.silent)
        box.renew_at = self._clock() + LEASE_S / 3
        box.newest = mailbox.delivered
        await self._read_on(box)
        box.untold |= {one.number for one in await self._outbox.unknown(chat)}
        for shown, answers in self._opening.pop(chat):
            self._admit(box, shown, answers)
        if box.silent:
            await self._silence(box)
        self._boxes[chat] = box
        return box

    async def _read_on(self, box: _Box) -> None:
        """Admit what the store has to go out; after it there is no gap."""
        for shown in await self._replies.since(box.chat, box.delivered):
            self._admit(box, shown, "")
        box.gap = False

    async def _parts(self, box: _Box, number: int) -> dict[int, PostedPart]:
        if number not in box.parts:
            found = await self._outbox.parts(box.chat, number)
            # We have the lease and send nothing here now: what is being sent was so when a process ended.
            cut = {one.part: replace(one, state=State.UNKNOWN) for one in found if one.state is State.SENDING}
            box.parts[number] = {one.part: one for one in found} | cut
        return box.parts[number]

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _step(self, box: _Box) -> None:
        box.news.clear()
        number, at = await self._next(box)
        wait = at - self._clock()
        if wait > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(box.news.wait(), wait)
            return
        try:
            if number in box.untold and number not in box.waiting:
                await self._offer(box, number)
            else:
                await self._deliver(box, number)
            box.wait_s = 0.0
        except _SupersededError:
            pass
        except BusyError as error:
            self._hold(box, error.wait_s)
        except (NotSentError, UnsureError) as error:
            box.wait_s = min(2 * box.wait_s or self._again_s, LONGEST_WAIT_S)
            LOG.info("to be tried again in %.0f s: %s", box.wait_s, error)
            self._hold(box, box.wait_s)
        except MovedError as error:
            await self._outbox.moved(self._platform, self._drawing.root(box.address), error.new)
            box.address = error.new
        except GoneError:
            await self._silence(box)

    async def _next(self, box: _Box) -> tuple[int, float]:
        """Give the number that is to go next, and when."""
        times: list[tuple[float, int, int]] = []
        for number, shown in tuple(box.waiting.items()):  # what comes meanwhile is for the next step
            fresh = not any(one.external for one in (await self._parts(box, number)).values())
            times.append(
                (0.0 if fresh else self._due.get((box.chat, number), 0.0), number if fresh else shown.change, number)
            )
        times += [(0.0, number, number) for number in box.untold - set(box.waiting)]
        now = self._clock()
        ready = [one for one in times if one[0] <= now]
        if ready:
            return min(ready, key=lambda one: one[2])[2], 0.0
        at, _, number = min(times)
        return number, at

    async def _deliver(self, box: _Box, number: int) -> None:
        shown = box.waiting[number]
        parts = await self._parts(box, number)
        taken_back = number in box.withdrawn or (0 in parts and parts[0].state is State.GONE)
        drafts = () if taken_back else self._drawing.draw(box.chat, shown.reply)
        for at, draft in enumerate(drafts):
            await self._bring(box, shown, at, draft)
        for at in sorted(at for at, one in parts.items() if at >= len(drafts) and one.state is State.SENT):
            await self._remove(box, parts[at])
        if box.waiting.get(number) is shown:
            del box.waiting[number]
        if any(one.state is State.UNKNOWN for one in parts.values()):
            box.untold.add(number)
        self._mark(box, [])

    async def _bring(self, box: _Box, shown: Shown, at: int, draft: D) -> None:
        one = box.parts[shown.number].get(at)
        if one is None:
            await self._send(box, shown, at, draft)
            return
        match one.state:
            case State.SENT if one.digest == draft.digest:
                pass
            case State.SENT if one.kind == draft.kind:
                await self._edit(box, shown, one, draft)
            case State.SENT:
                await self._remove(box, one)
                await self._send(box, shown, at, draft)
            case State.GONE:
                await self._send(box, shown, at, draft)
            case State.SENDING | State.UNKNOWN | State.OFFERED | State.REFUSED:
                # The same content is not sent blindly a second time; another one is worth it.
                if one.digest != draft.digest:
                    await self._send(box, shown, at, draft)

    # --- calls, each between two marks --------------------------------------------------------------------------------

    async def _send(self, box: _Box, shown: Shown, at: int, draft: D) -> None:
        answers = box.answers.get(shown.number, "")
        one = PostedPart(
            box.chat, shown.number, at, State.SENDING, draft.kind, draft.digest, shown.change, answers=answers
        )
        await self._turn(box.address)
        if box.waiting.get(shown.number) is not shown:
            raise _SupersededError
        await self._mark(box, [one])  # on the disk before the call
        try:
            external = await self._line.send(box.address, draft, answers if at == 0 else "")
        except UnsureError as error:
            LOG.warning("nobody knows whether a reply arrived: %s", error)
            self._mark(box, [replace(one, state=State.UNKNOWN)])
        except RefusedError:
            LOG.exception("a reply was refused")
            self._mark(box, [replace(one, state=State.REFUSED)])
        except PostingError:
            self._mark(box, [replace(one, state=State.REFUSED, digest="")])  # certainly not taken
            raise
        else:
            self._mark(box, [replace(one, state=State.SENT, external=external)])

    async def _edit(self, box: _Box, shown: Shown, one: PostedPart, draft: D) -> None:
        await self._turn(box.address)
        if box.waiting.get(shown.number) is not shown:
            raise _SupersededError
        try:
            await self._line.edit(box.address, one.external, draft)
        except MissingError:
            await self._send(box, shown, one.part, draft)
            return
        except RefusedError:
            LOG.exception("an edit was refused")
        self._rested(box.chat, shown.number)
        self._mark(box, [replace(one, digest=draft.digest, change=shown.change)])

    def _rested(self, chat: str, number: int) -> None:
        """Let a reply rest after an edit; what rested enough is forgotten."""
        now = self._clock()
        if len(self._due) >= MOST_RESTING:
            self._due = {key: at for key, at in self._due.items() if at > now}
        self._due[chat, number] = now + self._edit_every_s

    async def _remove(self, box: _Box, one: PostedPart) -> None:
        await self._turn(box.address)
        try:
            await self._line.remove(box.address, one.external)
        except RefusedError as error:
            LOG.info("a part could not be removed: %s", error)
        self._mark(box, [replace(one, state=State.GONE)])

    async def _offer(self, box: _Box, number: int) -> None:
        parts = await self._parts(box, number)
        told = [replace(one, state=State.OFFERED) for one in parts.values() if one.state is State.UNKNOWN]
        box.untold.discard(number)
        await self._turn(box.address)
        await self._mark(box, told)  # before the call: the note comes once at most
        try:
            await self._line.send(box.address, self._drawing.offer(number), "")
        except (UnsureError, RefusedError) as error:
            LOG.info("the note about a lost reply may be lost, too: %s", error)
        except PostingError:
            self._mark(box, [replace(one, state=State.UNKNOWN) for one in told])
            box.untold.add(number)
            raise

    async def _turn(self, address: str) -> None:
        await self._pacing.turn(self._drawing.root(address), group=self._drawing.is_group(address))

    def _hold(self, box: _Box, wait_s: float) -> None:
        root = self._drawing.root(box.address)
        self._pacing.hold(root, wait_s, group=self._drawing.is_group(box.address))

    async def _silence(self, box: _Box) -> None:
        box.silent = True
        self.silenced.add(box.chat)
        never: list[Mark] = [
            PostedPart(box.chat, number, 0, State.REFUSED, "", "", shown.change)
            for number, shown in tuple(box.waiting.items())
            if not await self._parts(box, number)
        ]
        box.waiting.clear()
        reached = max(box.newest, box.delivered)
        await self._outbox.write([*never, Silent(box.chat, silent=True), Cursor(box.chat, reached)])

    def _mark(self, box: _Box, parts: Sequence[PostedPart]) -> Awaitable[None]:
        for one in parts:
            box.parts.setdefault(one.number, {})[one.part] = one
        if box.silent:  # forgotten meanwhile: there is nothing to be written down any more
            marks: list[Mark] = []
            return self._outbox.write(marks)
        marks = list(parts)
        out = min((one.change for one in box.waiting.values()), default=box.newest + 1) - 1
        if out > box.delivered and not box.gap:
            box.delivered = out
            marks.append(Cursor(box.chat, out))
        box.written = self._outbox.write(marks)
        return box.written
