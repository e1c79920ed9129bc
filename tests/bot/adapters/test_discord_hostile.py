"""People on Discord who press, submit and set in the wrong order, too late, twice, or at what is not theirs."""

import asyncio
import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import discord
import pytest
from discordsim.place import Bot, buttons, served

from bot.adapters.discord import rules as setting
from bot.testing import FixedDice, InstantRunner
from content.schema import Course
from tests.bot.adapters.test_discord import printed
from tests.bot.adapters.test_discord_groups import press, question, reads

Serve = Callable[[], AbstractAsyncContextManager[Bot]]


@pytest.fixture
def runner() -> InstantRunner:
    return InstantRunner(printed)


@pytest.fixture
def serve(course: Course, tmp_path: Path, migrated: Path, runner: InstantRunner) -> Serve:
    path = tmp_path / "d.db"
    shutil.copy(migrated, path)
    return lambda: served(course, path, runner, FixedDice())


def texts(channel: Any) -> list[str]:  # noqa: ANN401 - the simulator's
    return [message.content for message in channel.history() if message.author.bot]


async def test_a_press_in_a_groups_quiz_counts_in_the_quiet_hours_that_began_meanwhile(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara, omar = (guild.add_member(bot.env.create_user(name)) for name in ("sara", "omar"))
        await sara.slash(channel, "group", questions=1)
        await bot.idle()
        always = setting.to_json(setting.Rules(quiet_from=0, quiet_to=24 * 60 - 1))
        await bot.store.servers().change("discord", str(guild.id), bot.making.clock.now(), lambda _: always)
        guard = bot.chat.client.guard
        assert guard is not None
        guard._kept.clear()
        said = await press(bot, omar, question(channel), "المصفوفة")
        assert said.acknowledged
        assert "سُجّلت الإجابة" in said.followups[-1].content
        assert "وصلت إجابة واحدة" in reads(channel)
        begun = await sara.slash(channel, "group", questions=1)  # a new one is not begun then
        await bot.idle()
        assert begun.acknowledged
        assert reads(channel).count("سؤال للجميع") == 1


async def test_who_does_not_manage_the_server_sets_nothing_by_the_command_either(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        member = guild.add_member(bot.env.create_user("sara"))
        # The client offers the command to who manages; a forged call of it is refused all the same.
        command = bot.chat.client.tree.get_command("setup")
        assert command is not None
        assert command.default_permissions is not None
        assert command.default_permissions.manage_guild
        interaction = Asking(member, channel, guild)
        await bot.chat.client._set(interaction, {"gpu_daily": 0})  # type: ignore[arg-type]
        assert "Manage Server" in interaction.told[-1]
        assert setting.from_json(await bot.store.servers().rules("discord", str(guild.id))).gpu_daily is None


class Asking:
    """An interaction as far as the panel looks at it, of somebody without any right."""

    def __init__(self, member: Any, channel: Any, guild: Any) -> None:  # noqa: ANN401 - the simulator's
        self.guild_id, self.channel_id, self.user = guild.id, channel.id, member
        self.permissions = discord.Permissions.none()
        self.told: list[str] = []
        self.followup = self

    async def send(self, text: str, **_: object) -> None:
        self.told.append(text)


async def test_a_window_submitted_twice_at_once_is_answered_each_time_and_never_mixed(
    serve: Serve, runner: InstantRunner
) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        window = await sara.slash("code")
        first = await sara.submit_modal(window, {"code": "print('one')"})
        again = await sara.submit_modal(await sara.slash("code"), {"code": "print('one')"})
        assert first.acknowledged
        assert again.acknowledged
        await bot.idle()
        assert [job.source.strip() for job in runner.submitted] == ["print('one')"] * len(runner.submitted)
        assert 1 <= len(runner.submitted) <= 2


async def test_an_old_button_after_the_end_of_a_quiz_changes_nothing(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        await sara.send_dm("اختبار")
        await bot.idle()
        first = next(message for message in sara.dm_channel.history() if "المصفوفة" in buttons(message))
        await sara.click(first, label="المصفوفة")
        await bot.idle()
        for _ in range(12):
            waiting = sara.dm_channel.history()[-1]
            if "لا أعرف" not in buttons(waiting):
                break
            await sara.click(waiting, label="لا أعرف")
            await bot.idle()
        assert any("النتيجة" in text for text in texts(sara.dm_channel))
        for label in ("الحلقة", "المصفوفة"):
            again = await sara.click(first, label=label)
            await bot.idle()
            assert again.acknowledged
            assert "أُجيب عنه من قبل" in sara.dm_channel.last_message.content


async def test_a_press_that_is_too_old_to_be_acknowledged_counts_all_the_same(serve: Serve) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        await sara.send_dm("ابدأ")
        await bot.idle()
        greeting = sara.dm_channel.last_message
        bot.env.inject_error("POST", "/interactions/*/*/callback", status=404, code=10062)
        shown = next(label for label in buttons(greeting) if "خريطة الدروس" in label)
        await sara.click(greeting, label=shown)
        await bot.idle()
        assert any("رقم الدرس" in text for text in texts(sara.dm_channel))


async def test_an_archive_with_the_name_of_a_program_is_not_run_and_is_named(
    serve: Serve, runner: InstantRunner
) -> None:
    async with serve() as bot:
        sara = bot.env.create_user("sara")
        for data in (b"PK\x03\x04" + bytes(range(256)) * 9, b"\x1f\x8b\x08" + bytes(99), b"\x7fELF" + bytes(99)):
            window = await sara.slash("code")
            before = len(texts(sara.dm_channel))
            sent = await sara.submit_modal(window, {"file": ("mine.py", data)})
            assert sent.acknowledged
            await bot.idle()
            assert len(texts(sara.dm_channel)) > before
        assert runner.submitted == []


async def test_a_link_code_given_in_a_server_is_not_shown_to_anybody(serve: Serve) -> None:
    async with serve() as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara = guild.add_member(bot.env.create_user("sara"))
        await sara.send(channel, f"<@{bot.me}> /link")
        await bot.idle()
        await asyncio.sleep(0)
        assert texts(channel)
        assert not any("رمز الربط:" in text for text in texts(channel))
