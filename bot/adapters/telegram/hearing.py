"""From an update to a turn: taken in once, acknowledged first, then answered in its learner's lane.

Law: an update is written down before it is confirmed to the platform, and marked done after its turn was saved; a press
is acknowledged before anything else is done with it.
"""

import asyncio
import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, assert_never

from telegram import Bot, Update
from telegram.constants import ChatMemberStatus
from telegram.error import TelegramError

from bot.adapters.telegram import parse
from bot.adapters.telegram.drafts import Draft
from bot.adapters.telegram.parse import Heard, Me, Moved, Nothing, Pressed, Said, Standing, Upload, Who
from bot.engine.events import CodeSent, Entity, Event, FileSent, OddSent, TextSent
from bot.errors import StoreAwayError
from bot.posting import pieces, rerun, rooms
from bot.posting.courier import Courier
from bot.posting.hosted import Kept
from bot.posting.lanes import Lane, Lanes
from bot.posting.ports import ORIGIN, Arrival, Done, Origin
from bot.posting.shared import LEASE_S, SharedLanes

LOG = logging.getLogger("tasree.telegram")

PLATFORM = "telegram"
LONG_PART = 3900
"""Characters of a text from which another part of the same paste may follow."""
FULL_PART = 4096
JOIN_S = 0.8
MOST_JOINED = 200_000
DOWNLOAD_TRIES = 3
KEPT = timedelta(days=3)
"""The platform delivers an update for a day at most."""
PATIENCE_S = 8.0
"""So long a press in a group's quiz waits for the words that it came to."""
AT_ONCE = 8
"""Turns under way at once: of hundreds begun together none would end before nearly all do, and nothing could go out."""
OVERDUE = timedelta(seconds=60)
"""So old is an update that nobody is answering any more."""


@dataclass(frozen=True, slots=True)
class _Item:
    """An update in a lane; `keys` are those of all updates in it."""

    heard: Heard
    keys: tuple[str, ...]


class Hearing:
    """The incoming side: `take_in` for what the platform delivers."""

    def __init__(  # noqa: PLR0913 - the parts of hearing, each from elsewhere
        self,
        bot: Bot,
        me: Me,
        talk: rerun.Talk,
        kept: Kept,
        courier: Courier[Draft],
        word: Callable[[str], str],
        join_s: float = JOIN_S,
        again_s: float = 1.0,
        lease_s: float = LEASE_S,
    ) -> None:
        self._bot = bot
        self._me = me
        self._talk = talk
        self._kept = kept
        self._courier = courier
        self._word = word
        self._join_s = join_s
        self._again_s = again_s
        self._lease_s = lease_s
        self._gate = asyncio.Semaphore(AT_ONCE)
        self._lanes: Lanes[_Item] = Lanes(self._answer)
        self._shared: SharedLanes[_Item] | None = None
        self._chats: dict[str, tuple[str, str]] = {}
        self._rooms = rooms.Rooms(PLATFORM, talk, kept, courier)
        self._unanswered: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._under_way: set[str] = set()
        self._looking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Answer what was taken in before and not answered."""
        await self._kept.forget_before(PLATFORM, datetime.now(UTC) - KEPT)
        if not await self._kept.alone():
            self._shared = SharedLanes(PLATFORM, self._kept, self._read, self._answer, self._lease_s)
        for arrival in await self._kept.left(PLATFORM):
            self._take_up(arrival)
        self._looking = asyncio.create_task(self._look_again())

    async def _look_again(self) -> None:
        """Take up now and then what nobody answers: a turn that failed, or one that another process died over."""
        while True:
            await asyncio.sleep(OVERDUE.total_seconds())
            try:
                for arrival in await self._kept.left(PLATFORM, datetime.now(UTC) - OVERDUE):
                    self._take_up(arrival)
                if self._shared is not None:
                    await self._kept.forget_paces(PLATFORM)
            except Exception:
                LOG.exception("what is overdue could not be looked for")

    async def idle(self) -> None:
        """Wait until everything taken in was answered."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        await self._lanes.idle()
        if self._shared is not None:
            await self._shared.idle()

    async def close(self) -> None:
        """Stop; what is under way is taken up at the next start."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)
        await self._lanes.close()
        if self._shared is not None:
            await self._shared.close()
        for task in set(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def take_in(self, updates: Sequence[Mapping[str, Any]]) -> None:
        """Write updates down as they came, then begin to answer those that are new; after this they may be confirmed.

        One that cannot be read is written down, too, and holds up nothing.
        """
        arrivals: list[Arrival] = []
        items: dict[str, _Item] = {}
        for update in updates:
            one = Arrival(f"tg:{update['update_id']}", json.dumps(update), "", update["update_id"])
            items[one.key] = self._read(one)
            arrivals.append(replace(one, lane=_lane(items[one.key].heard)))
        queries = {f"tg:{update['update_id']}": update.get("callback_query") for update in updates}
        for arrival in await self._kept.take_in(PLATFORM, arrivals, datetime.now(UTC)):
            query, item = queries[arrival.key], items[arrival.key]
            if isinstance(query, dict) and not isinstance(item.heard, Pressed):
                # A button of nothing of ours: whoever pressed it waits all the same.
                self._spawn(self._acknowledge(str(query.get("id")), ""))
            self._put(arrival, item)

    def _read(self, arrival: Arrival) -> _Item:
        try:
            heard = parse.parse(Update.de_json(json.loads(arrival.body), self._bot), self._me)
        except Exception:
            LOG.exception("update %s could not be read", arrival.key)
            heard = Nothing("unreadable")
        return _Item(heard, (arrival.key,))

    def _take_up(self, arrival: Arrival) -> None:
        """Have something answered that nobody answers: a turn failed, or a process died over it."""
        if self._shared is not None:
            self._shared.look(arrival.lane)
        elif arrival.key not in self._under_way:
            self._put(arrival, self._read(arrival))

    def _put(self, arrival: Arrival, item: _Item) -> None:
        """Have an update answered in its lane; a press is acknowledged here and now, wherever it will be answered."""
        if self._shared is not None:
            if isinstance(item.heard, Pressed):
                self._spawn(self._acknowledged(item.heard))
            self._shared.look(arrival.lane)
            return
        self._under_way.add(arrival.key)
        if isinstance(item.heard, Pressed):
            self._spawn(self._acknowledged(item.heard))
        self._lanes.put(_lane(item.heard), item)

    async def _acknowledged(self, heard: Pressed) -> None:
        """Acknowledge a press; of another's reply it is said that it is not the presser's own.

        A press in a group's quiz is acknowledged by its turn, with what it came to, unless that takes too long.
        """
        if _is_groups(heard):
            if self._shared is None:
                self._unanswered.add(heard.query)
                asyncio.get_running_loop().call_later(PATIENCE_S, self._plainly, heard.query)
            return
        await self._acknowledge(heard.query, self._word("telegram.not_yours") if await self._is_anothers(heard) else "")

    def _plainly(self, query: str) -> None:
        if query in self._unanswered:
            self._unanswered.discard(query)
            self._spawn(self._acknowledge(query, ""))

    async def _in_group(self, heard: Said | Pressed, key: str) -> None:
        """Have an event answered by the group's own chat, and tell the presser what it came to."""
        who = heard.who
        seat = rooms.Seat(who.room, who.address, who.external, who.account, who.name)
        ORIGIN.set(Origin(heard.under if isinstance(heard, Pressed) else heard.answers, who.address))
        words = ""
        try:
            words = await self._rooms.take(seat, heard.event, key, lambda: self._is_admin(who))
        finally:
            if isinstance(heard, Pressed) and (self._shared is not None or heard.query in self._unanswered):
                self._unanswered.discard(heard.query)
                self._spawn(self._acknowledge(heard.query, words, loudly=False))

    async def _is_admin(self, who: Who) -> bool:
        try:
            member = await self._bot.get_chat_member(int(parse.root(who.address)), int(who.account))
        except TelegramError as error:
            LOG.info("nobody knows whether somebody is an admin: %s", error)
            return False
        return member.status in {ChatMemberStatus.ADMINISTRATOR, ChatMemberStatus.OWNER}

    async def _is_anothers(self, heard: Pressed) -> bool:
        """Tell whether a button in a group stands under a reply to somebody else."""
        if not parse.is_group(heard.who.address):
            return False
        chat = await self._chat_of(heard.who)
        return await self._kept.holder(parse.root(heard.who.address), heard.under) not in {None, chat}

    async def _acknowledge(self, query: str, text: str, *, loudly: bool = True) -> None:
        try:
            await self._bot.answer_callback_query(query, text=text or None, show_alert=bool(text) and loudly)
        except TelegramError as error:  # too old by now: the press counts all the same
            LOG.info("a press could not be acknowledged: %s", error)

    # --- one thing of a lane ------------------------------------------------------------------------------------------

    async def _answer(self, item: _Item, lane: Lane[_Item]) -> None:
        keys = {*item.keys}
        try:
            item = await self._done(item, lane)
            keys |= {*item.keys}
            await self._kept.write([Done(PLATFORM, key) for key in item.keys])
        except StoreAwayError:
            raise  # its lane begins it anew
        except BaseException:
            self._under_way -= keys
            raise
        self._under_way -= keys

    async def _done(self, item: _Item, lane: Lane[_Item]) -> _Item:
        """Answer one thing; give it with the others that were answered together with it."""
        match item.heard:
            case (Said() | Pressed()) as heard if _is_groups(heard):
                await self._in_group(heard, item.keys[0])
            case Said() as said if said.edited:
                await self._edited(said.who, said.event, said.answers, item.keys[0])
            case Said() as said:
                item = await self._joined(item, said, lane)
                joined = item.heard
                event = joined.event if isinstance(joined, Said) else said.event
                await self._take(said.who, event, said.answers, item.keys[0])
            case Upload() as upload:
                event = await self._downloaded(upload)
                if upload.edited:
                    await self._edited(upload.who, event, upload.answers, item.keys[0])
                else:
                    await self._take(upload.who, event, upload.answers, item.keys[0])
            case Pressed() as pressed:
                if not await self._is_anothers(pressed):
                    await self._pressed(pressed, item.keys[0])
            case Moved(old, new):
                self._chats.clear()
                self._rooms.forget()
                await self._kept.moved(PLATFORM, old, new)
            case Standing(address, silent):
                self._chats.clear()
                self._rooms.forget()
                await self._kept.stands(PLATFORM, address, silent=silent)
            case Nothing(why):
                LOG.debug("nothing to answer: %s", why)
            case _:
                assert_never(item.heard)
        return item

    async def _take(self, who: Who, event: Event, answers: str, key: str) -> None:
        async with self._gate:
            await self._taken(who, event, answers, key)

    async def _taken(self, who: Who, event: Event, answers: str, key: str) -> None:
        chat = await self._chat_of(who)
        ORIGIN.set(Origin(answers, who.address))
        if not await self._talk.take(chat, event, key):
            self._chats.pop(who.external, None)
            fresh = await self._chat_of(who)
            if fresh != chat:  # the learner was deleted from another platform, and begins anew
                await self._talk.take(fresh, event, key)

    async def _pressed(self, pressed: Pressed, key: str) -> None:
        payload = pressed.event.payload
        number = pieces.resent(payload)
        if number is None or not await self._courier.again(await self._chat_of(pressed.who), number):
            await self._take(pressed.who, pressed.event, pressed.under, key)

    async def _edited(self, who: Who, event: Event, answers: str, key: str) -> None:
        """Run code again that was edited after it was sent, in the place of the old reply; other edits are ignored."""
        chat = await self._chat_of(who)
        ORIGIN.set(Origin(answers, who.address))
        if rerun.is_code(event):
            await rerun.make_room(self._talk, self._kept, self._courier, chat, answers, key)
            await self._take(who, event, answers, key)

    async def _joined(self, item: _Item, said: Said, lane: Lane[_Item]) -> _Item:
        """Wait for the next part of a long paste, which the client cut without saying so."""
        event = said.event
        last = len(event.text) if isinstance(event, TextSent) else 0
        while said.joins and isinstance(event, TextSent) and last >= LONG_PART and len(event.text) < MOST_JOINED:
            following = await lane.peek(self._join_s)
            if following is None or not isinstance(following.heard, Said):
                break
            part = following.heard
            if part.edited or not part.joins or not isinstance(part.event, TextSent):
                break
            lane.take()
            last = len(part.event.text)
            event = _together(event, part.event)
            said = replace(said, event=event)
            item = _Item(said, (*item.keys, *following.keys))
        return item

    async def _downloaded(self, upload: Upload) -> Event:
        for again in range(DOWNLOAD_TRIES):
            try:
                file = await self._bot.get_file(upload.file)
                data = bytes(await file.download_as_bytearray())
            except TelegramError as error:
                LOG.info("a file could not be downloaded: %s", error)
                await asyncio.sleep(again * self._again_s)
            else:
                return _of_file(upload, data)
        return OddSent("lost_file")

    async def _chat_of(self, who: Who) -> str:
        known = self._chats.get(who.external)
        if known is not None and known[1] == who.address and known[0] not in self._courier.silenced:
            return known[0]
        row = await self._talk.enter(PLATFORM, who.external, who.account, greet=False)
        await self._kept.place(row.id, who.address)
        self._courier.placed(row.id, who.address)
        if len(self._chats) > 50_000:  # noqa: PLR2004 - a bound for what is only a cache
            self._chats.clear()
        self._chats[who.external] = (row.id, who.address)
        return row.id

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            LOG.error("work in the background failed", exc_info=task.exception())


def _lane(heard: Heard) -> str:
    """Name the lane in which an update is answered: a learner's, a group's, or the one of what is nobody's."""
    if isinstance(heard, Said | Pressed) and _is_groups(heard):
        return heard.who.room
    return heard.who.external if isinstance(heard, Said | Upload | Pressed) else ""


def _is_groups(heard: Said | Pressed) -> bool:
    """Tell whether something is for the group's own chat."""
    edited = isinstance(heard, Said) and heard.edited
    return bool(heard.who.room) and not edited and rooms.is_groups(heard.event)


def _of_file(upload: Upload, data: bytes) -> Event:
    if upload.measure and upload.name.lower().endswith(".py"):
        try:
            return CodeSent(data.decode(), upload.name, measure=True)
        except UnicodeDecodeError:
            pass
    return FileSent(upload.name, data)


def _together(first: TextSent, second: TextSent) -> TextSent:
    """Put two parts of a paste together; marks that touch at the cut become one.

    A client cuts at a line's end, which the platform then takes off; a part as long as may be was cut inside of a line.
    """
    joined = first.text.endswith("\n") or FULL_PART in {len(first.text), _units(first.text)}
    cut = "" if joined else "\n"
    before = _units(first.text + cut)
    shifted = tuple(replace(one, offset=one.offset + before) for one in second.entities)
    if first.entities and shifted and _touch(first.entities[-1], shifted[0], before):
        last, head = first.entities[-1], shifted[0]
        whole = replace(last, length=head.offset + head.length - last.offset)
        return TextSent(first.text + cut + second.text, (*first.entities[:-1], whole, *shifted[1:]))
    return TextSent(first.text + cut + second.text, (*first.entities, *shifted))


def _units(text: str) -> int:
    """Count UTF-16 units, as clients do."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _touch(last: Entity, head: Entity, at: int) -> bool:
    return last.kind == head.kind == "pre" and last.offset + last.length >= at - 1 and head.offset <= at
