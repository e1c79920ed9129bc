"""From what was heard to a turn: taken in once, then answered in its learner's lane.

Law: what was heard is written down before it is answered, and marked done after its turn was saved; what a killed
process left is answered at the next start.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import discord

from bot.adapters.discord import parse, places
from bot.adapters.discord.drafts import Draft
from bot.adapters.discord.guard import PLATFORM, Guard
from bot.adapters.discord.line import DiscordLine
from bot.adapters.discord.parse import Heard, Upload
from bot.adapters.discord.places import Who
from bot.engine.events import ButtonPressed, Event, OddSent
from bot.errors import StoreAwayError
from bot.posting import pieces, rerun, rooms
from bot.posting.courier import Courier
from bot.posting.hosted import Kept
from bot.posting.lanes import AWAY_S, Lane, Lanes
from bot.posting.ports import GPU_LEFT, ORIGIN, Arrival, Done, Origin

LOG = logging.getLogger("tasree.discord")

KEPT = timedelta(days=3)
DOWNLOAD_TRIES, DOWNLOAD_S = 3, 30.0
OVERDUE = timedelta(seconds=60)
"""So old is something heard that nobody is answering any more."""
MOST_LATE = 10_000
"""So much waits at most for a store that is away."""
_MOST_CHATS = 50_000


@dataclass(frozen=True, slots=True)
class _Item:
    """Something heard, in a lane; `interaction` while it can still be answered by it."""

    heard: Heard
    interaction: "discord.Interaction[Any] | None" = None


class Hearing:
    """The incoming side: `hear` for what the platform tells."""

    def __init__(  # noqa: PLR0913 - the parts of hearing, each from elsewhere
        self,
        talk: rerun.Talk,
        kept: Kept,
        courier: Courier[Draft],
        line: DiscordLine,
        download: Callable[[str], Awaitable[bytes]],
        word: Callable[[str], str],
        guard: Guard,
    ) -> None:
        self._talk = talk
        self._kept = kept
        self._courier = courier
        self._line = line
        self._download = download
        self._word = word
        self._guard = guard
        self._lanes: Lanes[_Item] = Lanes(self._answer)
        self._chats: dict[str, tuple[str, str]] = {}
        self._rooms = rooms.Rooms(PLATFORM, talk, kept, courier)
        self._under_way: set[str] = set()
        self._looking: asyncio.Task[None] | None = None
        self._late: deque[_Item] = deque()
        self._catching_up: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Answer what was taken in before and not answered."""
        await self._kept.forget_before(PLATFORM, datetime.now(UTC) - KEPT)
        await self.look()
        self._looking = asyncio.create_task(self._look_again())

    async def look(self, before: datetime | None = None) -> None:
        """Take up what was heard (before a time) and nobody answers: a turn failed, or a process died over it."""
        for arrival in await self._kept.left(PLATFORM, before):
            if arrival.key in self._under_way:
                continue
            try:
                heard = parse.from_json(arrival.body)
            except ValueError:
                LOG.exception("%s could not be read", arrival.key)
                await self._kept.write([Done(PLATFORM, arrival.key)])
            else:
                self._put(_Item(heard))

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(OVERDUE.total_seconds())
            try:
                await self.look(datetime.now(UTC) - OVERDUE)
            except Exception:
                LOG.exception("what is overdue could not be looked for")

    async def idle(self) -> None:
        """Wait until everything taken in was answered."""
        if self._catching_up is not None:
            await asyncio.wait([self._catching_up])
        await self._lanes.idle()

    async def close(self) -> None:
        """Stop; what is under way is taken up at the next start."""
        for task in (self._looking, self._catching_up):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        await self._lanes.close()

    async def hear(self, heard: Heard, interaction: "discord.Interaction[Any] | None") -> None:
        """Write down what was heard, then answer it in its turn; while the store is away it waits here.

        This platform tells a thing once.
        """
        item = _Item(heard, interaction)
        if not self._late:
            try:
                await self._written(item)
            except StoreAwayError as error:
                LOG.warning("what was heard waits for the store: %s", error)
            else:
                return
        if len(self._late) >= MOST_LATE:
            LOG.error("something heard is passed over: too much waits for the store")
            return
        self._late.append(item)
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = asyncio.create_task(self._catch_up())

    async def _written(self, item: _Item) -> None:
        arrival = Arrival(item.heard.key, parse.to_json(item.heard))
        if await self._kept.take_in(PLATFORM, [arrival], datetime.now(UTC)):
            self._put(item)

    async def _catch_up(self) -> None:
        """Write down what waits for the store, in order."""
        while self._late:
            try:
                await self._written(self._late[0])
            except StoreAwayError:
                await asyncio.sleep(AWAY_S)
                continue
            except Exception:
                LOG.exception("something heard could not be written down")
            self._late.popleft()

    def _put(self, item: _Item) -> None:
        self._under_way.add(item.heard.key)
        self._lanes.put(_lane(item.heard), item)

    # --- one thing of a lane ------------------------------------------------------------------------------------------

    async def _answer(self, item: _Item, _: Lane[_Item]) -> None:
        heard, interaction = item.heard, item.interaction
        if interaction is not None:
            self._line.answerable(heard.who.address, interaction)
        try:
            if _is_groups(heard):
                await self._in_group(heard, interaction)
            elif heard.press is not None:
                await self._pressed(heard, interaction)
            else:
                event = await self._downloaded(heard.uploads[0]) if heard.uploads else heard.event()
                await (self._edited if heard.edited else self._take)(heard, event)
            await self._kept.write([Done(PLATFORM, heard.key)])
        except StoreAwayError:
            raise  # its lane begins it anew
        except BaseException:
            self._under_way.discard(heard.key)
            await self._settled(heard.who, interaction)
            raise
        self._under_way.discard(heard.key)
        await self._settled(heard.who, interaction)

    async def _take(self, heard: Heard, event: Event) -> None:
        chat = await self._chat_of(heard.who)
        token = ORIGIN.set(Origin(heard.answers, heard.who.address))
        GPU_LEFT.set(None if heard.gpu is None else await self._guard.gpu_left(chat, heard.gpu))
        try:
            if not await self._talk.take(chat, event, heard.key):
                self._chats.pop(heard.who.external, None)
                fresh = await self._chat_of(heard.who)
                if fresh != chat:  # the learner was deleted from another platform, and begins anew
                    await self._talk.take(fresh, event, heard.key)
        finally:
            ORIGIN.reset(token)

    async def _in_group(self, heard: Heard, interaction: "discord.Interaction[Any] | None") -> None:
        """Have an event answered by the channel's own chat, and tell its member what it came to."""

        async def is_admin() -> bool:
            return heard.admin

        who = heard.who
        channel = places.root(who.address)
        seat = rooms.Seat(f"{channel}/#", f"g{channel}", who.external, who.account, heard.by)
        token = ORIGIN.set(Origin(heard.answers))
        try:
            words = await self._rooms.take(seat, heard.event(), heard.key, is_admin)
        finally:
            ORIGIN.reset(token)
        if words and interaction is not None:
            await _whispered(interaction, words)

    async def _pressed(self, heard: Heard, interaction: "discord.Interaction[Any] | None") -> None:
        payload = heard.press or ""
        chat = await self._chat_of(heard.who)
        under = interaction.message if interaction is not None else None
        if under is not None and places.is_group(heard.who.address):
            channel = places.root(heard.who.address)
            holder = await self._kept.holder(f"g{channel}", str(under.id))
            if holder not in {None, chat} and interaction is not None:
                await _whispered(interaction, self._word("discord.not_yours"))
                return
        number = pieces.resent(payload)
        if number is not None and await self._courier.again(chat, number):
            return
        await self._take(heard, ButtonPressed(payload))

    async def _edited(self, heard: Heard, event: Event) -> None:
        """Run code again that was edited after it was sent, in the place of the old reply; other edits are ignored."""
        chat = await self._chat_of(heard.who)
        if rerun.is_code(event):
            await rerun.make_room(self._talk, self._kept, self._courier, chat, heard.answers, heard.key)
            await self._take(heard, event)

    async def _settled(self, who: Who, interaction: "discord.Interaction[Any] | None") -> None:
        """End the waiting sign of a command whose answer stands elsewhere."""
        if interaction is None or interaction.type is discord.InteractionType.component:
            return
        if not who.address.startswith("e"):
            try:
                await interaction.delete_original_response()
            except discord.HTTPException as error:
                LOG.info("a waiting sign could not be taken away: %s", error)

    async def _downloaded(self, upload: Upload) -> Event:
        for again in range(DOWNLOAD_TRIES):
            try:
                async with asyncio.timeout(DOWNLOAD_S):
                    data = await self._download(upload.url)
            except (discord.HTTPException, aiohttp.ClientError, TimeoutError, OSError) as error:
                LOG.info("a file could not be downloaded: %s", error)
                await asyncio.sleep(again)
            else:
                return parse.of_upload(data, upload)
        return OddSent("lost_file")

    async def _chat_of(self, who: Who) -> str:
        known = self._chats.get(who.external)
        if known is not None and known[1] == who.address and known[0] not in self._courier.silenced:
            return known[0]
        row = await self._talk.enter(PLATFORM, who.external, who.account, greet=False)
        await self._kept.place(row.id, who.address)
        self._courier.placed(row.id, who.address)
        if len(self._chats) > _MOST_CHATS:
            self._chats.clear()
        self._chats[who.external] = (row.id, who.address)
        return row.id


def _is_groups(heard: Heard) -> bool:
    """Tell whether something is for the channel's own chat."""
    plain = not heard.uploads and not heard.edited and places.is_group(heard.who.address)
    return plain and rooms.is_groups(heard.event())


def _lane(heard: Heard) -> str:
    return f"{places.root(heard.who.address)}/#" if _is_groups(heard) else heard.who.external


async def _whispered(interaction: "discord.Interaction[Any]", text: str) -> None:
    try:
        await interaction.followup.send(text, ephemeral=True)
    except discord.HTTPException as error:
        LOG.info("somebody could not be told what a press came to: %s", error)
