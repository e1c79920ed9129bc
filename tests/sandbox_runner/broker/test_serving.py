"""The commands and settings that lead to a broker, with real processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import nkeys
import pytest
from nats_server import NatsServer

from bot import hosting
from bot.errors import SettingsError
from bot.settings import load
from sandbox_runner.protocol import Ending, Finished, Job, JobKind

PROGRAM = Path(__file__).parents[1] / "stand_in_runner.py"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nats", "nats://192.0.2.1:4222", "--name", "r1"], "--nats 'nats://192.0.2.1:4222' is not nats://"),
        (["--nats", "nats://127.0.0.1:4222"], "needs a name"),
        (["--nats", "nats://127.0.0.1:4222", "--name", "R.1"], "--name 'R.1' is not 1 to 32"),
        (["--nats", "nats://127.0.0.1:4222", "--name", "r1", "--socket", "s"], "not both"),
    ],
)
def test_a_wrong_call_is_told(words: list[str], said: str) -> None:
    done = subprocess.run([sys.executable, PROGRAM, "serve", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr


async def test_a_bot_set_to_a_broker_has_its_jobs_run_by_a_runner_that_serves_there(tmp_path: Path) -> None:
    server = NatsServer(tmp_path / "nats")
    await server.start()
    environment = {"PATH": os.environ["PATH"], "TASREE_RUNNER_LOCK": str(tmp_path / "lock")}
    words = [sys.executable, str(PROGRAM), "serve", "--nats", server.address, "--name", "r1"]
    runner = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True)  # noqa: ASYNC220 - it returns at once
    seed = tmp_path / "seed"
    seed.write_bytes(nkeys.encode_seed(bytes(32), nkeys.PREFIX_BYTE_USER))  # this server asks for none
    settings = load(
        {
            "TASREE_DATA": str(tmp_path / "data"),
            "TASREE_RUNNER": server.address,
            "TASREE_RUNNER_SECRET_FILE": str(seed),
        }
    )
    try:
        async with hosting.open_runner(settings, {}) as held:
            last = [event async for event in held.submit(Job("a1", JobKind.RUN, "say x", "l"))][-1]
        assert isinstance(last, Finished)
        assert last.result.ending is Ending.OK
        runner.send_signal(signal.SIGTERM)
        assert runner.wait(20) == 0
        assert runner.stderr is not None
        assert '"event": "stopped"' in runner.stderr.read()
    finally:
        runner.kill()
        runner.communicate()
        server.kill()


@pytest.mark.parametrize("address", ["nats://192.0.2.1:4222", "nats+tls://u:p@broker:4222", "nats://127.0.0.1"])
def test_a_brokers_address_that_cannot_be_used_is_told_by_the_bot(address: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="TASREE_RUNNER="):
        load({"TASREE_DATA": str(tmp_path), "TASREE_RUNNER": address})
