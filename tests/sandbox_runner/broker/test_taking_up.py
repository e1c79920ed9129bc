"""A bot's end that is started anew takes up what an earlier one left, wherever it lies, and starts nothing twice."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from fleet import KEY, Fleet, fleet, job

from sandbox_runner.broker import names
from sandbox_runner.broker.line import Broker, connect
from sandbox_runner.broker.names import attempt_id, proof, result_subject, run_subject
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.frames import TELL_BYTES, ToldFinished, pack
from sandbox_runner.protocol import Ending, Finished, JobKind, Result


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path) as found:
        found.launch("r1", slots=1)
        yield found


async def left(fleet_: Fleet, source: str) -> BrokerRunner:
    """Have a bot give a job and close while it is under way; give the next bot."""
    bot = fleet_.bot()
    events = bot.submit(job("a-1", source))
    await anext(events)
    await fleet_.has_begun("r1")
    await bot.close()
    return fleet_.bot()


async def test_a_job_whose_runner_died_with_the_bot_is_given_to_another(one: Fleet) -> None:
    bot = await left(one, "hang at first")
    one.kill("r1")
    one.launch("r2")
    assert (await one.result(bot, job("a-1", "hang at first"))).ending is Ending.OK
    assert one.begun("r2") == [attempt_id("a-1", 2)]


async def test_a_result_that_came_while_no_bot_was_there_is_told(one: Fleet) -> None:
    bot = await left(one, "sleep 0.3")
    await asyncio.sleep(0.8)
    assert (await one.result(bot, job("a-1", "sleep 0.3"))).ending is Ending.OK
    assert one.begun("r1") == [attempt_id("a-1", 1)]


@pytest.mark.parametrize("body", [b"{", b"", None], ids=["no JSON", "nothing", "another kind's"])
async def test_what_lies_where_a_result_should_and_is_none_holds_nothing_up(one: Fleet, body: bytes | None) -> None:
    bot = await left(one, "sleep 1")
    attempt = attempt_id("a-1", 1)
    other = ToldFinished(attempt, Finished(Result(attempt, JobKind.TIME, Ending.OK)))
    headers = {names.PROOF: proof(KEY, attempt, "r1"), names.PART: "1/1", names.LIFE: "x"}
    line = await connect(Broker(one.server.address), "liar")
    lie = pack(other, TELL_BYTES)[4:] if body is None else body
    await line.jetstream().publish(result_subject("r1", attempt), lie, headers=headers)
    await line.close()
    assert (await one.result(bot, job("a-1", "sleep 1"))).ending is Ending.OK


async def test_an_assignment_that_cannot_be_read_is_made_anew(one: Fleet) -> None:
    line = await connect(Broker(one.server.address), "liar")
    bot = one.bot()
    await one.lives(bot, 1)
    await line.jetstream().publish(run_subject("a-1"), b"")
    await line.close()
    assert (await one.result(bot, job("a-1"))).ending is Ending.OK


async def test_a_broker_that_was_emptied_is_furnished_again(one: Fleet) -> None:
    bot = one.bot()
    assert (await one.result(bot, job("a-1"))).ending is Ending.OK
    line = await connect(Broker(one.server.address), "operator")
    for stream in (names.JOBS, names.RESULTS, names.RUNS, names.DEAD):
        await line.jetstream().delete_stream(stream)
    await line.close()
    one.server.kill()
    await one.server.start()
    assert (await one.result(bot, job("b-1"))).ending is Ending.OK
