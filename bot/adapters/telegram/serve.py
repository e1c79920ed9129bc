"""Telegram's input and output: one bot, heard by polling or by webhook, and its commands as the platform shows them.

Law: the token stands in no log; a press is acknowledged before its turn; what was taken in is answered once.
"""

import asyncio
import hashlib
import hmac
import logging
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from telegram import Bot, BotCommand, MenuButtonCommands
from telegram.error import (
    BadRequest,
    Conflict,
    EndPointNotFound,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
)
from telegram.ext import Application, ApplicationBuilder
from telegram.request import HTTPXRequest
from telegram.warnings import PTBUserWarning

from bot.adapters.telegram import looks, parse, render
from bot.adapters.telegram.drafts import Draft, FileDraft
from bot.adapters.telegram.hearing import JOIN_S, PLATFORM, Hearing
from bot.adapters.telegram.line import TelegramLine, waited_for
from bot.adapters.telegram.parse import Me
from bot.adapters.telegram.webhook import Webhook, listening
from bot.engine.commands import Command
from bot.engine.replies import Reply
from bot.engine.wording import Wording
from bot.errors import SettingsError
from bot.ports import Shown, StoredFile
from bot.posting.boxes import Drawing
from bot.posting.courier import EDIT_EVERY_S, Courier
from bot.posting.hosted import Hosted, Keeper, Kept
from bot.posting.looks import Look
from bot.posting.pacing import Limits, Pace, Pacing
from bot.posting.shared import LEASE_S, SharedPacing
from content.schema import Course

LOG = logging.getLogger("tasree.telegram")

ALLOWED = ["message", "edited_message", "callback_query", "my_chat_member"]
"""The updates that are asked for; all others are not even sent."""
API = "https://api.telegram.org"
POLL_S = 25
_POOL = 64
LOOK_S = 0.5
"""So often a chat with something to wait for is looked at for what another process said there."""
_TRY_AGAIN_S, _LONGEST_S = 1.0, 30.0
_LANGUAGES = (None, "ar")
_DESCRIPTION_LIMIT, _SHORT_LIMIT, _COMMAND_LIMIT = 512, 120, 256


@dataclass(frozen=True, slots=True)
class TelegramSettings:
    """How the platform is reached. `api` is another server of the same interface; times are in seconds."""

    token: str = field(repr=False)
    api: str = API
    limits: Limits = field(default_factory=Limits)
    edit_every_s: float = EDIT_EVERY_S
    join_s: float = JOIN_S
    read_s: float = 20.0
    poll_s: int = POLL_S
    again_s: float = 1.0
    lease_s: float = LEASE_S


class TelegramChat:
    """The platform side of Telegram: implements the port `Chat`."""

    def __init__(self, settings: TelegramSettings, course: Course) -> None:
        self._settings = settings
        self._course: Callable[[], Course] = lambda: course
        self._application = _application(settings)
        self._kept: Kept | None = None
        self._stored: Callable[[str, str], Awaitable[StoredFile | None]]
        self._courier: Courier[Draft] | None = None
        self._closed = False
        self._trouble = "not heard yet"

    @property
    def bot(self) -> Bot:
        """The library's bot."""
        bot: Bot = self._application.bot
        return bot

    async def attach(self, store: Keeper) -> None:
        """Take the store, and what an ended process left to be sent.

        Raises:
            SettingsError: when the platform does not know the token.
        """
        await _introduced(self._application)
        loop = asyncio.get_running_loop()
        self._kept = store.outbox()
        self._stored = store.owned().file
        alone = await self._kept.alone()
        pacing: Pace = Pacing(self._settings.limits, loop.time)
        if not alone:
            pacing = SharedPacing(PLATFORM, self._kept, self._settings.limits)
        drawing: Drawing[Draft] = Drawing(
            draw=self._draw, offer=self._offer, is_group=parse.is_group, root=parse.root, rests=parse.rests
        )
        self._courier = Courier(
            PLATFORM,
            self._kept,
            store,
            TelegramLine(self.bot, self._file),
            drawing,
            pacing,
            loop.time,
            self._settings.edit_every_s,
            self._settings.again_s,
            self._settings.lease_s,
            None if alone else LOOK_S,
        )
        await self._courier.start()

    async def show(self, chat: str, shown: Shown) -> None:
        """Send a reply in its turn, or put it in the place of the one with the same number."""
        if self._courier is not None:
            await self._courier.show(chat, shown)

    async def forget(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:
        """Say the last words of a chat that is in the store no more, and let go of it."""
        if self._courier is not None:
            await self._courier.forget(chat, address, farewell)

    async def call_out(self, chat: str, address: str, reply: Reply) -> None:
        """Say something without the store."""
        if self._courier is not None:
            await self._courier.call_out(chat, address, reply)

    def trouble(self) -> str:
        """Say what is wrong with the connection; empty when nothing is."""
        return self._trouble

    @asynccontextmanager
    async def serving(self, app: Hosted, webhook: Webhook | None = None) -> AsyncIterator["Serving"]:
        """Hear the platform while the block runs.

        Raises:
            SettingsError: when the webhook's address cannot be had or is refused.
        """
        if self._kept is None or self._courier is None:
            message = "serving begins after the store was attached"
            raise RuntimeError(message)
        self._course = lambda: app.course
        me = Me(self.bot.id, self.bot.username)
        hearing = Hearing(
            self.bot,
            me,
            app,
            self._kept,
            self._courier,
            self._word,
            self._settings.join_s,
            self._settings.again_s,
            self._settings.lease_s,
        )
        await hearing.start()
        tasks = [asyncio.create_task(_announced(self.bot, app.course))]
        try:
            if webhook is None:
                poller = asyncio.create_task(_polled(self.bot, hearing, self._settings.poll_s, self._stands))
                tasks.append(poller)
                yield Serving(hearing, self._courier, poller)
            else:
                async with listening(self.bot, hearing.take_in, webhook, ALLOWED) as port:
                    self._stands("")
                    yield Serving(hearing, self._courier, None, port)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await hearing.close()

    async def aclose(self) -> None:
        """Let calls under way end, and close the connections; a second time does nothing."""
        if self._closed:
            return
        self._closed = True
        if self._courier is not None:
            await self._courier.close()
        await self._application.shutdown()

    def _stands(self, trouble: str) -> None:
        self._trouble = trouble

    def _look(self) -> Look:
        return looks.look(self._course())

    def _draw(self, chat: str, reply: Reply) -> tuple[Draft, ...]:
        made = render.drafts(reply, self._look())
        return tuple(
            replace(draft, ref=f"{chat}/{draft.ref}") if isinstance(draft, FileDraft) and draft.ref else draft
            for draft in made
        )

    async def _file(self, ref: str) -> bytes | None:
        """Give the bytes of a file that the store keeps for a chat."""
        chat, _, file = ref.partition("/")
        found = await self._stored(chat, file)
        return None if found is None else found.data

    def _offer(self, number: int) -> Draft:
        return render.offer(number, self._look())

    def _word(self, key: str) -> str:
        return self._look().words.get(key, "")


@dataclass(frozen=True, slots=True)
class Serving:
    """What serves: for those who wait until everything was answered, or until polling ends by a fault.

    `port` is the one at which posts of a webhook are heard.
    """

    hearing: Hearing
    courier: Courier[Draft]
    poller: "asyncio.Task[None] | None"
    port: int = 0


def secret(key: bytes) -> str:
    """Give the webhook's secret token, made of the installation's key: nothing to be kept by hand."""
    return hmac.new(key, b"telegram webhook", hashlib.sha256).hexdigest()


def _application(settings: TelegramSettings) -> "Application[Any, Any, Any, Any, Any, Any]":
    """Give the library's application, without its updater: that one confirms updates before they are written down."""

    def calls(pool: int, read_s: float) -> HTTPXRequest:
        return HTTPXRequest(
            connection_pool_size=pool,
            read_timeout=read_s,
            write_timeout=20.0,
            connect_timeout=10.0,
            pool_timeout=10.0,
            media_write_timeout=60.0,
        )

    try:
        return (
            ApplicationBuilder()
            .token(settings.token)
            .base_url(f"{settings.api}/bot")
            .base_file_url(f"{settings.api}/file/bot")
            .request(calls(_POOL, settings.read_s))
            .get_updates_request(calls(2, settings.poll_s + 15.0))
            .updater(None)
            .build()
        )
    except InvalidToken as error:
        message = "the token of the Telegram bot is empty; BotFather gives one (deploy/README.md, Telegram)"
        raise SettingsError(message) from error


async def _introduced(application: "Application[Any, Any, Any, Any, Any, Any]") -> None:
    """Ask the platform who we are, until it answers."""
    wait = _TRY_AGAIN_S
    while True:
        try:
            await application.initialize()
        except InvalidToken as error:
            message = (
                "Telegram does not know this token; TASREE_TELEGRAM_TOKEN or TASREE_TELEGRAM_TOKEN_FILE must hold "
                "the one that BotFather shows under /mybots, API Token (deploy/README.md, Telegram)"
            )
            raise SettingsError(message) from error
        except TelegramError as error:
            LOG.warning("Telegram does not answer, to be tried again in %.0f s: %s", wait, error)
            await asyncio.sleep(wait)
            wait = min(2 * wait, _LONGEST_S)
        else:
            return


async def _polled(bot: Bot, hearing: Hearing, poll_s: int, stands: Callable[[str], None]) -> None:
    """Ask for updates for ever; one is confirmed by the next question, after it was written down.

    `stands` is told what is wrong with the connection, and that nothing is.
    """
    offset, wait = 0, _TRY_AGAIN_S
    cleared = False
    while True:
        try:
            if not cleared:
                await bot.delete_webhook(drop_pending_updates=False)
                cleared = True
                stands("")
            updates = await _updates(bot, offset, poll_s)
            if updates:
                await hearing.take_in(updates)
                offset = updates[-1]["update_id"] + 1
            wait = _TRY_AGAIN_S
            stands("")
        except RetryAfter as error:
            await asyncio.sleep(waited_for(error))
        except (InvalidToken, EndPointNotFound) as error:
            message = "Telegram does not know this token any more: it was revoked"
            raise SettingsError(message) from error
        except Conflict as error:
            LOG.warning("another program polls with this bot's token; only one may: %s", error)
            stands("another program polls with this bot's token")
            wait = await _waited(wait)
        except TelegramError as error:
            LOG.warning("no updates could be had, to be tried again in %.0f s: %s", wait, error)
            stands("no updates can be had")
            wait = await _waited(wait)
        except Exception:
            # The store was away: nothing was confirmed, so nothing is lost.
            LOG.exception("updates could not be taken in, to be tried again in %.0f s", wait)
            wait = await _waited(wait)


async def _updates(bot: Bot, offset: int, poll_s: int) -> list[dict[str, Any]]:
    """Ask for updates as they are sent: one that the library cannot read must not stand before all others for ever."""
    wanted = {"timeout": poll_s, "allowed_updates": ALLOWED} | ({"offset": offset} if offset else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PTBUserWarning)  # there is a method of this name, which reads what it gives
        found: Any = await bot.do_api_request("getUpdates", api_kwargs=wanted, read_timeout=poll_s + 10)
    return [one for one in found if isinstance(one, dict) and isinstance(one.get("update_id"), int)]


async def _waited(wait: float) -> float:
    await asyncio.sleep(wait)
    return min(2 * wait, _LONGEST_S)


async def _announced(bot: Bot, course: Course) -> None:
    """Name the commands, in Arabic for everybody, and put them behind the menu button; only what changed is said."""
    words = Wording(course.phrases)
    wanted = tuple(
        BotCommand(command.value, words.text(f"help.{command}")[:_COMMAND_LIMIT])
        for command in Command
        if words.has(f"help.{command}")
    )
    first = (Command.START, Command.HELP)
    named = tuple(BotCommand(one.value, words.text(f"telegram.{one}_command")) for one in first)
    wanted = (*named, *wanted)
    description = f"{words.text('greeting.hello')} {words.text('greeting.code')}"[:_DESCRIPTION_LIMIT]
    short = words.text("telegram.short_description")[:_SHORT_LIMIT]
    try:
        for language in _LANGUAGES:
            if await bot.get_my_commands(language_code=language) != wanted:
                await bot.set_my_commands(wanted, language_code=language)
        if (await bot.get_my_description()).description != description:
            await bot.set_my_description(description)
        if (await bot.get_my_short_description()).short_description != short:
            await bot.set_my_short_description(short)
        await bot.set_chat_menu_button(menu_button=MenuButtonCommands())
    except (BadRequest, NetworkError, RetryAfter) as error:
        LOG.warning("the commands could not be announced: %s", error)
