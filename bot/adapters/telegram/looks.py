"""What drawing needs of a course, and a look at drawn calls against the platform's limits; needs no library of it."""

import html
import re

from bot.adapters.telegram import render
from bot.adapters.telegram.drafts import (
    BUTTON_LIMIT,
    BYTE_LIMIT,
    CAPTION_LIMIT,
    ENTITY_LIMIT,
    ROW_LIMIT,
    TEXT_LIMIT,
    Draft,
    TextDraft,
)
from bot.engine.buttons import LIMIT as PAYLOAD_LIMIT
from bot.engine.replies import Reply
from bot.posting import looks
from bot.posting.looks import Look, OverLimitError
from content.schema import Course

_TAG = re.compile(r"<[^>]*>")
_CODE_IN_PRE = re.compile(r"<pre><code")


def look(course: Course) -> Look:
    """Give what drawing needs of a course."""
    return looks.look(course, render.WORDS)


def drawn(reply: Reply, course: Course) -> str:
    """Draw a reply as its calls, one under the other.

    Raises:
        OverLimitError: when a call is over a limit.
    """
    calls = render.drafts(reply, look(course))
    for call in calls:
        _within(call)
    return "\n\n".join(_told(call) for call in calls)


def _within(call: Draft) -> None:
    source = call.html if isinstance(call, TextDraft) else call.caption
    text = html.unescape(_TAG.sub("", source))
    entities = source.count("<") // 2 - len(_CODE_IN_PRE.findall(source))
    buttons = [button for row in call.keyboard for button in row]
    payload = max((len(button.payload.encode()) for button in buttons), default=0)
    looks.hold(
        text,
        ("characters", len(text), TEXT_LIMIT if isinstance(call, TextDraft) else CAPTION_LIMIT),
        ("bytes", len(source.encode()), BYTE_LIMIT),
        ("entities", entities, ENTITY_LIMIT),
        ("buttons", len(buttons), BUTTON_LIMIT),
        ("buttons in a row", max(map(len, call.keyboard), default=0), ROW_LIMIT),
        ("bytes of a payload", payload, PAYLOAD_LIMIT),
    )
    if isinstance(call, TextDraft) and not text.strip():
        message = "a text without anything to be read"
        raise OverLimitError(message)


def _told(call: Draft) -> str:
    rows = "\n".join(" ".join(f"[{button.text}]" for button in row) for row in call.keyboard)
    source = call.html if isinstance(call, TextDraft) else f"({call.kind}) {call.caption}"
    return f"{source}\n{rows}" if rows else source
