"""What a runner's key opens at the broker, tried with the shipped configuration: its own jobs, and nothing else."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fleet import KEY, job
from nats.aio.client import Client
from nats_server import NatsServer
from stand_in import TIMES

from sandbox_runner.broker.line import Broker, connect
from sandbox_runner.broker.pulling import Puller
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.errors import SetupError, UnavailableError
from sandbox_runner.protocol import Ending, Finished
from sandbox_runner.testing import StandInRunner

DEPLOY = Path(__file__).parents[3] / "deploy" / "nats"


UTTERED = """
    jobs.r1.x jobs.r2.x runs.x results.r2.x progress.r2.x alive.r2 cancel.r2 cancel.r1 bots.cancel dead.r1.x
    _INBOX.x _INBOX.r2.x $JS.API.CONSUMER.MSG.NEXT.JOBS.r2 $JS.API.CONSUMER.MSG.NEXT.DEAD.bots
    $JS.ACK.JOBS.r2.1.1.1.1.1 $JS.ACK.DEAD.bots.1.1.1.1.1 $JS.API.INFO $JS.API.STREAM.NAMES
    $JS.API.STREAM.INFO.JOBS $JS.API.STREAM.DELETE.JOBS $JS.API.STREAM.PURGE.JOBS $JS.API.STREAM.CREATE.X
    $JS.API.STREAM.UPDATE.JOBS $JS.API.STREAM.MSG.GET.JOBS $JS.API.STREAM.MSG.DELETE.JOBS
    $JS.API.DIRECT.GET.JOBS $JS.API.CONSUMER.CREATE.JOBS $JS.API.CONSUMER.CREATE.JOBS.x.jobs.r2.x
    $JS.API.CONSUMER.DURABLE.CREATE.JOBS.r2 $JS.API.CONSUMER.DELETE.JOBS.r1 $JS.API.CONSUMER.INFO.JOBS.r2
    $JS.API.CONSUMER.LIST.JOBS $JS.API.CONSUMER.PAUSE.JOBS.r2 $JS.API.STREAM.SNAPSHOT.JOBS
    $JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.JOBS.r2 $SYS.REQ.SERVER.PING $KV.x.y $O.x.C.y
"""
OVERHEARD = """
    > jobs.> jobs.r1.* jobs.r2.* results.> results.r1.* runs.* alive.* progress.> cancel.r2 cancel.* bots.*
    _INBOX.> _INBOX.r2.> _INBOX.* dead.> $JS.API.> $JS.ACK.> $JS.EVENT.> $SYS.>
"""


@dataclass(frozen=True, slots=True)
class Guarded:
    """A broker with the shipped rules, and where each one's key lies."""

    server: NatsServer
    folder: Path

    def broker(self, name: str) -> Broker:
        """Give what one connects with."""
        return Broker(self.server.address, self.folder / f"{name}.nk")


def users(folder: Path, *words: str) -> int:
    return subprocess.run([sys.executable, DEPLOY / "users.py", "--folder", folder, *words], check=False).returncode


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[Guarded]:
    folder = tmp_path / "nats"
    folder.mkdir()
    for name in ("bot", "r1", "r2"):
        assert users(folder, "add", name, "--seed", str(folder / f"{name}.nk")) == 0
    shipped = (DEPLOY / "nats-server.conf").read_text()
    bare = re.sub(r"^tls \{.*?^\}|^http: .*?$", "", shipped, flags=re.DOTALL | re.MULTILINE)
    bare = bare.replace("{", "{{").replace("}", "}}")
    text = bare.replace("0.0.0.0:4222", "127.0.0.1:{port}").replace("/var/lib/nats", "{folder}/store")
    server = NatsServer(folder, text)
    await server.start()
    yield Guarded(server, folder)
    server.kill()


async def ending(bot: BrokerRunner, job_id: str, source: str) -> Ending:
    async with asyncio.timeout(20):
        last = [event async for event in bot.submit(job(job_id, source))][-1]
    assert isinstance(last, Finished)
    return last.result.ending


async def refused(line: Client, act: str, subject: str) -> bool:
    """Try to publish or to hear something, and say whether the broker refused it."""
    said: list[str] = []

    async def fault(error: Exception) -> None:
        said.append(str(error).lower())

    line._error_cb = fault
    if act == "publish":
        await line.publish(subject, b"{}")
    else:
        await line.subscribe(subject)
    await line.flush()
    for _ in range(50):
        if said:
            return "permissions violation" in said[0] and subject.lower() in said[0]
        await asyncio.sleep(0.01)
    return False


async def test_a_runners_key_takes_its_own_jobs_and_opens_nothing_else(guarded: Guarded, tmp_path: Path) -> None:
    bot = BrokerRunner(guarded.broker("bot"), KEY, TIMES)
    stand_in = StandInRunner(tmp_path, "not used, but long enough")
    line = await connect(guarded.broker("r1"), "r1", inbox="_INBOX.r1")
    puller = Puller(line, "r1", "life", stand_in.dispatcher, stand_in._journal, TIMES)
    await puller.start()
    assert (await bot.capabilities()).slots
    assert await ending(bot, "a-1", "say x") is Ending.OK
    assert await ending(bot, "b-1", "files 2000000") is Ending.OK

    thief = await connect(guarded.broker("r1"), "thief", inbox="_INBOX.r1")
    opened = [
        f"{act} {subject}"
        for act, subjects in (("publish", UTTERED), ("hear", OVERHEARD))
        for subject in subjects.split()
        if not await refused(thief, act, subject)
    ]
    assert opened == []
    assert await ending(bot, "c-1", "say x") is Ending.OK
    await thief.close()
    await puller.drain(0.0)
    await line.close()
    await bot.close()


async def test_without_a_key_nobody_comes_in(guarded: Guarded) -> None:
    with pytest.raises(UnavailableError, match="refused this key"):
        await connect(Broker(guarded.server.address), "stranger")


async def test_a_key_is_changed_without_a_stop(guarded: Guarded) -> None:
    old = guarded.broker("r1")
    assert users(guarded.folder, "add", "r1", "--seed", str(guarded.folder / "r1-new.nk")) == 0
    guarded.server.reload()
    new = Broker(guarded.server.address, guarded.folder / "r1-new.nk")
    for one in (old, new):
        line = await until_in(one)
        await line.close()
    assert users(guarded.folder, "keep-newest", "r1") == 0
    guarded.server.reload()
    await (await until_in(new)).close()
    await until_out(old)


async def test_keys_of_a_bot_and_a_runner_at_work_are_changed_and_no_job_is_lost(
    guarded: Guarded, tmp_path: Path
) -> None:
    bot = BrokerRunner(guarded.broker("bot"), KEY, TIMES)
    stand_in = StandInRunner(tmp_path, "not used, but long enough")
    line = await connect(guarded.broker("r1"), "r1", inbox="_INBOX.r1")
    puller = Puller(line, "r1", "life", stand_in.dispatcher, stand_in._journal, TIMES)
    await puller.start()
    endings: list[Ending] = []
    changed = False

    async def work() -> None:
        number = 0
        while not changed or number < 10:
            endings.append(await ending(bot, f"a-{number}", "sleep 0.05"))
            number += 1

    working = asyncio.create_task(work())
    for name in ("r1", "bot"):
        old = (guarded.folder / f"{name}.nk").read_bytes()
        (guarded.folder / f"{name}-old.nk").write_bytes(old)
        fresh = guarded.folder / f"{name}-new.nk"
        assert users(guarded.folder, "add", name, "--seed", str(fresh)) == 0
        guarded.server.reload()
        await (await until_in(Broker(guarded.server.address, fresh), name)).close()  # both are accepted now
        await (await until_in(Broker(guarded.server.address, guarded.folder / f"{name}-old.nk"), name)).close()
        shutil.copyfile(fresh, guarded.folder / f"{name}.nk")
        await asyncio.sleep(2.0)
        assert users(guarded.folder, "keep-newest", name) == 0
        guarded.server.reload()
        await until_out(Broker(guarded.server.address, guarded.folder / f"{name}-old.nk"))
    count = len(endings)
    changed = True
    await working
    assert await ending(bot, "b-1", "say x") is Ending.OK
    assert len(endings) > count
    assert set(endings) == {Ending.OK}
    await puller.drain(0.0)
    await line.close()
    await bot.close()


async def until_in(broker: Broker, name: str = "r1") -> Client:
    async with asyncio.timeout(10):
        while True:
            try:
                return await connect(broker, name, inbox=f"_INBOX.{name}")
            except UnavailableError:
                await asyncio.sleep(0.05)


async def until_out(broker: Broker) -> None:
    async with asyncio.timeout(10):
        while True:
            try:
                line = await connect(broker, "r1", inbox="_INBOX.r1")
            except UnavailableError:
                return
            await line.close()
            await asyncio.sleep(0.05)


async def test_beyond_this_host_nothing_goes_without_tls() -> None:
    with pytest.raises(SetupError, match=r"nats\+tls"):
        await connect(Broker("nats://192.0.2.1:4222"), "x")


def test_a_key_lies_in_one_file_that_its_owner_alone_reads(tmp_path: Path) -> None:
    assert users(tmp_path, "add", "gpu-1", "--seed", str(tmp_path / "seed")) == 0
    assert (tmp_path / "seed").stat().st_mode & 0o777 == 0o600
    seed = (tmp_path / "seed").read_text().strip()
    assert seed.startswith("SU")
    kept = (tmp_path / "users.json").read_text() + (tmp_path / "users.conf").read_text()
    assert seed not in kept
    assert json.loads((tmp_path / "users.json").read_text())["gpu-1"][0] in kept
    assert users(tmp_path, "add", "Gpu.1", "--seed", str(tmp_path / "other")) == 2
    assert users(tmp_path, "remove", "nobody") == 2
    assert users(tmp_path, "remove", "gpu-1") == 0
    assert "nkey" not in (tmp_path / "users.conf").read_text()
