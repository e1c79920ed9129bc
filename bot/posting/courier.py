"""Brings saved replies to a platform: in order, once each, within its limits, and over the end of a process.

Law: a chat's replies go out by one worker, new ones in the order in which they were said; an edit waits for its time
without holding up what is new; of several states of a reply only the newest is shown. Showing never raises.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, Generic

from bot.engine.replies import Reply
from bot.errors import StoreAwayError
from bot.ports import Shown
from bot.posting.boxes import Box, D, Drawing, LapsedError, Replies, SupersededError
from bot.posting.bringing import Bringing
from bot.posting.calls import Calls
from bot.posting.errors import (
    BusyError,
    GoneError,
    MovedError,
    NotSentError,
    UnsureError,
)
from bot.posting.pacing import Pace
from bot.posting.ports import Cursor, Line, Mark, Outbox, PostedPart, Silent, State
from bot.posting.unkept import Unkept

LOG = logging.getLogger("tasree.courier")

EDIT_EVERY_S = 3.0
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 30.0
LEASE_S = 30.0
"""So long a process has a chat to itself without saying so again; on SQLite nobody asks."""
OPENING_S = 0.01
"""So often it is looked for a chat that is just being opened."""


class Courier(Generic[D]):
    """The outgoing side of one platform; implements the port `Chat`.

    With `look_s`, other processes say things in the same chats, and so often it is looked for while something waits.
    """

    def __init__(  # noqa: PLR0913 - the parts of delivery, each from elsewhere
        self,
        platform: str,
        outbox: Outbox,
        replies: Replies,
        line: Line[D],
        drawing: Drawing[D],
        pacing: Pace,
        clock: Callable[[], float],
        edit_every_s: float = EDIT_EVERY_S,
        again_s: float = FIRST_WAIT_S,
        lease_s: float = LEASE_S,
        look_s: float | None = None,
    ) -> None:
        self._platform = platform
        self._outbox = outbox
        self._replies = replies
        self._line = line
        self._drawing = drawing
        self._pacing = pacing
        self._clock = clock
        self._calls = Calls(outbox, line, drawing, pacing, clock, edit_every_s)
        self._unkept = Unkept(outbox, line, drawing, pacing, self._calls, again_s)
        self._bringing = Bringing(self._calls, drawing, clock, shared=look_s is not None)
        self._again_s = again_s
        self._lease_s = lease_s
        self._look_s = look_s
        self._boxes: dict[str, Box] = {}
        self._opening: dict[str, list[Shown]] = {}
        self._suspect: dict[str, set[int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._keeping: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._holder = secrets.token_hex(6)
        self.silenced: set[str] = set()
        """Chats that took nothing any more, until somebody writes there again."""

    async def start(self) -> None:
        """Take up what an ended process left."""
        for chat in await self._outbox.behind(self._platform):
            self._begin(chat)
        if self._look_s is not None:
            self._looking = asyncio.create_task(self._look_after())

    async def close(self, within_s: float = 5.0) -> None:
        """Stop; calls under way have some seconds to end, so that what became of them is known."""
        self._closing = True
        for box in self._boxes.values():
            box.news.set()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=within_s)
        for task in (*self._tasks, self._keeping, self._looking):
            if task is not None:
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
            box.admit(shown)
        elif chat in self._opening:
            self._opening[chat].append(shown)
        else:
            self._begin(chat, shown)

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
            self._spawn(self._unkept.say(chat, address, farewell))

    async def call_out(self, chat: str, address: str, reply: Reply) -> None:
        """Say something at an address without the store: nothing is kept of it."""
        if address and not self._closing:
            self._spawn(self._unkept.say(chat, address, (Shown(0, 0, "", reply),)))

    async def again(self, chat: str, number: int) -> bool:
        """Send a reply anew whose sending had no known end; False when there is none such.

        Until it is sent it stands as what may not have arrived: should this process end before, it is offered again.
        """
        lost = [one for one in await self._outbox.parts(chat, number) if one.state in {State.UNKNOWN, State.OFFERED}]
        if not lost:
            return False
        await self._outbox.write([replace(one, state=State.UNKNOWN, digest="", change=0) for one in lost])
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
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                box = await self._opened(chat)
                if box is not None:
                    await box.empty.wait()
                while self._look_s is not None and await self._is_behind(chat):  # noqa: ASYNC110 - others bring them
                    await asyncio.sleep(self._look_s / 5)

    async def _is_behind(self, chat: str) -> bool:
        mailbox = await self._outbox.mailbox(chat)
        return mailbox is not None and not mailbox.silent and bool(await self._replies.since(chat, mailbox.delivered))

    async def take_back(self, chat: str, parts: Sequence[PostedPart]) -> None:
        """Take parts back that something newer replaces: they are edited no more, and soon they are gone."""
        box = await self._opened(chat)
        if box is not None:  # its worker does it, between two calls: nothing is edited that is gone already
            box.withdrawn |= {one.number for one in parts}
            box.going |= {one.number for one in parts}
            box.news.set()
            return
        await self._outbox.write([replace(one, state=State.GONE) for one in parts])
        self._spawn(self._unkept.remove(chat, [one for one in parts if one.external]))

    async def _opened(self, chat: str) -> Box | None:
        """Give a chat's box, also of one that is just being opened; None when nothing is to go out there."""
        while chat in self._opening:  # noqa: ASYNC110 - its worker tells nobody
            await asyncio.sleep(OPENING_S)
        return self._boxes.get(chat)

    # --- opening and admitting ----------------------------------------------------------------------------------------

    def _begin(self, chat: str, *first: Shown) -> None:
        if self._closing:
            return
        self._opening[chat] = list(first)
        self._spawn(self._serve(chat))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, chat: str) -> None:
        began = self._clock()
        try:
            if not await self._outbox.hold(chat, self._holder, self._lease_s):
                # Another process brings replies here, and looks for news before it lets go; its lease ends with it.
                waiting = self._opening.pop(chat, [])
                soon = self._lease_s / 10 if waiting or chat in self._suspect else self._lease_s
                asyncio.get_running_loop().call_later(soon, self._once_more, chat, *waiting)
                return
            box = await self._open(chat, began)
            while box is not None and await self._worked_off(box):
                pass
        except LapsedError:  # another may have said more meanwhile: begun anew with what the store says
            LOG.warning("this process stood still for longer than a lease")
            asyncio.get_running_loop().call_soon(self._once_more, chat)
        except StoreAwayError as error:
            LOG.warning("a chat is served later: %s", error)
            asyncio.get_running_loop().call_later(FIRST_WAIT_S, self._once_more, chat)
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

    async def _worked_off(self, box: Box) -> bool:
        """Bring what waits; tell whether there is more to do here."""
        while box.busy and not box.silent and not self._closing:
            if self._clock() > box.renew_at and not await self._renewed(box):
                return False
            if box.gap:
                await self._read_on(box)
            await self._step(box)
        # Whoever opens the box anew reads what was written: it has to stand there by then.
        if box.written is not None:
            await asyncio.gather(box.written, return_exceptions=True)
        if await self._outbox.let_go(box.chat, self._holder):
            if not box.busy or box.silent or self._closing:
                return False
            return await self._renewed(box)
        await self._read_on(box)
        return not box.silent and not self._closing

    async def _renewed(self, box: Box) -> bool:
        """Hold the chat for longer; False when another process has it.

        Raises:
            LapsedError: when another may have had it meanwhile.
        """
        now = self._clock()
        if now >= box.lapses_at:
            raise LapsedError
        if not await self._outbox.hold(box.chat, self._holder, self._lease_s):
            return False
        box.renew_at, box.lapses_at = now + self._lease_s / 3, now + self._lease_s
        return True

    def _once_more(self, chat: str, *first: Shown) -> None:
        if chat not in self._boxes and chat not in self._opening:
            self._begin(chat, *first)

    async def _open(self, chat: str, held_at: float) -> Box | None:
        mailbox = await self._outbox.mailbox(chat)
        if mailbox is None:
            LOG.error("a chat has no address")
            return None
        box = Box(chat, mailbox.address, mailbox.delivered, mailbox.silent)
        box.renew_at, box.lapses_at = held_at + self._lease_s / 3, held_at + self._lease_s
        box.newest = mailbox.delivered
        await self._read_on(box)
        box.untold |= {one.number for one in await self._outbox.unknown(chat)}
        await self._suspected(box)
        for shown in self._opening.pop(chat):
            box.admit(shown)
        if box.silent:
            await self._silence(box)
        self._boxes[chat] = box
        if self._look_s is not None and self._keeping is None:
            self._keeping = asyncio.create_task(self._keep())
        return box

    async def _keep(self) -> None:
        """Renew the leases of open chats: a call may wait for its turn longer than one; what lapsed is left."""
        while True:
            await asyncio.sleep(self._lease_s / 3)
            now = self._clock()
            boxes = {chat: box for chat, box in self._boxes.items() if now < box.lapses_at}
            try:
                kept = await self._outbox.keep_held(list(boxes), self._holder, self._lease_s) if boxes else frozenset()
            except StoreAwayError as error:
                LOG.warning("leases are not renewed yet: %s", error)
                continue
            for chat in kept:
                if self._clock() < boxes[chat].lapses_at:
                    boxes[chat].renew_at, boxes[chat].lapses_at = now + self._lease_s / 3, now + self._lease_s

    async def _look_after(self) -> None:
        """Take up now and then what another process said and brings no more: it was killed, and may not come back."""
        while True:
            await asyncio.sleep(self._lease_s)
            try:
                for chat in await self._outbox.behind(self._platform, forsaken=True):
                    self._once_more(chat)
            except Exception:
                LOG.exception("what others left could not be looked for")

    async def _suspected(self, box: Box) -> None:
        """Bring replies anew over which this process may have put something older when it was frozen in a call."""
        numbers = self._suspect.pop(box.chat, set())
        for shown in await self._replies.since(box.chat, 0) if numbers else ():
            if shown.number in numbers:
                parts = (await self._calls.parts(box, shown.number)).values()
                unknown = [replace(one, digest="", change=0) for one in parts if one.state is State.SENT]
                await self._calls.mark(box, unknown)
                box.admit(shown)

    async def _read_on(self, box: Box) -> None:
        """Admit what the store has to go out; after it there is no gap."""
        for shown in await self._replies.since(box.chat, box.delivered):
            box.admit(shown)
        box.gap = False

    # --- one step -----------------------------------------------------------------------------------------------------

    async def _step(self, box: Box) -> None:
        box.news.clear()
        number, at = await self._bringing.next(box)
        wait = at - self._clock()
        if wait > 0:
            shared = self._look_s is not None and self._look_s < wait
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(box.news.wait(), self._look_s if shared else wait)
            if shared:  # another process may have said something: it has not to wait for an edit's time
                await self._read_on(box)
            return
        try:
            if number in box.going:
                await self._bringing.take_out(box, number)
            elif number in box.untold and number not in box.waiting:
                await self._calls.offer(box, number)
            else:
                await self._bringing.deliver(box, number)
            box.wait_s = 0.0
        except LapsedError:
            self._suspect.setdefault(box.chat, set()).add(number)
            raise
        except SupersededError:
            pass
        except BusyError as error:
            await self._calls.hold(box, error.wait_s)
        except (NotSentError, UnsureError) as error:
            box.wait_s = min(2 * box.wait_s or self._again_s, LONGEST_WAIT_S)
            LOG.info("to be tried again in %.0f s: %s", box.wait_s, error)
            await self._calls.hold(box, box.wait_s)
        except MovedError as error:
            old = self._drawing.root(box.address)
            await self._outbox.moved(self._platform, old, error.new)
            box.move(old, error.new)
        except GoneError:
            await self._silence(box)

    async def _silence(self, box: Box) -> None:
        box.silent = True
        self.silenced.add(box.chat)
        never: list[Mark] = [
            PostedPart(box.chat, number, 0, State.REFUSED, "", "", shown.change)
            for number, shown in tuple(box.waiting.items())
            if not await self._calls.parts(box, number)
        ]
        box.waiting.clear()
        reached = max(box.newest, box.delivered)
        await self._outbox.write([*never, Silent(box.chat, silent=True), Cursor(box.chat, reached)])
