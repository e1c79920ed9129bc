"""The calls of the Bot API, each one try, and what its errors mean for trying again.

Law: in this library `TimedOut` and `BadRequest` are network errors, too: the narrow ones are told apart first, and of
what is left only what certainly never reached the platform is called so.
"""

import asyncio
import io
import warnings
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
from telegram import (
    Bot,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaDocument,
    InputMediaPhoto,
    LinkPreviewOptions,
    ReplyParameters,
)
from telegram.constants import ParseMode
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from bot.adapters.telegram.drafts import Draft, FileDraft, PhotoDraft, TextDraft
from bot.engine.replies import Timings
from bot.posting import bars
from bot.posting.errors import (
    BusyError,
    GoneError,
    MissingError,
    MovedError,
    NotSentError,
    RefusedError,
    UnsureError,
)
from bot.posting.pieces import Keyboard

T = TypeVar("T")

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_UNCHANGED = "message is not modified"
_TOPIC_GONE = "message thread not found"
_GONE = ("chat not found", "user is deactivated", "bot was kicked", "not enough rights to send", "chat_write_forbidden")
_MISSING = (
    "message to edit not found",
    "message can't be edited",
    "message to delete not found",
    "message can't be deleted",
    "message_id_invalid",
    "there is no text in the message to edit",
    "there is no caption in the message to edit",
)
_NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class TelegramLine:
    """Implements `Line` over a bot of python-telegram-bot."""

    def __init__(self, bot: Bot, kept: Callable[[str], Awaitable[bytes | None]]) -> None:
        self._bot = bot
        self._kept = kept

    async def send(self, address: str, draft: Draft, answers: str) -> str:
        """Send a part; give its id. Where its topic was deleted, it goes to the group."""
        try:
            return await self._sent(address, draft, answers)
        except _TopicGoneError:
            return await self._sent(address.partition("/")[0], draft, answers)

    async def _sent(self, address: str, draft: Draft, answers: str) -> str:
        chat, thread = _place(address)
        answer = None
        if answers and address.startswith("-"):
            answer = ReplyParameters(int(answers), allow_sending_without_reply=True)
        markup = _markup(draft.keyboard)
        match draft:
            case TextDraft(html=html):
                call = self._bot.send_message(
                    chat,
                    html,
                    parse_mode=ParseMode.HTML,
                    link_preview_options=_NO_PREVIEW,
                    reply_markup=markup,
                    message_thread_id=thread,
                    reply_parameters=answer,
                )
            case PhotoDraft(caption=caption):
                call = self._bot.send_photo(
                    chat,
                    await _picture(draft),
                    caption=caption or None,
                    parse_mode=ParseMode.HTML,
                    reply_markup=markup,
                    message_thread_id=thread,
                    reply_parameters=answer,
                )
            case FileDraft(name=name, caption=caption):
                call = self._bot.send_document(
                    chat,
                    await self._content(draft),
                    filename=name,
                    caption=caption or None,
                    parse_mode=ParseMode.HTML,
                    disable_content_type_detection=True,
                    reply_markup=markup,
                    message_thread_id=thread,
                    reply_parameters=answer,
                )
        return str((await _tried(call)).message_id)

    async def edit(self, address: str, external: str, draft: Draft) -> None:
        """Put another content in the place of a part."""
        chat, _ = _place(address)
        markup = _markup(draft.keyboard)
        number = int(external)
        try:
            match draft:
                case TextDraft(html=html):
                    await _tried(
                        self._bot.edit_message_text(
                            html,
                            chat_id=chat,
                            message_id=number,
                            parse_mode=ParseMode.HTML,
                            link_preview_options=_NO_PREVIEW,
                            reply_markup=markup,
                        )
                    )
                case PhotoDraft(caption=caption):
                    photo = InputMediaPhoto(await _picture(draft), caption=caption or None, parse_mode=ParseMode.HTML)
                    await _tried(
                        self._bot.edit_message_media(photo, chat_id=chat, message_id=number, reply_markup=markup)
                    )
                case FileDraft(name=name, caption=caption):
                    file = InputMediaDocument(
                        await self._content(draft),
                        filename=name,
                        caption=caption or None,
                        parse_mode=ParseMode.HTML,
                        disable_content_type_detection=True,
                    )
                    await _tried(
                        self._bot.edit_message_media(file, chat_id=chat, message_id=number, reply_markup=markup)
                    )
        except _UnchangedError:
            pass

    async def _content(self, draft: FileDraft) -> io.BytesIO:
        data = await self._kept(draft.ref) if draft.ref else draft.content
        if data is None:
            message = "the file is not kept any more"
            raise RefusedError(message)
        return io.BytesIO(data)

    async def remove(self, address: str, external: str) -> None:
        """Take a part back."""
        chat, _ = _place(address)
        try:
            await _tried(self._bot.delete_message(chat, int(external)))
        except MissingError:
            return


class _UnchangedError(Exception):
    """The content stands there already."""


class _TopicGoneError(RefusedError):
    """The topic of a group was deleted, or there are no topics any more."""


async def _tried(call: Awaitable[T]) -> T:
    try:
        return await call
    except RetryAfter as error:
        raise BusyError(waited_for(error)) from error
    except ChatMigrated as error:
        raise MovedError(str(error.new_chat_id)) from error
    except Forbidden as error:
        raise GoneError(str(error)) from error
    except BadRequest as error:
        raise _of_bad_request(error) from error
    except InvalidToken as error:
        raise RefusedError(str(error)) from error
    except TimedOut as error:
        raise _of_silence(error) from error
    except NetworkError as error:
        raise _of_silence(error) from error
    except TelegramError as error:
        raise RefusedError(str(error)) from error


def waited_for(error: RetryAfter) -> float:
    """Give the seconds that the platform wants us to wait; the library is about to change their type, and warns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wait = error.retry_after
    return float(wait if isinstance(wait, int | float) else wait.total_seconds())


def _of_bad_request(error: BadRequest) -> Exception:
    text = str(error).lower()
    if _UNCHANGED in text:
        return _UnchangedError()
    if _TOPIC_GONE in text:
        return _TopicGoneError(str(error))
    if any(part in text for part in _GONE):
        return GoneError(str(error))
    if any(part in text for part in _MISSING):
        return MissingError(str(error))
    return RefusedError(str(error))


def _of_silence(error: NetworkError) -> Exception:
    return NotSentError(str(error)) if isinstance(error.__cause__, _NEVER_LEFT) else UnsureError(str(error))


def _place(address: str) -> tuple[int, int | None]:
    chat, _, thread = address.partition("/")
    return int(chat), int(thread) if thread else None


def _markup(keyboard: Keyboard) -> InlineKeyboardMarkup | None:
    if not keyboard:
        return None
    return InlineKeyboardMarkup(
        [[InlineKeyboardButton(button.text, callback_data=button.payload) for button in row] for row in keyboard]
    )


async def _picture(draft: PhotoDraft) -> bytes:
    if isinstance(draft.content, Timings):
        return await asyncio.to_thread(bars.drawn, draft.content)
    return draft.content
