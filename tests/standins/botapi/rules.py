"""What the Bot API takes: each method's fields, limits in code points and bytes, keyboards; with its own error texts.

Law: an unknown field is refused (the real server ignores it in silence, so a misspelt one would pass there).
"""

import json
from dataclasses import dataclass
from typing import Any

from botapi import oracle
from botapi.oracle import Parsed

TEXT, CAPTION, RAW_BYTES, ENTITIES = 4096, 1024, 32_768, 100
DATA_BYTES, BUTTONS, ROW = 64, 100, 8
PHOTO_BYTES, FILE_BYTES = 10 << 20, 50 << 20
PNG = b"\x89PNG\r\n\x1a\n"

_SENDS = {"chat_id", "message_thread_id", "reply_parameters", "reply_markup", "disable_notification", "parse_mode"}
_EDITS = {"chat_id", "message_id", "reply_markup", "parse_mode"}
METHODS: dict[str, set[str]] = {
    "getMe": set(),
    "getUpdates": {"offset", "limit", "timeout", "allowed_updates"},
    "setWebhook": {"url", "secret_token", "allowed_updates", "max_connections", "drop_pending_updates"},
    "deleteWebhook": {"drop_pending_updates"},
    "sendMessage": {*_SENDS, "text", "link_preview_options"},
    "sendPhoto": {*_SENDS, "photo", "caption"},
    "sendDocument": {*_SENDS, "document", "caption", "disable_content_type_detection"},
    "editMessageText": {*_EDITS, "text", "link_preview_options"},
    "editMessageMedia": {"chat_id", "message_id", "reply_markup", "media"},
    "deleteMessage": {"chat_id", "message_id"},
    "answerCallbackQuery": {"callback_query_id", "text", "show_alert"},
    "getFile": {"file_id"},
    "getChatMember": {"chat_id", "user_id"},
    "getMyCommands": {"language_code"},
    "setMyCommands": {"commands", "language_code"},
    "getMyDescription": set(),
    "setMyDescription": {"description"},
    "getMyShortDescription": set(),
    "setMyShortDescription": {"short_description"},
    "setChatMenuButton": {"menu_button"},
}
FLOODED = frozenset({"sendMessage", "sendPhoto", "sendDocument", "editMessageText", "editMessageMedia"})
"""Methods that count against the limits of a chat."""
_NUMBERS = {"chat_id", "user_id", "message_id", "message_thread_id", "offset", "limit", "timeout", "max_connections"}
_JSON = {"reply_parameters", "reply_markup", "link_preview_options", "allowed_updates", "commands", "media"}
_JSON |= {"menu_button"}


@dataclass(frozen=True, slots=True)
class Refusal(Exception):  # noqa: N818 - it is an answer, not a fault
    """An answer without success."""

    code: int
    description: str
    retry_after: int = 0
    migrate_to: int = 0


def bad(text: str) -> Refusal:
    """Give a 400."""
    return Refusal(400, f"Bad Request: {text}")


def fields(method: str, form: dict[str, Any]) -> dict[str, Any]:
    """Read a call's fields.

    Raises:
        Refusal: naming what is wrong.
    """
    known = METHODS.get(method)
    if known is None:
        raise Refusal(404, "Not Found")
    files = {name for name, value in form.items() if isinstance(value, bytes)}
    strangers = set(form) - known - files
    if strangers:
        raise bad(f"unknown field {min(strangers)} of {method}")
    return {name: _value(name, value) for name, value in form.items()}


def _value(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        if name in _NUMBERS:
            return int(value)
        return json.loads(value) if name in _JSON else value
    except ValueError:
        raise bad(f"can't parse {name}") from None


def text(call: dict[str, Any], field: str, limit: int) -> Parsed:
    """Parse and check a text or caption.

    Raises:
        Refusal: with the real server's words.
    """
    given = str(call.get(field, ""))
    what = "message" if field == "text" else "message caption"
    if len(given.encode()) > RAW_BYTES:
        raise bad(f"{what} is too long")
    mode = call.get("parse_mode")
    if mode not in {None, "HTML"}:
        raise bad("unsupported parse_mode")
    try:
        parsed = oracle.html(given) if mode else oracle.plain(given)
    except oracle.ParseError as error:
        raise Refusal(400, str(error)) from None
    if field == "text" and not parsed.text.strip():
        raise bad("message text is empty")
    if len(parsed.text) > limit:
        raise bad(f"{what} is too long")
    return parsed


def keyboard(call: dict[str, Any]) -> list[list[dict[str, str]]]:
    """Check a keyboard.

    Raises:
        Refusal: with the real server's words.
    """
    rows: list[list[dict[str, str]]] = (call.get("reply_markup") or {}).get("inline_keyboard", [])
    if sum(map(len, rows)) > BUTTONS:
        raise bad("reply markup is too long")
    for row in rows:
        if not 1 <= len(row) <= ROW:
            raise bad("a row of the keyboard is empty or too wide")
        for button in row:
            if set(button) != {"text", "callback_data"} or not button["text"].strip():
                raise bad("text buttons are unallowed in the inline keyboard")
            if not 1 <= len(button["callback_data"].encode()) <= DATA_BYTES:
                raise bad("BUTTON_DATA_INVALID")
    return rows


def photo(data: bytes) -> None:
    """Check a picture.

    Raises:
        Refusal: with the real server's words.
    """
    if not data.startswith(PNG):
        raise bad("IMAGE_PROCESS_FAILED")
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if len(data) > PHOTO_BYTES or width + height > 10_000 or max(width, height) > 20 * min(width, height):
        raise bad("PHOTO_INVALID_DIMENSIONS")


def commands(call: dict[str, Any]) -> list[dict[str, str]]:
    """Check a list of commands.

    Raises:
        Refusal: with the real server's words.
    """
    listed: list[dict[str, str]] = call.get("commands", [])
    for one in listed:
        name = one["command"]
        if not 1 <= len(name) <= 32 or not all(c in "abcdefghijklmnopqrstuvwxyz0123456789_" for c in name):
            raise bad("BOT_COMMAND_INVALID")
        if not 1 <= len(one["description"]) <= 256:
            raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
    if len(listed) > 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    return listed
