"""A broker without room, for jobs, for results, or on its disk: jobs wait, none is lost or doubled, and it is said."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from fleet import KEY, Fleet, fleet, job
from nats.js.api import DiscardPolicy, StreamConfig
from nats_server import PLAIN
from stand_in import TIMES

from sandbox_runner.broker import depot, names
from sandbox_runner.broker.line import Broker, connect
from sandbox_runner.broker.streams import STREAMS
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Ending

ROOM = 8 << 20
BROAD = "say " + "x" * 8192
"""A job that does not fit at the end of a file on a full disk."""


def shipped(stream: str) -> StreamConfig:
    return next(each for each in STREAMS if each.name == stream)


async def changed(one: Fleet, config: StreamConfig) -> None:
    """Have the broker keep a stream otherwise."""
    line = await connect(Broker(one.server.address), "operator")
    await line.jetstream().update_stream(config)
    await line.close()


@asynccontextmanager
async def full(one: Fleet, stream: str) -> AsyncIterator[None]:
    """Leave no room in a stream while it lasts."""
    await changed(one, replace(shipped(stream), max_bytes=1, discard=DiscardPolicy.NEW))
    yield
    await changed(one, shipped(stream))


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path) as found:
        found.launch("r1")
        yield found


@pytest.mark.parametrize("stream", [names.JOBS, names.RUNS])
async def test_jobs_wait_for_room_at_the_broker_and_each_is_answered_once(one: Fleet, stream: str) -> None:
    bot = one.bot()
    await one.lives(bot, 2)
    async with full(one, stream):
        jobs = [asyncio.create_task(one.result(bot, job(f"l{n % 3}-{n}"))) for n in range(6)]
        await asyncio.sleep(0.8)
        assert not any(each.done() for each in jobs)
        assert one.begun("r1") == []
    assert [(await each).ending for each in jobs] == [Ending.OK] * 6
    assert sorted(one.answers.values()) == [1] * 6
    assert len(one.begun("r1")) == 6


async def test_a_broker_that_stays_full_turns_jobs_away_and_takes_them_once_there_is_room(one: Fleet) -> None:
    bot = BrokerRunner(Broker(one.server.address), KEY, replace(TIMES, bound_s=0.5))
    one.bots.append(bot)
    await one.lives(bot, 2)
    async with full(one, names.JOBS):
        results = await asyncio.gather(*(one.result(bot, job(f"l{n % 3}-{n}")) for n in range(6)))
        assert {result.ending for result in results} == {Ending.QUEUE_FULL}
    assert (await one.result(bot, job("l0-6"))).ending is Ending.OK
    assert len(one.begun("r1")) == 1


async def test_a_job_that_waits_for_room_is_cancelled_at_once_and_never_starts(one: Fleet) -> None:
    bot = one.bot()
    await one.lives(bot, 2)
    async with full(one, names.JOBS):
        following = asyncio.create_task(one.result(bot, job("a-1")))
        await asyncio.sleep(0.4)
        await bot.cancel("a-1")
        assert (await asyncio.wait_for(following, 5)).ending is Ending.CANCELLED
    assert (await one.result(bot, job("a-2"))).ending is Ending.OK
    assert len(one.begun("r1")) == 1


async def test_a_job_on_its_way_to_a_broker_that_froze_is_cancelled(one: Fleet) -> None:
    bot = one.bot()
    await one.lives(bot, 2)
    one.server.freeze()
    following = asyncio.create_task(one.result(bot, job("a-1")))
    await asyncio.sleep(0.2)
    await bot.cancel("a-1")
    assert (await asyncio.wait_for(following, 10)).ending is Ending.CANCELLED
    one.server.thaw()
    assert (await one.result(bot, job("a-2"))).ending is Ending.OK


async def test_a_result_that_finds_no_room_is_told_once_there_is_some_and_its_job_runs_once(one: Fleet) -> None:
    bot = one.bot()
    await one.lives(bot, 2)
    async with full(one, names.RESULTS):
        jobs = [asyncio.create_task(one.result(bot, job(f"{learner}-1"))) for learner in "abcd"]
        await one.has_begun("r1", 2)
        await asyncio.sleep(1.2 * TIMES.ack_wait_s)
        assert not any(each.done() for each in jobs)
    assert [(await each).ending for each in jobs] == [Ending.OK] * 4
    assert len(one.begun("r1")) == 4
    assert set(one.answers.values()) == {1}


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Give a disk of a few MiB while it lasts; only root may make one."""
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", folder], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip(f"a disk of its own could not be made: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> Path:
    """Leave no room on a disk; give what has it."""
    filler = disk / "filler"
    to = os.open(filler, os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(to, bytes(4096))
    except OSError:
        os.close(to)
    return filler


async def test_a_broker_whose_disk_is_full_is_named_and_after_a_start_with_room_nothing_is_lost_or_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(depot, "ANSWER_S", 1.0)
    with small_disk(tmp_path / "disk") as disk:
        async with fleet(tmp_path, PLAIN.replace("{folder}/store", f"{disk}/store")) as one:
            one.launch("r1")
            bot = one.bot()
            await one.lives(bot, 2)
            running = [asyncio.create_task(one.result(bot, job(f"{learner}-1", "sleep 0.5"))) for learner in "ab"]
            await one.has_begun("r1", 2)
            filler = fill(disk)
            waiting = [asyncio.create_task(one.result(bot, job(f"{learner}-2", BROAD))) for learner in "abcd"]
            with pytest.raises(UnavailableError, match="keeps nothing in RUNS: is its disk full, or was it"):
                await bot.capabilities()
            filler.unlink()
            assert not any(each.done() for each in waiting)
            one.server.kill()
            await one.server.start()
            assert [(await each).ending for each in (*running, *waiting)] == [Ending.OK] * 6
            await one.lives(bot, 2)
            assert set(one.answers.values()) == {1}
            assert len(one.begun("r1")) == 6
