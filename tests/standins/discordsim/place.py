"""A bot of ours in a simulated Discord: the real client, adapter, courier and store, with the runner a test gives."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import discord
import simcord

from bot.adapters.discord.serve import DiscordChat, DiscordSettings
from bot.app import App, SystemClock, SystemDice
from bot.engine.known import Dice
from bot.ports import Clock, Runner
from bot.posting.pacing import Limits
from bot.stores import postgres, sqlite
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker
from content.schema import Course

KEY = b"k" * 32
QUICK = Limits(chat=(1000, 1.0), group=(1000, 1.0), overall=(1000, 1.0))


@dataclass(frozen=True, slots=True)
class Making:
    """What a bot is made of, so that it can be made once more over the same database."""

    course: Course
    path: Path
    runner: Runner
    dice: Dice
    clock: Clock
    questions: bool
    database: str = ""
    """The address of a PostgreSQL database; without it a file of SQLite at `path` is used."""

    async def made(self) -> tuple[App, DiscordChat, SqlStore]:
        """Make and start the parts, but for the connection."""
        settings = DiscordSettings("", self.path.with_suffix(".commands"), self.questions, QUICK, edit_every_s=0.0)
        chat = DiscordChat(settings, self.course)
        store = (
            postgres.open_store(self.database, KEY, SystemDice().identity)
            if self.database
            else sqlite.open_store(self.path, KEY, SystemDice().identity)
        )
        await chat.attach(store)
        app = App(
            course=self.course,
            store=store,
            runner=self.runner,
            checker=ParsingChecker(),
            clock=self.clock,
            dice=self.dice,
            chat=chat,
        )
        await app.start(adopt=True)
        await app.runner_asked()
        return app, chat, store


@dataclass(slots=True)
class Bot:
    """A bot that serves in a simulated world."""

    making: Making
    app: App
    chat: DiscordChat
    store: SqlStore
    env: Any

    @property
    def me(self) -> int:
        """Our own id there."""
        assert self.chat.client.user is not None
        return self.chat.client.user.id

    async def idle(self) -> None:
        """Wait until everything was answered and is out."""
        for _ in range(3):  # each may begin something in another
            await self.chat.idle()
            await self.app.idle()
        await self.chat.idle()

    async def restart(self) -> None:
        """End the bot as a stop does, and start another over the same database in the same world."""
        await self.stop(connected=True)
        self.app, self.chat, self.store = await self.making.made()
        await self.env.restart_bot(self.chat.client)
        await self.chat.hear(self.app)

    async def stop(self, *, connected: bool = False) -> None:
        """End everything but, where it stays `connected`, the client."""
        if connected:
            await self.chat.part()
        else:
            await self.chat.close()
        await self.app.close()
        await self.store.close()


@asynccontextmanager
async def served(  # noqa: PLR0913 - what differs between tests
    course: Course,
    path: Path,
    runner: Runner | None = None,
    dice: Dice | None = None,
    clock: Clock | None = None,
    *,
    questions: bool = False,
    database: str = "",
    shards: int = 1,
) -> AsyncIterator[Bot]:
    """Start a bot; the database at `path` may hold what an earlier one left."""
    making = Making(
        course, path, runner or InstantRunner(), dice or SystemDice(), clock or SystemClock(), questions, database
    )
    app, chat, store = await making.made()
    bot = Bot(making, app, chat, store, None)
    try:
        async with simcord.run(chat.client, check_errors=True, shard_count=shards) as env:
            bot.env = env
            await chat.hear(app)
            yield bot
            await bot.chat.close()
    finally:
        await bot.app.close()
        await bot.store.close()


@asynccontextmanager
async def beside(bot: Bot) -> AsyncIterator[Bot]:
    """Start another bot of the same account and database, as another process would be that has other servers.

    It hears nothing of this world; what it sends arrives there.
    """
    app, chat, store = await bot.making.made()
    chat.client.http = chat.client._connection.http = bot.chat.client.http  # the simulator's way in
    await chat.hear(app)
    try:
        yield Bot(bot.making, app, chat, store, bot.env)
    finally:
        await chat.part()
        await app.close()
        await store.close()


def buttons(message: discord.Message) -> list[str]:
    """Give the labels of the buttons under a text."""
    return [getattr(child, "label", "") or "" for row in message.components for child in getattr(row, "children", ())]
