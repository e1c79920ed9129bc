"""Several bots of one account behind a webhook, on one PostgreSQL: together they are one bot."""

import asyncio
import itertools
import random
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
from botapi.balancer import HEAD, PATH, Balancer, posting
from botapi.killable import forked
from botapi.person import Person, seen
from botapi.place import HOOK, QUICK, Bot, Place
from botapi.server import serving
from botapi.world import Flood, World

from bot.adapters.telegram.hearing import PLATFORM
from bot.posting.pacing import Limits
from bot.testing import InstantRunner
from content.schema import Course
from tests.bot.databases import SHARED, PostgresServer

pytestmark = pytest.mark.services

GROUP = -1001
LONG_CODE = "total = 0\n" + "".join(f"total += {i}  # السطر رقم {i} من كود طويل يُلصق في الدردشة\n" for i in range(160))


@dataclass(slots=True)
class Replicas:
    """Bots that share everything but their process, and the platform's way to them."""

    place: Place
    bots: Sequence[Bot]
    balancer: Balancer
    runner: InstantRunner

    async def still(self) -> None:
        """Wait until everything was answered and is out."""
        kept = self.bots[0].store.outbox()
        async with asyncio.timeout(30):
            while self.place.world.updates or await kept.left(PLATFORM) or await kept.behind(PLATFORM):  # noqa: ASYNC110 - others do the work
                await asyncio.sleep(0.02)
            for bot in self.bots:
                await bot.idle()


@asynccontextmanager
async def replicas(  # noqa: PLR0913 - what differs between the tests
    world: World, database: str, course: Course, count: int = 2, limits: Limits = QUICK, twice: float = 0.2
) -> AsyncIterator[Replicas]:
    async with serving(world) as server, AsyncExitStack() as stack:
        place = Place(world, server, course, Path(), database)
        runner = InstantRunner()
        bots = [
            await stack.enter_async_context(place.bot(runner, webhook=HOOK, limits=limits, lease_s=10.0))
            for _ in range(count)
        ]
        doors = [bot.serving.port for bot in bots]
        balancer = await stack.enter_async_context(posting(world, lambda: doors, twice=twice))
        yield Replicas(place, bots, balancer, runner)
    assert world.complaints == []
    assert world.unanswered() == []


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    """Give the address of a database with nothing in it."""
    return postgres_server.emptied().place


def numbered(person: Person, count: int) -> list[int]:
    """Give which of the numbered texts are answered in a chat, in the order of the answers."""
    return [number for note in person.screen() for number in range(count) if f"ضضض{number}" in seen(note.text)]


async def test_what_learners_send_is_answered_once_each_and_in_order(database: str, course: Course) -> None:
    world = World()
    async with replicas(world, database, course) as found:
        learners = [found.place.person(user) for user in range(20, 28)]
        for number in range(6):
            for learner in learners:
                learner.send(f"ضضض{number}")
        for learner in learners:
            await learner.until(lambda learner=learner: len(learner.screen()) >= 6)  # type: ignore[misc]
        await found.still()
        assert found.balancer.posts > len(world.confirmed)  # some came twice
        assert [numbered(learner, 6) for learner in learners] == [list(range(6))] * 8
        assert world.refusals == []


async def test_a_press_is_acknowledged_once_and_answered_once(database: str, course: Course) -> None:
    world = World()
    async with replicas(world, database, course, twice=1.0) as found:
        learners = [found.place.person(user) for user in range(100, 110)]
        for learner in learners:
            learner.send("اختبار")
        for learner in learners:
            await learner.sees("أي صيغة أسرع")
            learner.press("المصفوفة")
        for learner in learners:
            await learner.sees("لأن الحلقة في لغة")
        await found.still()
        assert all(learner.reads().count("لأن الحلقة في لغة") == 1 for learner in learners)
        assert world.refusals == []  # an acknowledgement a second time would be one


async def test_parts_of_a_paste_that_come_to_different_bots_are_joined(database: str, course: Course) -> None:
    async with replicas(World(), database, course, twice=0.0) as found:
        learners = [found.place.person(user) for user in range(30, 34)]
        for learner in learners:
            assert len(learner.paste(f"```python\n{LONG_CODE}```")) > 1
        for learner in learners:
            await learner.sees("انتهى التشغيل بنجاح")
        await found.still()
        assert [job.source.count("total +=") for job in found.runner.submitted] == [160] * 4


async def test_an_edit_that_comes_to_another_bot_takes_the_place_of_the_old_reply(
    database: str, course: Course
) -> None:
    world = World()
    async with replicas(world, database, course) as found:
        learner = found.place.person()
        written = learner.send("```python\nprint(1)\n```")
        await learner.sees("انتهى التشغيل بنجاح")
        for number in range(2, 6):  # by chance, at one of the two
            old = learner.screen()[-1].id
            learner.edit(written, f"```python\nprint({number})\n```")
            await learner.until(lambda number=number: len(found.runner.submitted) == number)  # type: ignore[misc]
            await learner.until(lambda old=old: any(note.id > old for note in learner.screen()))  # type: ignore[misc]
            await found.still()
            assert len(learner.screen()) == 1
            assert "انتهى التشغيل بنجاح" in learner.reads()


async def test_bots_together_keep_the_limits_of_the_platform(database: str, course: Course) -> None:
    world = World(flood=Flood(chat=(3, 1.0), group=(5, 1.5), overall=(30, 1.0)))
    limits = Limits(chat=(3, 1.5), group=(5, 2.0), overall=(5, 0.25))  # room for a busy machine, not for two bots
    async with replicas(world, database, course, 3, limits, twice=0.0) as found:
        learners = [found.place.person(user) for user in range(1000, 1030)]
        members = [found.place.person(user, GROUP) for user in range(2000, 2012)]
        for member in members:
            member.send("/map@tasree_bot")
        for learner in learners:
            learner.send("خريطة")
            learner.send("الجهاز")
        busy = learners[0]
        for number in range(6):
            busy.send(f"ضضض{number}")
        for learner in learners:
            await learner.until(lambda learner=learner: len(learner.screen()) >= 2)  # type: ignore[misc]
        await busy.until(lambda: len(numbered(busy, 6)) == 6)
        await members[0].until(lambda: len(members[0].screen()) == len(members))
        await found.still()
        assert world.flood is not None
        assert world.flood.breaches == 0
        assert numbered(busy, 6) == list(range(6))
        calls = sorted(at for at, method, chat in world.calls if method == "sendMessage" and chat == GROUP)
        assert all(later - first >= 1.5 for first, later in zip(calls, calls[5:], strict=False))
        assert all(bot.serving.courier is not other.serving.courier for bot, other in itertools.pairwise(found.bots))


async def test_only_posts_with_the_secret_are_heard_by_any_of_them(database: str, course: Course) -> None:
    async with replicas(World(), database, course) as found, aiohttp.ClientSession() as session:
        forged = {"update_id": 1, "message": {"message_id": 1, "date": 1, "text": "/map",
                                              "chat": {"id": 7, "type": "private"},
                                              "from": {"id": 7, "is_bot": False, "first_name": "x"}}}  # fmt: skip
        for bot in found.bots:
            for secret in ("", "x" * 64):
                url = f"http://127.0.0.1:{bot.serving.port}{PATH}"
                async with session.post(url, json=forged, headers={HEAD: secret}) as answer:
                    assert answer.status == 403
        await found.still()
        assert not found.place.person().screen()


def free_port() -> int:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port


LEFT = """SELECT (SELECT count(*) FROM arrivals WHERE NOT done)
             + (SELECT count(*) FROM deliveries WHERE state IN ('sending', 'unknown'))
             + (SELECT count(*) FROM chats JOIN mailboxes ON chat = id WHERE last_change > delivered)"""
UNSURE = "SELECT count(*) FROM deliveries WHERE state = 'offered'"


async def test_processes_that_are_killed_by_turns_lose_and_double_nothing(
    database: str, postgres_server: PostgresServer, course: Course
) -> None:
    world, chance, rounds = World(), random.Random(4), 6  # noqa: S311 - chance that comes again
    ports = (free_port(), free_port())

    async def count(query: str) -> int:
        ((found,),) = await postgres_server.execute(query, SHARED)
        assert isinstance(found, int)
        return found

    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(serving(world))
        bots = [await stack.enter_async_context(forked(database, server.url, world.token, port)) for port in ports]
        for bot in bots:
            await bot.tell("start")
        await stack.enter_async_context(posting(world, lambda: list(ports)))
        learners = [Person(world, user) for user in range(11, 15)]
        for number in range(rounds):
            for learner in learners:
                learner.send(f"ضضض{number}")
            await asyncio.sleep(chance.uniform(0.0, 0.4))
            await bots[number % 2].tell("kill")
            await bots[number % 2].tell("start")
        async with asyncio.timeout(40):
            while world.updates or await count(LEFT):  # noqa: ASYNC110 - others do the work
                await asyncio.sleep(0.05)
        answers = [numbered(learner, rounds) for learner in learners]
        lost = sum(rounds - len(set(found)) for found in answers)
        assert lost <= await count(UNSURE)
        for found in answers:
            assert found == sorted(set(found))  # in order, and none twice
        for bot in bots:
            await bot.tell("stop")
    assert world.complaints == []
