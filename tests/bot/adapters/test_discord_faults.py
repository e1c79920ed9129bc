"""What goes wrong on Discord: missing rights, channels and texts that are gone, time that ran out, restarts."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import discord
import pytest
from discordsim.place import Bot, buttons, served

from bot.adapters.discord import places
from bot.adapters.discord.drafts import FileDraft
from bot.adapters.discord.parse import Heard
from bot.posting.errors import GoneError
from bot.testing import InstantRunner
from content.schema import Course
from sandbox_runner.protocol import Accepted, Ending, Event, Finished, Job, Result, Stream

CODE = "print(sum(range(10)))"
FENCED = f"```python\n{CODE}\n```"
Serve = Callable[[], AbstractAsyncContextManager[Bot]]


def echoed(job: Job) -> Result:
    """Say what was run."""
    return Result(job.id, job.kind, Ending.OK, job.device, Stream(job.source[-8000:], "", len(job.source)))


class SlowRunner(InstantRunner):
    """A runner whose jobs last so many seconds of the simulated world."""

    def __init__(self) -> None:
        super().__init__(echoed)
        self.lasts_s = 0.0

    async def submit(self, job: Job) -> AsyncIterator[Event]:
        yield Accepted(0, 0.0)
        if self.lasts_s:
            await asyncio.sleep(self.lasts_s)
        yield Finished(echoed(job))


@pytest.fixture
def runner() -> SlowRunner:
    """Give the runner."""
    return SlowRunner()


@pytest.fixture
def serve(course: Course, tmp_path: Path, migrated: Path, runner: SlowRunner) -> Serve:
    """Start a bot on a database that stays over restarts."""
    path = tmp_path / "d.db"
    shutil.copy(migrated, path)
    return lambda: served(course, path, runner)


class World:
    """A server with two members."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.guild = bot.env.create_guild()
        self.sara = self.guild.add_member(bot.env.create_user("sara"))
        self.omar = self.guild.add_member(bot.env.create_user("omar"))

    def channel(self, **denied: bool) -> Any:  # noqa: ANN401 - the simulator's
        """Make a channel in which the bot lacks the rights that are named."""
        if not denied:
            return self.guild.create_text_channel("open")
        lacks = discord.PermissionOverwrite(**dict.fromkeys(denied, False))
        return self.guild.create_text_channel("closed", overwrites={self.bot.chat.client.user: lacks})

    def mention(self, text: str) -> str:
        return f"<@{self.bot.me}> {text}"


def mine(bot: Bot, channel: Any) -> list[discord.Message]:  # noqa: ANN401 - the simulator's
    return [each for each in channel.history() if each.author.id == bot.me]


def openly(bot: Bot, channel: Any) -> list[str]:  # noqa: ANN401 - the same
    return [each.content for each in mine(bot, channel) if not each.flags.ephemeral]


async def test_where_the_bot_may_not_write_an_answer_for_one_still_comes(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        closed = world.channel(send_messages=False)
        await world.sara.send(closed, world.mention("ابدأ"))
        await bot.idle()
        assert mine(bot, closed) == []
        result = await world.sara.slash(closed, "map")
        await bot.idle()
        assert result.acknowledged
        assert result.ephemeral
        assert "1" in result.response.content
        open_ = world.channel()
        await world.sara.send(open_, world.mention("ابدأ"))
        await bot.idle()
        assert "numpy" in openly(bot, open_)[0]


async def test_without_the_right_to_make_threads_the_answer_is_for_the_asker(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        closed = world.channel(create_public_threads=False)
        code = await world.omar.send(closed, FENCED)
        result = await world.sara.context_menu(closed, "تشغيل هذا الكود", code)
        await bot.idle()
        assert result.acknowledged
        assert closed.threads == []
        assert openly(bot, closed) == []
        assert result.ephemeral
        assert any(CODE in each.content for each in (result.response, *result.followups))


async def test_without_the_right_to_attach_a_file_is_named_and_its_words_stand(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        channel = world.channel()
        line = bot.chat._line
        assert line is not None
        # The simulator lets everybody attach: the platform's refusal is put in by hand.
        bot.env.inject_error("POST", "/channels/*/messages", status=403, code=50013)
        sent = await line.send(f"g{channel.id}", FileDraft("output.txt", b"long", "كلام"), "")
        (said,) = mine(bot, channel)
        assert str(said.id) == sent
        assert said.content.startswith("كلام")
        assert "إرفاق الملفات" in said.content
        assert not said.attachments
        bot.env.inject_error("POST", "/channels/*/messages", status=403, code=50013, times=2)
        with pytest.raises(GoneError):
            await line.send(f"g{channel.id}", FileDraft("output.txt", b"long"), "")


async def test_a_channel_that_is_deleted_while_code_runs_stops_nothing(serve: Serve, runner: SlowRunner) -> None:
    async with serve() as bot:
        world = World(bot)
        gone, open_ = world.channel(), world.channel()
        runner.lasts_s = 60
        await world.sara.send(gone, world.mention(FENCED))
        await bot.chat.idle()
        channel = bot.chat.client.get_channel(gone.id)
        assert isinstance(channel, discord.TextChannel)
        await channel.delete()
        await bot.env.advance_time(60)
        runner.lasts_s = 0
        await bot.idle()
        await world.sara.send(open_, world.mention(FENCED))
        await bot.idle()
        assert any(CODE in text for text in openly(bot, open_))


async def test_what_was_answered_may_be_deleted_meanwhile(serve: Serve, runner: SlowRunner) -> None:
    async with serve() as bot:
        world = World(bot)
        channel = world.channel()
        runner.lasts_s = 60
        asked = await world.sara.send(channel, world.mention(FENCED))
        await bot.chat.idle()
        await world.sara.delete(asked)
        for message in mine(bot, channel):
            await message.delete()
        await bot.env.advance_time(60)
        runner.lasts_s = 0
        await bot.idle()
        assert any(CODE in text for text in openly(bot, channel))
        other = await world.omar.send(channel, FENCED)
        await world.omar.delete(other)
        await bot.idle()


async def test_a_result_that_comes_late_goes_to_the_channel(serve: Serve, runner: SlowRunner) -> None:
    async with serve() as bot:
        world = World(bot)
        channel = world.channel()
        window = await world.sara.slash(channel, "code")
        runner.lasts_s = 15 * 60 + 30
        sent = await world.sara.submit_modal(window, {"code": CODE})
        await bot.chat.idle()
        assert sent.acknowledged
        assert openly(bot, channel) == []
        await bot.env.advance_time(16 * 60)
        await bot.idle()
        assert any(CODE in text for text in openly(bot, channel))


async def test_what_is_heard_twice_is_answered_once(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        await sara.send_dm("ابدأ")
        await bot.idle()
        assert bot.chat.hearing is not None
        heard = Heard(places.private(sara.dm_channel.id, sara.id), "dc:twice", "خريطة")
        for _ in range(3):
            await bot.chat.hearing.hear(heard, None)
        await bot.idle()
        assert len([each for each in sara.dm_channel.history() if "الدروس" in each.content]) <= 2
        count = len(sara.dm_channel.history())
        await bot.chat.hearing.hear(heard, None)
        await bot.idle()
        assert len(sara.dm_channel.history()) == count


async def test_code_of_4000_characters_comes_through_the_window_whole(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        window = await sara.slash("code")
        code = ("x = 1  # " + "س" * 60 + "\n") * 60
        code = code[: 4000 - len(CODE) - 1].rpartition("\n")[0] + "\n" + CODE
        sent = await sara.submit_modal(window, {"code": code})
        assert sent.acknowledged
        await bot.idle()
        files = [file for each in sara.dm_channel.history() for file in each.attachments]
        assert files or any(CODE in each.content for each in sara.dm_channel.history())


async def test_a_file_over_ten_mebibytes_is_refused_in_words(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        window = await sara.slash("code")
        sent = await sara.submit_modal(window, {"file": ("big.py", b"#" * ((10 << 20) + 1))})
        assert sent.acknowledged
        await bot.idle()
        assert "أكبر" in sara.dm_channel.last_message.content
        window = await sara.slash("code")
        await sara.submit_modal(window, {"file": ("archive.py", b"PK\x03\x04" + bytes(range(256)) * 40)})
        await bot.idle()
        assert sara.dm_channel.last_message.author.id == bot.me


async def test_a_member_who_leaves_while_code_runs_stops_nothing(serve: Serve, runner: SlowRunner) -> None:
    async with serve() as bot:
        world = World(bot)
        channel = world.channel()
        runner.lasts_s = 60
        await world.sara.send(channel, world.mention(FENCED))
        await bot.chat.idle()
        world.guild.remove_member(world.sara)
        await bot.env.advance_time(60)
        runner.lasts_s = 0
        await bot.idle()
        await world.omar.send(channel, world.mention("ابدأ"))
        await bot.idle()
        assert "numpy" in openly(bot, channel)[-1] or len(openly(bot, channel)) > 1


@pytest.mark.parametrize("fault", [429, 500, 502, 503])
async def test_no_answer_is_lost_to_faults_that_pass(serve: Serve, fault: int) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        await sara.send_dm("ابدأ")
        await bot.idle()
        before = len(sara.dm_channel.history())
        bot.env.inject_error("POST", "/channels/*/messages", status=fault)
        await sara.send_dm("خريطة")
        await bot.idle()
        await sara.send_dm("مساعدة")
        await bot.idle()
        told = [each.content for each in sara.dm_channel.history()][before:]
        assert any("1" in text for text in told)
        assert sara.dm_channel.last_message.author.id == bot.me


async def test_every_way_in_works_across_a_restart_and_is_acknowledged(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        channel = world.channel()
        user = bot.env.create_user("mona")
        await user.send_dm("ابدأ")
        await world.sara.send(channel, world.mention("ابدأ"))
        await bot.idle()
        greeting, in_server = user.dm_channel.last_message, channel.last_message
        window = await user.slash("code")
        windowed = await world.sara.slash(channel, "code")
        code = await world.omar.send(channel, FENCED)
        await bot.restart()
        results = [
            await user.click(greeting, label=buttons(greeting)[0]),
            await world.sara.click(in_server, label=buttons(in_server)[0]),
            await user.submit_modal(window, {"code": CODE}),
            await world.sara.submit_modal(windowed, {"file": ("f.py", CODE.encode())}),
        ]
        results += [
            await world.sara.context_menu(channel, menu.name, code)
            for menu in bot.chat.client.tree.get_commands(type=discord.AppCommandType.message)
        ]
        await bot.idle()
        assert all(each.acknowledged for each in results)
        assert sum(CODE in each.content for each in user.dm_channel.history()) >= 1
        assert channel.threads
        slashed = bot.chat.client.tree.get_commands(type=discord.AppCommandType.chat_input)
        for name in (command.name for command in slashed if not command.guild_only):
            assert (await world.sara.slash(channel, name)).acknowledged, name
        await world.sara.send(channel, f"<@{bot.me}>", attachments=[("mine.py", b"print('attached')\n")])
        await bot.idle()
        assert any("attached" in text for text in openly(bot, channel))
