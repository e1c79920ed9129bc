"""A group's quiz on several bots that share one PostgreSQL: many press through all of them, one of them closes it."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from botapi.balancer import posting
from botapi.killable import forked
from botapi.person import Person, seen
from botapi.place import HOOK, Bot, Place
from botapi.server import serving
from botapi.world import World
from discordsim.place import beside, served

from bot.adapters.discord import places
from bot.adapters.discord.buttons import PREFIX
from bot.adapters.discord.parse import Heard
from bot.adapters.telegram.hearing import PLATFORM
from bot.testing import FixedDice, StandStillClock
from bot.waking import Waker
from content.schema import Course
from tests.bot.adapters import test_discord_groups as discord_groups
from tests.bot.adapters.test_telegram_groups import question
from tests.bot.adapters.test_telegram_replicas import LEFT, free_port
from tests.bot.databases import SHARED, PostgresServer

pytestmark = pytest.mark.services

GROUP = -1001
MEMBERS = 24


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    """Give the address of a database with nothing in it."""
    return postgres_server.emptied().place


@asynccontextmanager
async def woken(place: Place, clock: StandStillClock, count: int) -> AsyncIterator[list[Bot]]:
    """Start bots that share everything but their process; each looks for what fell due."""
    async with AsyncExitStack() as stack:
        bots = [
            await stack.enter_async_context(place.bot(clock=clock, webhook=HOOK, lease_s=10.0)) for _ in range(count)
        ]
        doors = [bot.serving.port for bot in bots]
        await stack.enter_async_context(posting(place.world, lambda: doors, twice=0.3))
        wakers = [asyncio.create_task(Waker(each.app, each.store, clock, PLATFORM, 0.02).run()) for each in bots]
        try:
            yield bots
        finally:
            for waker in wakers:
                waker.cancel()
            await asyncio.gather(*wakers, return_exceptions=True)


def told(world: World, queries: list[str], words: str) -> int:
    return sum(words in world.queries[query].text for query in queries)


def options_of(person: Person) -> list[str]:
    """Give the payloads of the newest question's options."""
    payloads = [row[0]["callback_data"] for row in question(person).keyboard]
    return [payload for payload in payloads if ":_" not in payload]


def posted(person: Person, words: str) -> int:
    return sum(words in seen(note.text) for note in person.screen())


async def test_presses_through_all_bots_count_once_each_while_all_close_the_question(
    database: str, postgres_server: PostgresServer, course: Course
) -> None:
    world, clock = World(), StandStillClock()
    async with serving(world) as server:
        place = Place(world, server, course, Path(), database)
        async with woken(place, clock, 3) as bots:
            asker = place.person(7, GROUP)
            asker.send("/group@tasree_bot 1")
            await asker.sees("سؤال للجميع: 1 من 1")
            note, options = question(asker), options_of(asker)
            members = [place.person(user, GROUP) for user in range(100, 100 + MEMBERS)]
            queries = [
                each.press_at(note, options[(at + again) % len(options)])
                for again in range(2)
                for at, each in enumerate(members)
            ]
            await asker.until(lambda: told(world, queries, "سُجّلت الإجابة.") >= MEMBERS // 4)
            clock.at += timedelta(seconds=64)  # every bot sees now that the time is over, the asker closes it as well
            asker.press("إغلاق السؤال")
            await asker.sees("الجواب:", 30)
            await asker.until(lambda: all(world.queries[query].answered for query in queries), 30)
            for bot in bots:
                await bot.idle()
            counted = told(world, queries, "سُجّلت الإجابة.")
            ((rows,),) = await postgres_server.execute("SELECT count(*) FROM group_answers", SHARED)
            ((own,),) = await postgres_server.execute("SELECT count(*) FROM asks WHERE credit IS NOT NULL", SHARED)
            assert MEMBERS // 4 <= counted == rows == own
            found = re.search(r"الإجابات الصحيحة: \d+ من (\d+)", asker.reads())
            assert found is not None
            assert int(found[1]) == counted
            assert posted(asker, "سؤال للجميع") == posted(asker, "الجواب:") == 1
            clock.at += timedelta(seconds=60)
            await asker.sees("نتيجة الاختبار")
            for bot in bots:
                await bot.idle()
            assert posted(asker, "نتيجة الاختبار") == 1
    assert world.complaints == []
    assert world.refusals == []
    assert world.unanswered() == []


async def test_a_bot_that_is_killed_for_good_among_the_presses_takes_none_with_it(
    database: str, postgres_server: PostgresServer, course: Course
) -> None:
    world, members, port = World(), 20, free_port()

    async def count(query: str) -> object:
        ((found,),) = await postgres_server.execute(query, SHARED)
        return found

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(world))
        killed = await stack.enter_async_context(forked(database, server.url, world.token, port))
        await killed.tell("start")
        place = Place(world, server, course, Path(), database)
        left = await stack.enter_async_context(place.bot(webhook=HOOK, lease_s=2.0))
        doors = [port, left.serving.port]
        await stack.enter_async_context(posting(world, lambda: doors, twice=0.3))
        asker = place.person(7, GROUP)
        asker.send(f"/group 1 600 ثانية {members} إجابة")
        await asker.sees("سؤال للجميع: 1 من 1")
        note, options = question(asker), options_of(asker)
        people = [place.person(user, GROUP) for user in range(100, 100 + members)]
        for at, each in enumerate(people):
            each.press_at(note, options[at % len(options)])
            each.press_at(note, options[(at + 1) % len(options)])
            if at == members // 2:
                await asker.until(lambda: sum(one.answered for one in world.queries.values()) > members // 4)
                await killed.tell("kill")
        await asker.sees("الجواب:", 30)
        async with asyncio.timeout(30):
            while world.updates or await count(LEFT):  # noqa: ASYNC110 - another process does the work
                await asyncio.sleep(0.05)
        assert await count("SELECT count(*) FROM group_answers") == members
        assert await count("SELECT count(*) FROM asks WHERE credit IS NOT NULL") == members
        for at, each in enumerate(people):  # the first press of each, whoever took it
            of_member = (
                "SELECT answer FROM group_answers JOIN chats ON chats.id = group_answers.chat "  # noqa: S608 - our own
                f"WHERE external = '{GROUP}/{each.user}'"
            )
            assert await count(of_member) == options[at % len(options)].split(":")[3]
        assert f"من {members}" in asker.reads().split("الإجابات الصحيحة:")[1].splitlines()[0]
        assert posted(asker, "سؤال للجميع") == posted(asker, "الجواب:") == 1
    assert world.complaints == []


async def test_two_bots_on_discord_count_each_press_once_and_one_closes_for_the_other(
    database: str, postgres_server: PostgresServer, course: Course, tmp_path: Path
) -> None:
    clock = StandStillClock()
    async with (
        served(course, tmp_path / "d.db", dice=FixedDice(), clock=clock, database=database) as bot,
        beside(bot) as other,
    ):
        guild = bot.env.create_guild()
        channel = guild.create_text_channel("general")
        members = [guild.add_member(bot.env.create_user(f"user{at}")) for at in range(8)]
        await members[0].slash(channel, "group", questions=1)
        await bot.idle()
        shown = discord_groups.question(channel)
        payload = str(shown.components[0].children[0].custom_id).removeprefix(PREFIX)
        hearing = other.chat.hearing
        assert hearing is not None
        results = []
        for at, member in enumerate(members):  # each heard by both at once, in part with another option
            again = Heard(places.public(channel.id, member.id), f"dc:{at}", press=payload, by=member.name)
            one, _ = await asyncio.gather(member.click(shown, label="الحلقة"), hearing.hear(again, None))
            results.append(one)
        for each in (bot, other):
            await each.idle()
        assert all(result.acknowledged for result in results)
        ((rows,),) = await postgres_server.execute("SELECT count(*) FROM group_answers", SHARED)
        assert rows == len(members)
        assert "وصلت 8 إجابات" in discord_groups.reads(channel)
        bot.app._expect_no_more(await bot.app.room("discord", f"{channel.id}/#"))  # as if it were gone
        clock.at += timedelta(seconds=64)
        waker = asyncio.create_task(Waker(other.app, other.store, clock, "discord", 0.02).run())
        async with asyncio.timeout(20):
            while "الجواب:" not in discord_groups.reads(channel):  # noqa: ASYNC110 - what stands there
                await asyncio.sleep(0.01)
        waker.cancel()
        for each in (bot, other):
            await each.idle()
        assert discord_groups.reads(channel).count("الجواب:") == 1
        assert "من 8" in discord_groups.reads(channel)
        assert "من نسخة أقدم" not in discord_groups.reads(channel)
