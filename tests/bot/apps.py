"""A real app over a store, with stand-ins for what is around it, begun and closed with that store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.app import App, SystemDice
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course


@asynccontextmanager
async def talking(
    course: Course, store: SqlStore, runner: InstantRunner | None = None, clock: StandStillClock | None = None
) -> AsyncIterator[App]:
    """Give an app that has taken up what was left, and knows its runner."""
    app = App(
        course=course,
        store=store,
        runner=runner or InstantRunner(),
        checker=ParsingChecker(),
        clock=clock or StandStillClock(),
        dice=SystemDice(),
        chat=RecordingChat(),
    )
    await app.start(adopt=True)
    await app.runner_asked()
    try:
        yield app
    finally:
        await app.close()
        await store.close()
