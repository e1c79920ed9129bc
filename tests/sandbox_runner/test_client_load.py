import asyncio
import os
from pathlib import Path

from sandbox_runner.client import RunnerClient
from sandbox_runner.dispatch import Rules
from sandbox_runner.protocol import Ending, Finished, Job, JobKind, Result
from sandbox_runner.testing import StandInRunner

SECRET = "correct horse battery staple"  # noqa: S105 - the tests' own


async def result(client: RunnerClient, job: Job) -> Result:
    last = [event async for event in client.submit(job)][-1]
    assert isinstance(last, Finished)
    return last.result


async def test_jobs_of_twenty_learners_are_neither_lost_nor_mixed_up_nor_run_twice(tmp_path: Path) -> None:
    async with StandInRunner(tmp_path, SECRET, Rules(slots=4)) as runner:
        clients = [RunnerClient(str(runner.path), SECRET) for _ in range(3)]
        endings: dict[str, Ending] = {}

        async def learn(learner: int) -> None:
            for number in range(20):
                job_id = f"l{learner}-{number}"
                word = ("say", "say", "raise", "fail_once")[(learner + number) % 4]
                kind = JobKind.TIME if number % 5 == 0 else JobKind.RUN
                got = await result(clients[learner % 3], Job(job_id, kind, f"{word} {job_id}", f"l{learner}"))
                assert (got.job_id, got.kind) == (job_id, kind)
                assert got.ending is (Ending.INFRA_ERROR if word == "raise" else Ending.OK)
                assert word == "raise" or got.stdout.head == job_id
                endings[job_id] = got.ending

        async with asyncio.timeout(100):
            await asyncio.gather(*(learn(learner) for learner in range(20)))
        assert len(endings) == 400
        again = {job_id: runner.worker.started.count(job_id) for job_id in endings}
        for job_id, times in again.items():
            learner, number = (int(part) for part in job_id.removeprefix("l").split("-"))
            assert times == (1 if (learner + number) % 4 < 2 else 2)
        assert runner.dispatcher.counts() == {"queued": 0, "running": 0, "kept": 400}
        for client in clients:
            await client.close()


async def test_whoever_always_holds_two_delays_nobody_by_more_than_a_turn_each(tmp_path: Path) -> None:
    async with StandInRunner(tmp_path, SECRET, Rules(a_minute=100_000)) as runner:
        client = RunnerClient(str(runner.path), SECRET)
        flooding = True
        overtaken: list[int] = []

        async def flood(thread: int) -> None:
            number = 0
            while flooding:
                number += 1
                await result(client, Job(f"flood-{thread}-{number}", JobKind.RUN, "say x", "flooder"))

        async def learn(learner: int) -> None:
            for number in range(15):
                before = len(runner.worker.started)
                job_id = f"l{learner}-{number}"
                await result(client, Job(job_id, JobKind.RUN, "say x", f"l{learner}"))
                overtaken.append(runner.worker.started.index(job_id) - before)

        floods = [asyncio.create_task(flood(thread)) for thread in range(2)]
        async with asyncio.timeout(100):
            await asyncio.gather(*(learn(learner) for learner in range(4)))
        flooding = False
        await asyncio.gather(*floods)
        # Before a learner's job: the one that runs, and one of each of the four others.
        assert max(overtaken) <= 5
        await client.close()


async def test_connections_and_jobs_leave_no_descriptor_open(tmp_path: Path) -> None:
    async with StandInRunner(tmp_path, SECRET) as runner:

        async def visit(number: int) -> None:
            client = RunnerClient(str(runner.path), SECRET)
            await result(client, Job(f"j{number}", JobKind.TIME, "say x", f"l{number}"))
            await client.close()

        await visit(0)
        await asyncio.sleep(0.1)
        before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - the kernel's own list
        for number in range(1, 40):
            await visit(number)
        await asyncio.sleep(0.1)
        assert len(os.listdir("/proc/self/fd")) <= before  # noqa: PTH208 - the kernel's own list
