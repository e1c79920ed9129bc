"""Discord in several shards: servers of each of them, and private chats, are answered by one bot with one store."""

import shutil
from pathlib import Path

from discordsim.place import served

from content.schema import Course


async def test_servers_of_every_shard_and_private_chats_are_answered(
    course: Course, tmp_path: Path, migrated: Path
) -> None:
    path = tmp_path / "d.db"
    shutil.copy(migrated, path)
    async with served(course, path, shards=2) as bot:
        sara = bot.env.create_user("sara")
        answered: set[int] = set()
        for _ in range(6):
            await bot.env.advance_time(0.001)  # a server's shard is told by the moment at which it was made
            guild = bot.env.create_guild()
            channel = guild.create_text_channel("open")
            await guild.add_member(sara).send(channel, f"<@{bot.me}> ابدأ")
            await bot.idle()
            assert [each.author.id for each in channel.history()].count(bot.me) == 1
            answered.add((guild.id >> 22) % 2)
        assert answered == set(bot.chat.client.shards) == {0, 1}
        await sara.send_dm("الدروس")
        await bot.idle()
        assert any("خريطة الدروس" in each.content for each in sara.dm_channel.history())
