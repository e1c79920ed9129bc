"""Runners whose wall clock is hours or years from the bot's: what they do and say counts as anybody's."""

import asyncio
import json
import signal
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fleet import fleet, job
from nats_server import NatsServer
from test_tls import SECURE

from sandbox_runner.broker.line import Broker
from sandbox_runner.broker.seen import broker_seen
from sandbox_runner.looking import State
from sandbox_runner.protocol import Ending

HOUR = 3600.0
YEAR = 8766 * HOUR
DATES = """
[ca]
default_ca = dates
[dates]
new_certs_dir = {folder}
database = {folder}/index
serial = {folder}/serial
default_md = sha256
policy = names
copy_extensions = copy
[names]
commonName = supplied
"""


def clock_of(log: Path) -> list[datetime]:
    """Give the times that a runner wrote into its journal."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return [datetime.fromisoformat(line["time"]) for line in lines]


async def test_a_runner_ahead_and_one_behind_are_given_jobs_and_missed_as_soon_as_any(tmp_path: Path) -> None:
    async with fleet(tmp_path) as one:
        bot = one.bot()
        one.launch("r1", slots=1, ahead_s=30 * HOUR)
        one.launch("r2", slots=1, ahead_s=-4 * YEAR)
        await one.lives(bot, 2)
        results = await asyncio.gather(*(one.result(bot, job(f"l{n}-1", "sleep 0.2")) for n in range(8)))
        assert {result.ending for result in results} == {Ending.OK}
        assert {result.machine.name for result in results} == {"r1", "r2"}
        assert len(one.begun("r1")) + len(one.begun("r2")) == 8

        following = asyncio.create_task(one.result(bot, replace(job("a-1", "hang at first"), machine="r1")))
        await one.has_begun("r1", len(one.begun("r1")) + 1)
        one.signal("r1", signal.SIGSTOP)
        result = await asyncio.wait_for(following, 20)
        assert (result.ending, result.machine.name) == (Ending.OK, "r2")
        one.signal("r1", signal.SIGCONT)
        assert (await one.result(bot, job("b-1"))).ending is Ending.OK
        assert set(one.answers.values()) == {1}

        now = datetime.now(UTC)
        for name, least in (("r1", timedelta(hours=29)), ("r2", timedelta(days=1400))):
            written = clock_of(tmp_path / f"{name}.log")
            assert written
            assert all(abs(at - now) > least for at in written)


@pytest.mark.parametrize(
    ("dates", "said"),
    [
        (("20200101000000Z", "20210101000000Z"), "certificate has expired"),
        (("20900101000000Z", "20910101000000Z"), "certificate is not yet valid"),
    ],
)
async def test_where_a_clock_and_a_certificate_disagree_the_clock_is_named(
    tmp_path: Path, dates: tuple[str, str], said: str
) -> None:
    folder = tmp_path / "nats"
    folder.mkdir()
    config = folder / "openssl.cnf"
    config.write_text(DATES.format(folder=folder))
    (folder / "index").touch()
    (folder / "serial").write_text("01\n")
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=broker"]
    key, asked, signed = (str(folder / name) for name in ("key.pem", "asked.pem", "cert.pem"))
    ask = ["req", "-new", *curve, "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", asked]
    sign = ["ca", "-config", str(config), "-batch", "-notext", "-selfsign", "-keyfile", key, "-in", asked]
    for words in (ask, [*sign, "-startdate", dates[0], "-enddate", dates[1], "-out", signed]):
        subprocess.run(["openssl", *words], check=True, capture_output=True)  # noqa: ASYNC221
    server = NatsServer(folder, SECURE)
    await server.start()
    try:
        address = server.address.replace("nats://", "nats+tls://")
        found = await broker_seen(Broker(address, authority=folder / "cert.pem"), "x")
    finally:
        server.kill()
    assert (found.state, said in found.seen, "timedatectl" in found.step) == (State.BAD, True, True)
