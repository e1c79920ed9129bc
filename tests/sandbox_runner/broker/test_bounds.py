"""A broker that stays away or is slow, and how much may wait: jobs are turned away with a reason, none twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from fleet import KEY, Fleet, fleet, job
from stand_in import TIMES

from sandbox_runner.broker import depot, desk
from sandbox_runner.broker.line import Broker
from sandbox_runner.broker.names import A_LEARNER
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Ending

DELAY_S = 0.08


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path) as found:
        yield found


def bot_of(one: Fleet, bound_s: float = TIMES.bound_s, most_a_learner: int = desk.MOST_A_LEARNER) -> BrokerRunner:
    made = BrokerRunner(Broker(one.server.address), KEY, replace(TIMES, bound_s=bound_s), most_a_learner)
    one.bots.append(made)
    return made


async def test_a_broker_that_stays_away_is_said_and_jobs_go_on_once_it_is_back(
    one: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(depot, "ANSWER_S", 0.5)
    one.launch("r1", slots=1)
    bot = bot_of(one, bound_s=0.5)
    await one.lives(bot, 1)
    one.server.kill()
    with pytest.raises(UnavailableError, match="the broker"):
        await one.result(bot, job("b-1"))
    await one.server.start()
    assert (await one.result(bot, job("c-1"))).ending is Ending.OK
    assert one.answers == {"c-1": 1}
    assert len(one.begun("r1")) == 1


async def test_more_jobs_than_may_wait_are_turned_away_by_learner_and_in_all(
    one: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "MOST_HELD", 3)
    one.launch("r1", slots=1)
    bot = bot_of(one, most_a_learner=2)
    await one.lives(bot, 1)
    waiting = [asyncio.create_task(one.result(bot, job(f"a-{n}", "sleep 0.2"))) for n in range(A_LEARNER)]
    await one.has_begun("r1")
    waiting += [asyncio.create_task(one.result(bot, job(f"a-{n}"))) for n in range(A_LEARNER, A_LEARNER + 4)]
    await asyncio.sleep(0.05)
    waiting += [asyncio.create_task(one.result(bot, job(f"{name}-1"))) for name in "bcde"]
    endings = Counter([(each.job_id[0], each.ending) for each in await asyncio.gather(*waiting)])
    assert endings["a", Ending.RATE_LIMITED] == 2
    assert {ending for name, ending in endings if name != "a"} == {Ending.OK, Ending.QUEUE_FULL}
    assert len(one.begun("r1")) == sum(count for (_, ending), count in endings.items() if ending is Ending.OK)


@asynccontextmanager
async def slowly(port: int) -> AsyncIterator[str]:
    """Give an address behind which everything comes late, in both directions."""
    tasks: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                loop.call_later(DELAY_S, writer.write, data)
            await asyncio.sleep(DELAY_S)
        writer.close()

    async def pair(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection("127.0.0.1", port)
        for work in (carry(reader, there[1]), carry(there[0], writer)):
            tasks.add(asyncio.create_task(work))

    server = await asyncio.start_server(pair, "127.0.0.1", 0)
    try:
        yield f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.soak
async def test_a_slow_way_to_the_broker_delays_and_doubles_nothing(one: Fleet) -> None:
    async with slowly(one.server.port) as address:
        bot = BrokerRunner(Broker(address), KEY, TIMES)
        one.server.address = address  # what the runner is told, too
        one.launch("r1")
        await one.lives(bot, 2)
        results = await asyncio.gather(*(one.result(bot, job(f"l{n}-1")) for n in range(4)))
        assert {result.ending for result in results} == {Ending.OK}
        assert set(one.answers.values()) == {1}
        assert len(one.begun("r1")) == 4
        one.kill("r1")
        await bot.close()
