"""The preview for real: a server of its own, a copy of the lessons, a file saved while it looks."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bot import preview
from bot.testing import FixedDice
from content import loader


@pytest.fixture
def lessons(tmp_path: Path) -> Path:
    root = tmp_path / "content"
    shutil.copytree(loader.HERE, root, ignore=shutil.ignore_patterns("*.py[co]", "__pycache__"))
    return root


@pytest.fixture
async def address(lessons: Path) -> AsyncIterator[str]:
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(preview.serve_preview(lessons, "vectorise", FixedDice(), 0, told.set_result))
    async with asyncio.timeout(30):
        yield await told
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)


async def _text(address: str, path: str = "") -> str:
    async with aiohttp.ClientSession() as session, session.get(address + path) as answer:
        assert answer.status == 200
        return await answer.text()


async def test_every_stop_is_shown_with_its_button_and_its_parts_load(address: str) -> None:
    page = await _text(address)
    assert page.count("<article") >= 15
    assert "1:go:vectorise.needs:" in page
    assert 'lang="ar"' in page
    for link in {part.split('"')[0] for part in page.split('"/')[1:]}:
        if link.startswith("static/") and link.endswith((".css", ".js")):
            assert await _text(address, link)


async def test_a_saved_file_shows_anew_and_a_fault_shows_as_such(address: str, lessons: Path) -> None:
    stamp = (await _text(address)).split('data-stamp="')[1].split('"')[0]
    waiting = asyncio.create_task(_text(address, f"changed?stamp={stamp}"))
    file = lessons / "lessons" / "vectorise" / "lesson.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "\nunknown_key: 1\n", encoding="utf-8")
    assert await waiting != stamp
    page = await _text(address)
    assert "unknown_key" in page
    assert "<article" not in page


async def test_a_lesson_that_is_not_there_is_answered_with_those_that_are(lessons: Path) -> None:
    page = preview.sheet(lessons, "nowhere", FixedDice(), "/static/x/").html
    assert "nowhere" in page
    assert "vectorise" in page
