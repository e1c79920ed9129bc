"""What every platform does when code is edited after it was sent: the old run is stopped, the new takes its place."""

from typing import Any, Protocol

from bot.engine.buttons import Op, encode
from bot.engine.events import ButtonPressed, Event, TextSent
from bot.engine.intake import reading as intake
from bot.engine.intake.types import Code
from bot.engine.replies import Choices
from bot.ports import Shown
from bot.posting.courier import Courier
from bot.posting.ports import Outbox
from bot.posting.rooms import RoomTalk

QUIET_S = 5.0
"""So long an edit waits for the replies to what was edited."""


class Talk(RoomTalk, Protocol):
    """The face of the app that a platform's hearing needs."""

    async def take(self, chat: str, event: Event, key: str) -> bool:
        """Answer an event; False when its key was taken before."""
        ...

    async def since(self, chat: str, change: int) -> tuple[Shown, ...]:
        """Give what was said or edited after `change`."""
        ...


async def make_room(  # noqa: PLR0913 - what a platform's hearing holds
    talk: Talk, kept: Outbox, courier: Courier[Any], chat: str, answers: str, key: str
) -> bool:
    """Stop what runs of `answers` and take its replies back; False when nothing of ours answers it."""
    await courier.quiet(chat, QUIET_S)
    before = await kept.answering(chat, answers)
    if not before:
        return False
    numbers = {one.number for one in before}
    for shown in await talk.since(chat, 0):
        stop = stop_of(shown) if shown.number in numbers else ""
        if stop:
            await talk.take(chat, ButtonPressed(stop), f"{key}:stop")
    await courier.take_back(chat, before)
    return True


def is_code(event: Event) -> bool:
    """Tell whether an edit is one of code: other edits are ignored."""
    return not isinstance(event, TextSent) or isinstance(intake.read_text(event.text, event.entities), Code)


def stop_of(shown: Shown) -> str:
    """Give the payload that stops the run shown in a reply; empty when none is under way there."""
    prefix = encode(Op.CANCEL).rstrip(":")
    payloads = (
        choice.payload for block in shown.reply.blocks if isinstance(block, Choices) for choice in block.choices
    )
    return next((payload for payload in payloads if payload.startswith(f"{prefix}:")), "")
