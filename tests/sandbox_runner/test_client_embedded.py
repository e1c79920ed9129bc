import asyncio
import contextlib
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sandbox_runner.client import EmbeddedRunner, RunnerClient
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Ending, Finished, Job, JobKind, Phase
from sandbox_runner.testing import CAPABILITIES

STAND_IN = (sys.executable, str(Path(__file__).with_name("stand_in_runner.py")))


def job(job_id: str, source: str) -> Job:
    return Job(job_id, JobKind.RUN, source, "learner")


async def ending(client: RunnerClient, one: Job) -> Ending:
    async with asyncio.timeout(60):
        last = [event async for event in client.submit(one)][-1]
    assert isinstance(last, Finished)
    return last.result.ending


def seen(pid: int | None, name: str) -> bytes:
    """Give what anyone on the host may read of a process."""
    return Path(f"/proc/{pid}/{name}").read_bytes()


def alive(pid: int) -> bool:
    """Say whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():  # noqa: ASYNC110 - another process's life has no event here
            await asyncio.sleep(0.02)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "TASREE_RUNNER_LOCK": str(tmp_path / "lock")}


@pytest.fixture
async def embedded(environment: dict[str, str]) -> AsyncIterator[EmbeddedRunner]:
    one = EmbeddedRunner(environment, program=STAND_IN)
    yield one
    await one.close()


async def test_a_runner_of_the_bots_own_answers_and_is_gone_afterwards(embedded: EmbeddedRunner) -> None:
    client = await embedded.start()
    assert (await client.capabilities()).kinds == CAPABILITIES.kinds
    assert await ending(client, job("a1", "say x")) is Ending.OK
    pid, folder = embedded.pid, embedded._folder
    assert pid is not None
    assert folder is not None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    await embedded.close()
    assert not alive(pid)
    assert not folder.exists()


async def test_the_secret_is_neither_an_argument_nor_in_the_environment(embedded: EmbeddedRunner) -> None:
    await embedded.start()
    for name in ("cmdline", "environ"):
        assert embedded._secret.encode() not in seen(embedded.pid, name)


async def test_only_the_runners_part_of_the_environment_is_passed_on(environment: dict[str, str]) -> None:
    secrets = {"TELEGRAM_TOKEN": "t0ken", "TASREE_RUNNER_SECRET": "s3cret-of-another", "PYTHONPATH": "/x"}
    one = EmbeddedRunner(environment | secrets, program=STAND_IN)
    try:
        await one.start()
        given = seen(one.pid, "environ")
        assert b"TASREE_RUNNER_LOCK" in given
        assert not any(value.encode() in given for value in ("t0ken", "s3cret", "PYTHONPATH"))
    finally:
        await one.close()


async def test_a_runner_that_dies_is_started_again_and_takes_up_the_job(embedded: EmbeddedRunner) -> None:
    client = await embedded.start()
    first = embedded.pid
    assert first is not None
    following = asyncio.create_task(ending(client, job("a1", "wait")))
    await asyncio.sleep(0.2)
    os.kill(first, signal.SIGKILL)
    await until(lambda: embedded.pid not in {None, first})
    await client.cancel("a1")
    assert await following is Ending.CANCELLED
    assert await ending(client, job("b1", "say x")) is Ending.OK


async def test_a_runner_that_cannot_start_says_so_and_leaves_nothing(environment: dict[str, str]) -> None:
    one = EmbeddedRunner(environment, arguments=["--a-wall-is-missing"], program=STAND_IN)
    with pytest.raises(UnavailableError, match="ended with status 3"):
        await one.start()
    assert one._folder is not None
    assert not one._folder.exists()
    assert one.pid is None


async def test_a_long_folder_for_temporary_files_does_not_break_the_socket(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    one = EmbeddedRunner(environment, program=STAND_IN)
    try:
        await one.start()
    finally:
        await one.close()


BOT = """
import asyncio, sys
from sandbox_runner.client import EmbeddedRunner
from sandbox_runner.protocol import Job, JobKind

async def main():
    runner = EmbeddedRunner({environment!r}, program={program!r})
    client = await runner.start()
    events = client.submit(Job("a1", JobKind.RUN, "wait", "learner"))
    await anext(events)
    print(runner.pid, runner._folder, flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


@pytest.mark.parametrize("hung", [False, True])
def test_killing_the_bot_ends_its_runner_and_removes_its_folder(environment: dict[str, str], *, hung: bool) -> None:
    code = textwrap.dedent(BOT).format(environment=environment, program=STAND_IN)
    bot = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert bot.stdout is not None
    pid, folder = bot.stdout.readline().split()
    try:
        assert alive(int(pid))
        if hung:
            os.kill(int(pid), signal.SIGSTOP)
        bot.kill()
        bot.wait()
        if hung:
            os.kill(int(pid), signal.SIGCONT)
        deadline = time.monotonic() + 60
        while alive(int(pid)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not alive(int(pid))
        assert not Path(folder).exists()
    finally:
        bot.stdout.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.sandbox
async def test_jobs_of_several_learners_run_behind_real_walls_and_an_endless_one_is_cancelled(
    environment: dict[str, str], learners_python: Path
) -> None:
    runner = EmbeddedRunner(environment | {"TASREE_SANDBOX_PYTHON": str(learners_python)})
    try:
        client = await runner.start()
        assert all(wall.stands for wall in (await client.capabilities()).walls if wall.matters)
        endless = client.submit(Job("endless", JobKind.RUN, "while True:\n    pass", "a"))
        others = [
            asyncio.create_task(ending(client, Job(f"j{number}", JobKind.RUN, source, f"l{number}")))
            for number, source in enumerate(("print(1)", "1/0", "def", "import os; os._exit(3)"))
        ]
        async for event in endless:
            if getattr(event, "phase", None) is Phase.RUN:
                await client.cancel("endless")
            last = event
        assert isinstance(last, Finished)
        assert last.result.ending is Ending.CANCELLED
        got = [await other for other in others]
        assert got == [Ending.OK, Ending.PY_ERROR, Ending.SYNTAX_ERROR, Ending.EXIT_NONZERO]
    finally:
        await runner.close()
