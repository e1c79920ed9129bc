"""Serves a chat platform from its settings until the process is told to stop.

Law: a start that lacks something says what, and how to get it, before anything is opened; secrets stand in no log.
"""

import contextlib
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from bot import hosting, masking
from bot.adapters.telegram import serve as telegram
from bot.adapters.telegram.hearing import PLATFORM
from bot.adapters.telegram.webhook import Webhook
from bot.app import App
from bot.errors import SettingsError
from bot.settings import Settings, installation_key
from content import loader

LACKING = """TASREE_TELEGRAM_TOKEN is not set: the Telegram bot needs a token.
1. In Telegram, write /newbot to @BotFather and answer its two questions; it shows the token.
2. Put the token in a file that only this account can read, and name it: TASREE_TELEGRAM_TOKEN_FILE=/path/to/file
deploy/README.md, part Telegram, goes through it step by step."""

_LISTEN = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:\[\]]*):(?P<port>[0-9]{1,5})")
_PORT_LIMIT = 65_535


async def serve_telegram(
    found: Settings, environment: Mapping[str, str], url: str, listen: str, reload: Callable[[App], None]
) -> None:
    """Serve the Telegram bot; by polling, or by webhook where `url` says where the platform posts to.

    Raises:
        SettingsError: naming what is missing or wrong.
    """
    token = _token(found)
    where = _webhook(url, listen) if url else None
    environment = {name: value for name, value in environment.items() if not name.startswith("TASREE_TELEGRAM")}
    masking.mask((token, token.partition(":")[2]))
    for noisy in ("httpx", "httpcore", "telegram", "apscheduler"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    with hosting.only_one(found.data, PLATFORM):
        webhook = replace(where, secret=telegram.secret(installation_key(found.data))) if where else None
        course = loader.load_course(found.content)
        chat = telegram.TelegramChat(telegram.TelegramSettings(token, found.telegram_api), course)
        opening = hosting.open_app(
            found, environment, course, chat, adopt=True, with_runner=True, prepare=chat.attach, platform=PLATFORM
        )
        # Calls that are under way end before the store is closed: what became of them is written down.
        async with contextlib.aclosing(chat), opening as app, contextlib.aclosing(chat):
            stop = hosting.told_to_stop(lambda: reload(app))
            async with chat.serving(app, webhook) as serving:
                print(f"Tasree: @{chat.bot.username}", flush=True)  # noqa: T201 - whoever waits for the start reads this
                await hosting.until(stop, serving.poller)


def _token(found: Settings) -> str:
    token = found.telegram_token
    if not token:
        raise SettingsError(LACKING)
    if masking.TELEGRAM_TOKEN.fullmatch(token) is None:
        message = (
            f"TASREE_TELEGRAM_TOKEN: what was given ({len(token)} characters) does not look like a token, "
            "which is a number, a colon and some 35 letters and digits, on one line"
        )
        raise SettingsError(message)
    return token


def _webhook(url: str, listen: str) -> Webhook:
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.hostname:
        message = f"--webhook {url}: an https address that the internet reaches was expected"
        raise SettingsError(message)
    found = _LISTEN.fullmatch(listen)
    if found is None or int(found["port"]) > _PORT_LIMIT:
        message = f"--listen {listen}: HOST:PORT was expected, such as 127.0.0.1:8443"
        raise SettingsError(message)
    return Webhook(url, found["host"].strip("[]") or "127.0.0.1", int(found["port"]), "")
