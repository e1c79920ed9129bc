"""The connection to Discord: what comes is acknowledged, admitted where a server's owner lets us speak, handed over.

Law: an interaction is acknowledged before anything else is done with it; the one privileged intent, that of texts which
are not addressed to us, is asked for only where the operator wishes it; what a server's owner set is obeyed before
anything is taken in; commands are announced only when they changed.
"""

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import discord
from discord import app_commands

from bot.adapters.discord import marked, offering, parse, places, setup
from bot.adapters.discord.buttons import PayloadButton
from bot.adapters.discord.guard import Guard, Leave
from bot.adapters.discord.parse import Heard
from bot.adapters.discord.places import Who
from bot.adapters.discord.rules import Where
from bot.engine.events import TextSent
from bot.engine.reminders import clock, zones
from bot.engine.wording import Wording
from bot.posting import rooms
from content.schema import Course

LOG = logging.getLogger("tasree.discord")

_CHOICES = 25
_SHOWN, _QUIET = 10, "🌙"

Interaction = discord.Interaction[Any]
Hear = Callable[[Heard, Interaction | None], Awaitable[None]]


class DiscordClient(discord.AutoShardedClient):
    """A client that hands everything heard to `hear`."""

    def __init__(self, course: Callable[[], Course], *, hears_all: bool = False) -> None:
        intents = discord.Intents.none()
        intents.guilds = intents.dm_messages = intents.guild_messages = True
        intents.message_content = hears_all
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none(), max_messages=None)
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)
        self.hear: Hear | None = None
        self.announced: Callable[[], Awaitable[str]] | None = None
        """Gives the digest of the commands that were announced last."""
        self.announce: Callable[[str], Awaitable[None]] | None = None
        self.guard: Guard | None = None
        """Obeys what servers' owners set; there is none before the store is there."""
        self._hears_all = hears_all
        self._course = course
        offering.offer(self)

    # --- what is offered ----------------------------------------------------------------------------------------------

    def words(self) -> Wording:
        """Give the phrases of the course in service."""
        return Wording(self._course().phrases)

    def lessons_like(self, current: str) -> list["app_commands.Choice[str]"]:
        """Give the lessons whose number, name or title holds what was typed so far."""
        typed = current.strip().lower()
        found = [
            app_commands.Choice(name=marked.label(f"{at}. {lesson.title}", 100), value=str(at))
            for at, lesson in enumerate(self._course().lessons, 1)
            if not typed or typed in f"{at} {lesson.slug} {lesson.title}".lower()
        ]
        return found[:_CHOICES]

    async def setup_hook(self) -> None:
        """Know the buttons of all times, and announce the commands where they changed."""
        self.add_dynamic_items(PayloadButton, setup.Field)
        described = [command.to_dict(self.tree) for command in self.tree.get_commands()]
        digest = hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()
        if self.announced is not None and await self.announced() == digest:
            return
        await self.tree.sync()
        if self.announce is not None:
            await self.announce(digest)

    # --- what comes ---------------------------------------------------------------------------------------------------

    async def on_message(self, message: discord.Message) -> None:
        """Hear what was written to us."""
        if self.user is not None:
            await self._written(message, self.user.id)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Hear code that its author changed; the platform also tells of previews as edits, which have no time."""
        if self.user is None or payload.message.edited_at is None:
            return
        await self._written(payload.message, self.user.id, edited=True)

    async def _written(self, message: discord.Message, me: int, *, edited: bool = False) -> None:
        """Hear a text where the server's owner lets us speak; in the quiet time only a sign says that it was seen."""
        heard = parse.of_message(message, me, edited=edited)
        if message.guild is None or (heard is None and not self._hears_all):
            if heard is not None:
                await self._heard(heard, None)
            return
        parent = getattr(message.channel, "parent_id", None)
        leave = await self._leave(message.guild.id, (message.channel.id, parent), message.author)
        asked = leave.rules.questions in {message.channel.id, parent} and message.reference is None
        if heard is None and asked and self._hears_all:
            heard = parse.of_message(message, me, edited=edited, asked=True)
        if heard is None or leave.where is Where.ELSEWHERE:
            return
        if leave.where is Where.QUIETLY:
            await _signed(message)
            return
        await self._heard(replace(heard, gpu=leave.gpu), None)

    async def pressed(self, interaction: Interaction, payload: str) -> None:
        """Acknowledge a press, then take it."""
        await _acknowledged(interaction)
        leave = await self._admitted(interaction)
        if leave is None:
            return
        under, who = interaction.message, self._who(interaction)
        openly = leave.where is Where.OPENLY
        if openly and interaction.guild_id is not None and under is not None and not under.flags.ephemeral:
            who = places.public(interaction.channel_id or 0, interaction.user.id)
        heard = Heard(who, f"dc:i{interaction.id}", press=payload, by=_name(interaction), admin=_is_admin(interaction))
        await self._heard(replace(heard, gpu=leave.gpu), interaction)

    async def commanded(self, interaction: Interaction, text: str) -> None:
        """Acknowledge a command, then take it as if it had been written."""
        await _acknowledged(interaction, ephemeral=interaction.guild_id is not None)
        of_group = interaction.guild_id is not None and rooms.is_groups(TextSent(text))
        leave = await self._admitted(interaction, openly=of_group)
        if leave is None:
            return
        who = self._who(interaction)
        if of_group:
            who = places.public(interaction.channel_id or 0, interaction.user.id)
        by, admin = _name(interaction), _is_admin(interaction)
        await self._heard(Heard(who, f"dc:i{interaction.id}", text, by=by, admin=admin, gpu=leave.gpu), interaction)

    async def on_interaction(self, interaction: Interaction) -> None:
        """Take what came out of a window for code, also one of before a restart; the library takes all else."""
        out = offering.written(interaction)
        if out is not None:
            await self.coded(interaction, *out)

    async def coded(self, interaction: Interaction, code: str, file: Mapping[str, Any] | None) -> None:
        """Take code from the window, or the file where no code was written."""
        await _acknowledged(interaction, ephemeral=interaction.guild_id is not None)
        leave = await self._admitted(interaction)
        if leave is None:
            return
        heard = Heard(self._who(interaction), f"dc:i{interaction.id}", code=code, gpu=leave.gpu)
        if file is not None and not code.strip():
            heard = parse.with_file(replace(heard, code=None), file)
        await self._heard(heard, interaction)

    async def menu(self, interaction: Interaction, what: str, message: discord.Message) -> None:
        """Take somebody's code, at the wish of the one who chose from the menu; the answer stands in a thread."""
        await _acknowledged(interaction, ephemeral=interaction.guild_id is not None)
        leave = await self._admitted(interaction)
        if leave is None:
            return
        openly = leave.where is Where.OPENLY
        who = await self._threaded(interaction, message) if openly else self._who(interaction)
        heard = parse.of_code(who, f"dc:i{interaction.id}", message, measure=what != "run")
        await self._heard(replace(heard, gpu=leave.gpu), interaction)

    # --- what a server's owner set ------------------------------------------------------------------------------------

    async def set_up(self, interaction: Interaction, quiet: str, zone: str) -> None:
        """Show the owner what is set, after setting what stands behind the command."""
        await _acknowledged(interaction, ephemeral=True)
        fields: dict[str, object] = {}
        span, there = clock.read_span(quiet), zones.find(zone)
        for text, known in ((quiet, span is not None), (zone, bool(there))):
            if text.strip() and not known:
                said = marked.line(self.words().say("setup.unread", text="\ue000"))
                await _whispered(interaction, said.replace("\ue000", marked.code(text[:40])))
                return
        if span is not None:
            fields |= {"quiet_from": span[0], "quiet_to": span[1]}
        if there:
            fields["zone"] = there
        await self._set(interaction, fields)

    async def settled(self, interaction: Interaction, what: str, values: Sequence[str]) -> None:
        """Take what was chosen in a field of the panel."""
        await _acknowledged(interaction)
        await self._set(interaction, setup.changes(what, values))

    async def _set(self, interaction: Interaction, fields: dict[str, object]) -> None:
        words, guild = self.words(), interaction.guild_id
        if self.guard is None or guild is None or not interaction.permissions.manage_guild:
            await _whispered(interaction, marked.line(words.say("setup.not_yours")))
            return
        rules = await (self.guard.change(guild, **fields) if fields else self.guard.rules(guild))
        deaf = [each for each in (*rules.channels, rules.questions) if each and not self._may_write(guild, each)]
        said = setup.told(rules, words, deaf, hears_all=self._hears_all)
        try:
            await interaction.edit_original_response(
                content=said,
                view=setup.panel(rules, words, hears_all=self._hears_all),
                allowed_mentions=discord.AllowedMentions.none(),
            )
        except discord.HTTPException as error:
            LOG.info("what was set could not be shown: %s", error)

    def _may_write(self, guild: int, channel: int) -> bool:
        there = self.get_guild(guild)
        found = there.get_channel(channel) if there is not None else None
        if there is None or found is None:
            return False
        allowed = found.permissions_for(there.me)
        return allowed.view_channel and allowed.send_messages

    async def _leave(
        self, guild: int | None, channels: Iterable[int | None], person: discord.User | discord.Member
    ) -> Leave:
        if self.guard is None:
            return Leave()
        roles = [role.id for role in person.roles] if isinstance(person, discord.Member) else []
        return await self.guard.leave(guild, [each for each in channels if each], roles)

    async def _admitted(self, interaction: Interaction, *, openly: bool = False) -> Leave | None:
        """Give leave to answer an interaction; None after it was said why there is none, `openly` also in the quiet."""
        parent = getattr(interaction.channel, "parent_id", None)
        leave = await self._leave(interaction.guild_id, (interaction.channel_id, parent), interaction.user)
        words = self.words()
        if leave.where is Where.ELSEWHERE:
            said = marked.line(words.say("setup.elsewhere", channels="\ue000"))
            listed = " ".join(f"<#{each}>" for each in leave.rules.channels[:_SHOWN])
            await _whispered(interaction, said.replace("\ue000", listed))
            return None
        if openly and leave.where is Where.QUIETLY:
            await _whispered(interaction, marked.line(words.say("setup.quiet_now")))
            return None
        return leave

    async def _threaded(self, interaction: Interaction, message: discord.Message) -> Who:
        """Give the thread under a text in a server; where none can be had, the answer is for the asker alone."""
        whole = self._who(interaction)
        if interaction.guild is None or not isinstance(message.channel, discord.TextChannel):
            return whole
        try:
            thread = message.thread or await message.create_thread(name=self.words().text("discord.thread"))
        except discord.HTTPException as error:
            LOG.info("no thread could be had: %s", error)
            return whole
        return places.public(thread.id, interaction.user.id)

    @staticmethod
    def _who(interaction: Interaction) -> Who:
        channel, person = interaction.channel_id or 0, interaction.user.id
        return (places.private if interaction.guild_id is None else places.unseen)(channel, person)

    async def _heard(self, heard: Heard, interaction: Interaction | None) -> None:
        if self.hear is not None:
            await self.hear(heard, interaction)


def _name(interaction: Interaction) -> str:
    return interaction.user.display_name[: parse.NAME]


def _is_admin(interaction: Interaction) -> bool:
    """Tell whether somebody may take away what others write in this channel."""
    return interaction.permissions.administrator or interaction.permissions.manage_messages


async def _whispered(interaction: Interaction, text: str) -> None:
    try:
        await interaction.followup.send(text, ephemeral=True, allowed_mentions=discord.AllowedMentions.none())
    except discord.HTTPException as error:
        LOG.info("somebody could not be told: %s", error)


async def _signed(message: discord.Message) -> None:
    """Say without a word that it is the quiet time."""
    try:
        await message.add_reaction(_QUIET)
    except discord.HTTPException as error:
        LOG.info("no sign could be given: %s", error)


async def _acknowledged(interaction: Interaction, *, ephemeral: bool = False) -> None:
    """Acknowledge within the platform's three seconds; one that is too old counts all the same."""
    try:
        if interaction.type is discord.InteractionType.component:
            await interaction.response.defer()
        else:
            await interaction.response.defer(ephemeral=ephemeral, thinking=True)
    except (discord.HTTPException, discord.InteractionResponded) as error:
        LOG.info("an interaction could not be acknowledged: %s", error)
