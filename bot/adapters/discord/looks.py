"""What drawing needs of a course, and a look at drawn calls against the platform's limits; needs no library of it."""

from functools import lru_cache

from bot.adapters.discord import render
from bot.adapters.discord.drafts import LABEL_LIMIT, ROW_LIMIT, ROWS, TEXT_LIMIT, Draft, FileDraft
from bot.engine.buttons import LIMIT as PAYLOAD_LIMIT
from bot.engine.replies import Reply
from bot.engine.wording import Wording
from content.schema import Course


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
        within(call)
    return "\n\n".join(_told(call) for call in calls)


def within(call: Draft) -> None:
    """Hold a call against the platform's limits.

    Raises:
        OverLimitError: when it is over one.
    """
    buttons = [button for row in call.keyboard for button in row]
    for what, size, limit in (
        ("characters", len(call.text), TEXT_LIMIT),
        ("rows of buttons", len(call.keyboard), ROWS),
        ("buttons in a row", max(map(len, call.keyboard), default=0), ROW_LIMIT),
        ("characters of a label", max((len(button.text) for button in buttons), default=0), LABEL_LIMIT),
        ("characters of a payload", max((len(button.payload) for button in buttons), default=0), PAYLOAD_LIMIT),
    ):
        if size > limit:
            message = f"{size} {what}, {limit} is the limit: {call.text[:60]!r}"
            raise OverLimitError(message)
    payloads = [button.payload for button in buttons]
    if len(set(payloads)) != len(payloads):
        message = f"two buttons carry the same: {call.text[:60]!r}"
        raise OverLimitError(message)
    if not isinstance(call, FileDraft) and not call.text.strip():
        message = "a text without anything to be read"
        raise OverLimitError(message)


def _told(call: Draft) -> str:
    rows = "\n".join(" ".join(f"[{button.text}]" for button in row) for row in call.keyboard)
    source = call.text if not isinstance(call, FileDraft) else f"(file {call.name}) {call.text}"
    return f"{source}\n{rows}" if rows else source
