"""The place in which the bot is tried on Telegram."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from botapi.place import Place
from botapi.server import serving
from botapi.world import World

from bot.stores import sqlite
from content.schema import Course


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a fresh database, to be copied: making one takes half a second."""
    path = tmp_path_factory.mktemp("telegram") / "fresh.db"
    sqlite.migrate(path)
    return path


@pytest.fixture
async def place(course: Course, tmp_path: Path, migrated: Path) -> AsyncIterator[Place]:
    """Give a place whose end is looked at: nothing refused, no press unanswered, nothing that a person would mind."""
    world = World()
    shutil.copy(migrated, tmp_path / "t.db")
    async with serving(world) as server:
        yield Place(world, server, course, tmp_path / "t.db")
        assert world.refusals == []
        assert world.complaints == []
        assert world.unanswered() == []
