"""What every platform does when code is edited after it was sent: the old run is stopped, the new takes its place."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from bot.engine import buttons
from bot.engine.buttons import Op, encode
from bot.engine.events import ButtonPressed, Event, TextSent
from bot.engine.intake import reading as intake
from bot.engine.intake.types import Code
from bot.engine.purposes import Why, purpose_of
from bot.engine.replies import Choices
from bot.ports import Shown
from bot.posting.courier import Courier
from bot.posting.ports import Outbox, PostedPart, State
from bot.posting.rooms import RoomTalk

QUIET_S = 5.0
"""So long an edit waits for the replies to what was edited, and for each other thing."""
LOOK_S = 0.03


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
) -> None:
    """Stop what runs of `answers` and take its replies back.

    What was said of an answer that counted stays, with the question that followed it. Where nothing answers yet, the
    code is still being read, or came while nobody heard it: what is read last counts.
    """
    await _waited(lambda: kept.in_hand(chat, answers, ()))  # of code that is being read nothing stands there yet
    await courier.quiet(chat, QUIET_S)
    before = await kept.answering(chat, answers)
    said = {shown.number: shown for shown in await talk.since(chat, 0) if shown.answers == answers}
    numbers = {one.number for one in before} | {number for number in said if not await kept.parts(chat, number)}
    stops = {number: stop for number, shown in said.items() if (stop := stop_of(shown))}
    for number in sorted(numbers & stops.keys()):
        await talk.take(chat, ButtonPressed(stops[number]), f"{key}:stop")
    runs = [button.ref for number in numbers & stops.keys() if (button := buttons.parse(stops[number])) is not None]
    await _waited(lambda: kept.in_hand(chat, answers, runs))  # or there would be one run too many
    counted = any(is_answer(shown.slot) and number not in stops for number, shown in said.items())
    unsent = [PostedPart(chat, number, 0, State.GONE, "", "", 0) for number in numbers - {one.number for one in before}]
    if numbers and not counted:
        await courier.take_back(chat, [*before, *unsent])


async def _waited(lasts: Callable[[], Awaitable[bool]]) -> None:
    """Wait while something lasts, for some seconds."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(QUIET_S):
            while await lasts():  # noqa: ASYNC110 - the store tells nobody
                await asyncio.sleep(LOOK_S)


def is_answer(slot: str) -> bool:
    """Tell whether a reply is that of a run which answers a question."""
    return purpose_of(slot).why is Why.ITEM


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
