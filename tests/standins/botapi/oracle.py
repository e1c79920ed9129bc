"""TDLib's own parser, asked over tdjson: what a text becomes, what the platform makes links of, and its exact errors.

Law: nothing here is our own idea of the rules; offsets and lengths of entities count UTF-16 units, as TDLib gives them.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import tdjson

_QUIET = {"@type": "setLogVerbosityLevel", "new_verbosity_level": 0}
_KINDS = {
    "textEntityTypeBold": "bold",
    "textEntityTypeItalic": "italic",
    "textEntityTypeCode": "code",
    "textEntityTypePre": "pre",
    "textEntityTypePreCode": "pre",
    "textEntityTypeTextUrl": "text_link",
    "textEntityTypeUrl": "url",
    "textEntityTypeMention": "mention",
    "textEntityTypeHashtag": "hashtag",
    "textEntityTypeCashtag": "cashtag",
    "textEntityTypeBotCommand": "bot_command",
    "textEntityTypeEmailAddress": "email",
    "textEntityTypePhoneNumber": "phone_number",
    "textEntityTypeBankCardNumber": "bank_card",
    "textEntityTypeMediaTimestamp": "media_timestamp",
}
UNSENDABLE = frozenset({"media_timestamp"})
"""What clients mark by themselves and the Bot API never tells of."""


class ParseError(Exception):
    """The text is refused; the message is TDLib's."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An entity."""

    kind: str
    offset: int
    length: int
    language: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as the platform keeps it."""

    text: str
    marks: tuple[Mark, ...]


def _ask(query: dict[str, Any]) -> dict[str, Any]:
    answer = tdjson.td_execute(json.dumps(query).encode())
    assert answer is not None, "this is no synchronous query"
    found: dict[str, Any] = json.loads(answer)
    return found


_ask(_QUIET)


@lru_cache(maxsize=8192)
def html(text: str) -> Parsed:
    """Parse HTML as `parse_mode=HTML` does, and find what the platform finds by itself outside of code and links.

    Raises:
        ParseError: as the Bot API's 400 would say it.
    """
    mode = {"@type": "textParseModeHTML"}
    answer = _ask({"@type": "parseTextEntities", "text": text, "parse_mode": mode})
    if answer["@type"] == "error":
        said = answer["message"]
        message = f"Bad Request: {said[0].lower()}{said[1:]}"
        raise ParseError(message)
    marks = tuple(_mark(each) for each in answer["entities"])
    return Parsed(answer["text"], (*marks, *_found(answer["text"], marks)))


def plain(text: str) -> Parsed:
    """Take a text without a parse mode."""
    return Parsed(text, _found(text, ()))


@lru_cache(maxsize=8192)
def _found(text: str, marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
    answer = _ask({"@type": "getTextEntities", "text": text})
    closed = [each for each in marks if each.kind in {"code", "pre", "text_link"}]
    found = (_mark(each) for each in answer["entities"])
    return tuple(
        one
        for one in found
        if one.kind not in UNSENDABLE
        and not any(one.offset < each.offset + each.length and each.offset < one.offset + one.length for each in closed)
    )


def _mark(entity: dict[str, Any]) -> Mark:
    kind = entity["type"]
    return Mark(
        _KINDS[kind["@type"]], entity["offset"], entity["length"], kind.get("language", ""), kind.get("url", "")
    )


def utf16(text: str) -> int:
    """Count UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
