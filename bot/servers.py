"""Serves the Discord bot from its settings until the process is told to stop.

Law: a start that lacks something says what, and how to get it, before anything is opened; secrets stand in no log.
"""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable, Mapping
from typing import Any

from bot import hosting, masking
from bot.adapters.discord.hearing import PLATFORM
from bot.adapters.discord.serve import DiscordChat, DiscordSettings
from bot.app import App
from bot.errors import SettingsError
from bot.settings import Settings
from content import loader

LACKING = """TASREE_DISCORD_TOKEN is not set: the Discord bot needs a token.
1. In Discord's developer portal make a New Application, then Bot, Reset Token; it shows the token once.
2. Put the token in a file that only this account can read, and name it: TASREE_DISCORD_TOKEN_FILE=/path/to/file
deploy/README.md, part Discord, goes through it step by step."""


async def serve_discord(found: Settings, environment: Mapping[str, str], reload: Callable[[App], None]) -> None:
    """Serve the Discord bot.

    Raises:
        SettingsError: naming what is missing or wrong.
    """
    token = _token(found)
    environment = {name: value for name, value in environment.items() if not name.startswith("TASREE_DISCORD")}
    masking.mask((token,))
    logging.getLogger("discord").setLevel(logging.WARNING)
    with hosting.only_one(found.data):
        course = loader.load_course(found.content)
        chat = DiscordChat(DiscordSettings(token, found.data / "discord-commands"), course)
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(chat.close)
            opened = hosting.open_app(
                found,
                environment,
                course,
                chat,
                adopt=True,
                with_runner=True,
                prepare=chat.attach,
                platform=PLATFORM,
            )
            app = await stack.enter_async_context(opened)
            stop = asyncio.Event()
            loop = asyncio.get_running_loop()
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop.set)
            loop.add_signal_handler(signal.SIGHUP, reload, app)
            connection = await stack.enter_async_context(chat.serving(app))
            print(f"Tasree: {chat.client.user}", flush=True)  # noqa: T201 - whoever waits for the start reads this
            await _until(stop, connection)


async def _until(stop: asyncio.Event, connection: "asyncio.Task[None]") -> None:
    """Wait for the word to stop, or for a fault that ends the connection."""
    waiting = asyncio.create_task(stop.wait())
    tasks: set[asyncio.Future[Any]] = {waiting, connection}
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if connection in done:
        connection.result()


def _token(found: Settings) -> str:
    token = found.discord_token
    if not token:
        raise SettingsError(LACKING)
    if masking.DISCORD_TOKEN.fullmatch(token) is None:
        message = (
            f"TASREE_DISCORD_TOKEN: what was given ({len(token)} characters) does not look like a token, "
            "which is three groups of letters and digits with points between them, on one line"
        )
        raise SettingsError(message)
    return token
