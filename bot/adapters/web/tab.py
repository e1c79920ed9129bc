"""One open tab: reads its frames at a bearable pace, has its events taken, and brings it every change in order.

Law: a tab never misses a change and never gets one out of order: what was pushed is sent only when it follows what the
tab has, and any gap is filled from the store. A tab that closes cuts no turn short.
"""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, assert_never

from aiohttp import WSMsgType, web

from bot.adapters.web import parse
from bot.adapters.web.pace import Pace
from bot.engine.events import Event
from bot.ports import ChatRow, Shown, StoredFile
from content.schema import Course

HISTORY = 40
"""Replies that a freshly opened page gets; the ones before come when they are asked for."""

MOVED = 4008
"""The code with which the oldest tab is closed when a learner opens too many."""

LEFT = 4010
"""The code with which a tab is closed whose chat was deleted; its page comes back as a new learner's."""

_QUEUE = 16
_PENDING = 64
_SEND_S = 30.0
_log = logging.getLogger(__name__)


class Talk(Protocol):
    """The conversation, as the page needs it."""

    @property
    def course(self) -> Course:
        """Give the course as it is served now."""
        ...

    async def enter(self, platform: str, external: str) -> ChatRow:
        """Give the chat of this account; a new one is made and greeted."""
        ...

    async def take(self, chat: str, event: Event, key: str) -> bool:
        """Take an event, and return when its turn is saved and shown; False when this key was taken already."""
        ...

    async def file(self, chat: str, file: str) -> StoredFile | None:
        """Give a file that was offered in this very chat."""
        ...

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give every reply that was said or edited after `change`, each as it stands now, in order of number."""
        ...


class Tab:
    """A connection of a page. `draw` gives a reply's HTML, `word` a phrase's."""

    def __init__(  # noqa: PLR0913 - the parts of one connection, each from elsewhere
        self,
        socket: web.WebSocketResponse,
        chat: str,
        talk: Talk,
        pace: Pace,
        draw: Callable[[Shown], str],
        word: Callable[[str], str],
    ) -> None:
        self.chat = chat
        self._socket = socket
        self._talk = talk
        self._pace = pace
        self._draw = draw
        self._word = word
        self._left = False
        self._change: int | None = None  # what the page has; None before it said so
        self._pending: dict[int, tuple[Shown, str]] = {}
        self._news = asyncio.Event()
        self._sending = asyncio.Lock()
        self._taken: asyncio.Queue[parse.Sent | None] = asyncio.Queue(_QUEUE)

    def tell(self, shown: Shown, html: str) -> None:
        """Note a change; it is sent in its turn."""
        if len(self._pending) >= _PENDING:  # a slow line: what it misses is read from the store
            self._pending.clear()
        self._pending[shown.change] = (shown, html)
        self._news.set()

    def let_go(self) -> None:
        """The chat is no more: the next event closes the tab, whose page sends it again as a new learner's."""
        self._left = True

    async def close(self, code: int) -> None:
        """Close the connection."""
        await self._socket.close(code=code)

    async def converse(self) -> None:
        """Serve the tab until it closes; events that arrived are taken to their end even then."""
        deliver = asyncio.create_task(self._deliver())
        answer = asyncio.create_task(self._answer())
        try:
            await self._send({"t": "welcome", "tag": hashlib.sha256(self.chat.encode()).hexdigest()[:16]})
            await self._read()
        finally:
            await self._taken.put(None)
            await asyncio.shield(answer)
            deliver.cancel()
            await asyncio.gather(deliver, return_exceptions=True)

    async def _read(self) -> None:
        async for frame in self._socket:
            await asyncio.sleep(self._pace.delay(asyncio.get_running_loop().time()))
            if frame.type is WSMsgType.TEXT:
                await self._receive(parse.frame(frame.data))
            elif frame.type is WSMsgType.BINARY:
                await self._refuse("", "web.unreadable")

    async def _receive(self, frame: parse.Frame) -> None:
        match frame:
            case parse.Sent():
                await self._taken.put(frame)
            case parse.Hello(since=since):
                await self._greet(since)
            case parse.Earlier(before=before):
                await self._earlier(before)
            case parse.Ping():
                await self._send({"t": "pong"})
            case parse.TooLarge(id=id_):
                await self._refuse(id_, "web.too_large")
            case parse.Unreadable(id=id_):
                await self._refuse(id_, "web.unreadable")
            case _:
                assert_never(frame)

    async def _answer(self) -> None:
        failed = False
        while (sent := await self._taken.get()) is not None:
            if failed:
                continue  # what came after it keeps its place: the page sends all of it again, in order
            if self._left:
                failed = True
                await self.close(LEFT)
                continue
            try:
                taken = await self._talk.take(self.chat, parse.event(sent), f"web:{sent.id}")
                if not taken and not await self._talk.since(self.chat, 0):  # deleted from another platform
                    failed = self._left = True
                    await self.close(LEFT)
                    continue
                await self._flush()  # who reads the acknowledgement has the answer already
                await self._send({"t": "ack", "id": sent.id})
                if self._left:
                    await self._send({"t": "forgotten"})
            except Exception:  # noqa: BLE001 - a fault of ours; the page reconnects and sends again, other tabs go on
                failed = True
                await self._fail("an event was not taken")

    async def _fail(self, what: str) -> None:
        _log.exception(what)
        await self._socket.close(code=1011)

    async def _greet(self, since: int) -> None:
        async with self._sending:
            replies = await self._talk.since(self.chat, since)
            shown = replies[-HISTORY:] if since == 0 else replies
            self._change = max((reply.change for reply in replies), default=since)
            await self._send_replies(shown, self._change, more=len(shown) < len(replies) if since == 0 else None)
        self._news.set()

    async def _earlier(self, before: int) -> None:
        replies = [reply for reply in await self._talk.since(self.chat, 0) if reply.number < before]
        items = [self._item(reply, self._draw(reply)) for reply in replies[-HISTORY:]]
        await self._send({"t": "earlier", "items": items, "more": len(replies) > HISTORY})

    async def _deliver(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            try:
                await self._flush()
            except Exception:  # noqa: BLE001 - as above: a tab that hears nothing more must not look alive
                await self._fail("a change was not delivered")

    async def _flush(self) -> None:
        async with self._sending:
            if self._change is not None:
                await self._send_news(self._change)

    async def _send_news(self, change: int) -> None:
        following: list[dict[str, object]] = []
        while (next_ := self._pending.pop(change + 1, None)) is not None:
            following.append(self._item(*next_))
            change += 1
        if any(later > change for later in self._pending):
            missed = await self._talk.since(self.chat, change)
            change = max((reply.change for reply in missed), default=change)
            following += [self._item(reply, self._draw(reply)) for reply in missed]
        self._pending = {later: kept for later, kept in self._pending.items() if later > change}
        self._change = change
        if following:
            await self._send({"t": "replies", "items": following, "change": change})

    async def _send_replies(self, replies: Iterable[Shown], change: int, *, more: bool | None) -> None:
        items = [self._item(reply, self._draw(reply)) for reply in replies]
        frame: dict[str, object] = {"t": "replies", "items": items, "change": change}
        await self._send(frame if more is None else {**frame, "more": more})

    def _item(self, shown: Shown, html: str) -> dict[str, object]:
        return {"number": shown.number, "change": shown.change, "html": html}

    async def _refuse(self, id_: str, phrase: str) -> None:
        await self._send({"t": "refused", "id": id_, "html": self._word(phrase)})

    async def _send(self, frame: dict[str, object]) -> None:
        # Half a surrogate pair in a learner's text would otherwise end the connection here.
        text = json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace").decode()
        try:
            async with asyncio.timeout(_SEND_S):
                await self._socket.send_str(text)
        except (ConnectionError, TimeoutError):
            await self._socket.close(code=1001)


def oldest_beyond(tabs: Sequence[Tab], most: int) -> Sequence[Tab]:
    """Give the tabs to be closed, oldest first, so that `most` remain."""
    return tabs[: max(0, len(tabs) - most)]
