"""That a runner that is served becomes warm by itself, and leaves no parent behind."""

import asyncio
import os
from pathlib import Path

import pytest

from sandbox_runner.client import EmbeddedRunner, RunnerClient
from sandbox_runner.protocol import Ending, Finished, Job, JobKind, Result
from sandbox_runner.sandbox.watchdog import tree

pytestmark = pytest.mark.sandbox


async def run(client: RunnerClient, name: str) -> Result:
    async with asyncio.timeout(60):
        last = [event async for event in client.submit(Job(name, JobKind.RUN, "print(6 * 7)", "learner"))][-1]
    assert isinstance(last, Finished)
    assert (last.result.ending, last.result.stdout.head) == (Ending.OK, "42\n")
    return last.result


async def test_a_runner_of_the_bots_own_starts_cold_at_first_then_warm_and_takes_its_parent_along(
    tmp_path: Path, learners_python: Path
) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "TASREE_SANDBOX_PYTHON": str(learners_python),
        "TASREE_RUNNER_LOCK": str(tmp_path / "lock"),
        "TASREE_RUNNER_BASE_UID": str(960_000 + os.getpid() % 10_000 * 8),
    }
    runner = EmbeddedRunner(environment)
    client = await runner.start()
    try:
        assert (await run(client, "first")).start == "cold:no_parent"
        tries = 0
        async with asyncio.timeout(90):
            while (await run(client, f"later-{tries}")).start != "warm":
                tries += 1
                await asyncio.sleep(0.3)
        assert runner.pid is not None
        below = {*tree(runner.pid)} - {runner.pid}
        assert below != set()
    finally:
        await runner.close()
    async with asyncio.timeout(30):
        while any(Path("/proc", str(pid)).exists() for pid in below):  # noqa: ASYNC110, ASYNC240 - nobody tells
            await asyncio.sleep(0.05)
