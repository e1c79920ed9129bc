"""Serves the Discord bot from its settings until the process is told to stop.

Law: a start that lacks something says what, and how to get it, before anything is opened; secrets stand in no log.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping

from bot import hosting, masking
from bot.adapters.discord.guard import PLATFORM
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
    with hosting.only_one(found.data, PLATFORM):
        course = loader.load_course(found.content)
        chat = DiscordChat(DiscordSettings(token, found.data / "discord-commands", found.discord_questions), course)
        opening = hosting.open_app(
            found, environment, course, chat, adopt=True, with_runner=True, prepare=chat.attach, platform=PLATFORM
        )
        # Calls that are under way end before the store is closed: what became of them is written down.
        async with contextlib.aclosing(chat), opening as app, contextlib.aclosing(chat):
            stop = hosting.told_to_stop(lambda: reload(app))
            async with chat.serving(app) as connection:
                print(f"Tasree: {chat.client.user}", flush=True)  # noqa: T201 - whoever waits for the start reads this
                await hosting.until(stop, connection)


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
