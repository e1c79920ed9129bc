"""The command that serves Telegram, as a program: what it says when something is missing, and what it never says."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from botapi.person import Person
from botapi.server import serving
from botapi.world import Fault, World

from bot import platforms, settings
from bot.adapters.telegram.serve import TelegramChat, TelegramSettings
from bot.errors import SettingsError
from bot.stores.sql import SqlStore
from content.schema import Course

TOKEN = "1234567:" + "S3cret_" * 5


@pytest.mark.parametrize(
    ("token", "url", "listen", "said"),
    [
        ("", "", "", "@BotFather"),
        ("12 34", "", "", "does not look like a token"),
        (TOKEN, "http://bot.example/", "127.0.0.1:8443", "an https address"),
        (TOKEN, "https://bot.example/", "8443", "HOST:PORT"),
        (TOKEN, "https://bot.example/", "127.0.0.1:99999", "HOST:PORT"),
    ],
)
async def test_a_start_that_lacks_something_says_what(
    tmp_path: Path, token: str, url: str, listen: str, said: str
) -> None:
    found = settings.load({"TASREE_DATA": str(tmp_path), "TASREE_TELEGRAM_TOKEN": token})
    with pytest.raises(SettingsError) as caught:
        await platforms.serve_telegram(found, {}, url, listen, lambda _: None)
    assert said in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_a_file_of_a_token_that_is_not_there_is_named() -> None:
    with pytest.raises(SettingsError, match="TASREE_TELEGRAM_TOKEN_FILE=nowhere/token"):
        settings.load({"TASREE_TELEGRAM_TOKEN_FILE": "nowhere/token"})


async def test_a_token_that_the_platform_does_not_know_is_said(course: Course, store: SqlStore) -> None:
    async with serving(World()) as server:
        chat = TelegramChat(TelegramSettings(TOKEN, server.url), course)
        with pytest.raises(SettingsError, match="does not know this token"):
            await chat.attach(store)


async def test_the_program_serves_stops_and_keeps_its_token_to_itself(tmp_path: Path) -> None:
    world = World(TOKEN)
    faults = [Fault.GATEWAY, Fault.RESET_BEFORE]
    world.trouble = lambda method, _: faults.pop() if method == "getUpdates" and faults else None
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    learner = Person(world, 7)
    async with serving(world) as server:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TASREE_")}
        given = {"TASREE_DATA": str(tmp_path / "data"), "TASREE_TELEGRAM_API": server.url}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "telegram",
            env=kept | given | {"TASREE_TELEGRAM_TOKEN_FILE": str(tmp_path / "token")},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"Tasree: @tasree_bot\n"
        learner.send("/start")
        await learner.sees("أهلًا وسهلًا", 60)
        process.send_signal(signal.SIGTERM)
        said, errors = await process.communicate()
    assert process.returncode == 0
    assert "to be tried again" in errors.decode()
    assert TOKEN not in (said + errors).decode()
    assert TOKEN.partition(":")[2] not in errors.decode()
