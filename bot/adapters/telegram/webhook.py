"""Updates as the platform posts them: one address, a secret in the head, an answer after they are written down.

Law: without the right secret nothing is read; a body is bounded; an update is answered with success only when it can no
longer be lost.
"""

import hmac
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from telegram import Bot
from telegram.error import TelegramError

from bot.errors import SettingsError

LOG = logging.getLogger("tasree.telegram")

HEAD = "X-Telegram-Bot-Api-Secret-Token"
BODY_LIMIT = 1 << 20
CONNECTIONS = 40


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where the platform posts to (`url`, https), where we listen, and the secret that it sends with each update."""

    url: str
    host: str
    port: int
    secret: str = field(repr=False)


@asynccontextmanager
async def listening(
    bot: Bot, take_in: Callable[[Sequence[dict[str, Any]]], Awaitable[None]], webhook: Webhook, allowed: Sequence[str]
) -> AsyncIterator[int]:
    """Listen, then tell the platform where; gives the port.

    Raises:
        SettingsError: when the address cannot be had, or the platform refuses it.
    """
    told: list[bool] = []

    async def posted(request: web.Request) -> web.Response:
        given = request.headers.get(HEAD, "")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), webhook.secret.encode()):
            if given and not told:
                told.append(True)
                LOG.warning("a post with another secret: every bot behind one webhook needs the same file `key`")
            raise web.HTTPForbidden
        try:
            update = json.loads(await request.read())
        except (ValueError, RecursionError) as error:
            LOG.warning("a post is no update: %s", type(error).__name__)
            raise web.HTTPBadRequest from error
        if not isinstance(update, dict) or not isinstance(update.get("update_id"), int):
            LOG.warning("a post is no update")
            raise web.HTTPBadRequest
        await take_in([update])
        return web.Response()

    async def healthy(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    app = web.Application(client_max_size=BODY_LIMIT)
    app.router.add_post(urlsplit(webhook.url).path or "/", posted)
    app.router.add_get("/health", healthy)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=5.0)
    await runner.setup()
    try:
        await _listen(runner, webhook)
        try:
            await bot.set_webhook(
                webhook.url,
                secret_token=webhook.secret,
                allowed_updates=list(allowed),
                max_connections=CONNECTIONS,
                drop_pending_updates=False,
            )
        except TelegramError as error:
            message = f"--webhook {webhook.url}: Telegram refuses it: {error}"
            raise SettingsError(message) from error
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def _listen(runner: web.AppRunner, webhook: Webhook) -> None:
    try:
        await web.TCPSite(runner, webhook.host, webhook.port).start()
    except OSError as error:
        message = f"--listen {webhook.host}:{webhook.port}: {error.strerror or error}"
        raise SettingsError(message) from error
