"""Discord's input and output: one bot, its connection, and what it keeps between starts.

Law: the token stands in no log; what was taken in is answered once; replies go out by the courier that all platforms
share.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import discord

from bot.adapters.discord import looks, places, render
from bot.adapters.discord.client import DiscordClient
from bot.adapters.discord.drafts import Draft, FileDraft
from bot.adapters.discord.guard import PLATFORM, Guard, Servers
from bot.adapters.discord.hearing import Hearing
from bot.adapters.discord.line import DiscordLine
from bot.engine.replies import Reply
from bot.errors import SettingsError
from bot.ports import Shown, StoredFile
from bot.posting.boxes import Drawing
from bot.posting.courier import EDIT_EVERY_S, Courier
from bot.posting.hosted import Hosted, Keeper, Kept
from bot.posting.pacing import Limits, Pacing
from content.schema import Course

LOG = logging.getLogger("tasree.discord")

PACE = Limits(chat=(4, 5.2), group=(4, 5.2), overall=(40, 1.0))
"""Under the platform's five calls in five seconds a channel, and fifty a second in all."""
START_S = 60.0
LOOK_S = 0.5
"""So often a chat with something to wait for is looked at for what another process said there."""


@dataclass(frozen=True, slots=True)
class DiscordSettings:
    """How the platform is reached; `memory` is where the digest of the announced commands is kept.

    `questions`: the platform lets us read texts that are not addressed to us, for channels of plain questions.
    """

    token: str = field(repr=False)
    memory: Path
    questions: bool = False
    limits: Limits = PACE
    edit_every_s: float = EDIT_EVERY_S


class ServerKeeper(Keeper, Protocol):
    """A store that also keeps what servers' owners set."""

    def servers(self) -> Servers:
        """Give the part that keeps it."""
        ...


class DiscordChat:
    """The platform side of Discord: implements the port `Chat`."""

    def __init__(self, settings: DiscordSettings, course: Course) -> None:
        self._settings = settings
        self._course: Callable[[], Course] = lambda: course
        self.client = DiscordClient(self._served, hears_all=settings.questions)
        self.client.announced = self._announced
        self.client.announce = self._announce
        self._kept: Kept | None = None
        self._guard: Guard
        self._stored: Callable[[str, str], Awaitable[StoredFile | None]]
        self._courier: Courier[Draft] | None = None
        self._line: DiscordLine | None = None
        self.hearing: Hearing | None = None
        self._closed = False

    async def attach(self, store: ServerKeeper) -> None:
        """Take the store; replies wait until the platform is there."""
        loop = asyncio.get_running_loop()
        self._kept = store.outbox()
        self._guard = self.client.guard = Guard(store.servers(), loop.time)
        self._stored = store.owned().file
        self._line = DiscordLine(self.client, self._file, loop.time, self._word)
        drawing: Drawing[Draft] = Drawing(
            draw=self._draw, offer=self._offer, is_group=places.is_group, root=places.root
        )
        pacing = Pacing(self._settings.limits, loop.time)
        alone = await self._kept.alone()
        self._courier = Courier(
            PLATFORM,
            self._kept,
            store,
            self._line,
            drawing,
            pacing,
            loop.time,
            self._settings.edit_every_s,
            look_s=None if alone else LOOK_S,
        )

    async def show(self, chat: str, shown: Shown) -> None:
        """Send a reply in its turn, or put it in the place of the one with the same number."""
        if self._courier is not None:
            await self._courier.show(chat, shown)

    async def forget(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:
        """Say the last words of a chat that is in the store no more, and let go of it."""
        if self._courier is not None:
            await self._courier.forget(chat, address, farewell)

    async def call_out(self, chat: str, address: str, reply: Reply) -> None:
        """Say something without the store."""
        if self._courier is not None:
            await self._courier.call_out(chat, address, reply)

    def trouble(self) -> str:
        """Say what is wrong with the connection; empty when nothing is."""
        return "" if self.client.is_ready() and not self.client.is_closed() else "not connected"

    async def hear(self, app: Hosted) -> None:
        """Begin to hear, once the client is logged in; what a killed process left goes on."""
        if self._kept is None or self._courier is None or self._line is None:
            message = "hearing begins after the store was attached"
            raise RuntimeError(message)
        self._course = lambda: app.course
        self.hearing = Hearing(app, self._kept, self._courier, self._line, self._download, self._word, self._guard)
        self.client.hear = self.hearing.hear
        await self._courier.start()
        await self.hearing.start()

    @asynccontextmanager
    async def serving(self, app: Hosted) -> AsyncIterator["asyncio.Task[None]"]:
        """Hear the platform while the block runs; gives the connection, which ends only by a fault.

        Raises:
            SettingsError: when the platform does not know the token.
        """
        try:
            await self.client.login(self._settings.token)
        except discord.LoginFailure as error:
            message = (
                "Discord does not know this token; TASREE_DISCORD_TOKEN or TASREE_DISCORD_TOKEN_FILE must hold the one "
                "that the developer portal shows under Bot, Reset Token (deploy/README.md, Discord)"
            )
            raise SettingsError(message) from error
        await self.hear(app)
        connection = asyncio.create_task(self.client.connect(reconnect=True))
        try:
            yield connection
        finally:
            connection.cancel()
            await asyncio.gather(connection, return_exceptions=True)

    async def idle(self) -> None:
        """Wait until everything heard was answered, and every answer is out."""
        if self.hearing is not None:
            await self.hearing.idle()
        if self._courier is not None:
            await self._courier.idle()

    async def close(self) -> None:
        """Let calls under way end, and close the connection; a second time does nothing."""
        await self.part()
        if not self.client.is_closed():
            await self.client.close()

    async def part(self) -> None:
        """Let calls under way end, and hear nothing more; the connection stays."""
        if self._closed:
            return
        self._closed = True
        self.client.hear = None
        if self.hearing is not None:
            await self.hearing.close()
        if self._courier is not None:
            await self._courier.close()

    aclose = close

    def _served(self) -> Course:
        return self._course()

    # --- what the parts ask for ---------------------------------------------------------------------------------------

    def _draw(self, chat: str, reply: Reply) -> tuple[Draft, ...]:
        made = render.drafts(reply, looks.look(self._course()))
        return tuple(
            replace(draft, ref=f"{chat}/{draft.ref}") if isinstance(draft, FileDraft) and draft.ref else draft
            for draft in made
        )

    def _offer(self, number: int) -> Draft:
        return render.offer(number, looks.look(self._course()))

    def _word(self, key: str) -> str:
        return looks.look(self._course()).words.get(key, "")

    async def _file(self, ref: str) -> bytes | None:
        chat, _, file = ref.partition("/")
        found = await self._stored(chat, file)
        return None if found is None else found.data

    async def _download(self, url: str) -> bytes:
        return await self.client.http.get_from_cdn(url)

    async def _announced(self) -> str:
        try:
            return self._settings.memory.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    async def _announce(self, digest: str) -> None:
        try:
            self._settings.memory.write_text(digest + "\n", encoding="ascii")
        except OSError as error:
            LOG.warning("the commands will be announced again at the next start: %s", error)
