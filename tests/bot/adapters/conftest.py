"""The place in which the bot is tried on Telegram."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from botapi.place import Place
from botapi.server import serving
from botapi.world import World

from content.schema import Course


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
