"""A bot on Telegram that is killed at any point and started again: nothing lost, nothing doubled."""

import asyncio
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from botapi.killable import Killable, forked
from botapi.person import Person, seen
from botapi.server import serving
from botapi.world import Fault, World

LEARNERS = 4


def unsure(path: Path) -> set[tuple[str, int]]:
    """Give the replies of which the bot itself says that it does not know."""
    connection = sqlite3.connect(path)
    try:
        query = "SELECT chat, number FROM deliveries WHERE state IN ('unknown', 'offered', 'sending')"
        return {(chat, number) for chat, number in connection.execute(query)}
    finally:
        connection.close()


def count(path: Path, query: str) -> int:
    connection = sqlite3.connect(path)
    try:
        found: int = connection.execute(query).fetchone()[0]
        return found
    finally:
        connection.close()


LEFT = (
    "SELECT count(*) FROM arrivals WHERE done = 0",
    "SELECT count(*) FROM runs WHERE told = 0",
    "SELECT count(*) FROM deliveries WHERE state IN ('sending', 'unknown')",
    "SELECT count(*) FROM chats JOIN mailboxes ON chat = id WHERE last_change > delivered",
)


def still(world: World, path: Path) -> bool:
    """Tell whether everything was answered and went out."""
    return not world.updates and not any(count(path, query) for query in LEFT)


async def conversed(world: World, path: Path, bot: Killable, kills: int, chance: random.Random) -> list[Person]:
    """Have learners write while the bot is killed and started; gives them when all was answered."""
    learners = [Person(world, user) for user in range(11, 11 + LEARNERS)]
    await bot.tell("start")
    for sent in range(kills):
        for learner in learners:
            learner.send(f"ضضض{sent:04}")
            if sent % 4 == 1:
                learner.send_code(f"print({sent})")
        await asyncio.sleep(chance.uniform(0.0, 0.35))
        await bot.tell("kill")
        await bot.tell("start")
    async with asyncio.timeout(60):
        while not still(world, path):  # noqa: ASYNC110 - another process does the work
            await asyncio.sleep(0.05)
    return learners


def faults(path: Path, learners: list[Person], texts: int) -> list[str]:
    """Say what was lost, doubled or out of order, beside what the bot itself knows that it does not know."""
    found: list[str] = []
    lost = 0
    for learner in learners:
        notes = [seen(note.text) for note in learner.screen()]
        times = [sum(f"ضضض{number:04}" in note for note in notes) for number in range(texts)]
        found += [f"{learner.user}: text {number} answered {n} times" for number, n in enumerate(times) if n > 1]
        lost += times.count(0)
        runs = sum("انتهى التشغيل بنجاح" in note for note in notes)
        wanted = len([number for number in range(texts) if number % 4 == 1])
        lost += max(wanted - runs, 0)
        if runs > wanted:
            found.append(f"{learner.user}: {runs} runs were told, not {wanted}")
        order = [number for note in notes for number in range(texts) if f"ضضض{number:04}" in note]
        if order != sorted(order):
            found.append(f"{learner.user}: out of order: {order}")
    if lost > len(unsure(path)):
        found.append(f"{lost} answers are lost, and {len(unsure(path))} are known to be unsure")
    return found


async def test_ten_kills_at_any_point_lose_and_double_nothing(migrated: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(migrated, tmp_path / "t.db"))
    world = World()
    async with serving(world) as server, forked(path, server.url, world.token) as bot:
        chance = random.Random(7)  # noqa: S311 - chance that comes again
        learners = await conversed(world, path, bot, 10, chance)
        assert faults(path, learners, 10) == []
        assert len(unsure(path)) <= 10 * LEARNERS
        for learner in learners:  # what was offered again comes when it is wanted
            while "عرض الرد من جديد" in learner.labels():
                before = len(learner.screen())
                learner.press("عرض الرد من جديد")
                await learner.until(lambda before=before, learner=learner: len(learner.screen()) > before)  # type: ignore[misc]
        for learner in learners:
            for number in range(10):
                await learner.sees(f"ضضض{number:04}")
        assert world.complaints == []
        await bot.tell("stop")


@pytest.mark.soak
async def test_fifty_kills_with_faults_lose_and_double_nothing(
    migrated: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    path = Path(shutil.copy(migrated, tmp_path / "t.db"))
    world, chance = World(), random.Random(11)  # noqa: S311 - as above

    def trouble(method: str, _: dict[str, object]) -> Fault | None:
        lossy = [Fault.GATEWAY_AFTER, Fault.RESET_AFTER, Fault.GATEWAY, Fault.RESET_BEFORE, Fault.TOO_MANY]
        return chance.choice(lossy) if method in {"sendMessage", "editMessageText"} and chance.random() < 0.05 else None

    world.trouble = trouble
    async with serving(world) as server, forked(path, server.url, world.token) as bot:
        learners = await conversed(world, path, bot, 50, chance)
        record_property("unsure", len(unsure(path)))
        assert faults(path, learners, 50) == []
        record_property("calls", len(world.calls))
