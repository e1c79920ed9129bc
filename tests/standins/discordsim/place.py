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
from bot.stores import sqlite
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker
from content.schema import Course

QUICK = Limits(chat=(1000, 1.0), group=(1000, 1.0), overall=(1000, 1.0))


@dataclass(slots=True)
class Bot:
    """A bot that serves in a simulated world."""

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


@asynccontextmanager
async def served(
    course: Course, path: Path, runner: Runner | None = None, dice: Dice | None = None, clock: Clock | None = None
) -> AsyncIterator[Bot]:
    """Start a bot; the database at `path` may hold what an earlier one left."""
    settings = DiscordSettings("", path.with_suffix(".commands"), limits=QUICK, edit_every_s=0.0)
    chat = DiscordChat(settings, course)
    store = sqlite.open_store(path, b"k" * 32, SystemDice().identity)
    await chat.attach(store)
    app = App(
        course=course,
        store=store,
        runner=runner or InstantRunner(),
        checker=ParsingChecker(),
        clock=clock or SystemClock(),
        dice=dice or SystemDice(),
        chat=chat,
    )
    await app.start(adopt=True)
    await app.runner_asked()
    try:
        async with simcord.run(chat.client, check_errors=True, shard_count=1) as env:
            await chat.hear(app)
            yield Bot(app, chat, store, env)
            await chat.close()
    finally:
        await app.close()
        await store.close()


def buttons(message: discord.Message) -> list[str]:
    """Give the labels of the buttons under a text."""
    return [getattr(child, "label", "") or "" for row in message.components for child in getattr(row, "children", ())]
