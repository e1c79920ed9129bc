"""The connection to Discord: commands with Arabic descriptions, a window for code, menus on anybody's code.

Law: an interaction is acknowledged before anything else is done with it; no privileged intent is asked for; commands
are announced only when they changed.
"""

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import discord
from discord import app_commands

from bot.adapters.discord import marked, parse, places
from bot.adapters.discord.buttons import PayloadButton
from bot.adapters.discord.parse import Heard
from bot.adapters.discord.places import Who
from bot.engine.commands import Command
from bot.engine.events import TextSent
from bot.engine.groups import asking
from bot.engine.wording import Wording
from bot.posting import rooms
from content.schema import Course

LOG = logging.getLogger("tasree.discord")

_DESCRIPTION_LIMIT, _CHOICES, _LABEL_LIMIT, _WINDOW_LIMIT = 100, 25, 45, 4000
_ARGUED = {Command.LESSON, Command.EXAMPLE, Command.EXERCISE, Command.CAP, Command.REMIND, Command.BOARD, Command.LINK}
"""Commands that take a word behind them."""
_OF_LESSONS = {Command.LESSON, Command.EXAMPLE, Command.EXERCISE}

Interaction = discord.Interaction[Any]
Hear = Callable[[Heard, Interaction | None], Awaitable[None]]


class DiscordClient(discord.AutoShardedClient):
    """A client that hands everything heard to `hear`."""

    def __init__(self, course: Callable[[], Course]) -> None:
        intents = discord.Intents.none()
        intents.guilds = intents.dm_messages = intents.guild_messages = True
        super().__init__(intents=intents, allowed_mentions=discord.AllowedMentions.none(), max_messages=None)
        self.tree: app_commands.CommandTree[Any] = app_commands.CommandTree(self)
        self.hear: Hear | None = None
        self.announced: Callable[[], Awaitable[str]] | None = None
        """Gives the digest of the commands that were announced last."""
        self.announce: Callable[[str], Awaitable[None]] | None = None
        self._course = course
        self._describe()

    # --- what is offered ----------------------------------------------------------------------------------------------

    def words(self) -> Wording:
        """Give the phrases of the course in service."""
        return Wording(self._course().phrases)

    def _describe(self) -> None:
        words = self.words()
        for command in Command:
            key = f"help.{command}"
            named = {Command.START: "discord.start_command", Command.HELP: "discord.help_command"}.get(command, key)
            if words.has(named):
                described = words.text(named)[:_DESCRIPTION_LIMIT]
                of_group = command is Command.GROUP
                made = self._group_command(described) if of_group else self._command(command, described)
                self.tree.add_command(made)
        code: app_commands.Command[Any, ..., None] = app_commands.Command(
            name="code", description=words.text("discord.code_command")[:_DESCRIPTION_LIMIT], callback=self._window
        )
        self.tree.add_command(code)
        for what in ("run", "time", "why"):
            self.tree.add_command(
                app_commands.ContextMenu(name=words.text(f"discord.menu_{what}"), callback=_menu(self, what))
            )

    def _group_command(self, description: str) -> "app_commands.Command[Any, ..., None]":
        """Give the command of a group's quiz, whose wishes are fields."""
        client, words = self, self.words()

        async def asked(  # noqa: PLR0913 - one argument a field
            interaction: Interaction,
            questions: app_commands.Range[int, 1, asking.MOST_COUNT] = asking.COUNT,
            lesson: str = "",
            seconds: app_commands.Range[int, asking.LEAST_SECONDS, asking.MOST_SECONDS] = asking.SECONDS,
            answers: app_commands.Range[int, 0, asking.MOST_ANSWERS] = 0,
            do: str = "",
        ) -> None:
            until = f" {answers} answers" if answers else ""
            named = f" lesson {lesson}" if lesson else ""
            wish = do or f"{questions} questions {seconds} seconds{until}{named}"
            await client.commanded(interaction, f"/{Command.GROUP} {wish}")

        async def named(_: Interaction, current: str) -> list[app_commands.Choice[str]]:
            return client.lessons_like(current)

        made: app_commands.Command[Any, ..., None] = app_commands.Command(
            name=Command.GROUP.value, description=description, callback=asked
        )
        fields = ("questions", "lesson", "seconds", "answers", "do")
        app_commands.describe(**{field: words.text(f"discord.group_{field}")[:_DESCRIPTION_LIMIT] for field in fields})(
            made
        )
        app_commands.choices(
            do=[
                app_commands.Choice(name=words.text(f"discord.group_do_{what}"), value=what)
                for what in ("board", "end")
            ]
        )(made)
        made.autocomplete("lesson")(named)
        return made

    def _command(self, command: Command, description: str) -> "app_commands.Command[Any, ..., None]":
        client = self

        async def bare(interaction: Interaction) -> None:
            await client.commanded(interaction, f"/{command}")

        async def argued(interaction: Interaction, what: str = "") -> None:
            await client.commanded(interaction, f"/{command} {what}".strip())

        made: app_commands.Command[Any, ..., None] = app_commands.Command(
            name=command.value, description=description, callback=argued if command in _ARGUED else bare
        )
        if command in _ARGUED:
            app_commands.describe(what=self.words().text("discord.what")[:_DESCRIPTION_LIMIT])(made)
        if command in _OF_LESSONS:

            async def named(_: Interaction, current: str) -> list[app_commands.Choice[str]]:
                return client.lessons_like(current)

            made.autocomplete("what")(named)
        return made

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
        self.add_dynamic_items(PayloadButton)
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
        if self.user is not None and (heard := parse.of_message(message, self.user.id)) is not None:
            await self._heard(heard, None)

    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Hear code that its author changed; the platform also tells of previews as edits, which have no time."""
        if self.user is None or payload.message.edited_at is None:
            return
        heard = parse.of_message(payload.message, self.user.id, edited=True)
        if heard is not None:
            await self._heard(heard, None)

    async def pressed(self, interaction: Interaction, payload: str) -> None:
        """Acknowledge a press, then take it."""
        await _acknowledged(interaction)
        under, who = interaction.message, self._who(interaction)
        if interaction.guild_id is not None and under is not None and not under.flags.ephemeral:
            who = places.public(interaction.channel_id or 0, interaction.user.id)
        heard = Heard(who, f"dc:i{interaction.id}", press=payload, by=_name(interaction), admin=_is_admin(interaction))
        await self._heard(heard, interaction)

    async def commanded(self, interaction: Interaction, text: str) -> None:
        """Acknowledge a command, then take it as if it had been written."""
        await _acknowledged(interaction, ephemeral=interaction.guild_id is not None)
        who = self._who(interaction)
        if interaction.guild_id is not None and rooms.is_groups(TextSent(text)):
            who = places.public(interaction.channel_id or 0, interaction.user.id)
        by, admin = _name(interaction), _is_admin(interaction)
        await self._heard(Heard(who, f"dc:i{interaction.id}", text, by=by, admin=admin), interaction)

    async def _window(self, interaction: Interaction) -> None:
        """Open the window for code, which is the acknowledgement."""
        await interaction.response.send_modal(CodeWindow(self))

    async def coded(self, interaction: Interaction, code: str, upload: discord.Attachment | None) -> None:
        """Take what came out of the window for code."""
        await _acknowledged(interaction, ephemeral=interaction.guild_id is not None)
        who, key = self._who(interaction), f"dc:i{interaction.id}"
        if upload is not None and not code.strip():
            large = upload.size > parse.FILE_LIMIT
            files = () if large else (parse.Upload(upload.url, upload.filename[:200]),)
            await self._heard(Heard(who, key, odd="large_file" if large else "", uploads=files), interaction)
            return
        await self._heard(Heard(who, key, code=code), interaction)

    async def menu(self, interaction: Interaction, what: str, message: discord.Message) -> None:
        """Take somebody's code, at the wish of the one who chose from the menu; the answer stands in a thread."""
        await _acknowledged(interaction, ephemeral=interaction.guild_id is not None)
        who = await self._threaded(interaction, message)
        heard = parse.of_code(who, f"dc:i{interaction.id}", message, measure=what != "run")
        await self._heard(heard, interaction)

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


class CodeWindow(discord.ui.Modal):
    """The window in which code is written, or a file of it given."""

    def __init__(self, client: DiscordClient) -> None:
        words = client.words()
        super().__init__(title=words.text("discord.window")[:_LABEL_LIMIT], timeout=None, custom_id="tasree:code")
        self._client = client
        self._code: discord.ui.TextInput[Any] = discord.ui.TextInput(
            custom_id="code", style=discord.TextStyle.paragraph, required=False, max_length=_WINDOW_LIMIT
        )
        self._file: discord.ui.FileUpload[Any] = discord.ui.FileUpload(custom_id="file", required=False, max_values=1)
        self.add_item(discord.ui.Label(text=words.text("discord.window_code")[:_LABEL_LIMIT], component=self._code))
        self.add_item(discord.ui.Label(text=words.text("discord.window_file")[:_LABEL_LIMIT], component=self._file))

    async def on_submit(self, interaction: Interaction, /) -> None:
        """Hand over what was written."""
        files = self._file.values
        await self._client.coded(interaction, self._code.value, files[0] if files else None)


def _menu(client: DiscordClient, what: str) -> Callable[[Interaction, discord.Message], Any]:
    async def chosen(interaction: Interaction, message: discord.Message) -> None:
        await client.menu(interaction, what, message)

    return chosen


def _name(interaction: Interaction) -> str:
    return interaction.user.display_name[: parse.NAME]


def _is_admin(interaction: Interaction) -> bool:
    """Tell whether somebody may take away what others write in this channel."""
    return interaction.permissions.administrator or interaction.permissions.manage_messages


async def _acknowledged(interaction: Interaction, *, ephemeral: bool = False) -> None:
    """Acknowledge within the platform's three seconds; one that is too old counts all the same."""
    try:
        if interaction.type is discord.InteractionType.component:
            await interaction.response.defer()
        else:
            await interaction.response.defer(ephemeral=ephemeral, thinking=True)
    except (discord.HTTPException, discord.InteractionResponded) as error:
        LOG.info("an interaction could not be acknowledged: %s", error)
