"""A bot of ours at the fake platform: the real adapter, courier and store, with the runner that a test gives."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from botapi.person import Person
from botapi.server import Server
from botapi.world import World

from bot.adapters.telegram import serve
from bot.adapters.telegram.serve import Serving, TelegramChat, TelegramSettings
from bot.adapters.telegram.webhook import Webhook
from bot.app import App, SystemClock, SystemDice
from bot.engine.known import Dice
from bot.ports import Clock, Runner
from bot.posting.pacing import Limits
from bot.stores import postgres, sqlite
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker
from content.schema import Course

QUICK = Limits(chat=(1000, 1.0), group=(1000, 1.0), overall=(1000, 1.0))
SETTINGS = TelegramSettings("", limits=QUICK, edit_every_s=0.05, join_s=0.15, read_s=1.0, poll_s=5, again_s=0.1)


KEY = b"k" * 32
HOOK = Webhook("https://bot.example/telegram", "127.0.0.1", 0, serve.secret(KEY))
"""A webhook at a port of the system's choice."""


@dataclass(slots=True)
class Bot:
    """A bot that serves."""

    app: App
    serving: Serving
    store: SqlStore

    async def idle(self) -> None:
        """Wait until everything was answered and is out."""
        for _ in range(3):  # each may begin something in another
            await self.serving.hearing.idle()
            await self.app.idle()
            await self.serving.courier.idle()


@dataclass(slots=True)
class Place:
    """The platform, and how a bot is started on it; several starts share the database."""

    world: World
    server: Server
    course: Course
    path: Path
    database: str = ""
    """The address of a PostgreSQL database; without it a file of SQLite at `path` is used."""

    def person(self, user: int = 7, chat: int = 0, thread: int = 0) -> Person:
        return Person(self.world, user, chat, thread)

    def store(self) -> SqlStore:
        """Open the database."""
        if self.database:
            return postgres.open_store(self.database, KEY, SystemDice().identity)
        return sqlite.open_store(self.path, KEY, SystemDice().identity)

    @asynccontextmanager
    async def bot(
        self,
        runner: Runner | None = None,
        dice: Dice | None = None,
        clock: Clock | None = None,
        webhook: Webhook | None = None,
        **changes: object,
    ) -> AsyncIterator[Bot]:
        settings = replace(SETTINGS, token=self.world.token, api=self.server.url, **changes)  # type: ignore[arg-type]
        chat = TelegramChat(settings, self.course)
        store = self.store()
        await chat.attach(store)
        app = App(
            course=self.course,
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
            async with chat.serving(app, webhook) as now:
                yield Bot(app, now, store)
        finally:
            await app.close()
            await chat.aclose()
            await store.close()
