"""Buttons that work for years: one template for every payload of ours, so that a restart forgets none."""

import re
from typing import Any, Protocol, cast

import discord

from bot.posting.pieces import Button, Keyboard

PREFIX = "t"
_TEMPLATE = r"t(?P<payload>1:[a-z]{1,8}:[A-Za-z0-9_.-]{0,40}:[A-Za-z0-9_.-]{0,40})"


class Pressing(Protocol):
    """Whoever takes presses."""

    async def pressed(self, interaction: "discord.Interaction[Any]", payload: str) -> None:
        """Acknowledge a press, then take it."""
        ...


class PayloadButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=_TEMPLATE):
    """Any button of ours; what it carries says what it does."""

    def __init__(self, button: Button, row: int | None = None) -> None:
        inner: discord.ui.Button[Any] = discord.ui.Button(
            label=button.text, style=discord.ButtonStyle.secondary, custom_id=PREFIX + button.payload, row=row
        )
        super().__init__(inner)
        self.payload = button.payload

    @classmethod
    async def from_custom_id(
        cls,
        interaction: "discord.Interaction[Any]",
        item: discord.ui.Item[Any],
        match: re.Match[str],
        /,
    ) -> "PayloadButton":
        """Make the button anew from what it carries."""
        del interaction
        return cls(Button(getattr(item, "label", "") or "·", match["payload"]))

    async def callback(self, interaction: "discord.Interaction[Any]") -> None:
        """Hand the press over."""
        taker = cast("Pressing", interaction.client)  # the only client that has these buttons
        await taker.pressed(interaction, self.payload)


def view_of(keyboard: Keyboard) -> discord.ui.View | None:
    """Give the buttons of a part; they keep no state and never run out."""
    if not keyboard:
        return None
    view = discord.ui.View(timeout=None)
    for row, buttons in enumerate(keyboard):
        for button in buttons:
            view.add_item(PayloadButton(button, row))
    return view
