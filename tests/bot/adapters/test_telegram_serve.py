"""The bot on Telegram over real HTTP, against the strict stand-in for the Bot API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from botapi.person import Person
from botapi.server import Server, serving
from botapi.world import World

from bot.adapters.telegram.serve import Serving, TelegramChat, TelegramSettings
from bot.app import App, SystemClock, SystemDice
from bot.ports import Runner
from bot.posting.pacing import Limits
from bot.stores import sqlite
from bot.testing import InstantRunner, ParsingChecker
from content.schema import Course

QUICK = Limits(chat=(1000, 1.0), group=(1000, 1.0), overall=(1000, 1.0))
SETTINGS = TelegramSettings("", limits=QUICK, edit_every_s=0.05, join_s=0.15, read_s=1.0, poll_s=5)


@dataclass(slots=True)
class Bot:
    """A bot that serves."""

    app: App
    serving: Serving

    async def idle(self) -> None:
        """Wait until everything was answered and is out."""
        for _ in range(3):
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

    def person(self, user: int = 7, chat: int = 0, thread: int = 0) -> Person:
        return Person(self.world, user, chat, thread)

    @asynccontextmanager
    async def bot(self, runner: Runner | None = None, **changes: object) -> AsyncIterator[Bot]:
        settings = replace(SETTINGS, token=self.world.token, api=self.server.url, **changes)  # type: ignore[arg-type]
        chat = TelegramChat(settings, self.course)
        store = sqlite.open_store(self.path, b"k" * 32, SystemDice().identity)
        await chat.attach(store)
        app = App(
            course=self.course,
            store=store,
            runner=runner or InstantRunner(),
            checker=ParsingChecker(),
            clock=SystemClock(),
            dice=SystemDice(),
            chat=chat,
        )
        await app.start(adopt=True)
        await app.runner_asked()
        try:
            async with chat.serving(app) as now:
                yield Bot(app, now)
        finally:
            await app.close()
            await chat.close()
            await store.close()


@pytest.fixture
async def place(course: Course, tmp_path: Path) -> AsyncIterator[Place]:
    """Give a place whose end is looked at: nothing refused, no press unanswered, nothing that a person would mind."""
    world = World()
    sqlite.migrate(tmp_path / "t.db")
    async with serving(world) as server:
        yield Place(world, server, course, tmp_path / "t.db")
        assert world.refusals == []
        assert world.complaints == []
        assert world.unanswered() == []


async def test_a_new_learner_is_greeted_with_buttons(place: Place) -> None:
    async with place.bot():
        learner = place.person()
        learner.send("/start")
        await learner.sees("أهلًا وسهلًا")
        assert len(learner.labels()) >= 3


async def test_a_press_is_acknowledged_and_answered(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send("/start")
        await learner.sees("أهلًا وسهلًا")
        learner.press(learner.labels()[0])
        await learner.sees("درس صغير")
        await bot.idle()


async def test_code_at_an_official_client_runs_and_its_reply_is_edited(place: Place) -> None:
    async with place.bot() as bot:
        learner = place.person()
        learner.send_code("print('hi')")
        await learner.sees("انتهى التشغيل بنجاح")
        await bot.idle()
        (note,) = learner.screen()
        assert len(note.versions) >= 2
