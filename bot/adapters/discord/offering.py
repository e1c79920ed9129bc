"""What the bot offers on Discord: commands with Arabic descriptions, a window for code, menus on anybody's code.

Law: names are those of the other platforms, descriptions are Arabic; every one of them ends in a method of the client,
which acknowledges before anything else.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, cast

import discord
from discord import app_commands

from bot.engine.commands import Command
from bot.engine.groups import asking
from bot.engine.reminders import zones
from bot.engine.wording import Wording

_DESCRIPTION_LIMIT, _CHOICES, _LABEL_LIMIT, _WINDOW_LIMIT = 100, 25, 45, 4000
_ARGUED = {Command.LESSON, Command.EXAMPLE, Command.EXERCISE, Command.CAP, Command.REMIND, Command.BOARD, Command.LINK}
"""Commands that take a word behind them."""
_OF_LESSONS = {Command.LESSON, Command.EXAMPLE, Command.EXERCISE}

_WINDOW = "tasree:code"

Interaction = discord.Interaction[Any]


class Offering(Protocol):
    """The client, as far as what it offers needs it."""

    tree: "app_commands.CommandTree[Any]"

    def words(self) -> Wording:
        """Give the phrases of the course in service."""
        ...

    def lessons_like(self, current: str) -> "list[app_commands.Choice[str]]":
        """Give the lessons whose number, name or title holds what was typed so far."""
        ...

    def commanded(self, interaction: Interaction, text: str) -> Awaitable[None]:
        """Take a command as if it had been written."""
        ...

    def menu(self, interaction: Interaction, what: str, message: discord.Message) -> Awaitable[None]:
        """Take somebody's code, at the wish of the one who chose from the menu."""
        ...

    def set_up(self, interaction: Interaction, quiet: str, zone: str) -> Awaitable[None]:
        """Show a server's owner what is set."""
        ...


def offer(client: Offering) -> None:
    """Describe every command, the window for code and the menus."""
    words = client.words()
    for command in Command:
        key = f"help.{command}"
        named = {Command.START: "discord.start_command", Command.HELP: "discord.help_command"}.get(command, key)
        if words.has(named):
            described = words.text(named)[:_DESCRIPTION_LIMIT]
            of_group = command is Command.GROUP
            made = _group(client, described) if of_group else _command(client, command, described)
            client.tree.add_command(made)
    code: app_commands.Command[Any, ..., None] = app_commands.Command(
        name="code", description=words.text("discord.code_command")[:_DESCRIPTION_LIMIT], callback=_opens(client)
    )
    client.tree.add_command(code)
    client.tree.add_command(_setup(client))
    for what in ("run", "time", "why"):
        client.tree.add_command(
            app_commands.ContextMenu(name=words.text(f"discord.menu_{what}"), callback=_menu(client, what))
        )


def _setup(client: Offering) -> "app_commands.Command[Any, ..., None]":
    """Give the command of a server's owner."""
    words = client.words()

    async def wished(interaction: Interaction, quiet: str = "", zone: str = "") -> None:
        await client.set_up(interaction, quiet, zone)

    async def named(_: Interaction, current: str) -> list[app_commands.Choice[str]]:
        found = (zones.find(current), *zones.near(current)) if current.strip() else ("Asia/Riyadh", "Africa/Cairo")
        return [app_commands.Choice(name=each, value=each) for each in dict.fromkeys(found) if each][:_CHOICES]

    made: app_commands.Command[Any, ..., None] = app_commands.Command(
        name="setup", description=words.text("setup.command")[:_DESCRIPTION_LIMIT], callback=wished
    )
    fields = {field: words.text(f"setup.command_{field}")[:_DESCRIPTION_LIMIT] for field in ("quiet", "zone")}
    app_commands.describe(**fields)(made)
    app_commands.guild_only(made)
    app_commands.default_permissions(manage_guild=True)(made)
    made.autocomplete("zone")(named)
    return made


def _group(client: Offering, description: str) -> "app_commands.Command[Any, ..., None]":
    """Give the command of a group's quiz, whose wishes are fields."""
    words = client.words()

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
        do=[app_commands.Choice(name=words.text(f"discord.group_do_{what}"), value=what) for what in ("board", "end")]
    )(made)
    made.autocomplete("lesson")(named)
    return made


def _command(client: Offering, command: Command, description: str) -> "app_commands.Command[Any, ..., None]":
    async def bare(interaction: Interaction) -> None:
        await client.commanded(interaction, f"/{command}")

    async def argued(interaction: Interaction, what: str = "") -> None:
        await client.commanded(interaction, f"/{command} {what}".strip())

    made: app_commands.Command[Any, ..., None] = app_commands.Command(
        name=command.value, description=description, callback=argued if command in _ARGUED else bare
    )
    if command in _ARGUED:
        app_commands.describe(what=client.words().text("discord.what")[:_DESCRIPTION_LIMIT])(made)
    if command in _OF_LESSONS:

        async def named(_: Interaction, current: str) -> list[app_commands.Choice[str]]:
            return client.lessons_like(current)

        made.autocomplete("what")(named)
    return made


class CodeWindow(discord.ui.Modal):
    """The window in which code is written, or a file of it given."""

    def __init__(self, words: Wording) -> None:
        super().__init__(title=words.text("discord.window")[:_LABEL_LIMIT], timeout=None, custom_id=_WINDOW)
        code: discord.ui.TextInput[Any] = discord.ui.TextInput(
            custom_id="code", style=discord.TextStyle.paragraph, required=False, max_length=_WINDOW_LIMIT
        )
        file: discord.ui.FileUpload[Any] = discord.ui.FileUpload(custom_id="file", required=False, max_values=1)
        self.add_item(discord.ui.Label(text=words.text("discord.window_code")[:_LABEL_LIMIT], component=code))
        self.add_item(discord.ui.Label(text=words.text("discord.window_file")[:_LABEL_LIMIT], component=file))

    async def on_submit(self, interaction: Interaction, /) -> None:
        """Leave it to whoever hears every interaction: a window of before a restart is known there alone."""


def written(interaction: Interaction) -> tuple[str, Mapping[str, Any] | None] | None:
    """Give the code and the file that came out of the window for code; None for what is no window of ours."""
    given = cast("dict[str, Any]", interaction.data or {})
    if interaction.type is not discord.InteractionType.modal_submit or given.get("custom_id") != _WINDOW:
        return None
    fields = {str(each.get("custom_id")): each for each in _fields(given.get("components", ()))}
    files = [str(each) for each in fields.get("file", {}).get("values") or ()]
    attached = cast("dict[str, Any]", given.get("resolved", {})).get("attachments", {})
    return str(fields.get("code", {}).get("value") or ""), attached.get(files[0]) if files else None


def _fields(components: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Walk through what lies in rows and under labels."""
    for each in components:
        yield each
        yield from _fields(each.get("components", ()))
        if isinstance(each.get("component"), dict):
            yield from _fields((each["component"],))


def _menu(client: Offering, what: str) -> Callable[[Interaction, discord.Message], Any]:
    async def chosen(interaction: Interaction, message: discord.Message) -> None:
        await client.menu(interaction, what, message)

    return chosen


def _opens(client: Offering) -> Callable[[Interaction], Any]:
    async def window(interaction: Interaction) -> None:
        """Open the window for code, which is the acknowledgement."""
        await interaction.response.send_modal(CodeWindow(client.words()))

    return window
