"""Runners killed, frozen and lying, brokers killed: every job is answered exactly once."""

import asyncio
import random
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from fleet import KEY, Fleet, fleet, job
from nats.js.errors import NotFoundError

from sandbox_runner.broker import names
from sandbox_runner.broker.letters import PART_BYTES, Beat, written
from sandbox_runner.broker.line import Broker, connect
from sandbox_runner.broker.names import attempt_id, proof, result_subject
from sandbox_runner.frames import TELL_BYTES, ToldFinished, pack
from sandbox_runner.protocol import PROTOCOL_VERSION, Ending, Finished, JobKind, Result
from sandbox_runner.testing import CAPABILITIES


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path) as one:
        one.launch("r1", slots=1)
        yield one


async def test_a_killed_runners_job_goes_to_another(two: Fleet) -> None:
    bot = two.bot()
    following = asyncio.create_task(two.result(bot, job("a-1", "hang at first")))
    await two.has_begun("r1")
    two.launch("r2")
    await two.lives(bot, 3)
    two.kill("r1")
    result = await following
    assert result.ending is Ending.OK
    assert two.begun("r2") == [attempt_id("a-1", 2)]


async def test_a_job_that_names_its_machine_goes_there_and_its_result_says_so(two: Fleet) -> None:
    bot = two.bot()
    two.launch("r2")
    await two.lives(bot, 3)
    for number, machine in enumerate(("r2", "r1", "r1", "r2")):
        result = await two.result(bot, replace(job(f"a-{number}"), machine=machine))
        assert result.machine.name == machine
    two.kill("r2")
    result = await two.result(bot, replace(job("a-9"), machine="r2"))
    assert result.machine.name == "r1"


async def test_a_frozen_runners_job_goes_to_another_and_its_late_result_is_ignored(two: Fleet) -> None:
    bot = two.bot()
    following = asyncio.create_task(two.result(bot, job("a-1", "hang at first")))
    await two.has_begun("r1")
    two.launch("r2")
    await two.lives(bot, 3)
    two.signal("r1", signal.SIGSTOP)
    result = await following
    two.signal("r1", signal.SIGCONT)
    assert result.ending is Ending.OK
    assert two.begun("r2") == [attempt_id("a-1", 2)]
    await asyncio.sleep(1.0)
    assert two.answers == {"a-1": 1}
    assert (await two.result(bot, job("b-1"))).ending is Ending.OK


async def test_a_runner_that_stops_in_order_ends_what_runs_and_gives_back_what_waits(two: Fleet) -> None:
    bot = two.bot()
    jobs = [asyncio.create_task(two.result(bot, job(f"{learner}-1", "sleep 0.5"))) for learner in "ab"]
    await two.has_begun("r1")
    await asyncio.sleep(0.2)
    two.signal("r1", signal.SIGTERM)
    two.launch("r2")
    assert [(await one).ending for one in jobs] == [Ending.OK, Ending.OK]
    assert len(two.begun("r1")) + len(two.begun("r2")) == 2


async def test_a_job_that_ends_every_runner_it_meets_is_given_up_and_told_to_the_operator(two: Fleet) -> None:
    bot = two.bot()
    following = asyncio.create_task(two.result(bot, job("a-1", "die")))
    while not following.done():
        if two.processes["r1"].poll() is not None:
            two.launch("r1", slots=1)
        await asyncio.sleep(0.05)
    assert (await following).ending is Ending.INFRA_ERROR
    assert len(two.begun("r1")) <= names.DELIVERIES * names.ATTEMPTS
    two.kill("r1")
    two.launch("r1")
    assert (await two.result(bot, job("b-1"))).ending is Ending.OK
    line = await connect(Broker(two.server.address), "looking")
    rows = [await line.jetstream().get_last_msg(names.DEAD, "dead.*.*")]
    await line.close()
    assert names.token("a-1").encode() in (rows[0].data or b"")


async def test_a_broker_killed_and_started_again_loses_nothing(two: Fleet) -> None:
    bot = two.bot()
    two.launch("r2")
    await two.lives(bot, 3)
    jobs = [asyncio.create_task(two.result(bot, job(f"l{n % 10}-{n}", "sleep 0.1"))) for n in range(30)]
    await two.has_begun("r2", 2)
    two.server.kill()
    await asyncio.sleep(0.5)
    await two.server.start()
    assert {(await one).ending for one in jobs} == {Ending.OK}
    assert set(two.answers.values()) == {1}
    assert len(two.answers) == 30


async def test_a_broker_that_freezes_delays_and_loses_nothing(two: Fleet) -> None:
    bot = two.bot()
    await two.lives(bot, 1)
    jobs = [asyncio.create_task(two.result(bot, job(f"l{n}-1", "sleep 0.1"))) for n in range(5)]
    await two.has_begun("r1")
    two.server.freeze()
    await asyncio.sleep(2.0)
    two.server.thaw()
    assert {(await one).ending for one in jobs} == {Ending.OK}
    assert set(two.answers.values()) == {1}


async def test_a_bot_started_before_broker_and_runner_waits_for_both(tmp_path: Path) -> None:
    async with fleet(tmp_path) as one:
        one.server.kill()
        following = asyncio.create_task(one.result(one.bot(), job("a-1")))
        one.launch("r1")
        await asyncio.sleep(0.3)
        await one.server.start()
        assert (await following).ending is Ending.OK


async def test_a_learners_third_job_waits_and_another_learners_does_not(two: Fleet) -> None:
    bot = two.bot()
    await two.lives(bot, 1)
    flood = [asyncio.create_task(two.result(bot, job(f"a-{n}", "sleep 0.3"))) for n in range(8)]
    await two.has_begun("r1")
    other = asyncio.create_task(two.result(bot, job("b-1")))
    await other
    assert sum(one.done() for one in flood) <= 3
    assert {(await one).ending for one in flood} == {Ending.OK}


async def test_a_running_job_is_cancelled_at_once(two: Fleet) -> None:
    bot = two.bot()
    following = asyncio.create_task(two.result(bot, job("a-1", "wait")))
    await two.has_begun("r1")
    await bot.cancel("a-1")
    assert (await following).ending is Ending.CANCELLED
    assert (await two.result(bot, job("b-1"))).ending is Ending.OK


async def test_what_a_liar_says_is_refused_and_the_truth_is_told(two: Fleet, caplog: pytest.LogCaptureFixture) -> None:
    bot = two.bot()
    following = asyncio.create_task(two.result(bot, job("a-1", "sleep 1")))
    await two.has_begun("r1")
    attempt = attempt_id("a-1", 1)
    lie = pack(ToldFinished(attempt, Finished(Result(attempt, JobKind.RUN, Ending.TAMPERED))), TELL_BYTES)[4:]
    right = proof(KEY, attempt, "r2")
    line = await connect(Broker(two.server.address), "liar")
    stream = line.jetstream()
    for runner, given in (("r2", right), ("r1", right), ("r1", ""), ("r2", proof(KEY, attempt, "r1"))):
        headers = {names.PROOF: given, names.PART: "1/1", names.LIFE: "x"}
        await stream.publish(result_subject(runner, attempt), lie, headers=headers)
    await line.close()
    assert (await following).ending is Ending.OK
    assert caplog.text.count("not its own") >= 4


@pytest.mark.parametrize(
    ("part", "body"),
    [
        ("1/1", b'{"say": "pong"}'),
        ("1/200", b"x" * PART_BYTES),
    ],
)
async def test_a_result_that_cannot_be_read_is_refused_and_the_job_goes_elsewhere(
    two: Fleet, part: str, body: bytes
) -> None:
    bot = two.bot()
    following = asyncio.create_task(two.result(bot, job("a-1", "hang at first")))
    await two.has_begun("r1")
    two.launch("r2")
    await two.lives(bot, 3)
    attempt = attempt_id("a-1", 1)
    headers = {names.PROOF: proof(KEY, attempt, "r1"), names.PART: part, names.LIFE: "x"}
    line = await connect(Broker(two.server.address), "liar")
    await line.jetstream().publish(result_subject("r1", attempt), body, headers=headers)
    await line.close()
    assert (await following).ending is Ending.OK
    assert two.begun("r2") == [attempt_id("a-1", 2)]


async def test_a_runner_of_another_version_gets_no_job(tmp_path: Path) -> None:
    async with fleet(tmp_path) as one:
        bot = one.bot()
        following = asyncio.create_task(one.result(bot, job("a-1")))
        line = await connect(Broker(one.server.address), "newer")
        for _ in range(5):
            beat = Beat(PROTOCOL_VERSION + 1, "r9", "life", (), CAPABILITIES)
            await line.publish("alive.r9", written(beat))
            await line.publish("alive.r8", b"{")
            await asyncio.sleep(0.1)
        assert not following.done()
        one.launch("r1")
        assert (await following).ending is Ending.OK
        with pytest.raises(NotFoundError):
            await line.jetstream().consumer_info(names.JOBS, "r9")
        await line.close()


async def play(one: Fleet, points: int, rng: random.Random) -> None:
    """At random points kill or freeze a runner or kill the broker; each point has six jobs of three learners."""
    bots = [one.bot(), one.bot()]
    for name in ("r1", "r2", "r3"):
        one.launch(name)
    await one.lives(bots[0], 6)
    jobs = []
    for point in range(points):
        for n in range(6):
            wanted = job(f"l{n % 3}-{point}-{n}", f"sleep {rng.uniform(0.01, 0.3):.2f}")
            jobs.append(asyncio.create_task(one.result(rng.choice(bots), wanted)))
        await asyncio.sleep(rng.uniform(0.0, 0.3))
        name = rng.choice(("r1", "r2", "r3"))
        match rng.choice(("kill", "freeze", "broker")):
            case "kill":
                one.kill(name)
                one.launch(name)
            case "freeze":
                one.signal(name, signal.SIGSTOP)
                await asyncio.sleep(rng.uniform(0.2, 1.5))
                one.signal(name, signal.SIGCONT)
            case _:
                one.server.kill()
                await asyncio.sleep(rng.uniform(0.0, 0.5))
                await one.server.start()
        if len(jobs) > 60:
            await asyncio.gather(*jobs[:-30])
    endings = [result.ending for result in await asyncio.gather(*jobs)]
    assert set(endings) == {Ending.OK}
    assert len(one.answers) == len(jobs) == 6 * points
    assert set(one.answers.values()) == {1}
    begun = [attempt for name in ("r1", "r2", "r3") for attempt in one.begun(name)]
    print(f"{points} points, {len(jobs)} jobs answered once each, {len(begun)} runs begun")  # noqa: T201


async def test_at_ten_random_points_every_job_is_answered_exactly_once(tmp_path: Path) -> None:
    async with fleet(tmp_path) as one:
        await play(one, 10, random.Random(12))  # noqa: S311 - a script


@pytest.mark.soak
async def test_at_two_hundred_random_points_every_job_is_answered_exactly_once(tmp_path: Path) -> None:
    async with fleet(tmp_path) as one:
        await play(one, 200, random.Random(13))  # noqa: S311 - a script
