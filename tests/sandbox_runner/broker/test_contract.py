"""What a bot may rely on from any runner, held against the Unix socket's client and the broker's end alike."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nats_server import NatsServer

from bot.ports import Runner
from sandbox_runner.broker.line import Broker, connect
from sandbox_runner.broker.names import Times
from sandbox_runner.broker.pulling import Puller
from sandbox_runner.broker.submitting import BrokerRunner
from sandbox_runner.client import Backoff, RunnerClient
from sandbox_runner.dispatch import Rules
from sandbox_runner.errors import JobRefusedError, UnavailableError
from sandbox_runner.protocol import Accepted, Device, Ending, Event, Finished, Job, JobKind, Phase, Progress
from sandbox_runner.testing import CAPABILITIES, StandInRunner, StandInWorker

SECRET = "correct horse battery staple"  # noqa: S105 - the tests' own
KEY = b"the tests' own key, 32 bytes....."
TIMES = Times(beat_s=0.1, gone_s=0.6, ack_wait_s=1.5, bound_s=3.0, cancel_s=1.0)


@dataclass(slots=True)
class Around:
    """A runner as a bot holds it, a second bot's hold of it, and the worker behind it."""

    runner: Runner
    another: Callable[[], Runner]
    worker: StandInWorker

    async def running(self, count: int) -> None:
        """Wait until the worker has so many jobs under way."""
        async with asyncio.timeout(20):
            while len(self.worker.under_way) < count:  # noqa: ASYNC110 - the stand-in has no event
                await asyncio.sleep(0.005)

    def let_go(self) -> None:
        """Let all that is under way end."""
        for job_id in tuple(self.worker.under_way):
            self.worker.let_go(job_id)


@contextlib.asynccontextmanager
async def over_socket(folder: Path) -> AsyncIterator[Around]:
    async with contextlib.AsyncExitStack() as stack:
        stand_in = await stack.enter_async_context(StandInRunner(folder, SECRET, Rules(slots=2)))

        def client() -> Runner:
            one = RunnerClient(str(stand_in.path), SECRET, backoff=Backoff(0.02, 0.1, 3.0))
            stack.push_async_callback(one.close)
            return one

        yield Around(client(), client, stand_in.worker)


@contextlib.asynccontextmanager
async def over_nats(folder: Path) -> AsyncIterator[Around]:
    async with contextlib.AsyncExitStack() as stack:
        server = NatsServer(folder / "nats")
        await server.start()
        stack.callback(server.kill)
        broker = Broker(server.address)
        stand_in = StandInRunner(folder, SECRET, Rules(slots=2))
        stand_in.dispatcher.capabilities = replace(CAPABILITIES, slots=2)
        line = await connect(broker, "r1", inbox="_INBOX.r1")
        stack.push_async_callback(line.close)
        puller = Puller(line, "r1", "life", stand_in.dispatcher, stand_in._journal, TIMES)
        await puller.start()
        stack.push_async_callback(puller.drain, 0.0)

        def client() -> Runner:
            one = BrokerRunner(broker, KEY, TIMES)
            stack.push_async_callback(one.close)
            return one

        yield Around(client(), client, stand_in.worker)


@pytest.fixture(params=[over_socket, over_nats], ids=["socket", "nats"])
async def around(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Around]:
    async with request.param(tmp_path) as one:
        yield one


def job(job_id: str = "a1", source: str = "wait", learner: str = "") -> Job:
    return Job(job_id, JobKind.RUN, source, learner or job_id[0])


async def followed(runner: Runner, one: Job) -> list[Event]:
    async with asyncio.timeout(20):
        return [event async for event in runner.submit(one)]


async def ending(runner: Runner, one: Job) -> Ending:
    last = (await followed(runner, one))[-1]
    assert isinstance(last, Finished)
    assert last.result.job_id == one.id
    return last.result.ending


async def test_capabilities_are_those_of_the_runner(around: Around) -> None:
    found = await around.runner.capabilities()
    assert (found.kinds, found.devices, found.machine) == (
        CAPABILITIES.kinds,
        CAPABILITIES.devices,
        CAPABILITIES.machine,
    )


async def test_a_job_gives_its_result(around: Around) -> None:
    last = (await followed(around.runner, job(source="say مرحبا")))[-1]
    assert isinstance(last, Finished)
    assert (last.result.job_id, last.result.ending, last.result.stdout.head) == ("a1", Ending.OK, "مرحبا")


async def test_progress_is_told_before_the_end(around: Around) -> None:
    following = asyncio.create_task(followed(around.runner, job()))
    await around.running(1)
    await asyncio.sleep(0.1)
    around.let_go()
    events = await following
    assert isinstance(events[0], Accepted)
    assert Progress(Phase.RUN) in events
    assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]


async def test_the_same_id_again_attaches(around: Around) -> None:
    both = [asyncio.create_task(ending(around.runner, job())) for _ in range(2)]
    await around.running(1)
    around.let_go()
    assert [await one for one in both] == [Ending.OK, Ending.OK]
    assert len(around.worker.started) == 1


async def test_a_second_bot_takes_up_a_job_of_the_first(around: Around) -> None:
    await anext(around.runner.submit(job()))
    await around.running(1)
    following = asyncio.create_task(ending(around.another(), job()))
    await asyncio.sleep(0.2)
    around.let_go()
    assert await following is Ending.OK
    assert len(around.worker.started) == 1


async def test_a_second_bot_is_given_the_end_of_a_job_that_ended(around: Around) -> None:
    assert await ending(around.runner, job(source="say x")) is Ending.OK
    assert await ending(around.another(), job(source="say x")) is Ending.OK
    assert len(around.worker.started) == 1


async def test_a_running_job_is_cancelled(around: Around) -> None:
    following = asyncio.create_task(ending(around.runner, job()))
    await around.running(1)
    await around.runner.cancel("a1")
    assert await following is Ending.CANCELLED
    assert len(around.worker.cancelled) == 1


async def test_a_waiting_job_that_is_cancelled_never_starts(around: Around) -> None:
    jobs = [asyncio.create_task(ending(around.runner, job(f"{learner}1"))) for learner in "abcdef"]
    await around.running(2)
    last = asyncio.create_task(ending(around.runner, job("g1")))
    await asyncio.sleep(0.2)
    await around.runner.cancel("g1")
    assert await last is Ending.CANCELLED
    while not all(one.done() for one in jobs):
        around.let_go()
        await asyncio.sleep(0.02)
    assert [await one for one in jobs] == [Ending.OK] * 6
    assert len(around.worker.started) == 6


async def test_a_job_cancelled_by_a_second_bot_ends(around: Around) -> None:
    following = asyncio.create_task(ending(around.runner, job()))
    await around.running(1)
    await around.another().cancel("a1")
    assert await following is Ending.CANCELLED


async def test_a_job_cancelled_before_it_came_never_starts(around: Around) -> None:
    await around.runner.cancel("a1")
    assert await ending(around.runner, job()) is Ending.CANCELLED
    assert around.worker.started == []


async def test_a_fault_of_the_worker_is_tried_once_more_and_is_then_ours(around: Around) -> None:
    assert await ending(around.runner, job("a1", "fail_once")) is Ending.OK
    assert await ending(around.runner, job("b1", "raise")) is Ending.INFRA_ERROR


async def test_jobs_of_many_learners_all_end_once(around: Around) -> None:
    jobs = [job(f"{learner}{number}", "say x") for learner in "abcdefgh" for number in range(2)]
    assert await asyncio.gather(*(ending(around.runner, one) for one in jobs)) == [Ending.OK] * 16
    assert len(around.worker.started) == 16


async def test_what_the_runner_does_not_do_is_refused(around: Around) -> None:
    await around.runner.capabilities()
    with pytest.raises(JobRefusedError):
        await followed(around.runner, Job("a1", JobKind.RUN, "say x", "a", Device.CUDA))
    with pytest.raises(JobRefusedError, match="filename"):
        await followed(around.runner, Job("b1", JobKind.RUN, "say x", "a", filename="../x"))


async def test_a_source_that_no_wire_takes_is_too_large(around: Around) -> None:
    assert await ending(around.runner, job(source="#" * (2 << 20))) is Ending.TOO_LARGE


async def test_a_result_larger_than_a_letter_comes_whole(around: Around) -> None:
    last = (await followed(around.runner, job(source="files 3000000")))[-1]
    assert isinstance(last, Finished)
    assert [len(file.data) for file in last.result.files] == [3_000_000]


async def test_a_closed_end_says_that_it_is_closed(around: Around) -> None:
    runner = around.another()
    assert isinstance(runner, RunnerClient | BrokerRunner)
    following = asyncio.create_task(followed(runner, job()))
    await around.running(1)
    await runner.close()
    with pytest.raises(UnavailableError):
        await following
