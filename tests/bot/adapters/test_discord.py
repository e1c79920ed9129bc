"""The bot in a simulated Discord: private chats, servers, commands, buttons, the window for code, menus, restarts."""

import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import discord
import pytest
from discordsim.place import Bot, buttons, served

from bot.testing import InstantRunner
from content.schema import Course
from sandbox_runner.protocol import Ending, Job, Result, Stream

CODE = "print(sum(range(10)))"


def printed(job: Job) -> Result:
    """Say what was run."""
    return Result(job.id, job.kind, Ending.OK, job.device, Stream(job.source[:100], "", len(job.source)))


Serve = Callable[[], AbstractAsyncContextManager[Bot]]


@pytest.fixture
def serve(course: Course, tmp_path: Path, migrated: Path) -> Serve:
    """Start a bot on a database that stays over restarts."""
    path = tmp_path / "d.db"
    shutil.copy(migrated, path)
    return lambda: served(course, path, InstantRunner(printed))


def texts(channel: Any) -> str:  # noqa: ANN401 - the simulator's
    """Give all that stands in a channel."""
    return "\n".join(message.content for message in channel.history())


async def pressed(bot: Bot, user: Any, message: discord.Message, label: str) -> Any:  # noqa: ANN401 - the same
    """Press a button by its words."""
    shown = next(each for each in buttons(message) if label in each)
    result = await user.click(message, label=shown)
    assert result.acknowledged
    await bot.idle()
    return result


async def test_a_private_chat_is_greeted_and_its_buttons_lead_on(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        await sara.send_dm("ابدأ")
        await bot.idle()
        greeting = sara.dm_channel.last_message
        assert "numpy" in greeting.content
        await pressed(bot, sara, greeting, "خريطة الدروس")
        assert "1" in sara.dm_channel.last_message.content
        assert sara.dm_channel.last_message.id != greeting.id


async def test_every_command_is_acknowledged_and_answered(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        tree = bot.chat.client.tree
        slashed = tree.get_commands(type=discord.AppCommandType.chat_input)
        commands = sorted(command.name for command in slashed if not command.guild_only)
        assert {"start", "lesson", "quiz", "review", "progress", "code", "link"} <= set(commands)
        for name in commands:
            before = sara.dm_channel.last_message.id if sara.dm_channel.history() else 0
            result = await sara.slash(name)
            assert result.acknowledged, name
            await bot.idle()
            if name != "code":
                assert sara.dm_channel.last_message.id != before, name


async def test_lessons_are_completed_while_they_are_typed(serve: Serve, course: Course) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        choices = await sara.autocomplete("lesson", "what", "1")
        assert [choice["value"] for choice in choices][:1] == ["1"]
        await sara.slash("lesson", what="1")
        await bot.idle()
        assert course.lessons[0].title.split("`")[0].strip() in sara.dm_channel.last_message.content


async def test_code_from_the_window_is_run(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        window = await sara.slash("code")
        assert window.modal is not None
        sent = await sara.submit_modal(window, {"code": CODE})
        assert sent.acknowledged
        await bot.idle()
        assert CODE in texts(sara.dm_channel)
        again = await sara.slash("code")
        sent = await sara.submit_modal(again, {"file": ("mine.py", b"print('from a file')\n")})
        assert sent.acknowledged
        await bot.idle()
        assert "from a file" in texts(sara.dm_channel)


async def test_a_file_that_is_attached_is_run_and_a_picture_is_answered_kindly(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara = guild.add_member(bot.env.create_user("sara"))
        me = f"<@{bot.me}>"
        await sara.send(channel, me, attachments=[("mine.py", b"print('attached')\n")])
        await bot.idle()
        assert "attached" in texts(channel)
        before = len(channel.history())
        await sara.send(channel, me, attachments=[("cat.png", b"\x89PNG\r\n\x1a\n")])
        await bot.idle()
        assert len(channel.history()) == before + 2
        await sara.send(channel, me, attachments=[("tree.py", b"PK\x03\x04" + b"\x00" * 100)])
        await bot.idle()
        assert channel.last_message.author.id == bot.me


async def test_in_a_server_only_what_is_addressed_to_the_bot_is_heard(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara = guild.add_member(bot.env.create_user("sara"))
        await sara.send(channel, "ابدأ")
        await bot.idle()
        assert len(channel.history()) == 1
        await sara.send(channel, f"<@{bot.me}> ابدأ")
        await bot.idle()
        assert "numpy" in channel.last_message.content


async def test_a_command_in_a_server_is_answered_for_the_asker_alone(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara = guild.add_member(bot.env.create_user("sara"))
        result = await sara.slash(channel, "map")
        assert result.acknowledged
        await bot.idle()
        assert result.ephemeral
        assert not [message for message in channel.history() if not message.flags.ephemeral]


async def test_the_menu_on_somebodys_code_answers_in_a_thread(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        omar = guild.add_member(bot.env.create_user("omar"))
        sara = guild.add_member(bot.env.create_user("sara"))
        code = await omar.send(channel, f"```python\n{CODE}\n```")
        names = [menu.name for menu in bot.chat.client.tree.get_commands(type=discord.AppCommandType.message)]
        assert names == ["تشغيل هذا الكود", "قياس زمن هذا الكود", "سبب البطء"]
        result = await sara.context_menu(channel, names[0], code)
        assert result.acknowledged
        await bot.idle()
        (thread,) = channel.threads
        assert CODE in texts(thread)


async def test_a_button_of_anothers_talk_is_refused_and_changes_nothing(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara = guild.add_member(bot.env.create_user("sara"))
        omar = guild.add_member(bot.env.create_user("omar"))
        await sara.send(channel, f"<@{bot.me}> ابدأ")
        await bot.idle()
        greeting, count = channel.last_message, len(channel.history())
        result = await pressed(bot, omar, greeting, "خريطة الدروس")
        assert "حوار متعلّم آخر" in result.followups[0].content
        assert len([message for message in channel.history() if not message.flags.ephemeral]) == count


async def test_buttons_of_before_a_restart_still_work(serve: Serve) -> None:
    async with serve() as first:
        sara = first.env.create_user("sara")
        await sara.send_dm("ابدأ")
        await first.idle()
        greeting = sara.dm_channel.last_message
        payloads = [child.custom_id for row in greeting.components for child in row.children]
    async with serve() as second:
        templates = second.chat.client._connection._view_store._dynamic_items
        assert payloads
        assert all(any(template.fullmatch(payload) for template in templates) for payload in payloads)


async def test_code_that_its_author_edits_is_run_again_in_the_place_of_the_old_answer(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara = guild.add_member(bot.env.create_user("sara"))
        me = bot.me
        sent = await sara.send(channel, f"<@{me}>\n```python\n{CODE}\n```")
        await bot.idle()
        assert CODE in channel.last_message.content
        await sara.edit(sent, f"<@{me}>\n```python\nprint('edited')\n```")
        await bot.idle()
        answers = [message.content for message in channel.history() if message.author.id == me]
        assert any("edited" in text for text in answers)
        assert not any(CODE in text for text in answers)


@pytest.mark.parametrize("status", [500, 403])
async def test_a_fault_of_the_platform_loses_no_learner(serve: Serve, status: int) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        await sara.send_dm("ابدأ")
        await bot.idle()
        bot.env.inject_error("POST", "/channels/*/messages", status=status)
        await sara.send_dm("خريطة")
        await bot.idle()
        await sara.send_dm("مساعدة")
        await bot.idle()
        assert "مساعدة" in texts(sara.dm_channel)
        assert sara.dm_channel.last_message.author.id == bot.me


async def test_commands_are_announced_at_the_first_start_and_not_again_while_they_stay_the_same(serve: Serve) -> None:
    async with serve() as bot:

        def announced() -> int:
            return sum(one.method == "PUT" and one.path.endswith("/commands") for one in bot.env.http_requests)

        first = announced()
        await bot.restart()
        assert (first, announced()) == (1, 1)
        bot.making.path.with_suffix(".commands").write_text("of an older version\n")
        await bot.restart()
        assert announced() == 2
