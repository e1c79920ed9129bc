"""A group's quiz in a simulated Discord: many press at once, a restart, forged presses, who may end it."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import discord
import pytest
from discordsim.place import Bot, buttons, served

from bot.adapters.discord import places
from bot.adapters.discord.parse import Heard
from bot.testing import FixedDice, StandStillClock
from bot.waking import Waker
from content.schema import Course


@pytest.fixture
def path(tmp_path: Path, migrated: Path) -> Path:
    shutil.copy(migrated, tmp_path / "d.db")
    return tmp_path / "d.db"


def said(channel: Any) -> list[Any]:  # noqa: ANN401 - the simulator's
    """Give what everybody in a channel reads of the bot."""
    return [message for message in channel.history() if not message.flags.ephemeral and message.author.bot]


def reads(channel: Any) -> str:  # noqa: ANN401 - the same
    marks = dict.fromkeys([0x061C, *range(0x2066, 0x206A)])
    return "\n".join(message.content for message in said(channel)).translate(marks).replace("**", "")


def question(channel: Any) -> Any:  # noqa: ANN401 - the same
    return next(message for message in reversed(said(channel)) if "سؤال للجميع" in message.content)


def told(result: Any) -> str:  # noqa: ANN401 - the same
    """Give what a press was answered with, for the presser alone."""
    assert result.acknowledged
    assert all(follow.flags.ephemeral if hasattr(follow.flags, "ephemeral") else True for follow in result.followups)
    return "\n".join(follow.content for follow in result.followups)


async def press(bot: Bot, member: Any, message: discord.Message, label: str) -> Any:  # noqa: ANN401 - the same
    result = await member.click(message, label=next(each for each in buttons(message) if label in each))
    await bot.idle()
    return result


async def test_many_members_press_at_once_and_each_counts_once(course: Course, path: Path) -> None:
    async with served(course, path, dice=FixedDice()) as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        names = ["سارة", "\u202eعلي **قوي** @everyone <@1>", *(f"عضو{chr(0x623 + at)}" for at in range(8))]
        members = [guild.add_member(bot.env.create_user(f"user{at}"), nick=name) for at, name in enumerate(names)]
        begun = await members[0].slash(channel, "group", questions=2)
        assert begun.acknowledged
        await bot.idle()
        assert "سؤال للجميع: 1 من 2" in reads(channel)
        assert not [one for one in channel.history() if one.flags.ephemeral or one.flags.loading]
        shown = question(channel)
        labels = ["المصفوفة" if at % 2 == 0 else "الحلقة" for at in range(len(members))]
        # The simulator takes one click after the other; the bot has not answered one when the next is there.
        results = [await member.click(shown, label=label) for member, label in zip(members, labels, strict=True)]
        await bot.idle()
        assert {told(result) for result in results} == {"سُجّلت الإجابة."}
        assert "من قبل" in told(await press(bot, members[1], question(channel), "المصفوفة"))
        assert "وصلت 10 إجابات" in reads(channel)
        assert "لمن بدأ الاختبار" in told(await press(bot, members[1], question(channel), "إغلاق السؤال"))
        await press(bot, members[0], question(channel), "إغلاق السؤال")
        assert "الإجابات الصحيحة: 5 من 10" in reads(channel)
        await press(bot, members[3], said(channel)[-1], "الترتيب")
        board = next(message for message in said(channel) if "الترتيب بعد" in message.content)
        assert "علي قوي everyone 1" in board.content.translate(dict.fromkeys(range(0x2066, 0x206A)))
        assert board.mentions == []
        assert not board.mention_everyone
        assert "\u202e" not in board.content


async def test_the_fields_of_the_command_are_its_wishes_and_a_private_chat_says_that_it_is_for_groups(
    course: Course, path: Path
) -> None:
    async with served(course, path, dice=FixedDice()) as bot:
        channel = bot.env.create_guild().create_text_channel("general")
        guild = bot.env.guild
        member = guild.add_member(bot.env.create_user("sara"))
        choices = await member.autocomplete(channel, "group", "lesson", "2")
        assert choices
        await member.slash(channel, "group", questions=3, lesson="2", seconds=30, answers=4)
        await bot.idle()
        text = reads(channel)
        for part in (course.lessons[1].title, "من 3 أسئلة", "لكل سؤال 30 ثانية", "بعد 4 إجابات"):
            assert part in text
        await member.slash(channel, "group", do="end")
        await bot.idle()
        assert "أُنهي الاختبار" in reads(channel)
        await member.send(channel, f"<@{bot.me}> اختبار جماعي 1")
        await bot.idle()
        assert "سؤال للجميع: 1 من 1" in reads(channel)
        private = bot.env.create_user("omar")
        await private.slash("group", questions=3)
        await bot.idle()
        assert "للمجموعات" in private.dm_channel.last_message.content


async def test_whoever_may_take_away_what_others_write_may_end_a_quiz(course: Course, path: Path) -> None:
    async with served(course, path, dice=FixedDice()) as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        role = guild.create_role("teachers", permissions=discord.Permissions(manage_messages=True, view_channel=True))
        sara, omar = (guild.add_member(bot.env.create_user(name)) for name in ("sara", "omar"))
        teacher = guild.add_member(bot.env.create_user("teacher"), roles=[role])
        await sara.slash(channel, "group", questions=2)
        await bot.idle()
        assert "لمن بدأ الاختبار" in told(await press(bot, omar, question(channel), "إنهاء الاختبار"))
        await press(bot, teacher, question(channel), "إنهاء الاختبار")
        assert "أُنهي الاختبار قبل آخر أسئلته" in reads(channel)
        assert buttons(question(channel)) == []


async def test_ones_own_quiz_in_a_server_is_not_the_groups_and_a_forged_press_answers_nothing(
    course: Course, path: Path
) -> None:
    async with served(course, path, dice=FixedDice()) as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara, omar = (guild.add_member(bot.env.create_user(name)) for name in ("sara", "omar"))
        await sara.send(channel, f"<@{bot.me}> اختبار")
        await bot.idle()
        own = next(message for message in said(channel) if buttons(message))
        assert "حوار متعلّم آخر" in told(await press(bot, omar, own, "المصفوفة"))
        await sara.slash(channel, "group", questions=1)
        await bot.idle()
        ask = str(question(channel).components[0].children[0].custom_id).split(":")[2]
        before = reads(channel)
        hearing = bot.chat.hearing
        assert hearing is not None
        for number, payload in enumerate((f"1:grp:{ask}:none", f"1:grp:{'x' * 12}:array", "1:grp::", "1:grp:" * 9)):
            await hearing.hear(Heard(places.public(channel.id, omar.id), f"dc:f{number}", press=payload), None)
            await bot.idle()
        assert reads(channel).startswith(before)
        assert "وصلت" not in question(channel).content


@asynccontextmanager
async def woken(bot: Bot, clock: StandStillClock) -> AsyncIterator[None]:
    """Have the bot look for what fell due."""
    waker = asyncio.create_task(Waker(bot.app, bot.store, clock, "discord").run())
    try:
        yield
    finally:
        waker.cancel()
        await asyncio.gather(waker, return_exceptions=True)


async def test_a_quiz_goes_on_after_a_restart_and_closes_at_its_time(course: Course, path: Path) -> None:
    clock = StandStillClock()
    async with served(course, path, dice=FixedDice(), clock=clock) as bot:
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        sara, omar = (guild.add_member(bot.env.create_user(name)) for name in ("sara", "omar"))
        await sara.slash(channel, "group", questions=1)
        await bot.idle()
        await press(bot, omar, question(channel), "المصفوفة")
        await bot.restart()
        async with woken(bot, clock):
            await press(bot, sara, question(channel), "الحلقة")
            assert "من قبل" in told(await press(bot, omar, question(channel), "الحلقة"))
            assert "وصلت إجابتان" in reads(channel)
            clock.at += timedelta(seconds=61)
            await press(bot, omar, question(channel), "الحلقة")  # whatever happens sets the time anew
            async with asyncio.timeout(20):
                while "الإجابات الصحيحة: 1 من 2" not in reads(channel):  # noqa: ASYNC110 - what stands there
                    await asyncio.sleep(0.01)
            await bot.idle()
            await press(bot, sara, said(channel)[-1], "النتيجة النهائية")
            assert "1. omar: نقطة واحدة" in reads(channel)
