"""A broker without room, for jobs, for results, or on its disk: jobs wait, none is lost or doubled, and it is said."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from fleet import KEY, Fleet, fleet, full, job
from nats_server import PLAIN
from stand_in import TIMES

from sandbox_runner.broker import depot, names
from sandbox_runner.broker.line import Broker
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Ending

ROOM = 8 << 20
BROAD = "say " + "x" * 8192
"""A job that does not fit at the end of a file on a full disk."""


@pytest.fixture
async def one(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path) as found:
        found.launch("r1")
        yield found


async def test_jobs_wait_for_room_are_cancelled_meanwhile_or_turned_away_and_none_runs_twice(one: Fleet) -> None:
    patient = one.bot()
    impatient = BrokerRunner(Broker(one.server.address), KEY, replace(TIMES, bound_s=0.5))
    one.bots.append(impatient)
    await asyncio.gather(one.lives(patient, 2), one.lives(impatient, 2))
    for stream in (names.JOBS, names.RUNS):
        async with full(one, stream):
            jobs = [asyncio.create_task(one.result(patient, job(f"l{n % 3}-{n}{stream}"))) for n in range(6)]
            unwanted = asyncio.create_task(one.result(patient, job(f"z-{stream}")))
            refused = await asyncio.gather(*(one.result(impatient, job(f"k-{n}{stream}")) for n in range(3)))
            assert {result.ending for result in refused} == {Ending.QUEUE_FULL}
            await patient.cancel(f"z-{stream}")
            assert (await asyncio.wait_for(unwanted, 5)).ending is Ending.CANCELLED
            assert not any(each.done() for each in jobs)
        assert [(await each).ending for each in jobs] == [Ending.OK] * 6
        assert (await one.result(impatient, job(f"k-4{stream}"))).ending is Ending.OK
    assert set(one.answers.values()) == {1}
    assert len(one.begun("r1")) == 2 * 7


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
        await asyncio.sleep(0.8)
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
