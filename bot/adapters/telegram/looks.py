"""What drawing needs of a course, and a look at drawn calls against the platform's limits; needs no library of it."""

import html
import re
from functools import lru_cache

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
from bot.engine.wording import Wording
from content.schema import Course

_TAG = re.compile(r"<[^>]*>")
_CODE_IN_PRE = re.compile(r"<pre><code")


class OverLimitError(Exception):
    """A drawn call is over one of the platform's limits; the text says which and by how much."""


class _ByHash:
    """A course that compares by its hash, so that the cache below need not compare whole courses."""

    def __init__(self, course: Course) -> None:
        self.course = course

    def __hash__(self) -> int:
        return hash(self.course.hash)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByHash) and other.course.hash == self.course.hash


def look(course: Course) -> render.Look:
    """Give what drawing needs of a course; kept, for a course does not change."""
    return _look(_ByHash(course))


@lru_cache(maxsize=2)
def _look(kept: _ByHash) -> render.Look:
    words = Wording(kept.course.phrases)
    named = {key: words.text(key) for key in render.WORDS if words.has(key)}
    return render.Look(named, kept.course.pictures)


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
    for what, size, limit in (
        ("characters", len(text), TEXT_LIMIT if isinstance(call, TextDraft) else CAPTION_LIMIT),
        ("bytes", len(source.encode()), BYTE_LIMIT),
        ("entities", entities, ENTITY_LIMIT),
        ("buttons", len(buttons), BUTTON_LIMIT),
        ("buttons in a row", max(map(len, call.keyboard), default=0), ROW_LIMIT),
        ("bytes of a payload", payload, PAYLOAD_LIMIT),
    ):
        if size > limit:
            message = f"{size} {what}, {limit} is the limit: {text[:60]!r}"
            raise OverLimitError(message)
    if isinstance(call, TextDraft) and not text.strip():
        message = "a text without anything to be read"
        raise OverLimitError(message)


def _told(call: Draft) -> str:
    rows = "\n".join(" ".join(f"[{button.text}]" for button in row) for row in call.keyboard)
    source = call.html if isinstance(call, TextDraft) else f"({call.kind}) {call.caption}"
    return f"{source}\n{rows}" if rows else source
