"""What a server's owner sets by /setup, and that it is obeyed everywhere, also after a restart."""

import shutil
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import discord
import pytest
from discordsim.place import Bot, served

from bot.adapters.discord import rules as setting
from bot.adapters.discord.rules import Rules, Where
from bot.testing import CAPABLE, InstantRunner
from content.schema import Course
from sandbox_runner.protocol import Capabilities, Device

Serve = Callable[..., AbstractAsyncContextManager[Bot]]
ON_GPU = "```python\nimport torch\nprint(torch.ones(2, device='cuda'))\n```"


class WithGpu(InstantRunner):
    """A runner that has a GPU."""

    async def capabilities(self) -> Capabilities:
        return replace(CAPABLE, devices=(Device.CPU, Device.CUDA))


@pytest.fixture
def serve(course: Course, tmp_path: Path, migrated: Path) -> Serve:
    """Start a bot on a database that stays over restarts."""
    path = tmp_path / "d.db"
    shutil.copy(migrated, path)
    return lambda **how: served(course, path, WithGpu(), **how)


class World:
    """A server with its owner, a member, two channels and a role."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.owner_user = bot.env.create_user("huda")
        self.guild = bot.env.create_guild(owner=self.owner_user)
        self.owner = (
            self.guild.add_member(self.owner_user) if self.owner_user.id not in self.guild.member_ids() else None
        )
        self.general, self.lessons = (self.guild.create_text_channel(name) for name in ("general", "lessons"))
        self.role = self.guild.create_role("fast")
        manages = self.guild.create_role("keeper", permissions=discord.Permissions(manage_guild=True))
        self.keeper = self.guild.add_member(bot.env.create_user("samir"), roles=[manages])
        self.sara = self.guild.add_member(bot.env.create_user("sara"))
        self.omar = self.guild.add_member(bot.env.create_user("omar"), roles=[self.role])

    async def panel(self, **wishes: str) -> Any:  # noqa: ANN401 - the simulator's
        """Ask for the panel; give the answer to it."""
        result = await self.keeper.slash(self.general, "setup", **wishes)
        assert result.acknowledged
        await self.bot.idle()
        return result.followups[-1] if result.followups else result.response

    async def choose(self, panel: Any, what: str, values: list[Any]) -> None:  # noqa: ANN401 - the same
        """Choose in a field of the panel."""
        result = await self.keeper.select(panel, values, custom_id=f"setup:{what}")
        assert result.acknowledged
        await self.bot.idle()

    async def rules(self) -> Rules:
        return setting.from_json(await self.bot.store.servers().rules("discord", str(self.guild.id)))

    def mention(self, text: str) -> str:
        return f"<@{self.bot.me}> {text}"

    async def asks(self, member: Any, channel: Any, text: str) -> list[str]:  # noqa: ANN401 - the same
        """Write to the bot; give what it answered openly."""
        before = {message.id for message in channel.history()}
        await member.send(channel, text)
        await self.bot.idle()
        mine = [each for each in channel.history() if each.id not in before and each.author.id == self.bot.me]
        return [each.content for each in mine]


async def test_the_panel_says_what_is_set_and_changes_it_at_once(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        panel = await world.panel()
        assert "إعداد البوت" in panel.content
        assert panel.content.startswith(("\u061c", "إ", "**"))
        await world.choose(panel, "channels", [world.lessons])
        await world.choose(panel, "roles", [world.role])
        await world.choose(panel, "gpu", ["3"])
        await world.choose(panel, "quiet", ["22:00-08:00"])
        expected = Rules((world.lessons.id,), 22 * 60, 8 * 60, "UTC", (world.role.id,), 3)
        assert await world.rules() == expected
        shown = await world.panel(zone="الرياض", quiet="01:30-06:00")
        assert "01:30-06:00" in shown.content
        assert "Asia/Riyadh" in shown.content
        assert "3 مرات" in shown.content
        wrong = await world.panel(quiet="مساءً", zone="Atlantis")
        assert "لم يتغير شيء" in wrong.content
        assert await world.rules() == expected.changed(quiet_from=90, quiet_to=360, zone="Asia/Riyadh")


async def test_a_panel_of_before_a_restart_goes_on_and_only_for_who_manages_the_server(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        panel = await world.panel()
        await bot.restart()
        await world.choose(panel, "gpu", ["5"])
        assert (await world.rules()).gpu_daily == 5
        bot.env.backend.get_guild(world.guild.id).members[world.keeper.id].role_ids.clear()
        result = await world.keeper.select(panel, ["1"], custom_id="setup:gpu")
        assert "Manage Server" in result.followups[-1].content
        assert (await world.rules()).gpu_daily == 5


async def test_the_bot_speaks_only_where_the_owner_lets_it(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        await world.choose(await world.panel(), "channels", [world.lessons])
        assert await world.asks(world.sara, world.general, world.mention("ابدأ")) == []
        assert await world.asks(world.sara, world.lessons, world.mention("ابدأ")) != []
        for name in ("map", "code"):
            refused = await world.sara.slash(world.general, name)
            if refused.modal is not None:
                refused = await world.sara.submit_modal(refused, {"code": "print(1)"})
            await bot.idle()
            assert "قنوات غير هذه" in quietly(refused)
            assert world.lessons.mention in quietly(refused)
        code = await world.omar.send(world.general, ON_GPU)
        await bot.idle()
        refused = await world.sara.context_menu(world.general, "تشغيل هذا الكود", code)
        await bot.idle()
        assert "قنوات غير هذه" in quietly(refused)
        assert world.general.threads == []


async def test_in_quiet_hours_only_the_asker_sees_an_answer(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        greeting = await world.asks(world.sara, world.general, world.mention("ابدأ"))
        assert greeting
        under = world.general.last_message
        await world.panel(quiet="00:00-23:59")
        hushed = await world.sara.send(world.general, world.mention("خريطة"))
        await bot.idle()
        seen = next(message for message in world.general.history() if message.id == hushed.id)
        assert [str(reaction.emoji) for reaction in seen.reactions] == ["🌙"]
        openly = len([each for each in world.general.history() if not each.flags.ephemeral])
        pressed = await world.sara.click(under, label=_label(under, "خريطة"))
        mapped = await world.sara.slash(world.general, "map")
        grouped = await world.sara.slash(world.general, "group")
        code = await world.omar.send(world.general, "```python\nprint(1)\n```")
        ran = await world.sara.context_menu(world.general, "تشغيل هذا الكود", code)
        await bot.idle()
        assert all(each.acknowledged for each in (pressed, mapped, grouped, ran))
        assert "ساعات الهدوء" in quietly(grouped)
        after = [each for each in world.general.history() if not each.flags.ephemeral]
        assert len(after) == openly + 1  # omar's code alone
        assert world.general.threads == []


def quietly(result: Any) -> str:  # noqa: ANN401 - the simulator's
    """Give what the asker alone was told."""
    said = result.followups[-1] if result.followups else result.response
    assert result.ephemeral or said.ephemeral
    return str(said.content)


def _label(message: discord.Message, wanted: str) -> str:
    labels = [getattr(child, "label", "") for row in message.components for child in getattr(row, "children", ())]
    return next(str(label) for label in labels if label and wanted in label)


async def test_the_gpu_is_for_whom_the_owner_names_and_so_often_a_day(serve: Serve) -> None:
    async with serve() as bot:
        world = World(bot)
        panel = await world.panel()
        await world.choose(panel, "roles", [world.role])
        await world.choose(panel, "gpu", ["1"])

        async def run(member: Any) -> str:  # noqa: ANN401 - the simulator's
            asked = await world.asks(member, world.general, world.mention(ON_GPU))
            assert asked
            under = world.general.last_message
            await member.click(under, label=_label(under, "على البطاقة"))
            await bot.idle()
            return "\n".join(each.content for each in world.general.history() if each.author.id == bot.me)[-600:]

        assert "لا تشغيل على GPU" in await run(world.sara)
        assert "لا تشغيل على GPU" not in (await run(world.omar))[-200:]
        before = len(world.general.history())
        assert "لا تشغيل على GPU" in await run(world.omar)
        assert len(world.general.history()) > before


async def test_in_the_channel_of_questions_every_text_is_heard_but_answers_among_members(serve: Serve) -> None:
    async with serve(questions=True) as bot:
        world = World(bot)
        assert await world.asks(world.sara, world.lessons, "ما هو الفيض؟") == []
        await world.choose(await world.panel(), "questions", [world.lessons])
        assert await world.asks(world.sara, world.lessons, "ما هو الفيض؟") != []
        assert await world.asks(world.sara, world.general, "ما هو الفيض؟") == []
        other = await world.omar.send(world.lessons, "من جرّب هذا؟")
        await bot.idle()
        before = len(world.lessons.history())
        await world.sara.send(world.lessons, "أنا", reply_to=other)
        await bot.idle()
        assert len(world.lessons.history()) == before + 1


def test_what_is_stored_is_read_leniently_and_hours_go_over_midnight() -> None:
    rules = Rules((1, 2), 22 * 60, 8 * 60, "Asia/Riyadh", (3,), 4, 5)
    assert setting.from_json(setting.to_json(rules)) == rules
    for text in ("", "nonsense", "[]", '{"channels": "x", "gpu_daily": -1, "quiet_from": 9999, "zone": "Mars"}'):
        assert setting.from_json(text) == Rules()
    at = datetime(2026, 3, 1, 19, 30, tzinfo=UTC)  # 22:30 in Riyadh
    assert rules.where([1], at) is Where.QUIETLY
    assert rules.where([9], at) is Where.ELSEWHERE
    assert rules.where([9, 2], at.replace(hour=9)) is Where.OPENLY
    assert [rules.gpu_of(roles) for roles in ([], [3])] == [0, 4]
