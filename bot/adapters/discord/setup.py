"""The panel in which a server's owner says where and when the bot speaks, and who may use the GPU.

Law: who may manage the server may press, and each press asks that anew; a panel of before a restart goes on working.
Every field takes effect at once.
"""

import re
from collections.abc import Awaitable, Sequence
from typing import Any, Protocol, cast

import discord

from bot.adapters.discord import marked
from bot.adapters.discord.rules import MOST, Rules
from bot.engine.reminders import clock
from bot.engine.wording import Wording

GPU_DAILY = (0, 1, 3, 5, 10, 20, 50)
QUIET = ((0, 0), (22 * 60, 8 * 60), (23 * 60, 7 * 60), (0, 7 * 60), (21 * 60, 9 * 60))
_ANY = "any"
_PLACE = "\ue000"
"""Stands for what is put in after escaping."""
_FIELDS = r"setup:(?P<what>channels|questions|roles|gpu|quiet)"

Interaction = discord.Interaction[Any]


class Setting(Protocol):
    """Whoever takes what was chosen."""

    def settled(self, interaction: Interaction, what: str, values: Sequence[str]) -> Awaitable[None]:
        """Take what was chosen in a field."""
        ...


class Field(discord.ui.DynamicItem[discord.ui.Item[Any]], template=_FIELDS):
    """Any field of the panel; what is chosen stands in the interaction itself."""

    def __init__(self, inner: discord.ui.Item[Any], what: str) -> None:
        super().__init__(inner)
        self.what = what

    @classmethod
    async def from_custom_id(
        cls, interaction: Interaction, item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> "Field":
        """Make the field anew from its name."""
        del interaction
        return cls(item, match["what"])

    async def callback(self, interaction: Interaction) -> None:
        """Hand over what was chosen."""
        given = cast("dict[str, Any]", interaction.data or {})
        taker = cast("Setting", interaction.client)  # the only client that has these fields
        await taker.settled(interaction, self.what, [str(each) for each in given.get("values", ())])


def changes(what: str, values: Sequence[str]) -> dict[str, object]:
    """Read what was chosen in a field as what changes; empty for what no panel of ours offers."""
    ids = tuple(int(each) for each in values if each.isascii() and each.isdecimal())[:MOST]
    match what:
        case "channels":
            return {"channels": ids}
        case "roles":
            return {"gpu_roles": ids}
        case "questions":
            return {"questions": ids[0] if ids else 0}
        case "gpu" if values[:1] == [_ANY]:
            return {"gpu_daily": None}
        case "gpu" if ids and ids[0] in GPU_DAILY:
            return {"gpu_daily": ids[0]}
        case "quiet":
            span = clock.read_span(values[0]) if values else None
            return {"quiet_from": span[0], "quiet_to": span[1]} if span else {}
        case _:
            return {}


def panel(rules: Rules, words: Wording, *, hears_all: bool) -> discord.ui.View:
    """Give the fields, with what is set chosen in them."""
    view = discord.ui.View(timeout=None)
    kinds = [discord.ChannelType.text, discord.ChannelType.forum, discord.ChannelType.news]
    view.add_item(
        Field(
            discord.ui.ChannelSelect(
                custom_id="setup:channels",
                placeholder=_label(words, "channels"),
                channel_types=kinds,
                min_values=0,
                max_values=MOST,
                default_values=_defaults(rules.channels, "channel"),
            ),
            "channels",
        )
    )
    if hears_all:
        view.add_item(
            Field(
                discord.ui.ChannelSelect(
                    custom_id="setup:questions",
                    placeholder=_label(words, "questions"),
                    channel_types=[discord.ChannelType.text],
                    min_values=0,
                    max_values=1,
                    default_values=_defaults((rules.questions,) if rules.questions else (), "channel"),
                ),
                "questions",
            )
        )
    roles: discord.ui.RoleSelect[Any] = discord.ui.RoleSelect(
        custom_id="setup:roles",
        placeholder=_label(words, "roles"),
        min_values=0,
        max_values=MOST,
        default_values=_defaults(rules.gpu_roles, "role"),
    )
    view.add_item(Field(roles, "roles"))
    view.add_item(Field(_choice("gpu", _gpu_options(rules, words), words), "gpu"))
    view.add_item(Field(_choice("quiet", _quiet_options(rules, words), words), "quiet"))
    return view


def told(rules: Rules, words: Wording, deaf: Sequence[int], *, hears_all: bool) -> str:
    """Say what is set; `deaf` are channels that were chosen and in which the bot may not write."""
    lines = [
        marked.begun(marked.prose(words.text("setup.title"), strong=True)),
        _line(words, "channels_set", channels=_channels(rules.channels))
        if rules.channels
        else _line(words, "anywhere"),
        _quiet_line(rules, words),
        _line(words, "zone_set", zone=marked.code(rules.zone)),
        _gpu_line(rules, words),
    ]
    if hears_all:
        chosen = _line(words, "questions_set", channels=_channels((rules.questions,)))
        lines.append(chosen if rules.questions else _line(words, "no_questions"))
    else:
        lines.append(_line(words, "deaf_to_questions"))
    if deaf:
        lines.append(_line(words, "may_not_write", channels=_channels(deaf)))
    lines.append(_line(words, "how"))
    return "\n".join(lines)


def _quiet_line(rules: Rules, words: Wording) -> str:
    if rules.quiet_from == rules.quiet_to:
        return _line(words, "never_quiet")
    return _line(words, "quiet_set", span=_span(rules.quiet_from, rules.quiet_to))


def _gpu_line(rules: Rules, words: Wording) -> str:
    if rules.gpu_daily == 0:
        return _line(words, "gpu_nobody")
    who = _line(words, "gpu_roles", roles=" ".join(f"<@&{each}>" for each in rules.gpu_roles))
    who = who if rules.gpu_roles else _line(words, "gpu_everybody")
    often = words.text("setup.gpu_any") if rules.gpu_daily is None else words.text("setup.gpu_daily", n=rules.gpu_daily)
    return f"{who} {marked.prose(often)}"


def _line(words: Wording, key: str, **figures: str) -> str:
    """Word a line; channels, roles and spans are written as they are, behind what is escaped."""
    text = marked.line(words.say(f"setup.{key}", **dict.fromkeys(figures, _PLACE)))
    for figure in figures.values():
        text = text.replace(_PLACE, figure, 1)
    return text


def _channels(ids: Sequence[int]) -> str:
    return " ".join(f"<#{each}>" for each in ids)


def _span(begin: int, end: int) -> str:
    return f"\u2066{clock.shown(begin)}-{clock.shown(end)}\u2069"


def _label(words: Wording, what: str) -> str:
    return marked.label(words.text(f"setup.field_{what}"), 100)


def _defaults(ids: Sequence[int], kind: str) -> list[discord.SelectDefaultValue]:
    of = discord.SelectDefaultValueType(kind)
    return [discord.SelectDefaultValue(id=each, type=of) for each in ids[:MOST]]


def _choice(what: str, options: list[discord.SelectOption], words: Wording) -> "discord.ui.Select[Any]":
    return discord.ui.Select(custom_id=f"setup:{what}", placeholder=_label(words, what), options=options)


def _gpu_options(rules: Rules, words: Wording) -> list[discord.SelectOption]:
    listed = [(str(each), words.text("setup.gpu_daily", n=each), rules.gpu_daily == each) for each in GPU_DAILY if each]
    listed = [
        (_ANY, words.text("setup.gpu_any"), rules.gpu_daily is None),
        ("0", words.text("setup.gpu_nobody"), rules.gpu_daily == 0),
        *listed,
    ]
    return [discord.SelectOption(value=name, label=marked.label(text, 100), default=now) for name, text, now in listed]


def _quiet_options(rules: Rules, words: Wording) -> list[discord.SelectOption]:
    made = []
    for begin, end in QUIET:
        text = words.text("setup.never_quiet") if begin == end else f"{clock.shown(begin)}-{clock.shown(end)}"
        now = (begin, end) == (rules.quiet_from, rules.quiet_to)
        value = f"{clock.shown(begin)}-{clock.shown(end)}"
        made.append(discord.SelectOption(value=value, label=marked.label(text, 100), default=now))
    return made
