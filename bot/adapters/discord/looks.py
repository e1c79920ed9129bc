"""What drawing needs of a course, and a look at drawn calls against the platform's limits; needs no library of it."""

from bot.adapters.discord import render
from bot.adapters.discord.drafts import LABEL_LIMIT, ROW_LIMIT, ROWS, TEXT_LIMIT, Draft, FileDraft
from bot.engine.buttons import LIMIT as PAYLOAD_LIMIT
from bot.engine.replies import Reply
from bot.posting import looks
from bot.posting.looks import Look, OverLimitError
from content.schema import Course


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
        within(call)
    return "\n\n".join(_told(call) for call in calls)


def within(call: Draft) -> None:
    """Hold a call against the platform's limits.

    Raises:
        OverLimitError: when it is over one.
    """
    buttons = [button for row in call.keyboard for button in row]
    looks.hold(
        call.text,
        ("characters", len(call.text), TEXT_LIMIT),
        ("rows of buttons", len(call.keyboard), ROWS),
        ("buttons in a row", max(map(len, call.keyboard), default=0), ROW_LIMIT),
        ("characters of a label", max((len(button.text) for button in buttons), default=0), LABEL_LIMIT),
        ("characters of a payload", max((len(button.payload) for button in buttons), default=0), PAYLOAD_LIMIT),
    )
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
