import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sandbox_runner.client import Backoff, RunnerClient
from sandbox_runner.errors import AuthError, JobRefusedError, UnavailableError, WireError
from sandbox_runner.frames import ASK_BYTES, TELL_BYTES, Refusal, Rejected, ToldFinished, Welcome, pack, read_body
from sandbox_runner.listening import unix_socket
from sandbox_runner.protocol import Accepted, Device, Ending, Event, Finished, Job, JobKind, Phase, Progress, Result
from sandbox_runner.testing import CAPABILITIES, StandInRunner

SECRET = "correct horse battery staple"  # noqa: S105 - the tests' own
QUICK = Backoff(first_s=0.02, most_s=0.1, bound_s=20.0)


@pytest.fixture
async def runner(tmp_path: Path) -> AsyncIterator[StandInRunner]:
    async with StandInRunner(tmp_path, SECRET) as one:
        yield one


@pytest.fixture
async def client(runner: StandInRunner) -> AsyncIterator[RunnerClient]:
    one = RunnerClient(str(runner.path), SECRET, backoff=QUICK)
    yield one
    await one.close()


def job(job_id: str = "a1", source: str = "wait") -> Job:
    return Job(job_id, JobKind.RUN, source, job_id[0])


async def followed(client: RunnerClient, one: Job) -> list[Event]:
    async with asyncio.timeout(20):
        return [event async for event in client.submit(one)]


def result_of(events: list[Event]) -> Result:
    assert isinstance(events[-1], Finished)
    return events[-1].result


async def test_a_job_is_followed_to_its_result(client: RunnerClient) -> None:
    events = await followed(client, job(source="say hello"))
    assert isinstance(events[0], Accepted)
    assert (result_of(events).ending, result_of(events).stdout.head) == (Ending.OK, "hello")


async def test_the_capabilities_come_at_connect(client: RunnerClient) -> None:
    assert await client.capabilities() == CAPABILITIES


async def test_a_dropped_connection_is_not_noticed_but_in_time(runner: StandInRunner, client: RunnerClient) -> None:
    following = asyncio.create_task(followed(client, job()))
    await runner.running("a1")
    await runner.disappear()
    await asyncio.sleep(0.1)
    await runner.appear()
    runner.worker.let_go("a1")
    assert result_of(await following).ending is Ending.OK
    assert runner.worker.started == ["a1"]


async def test_a_job_that_ended_while_the_connection_was_lost_gives_its_result(
    runner: StandInRunner, client: RunnerClient
) -> None:
    following = asyncio.create_task(followed(client, job()))
    await runner.running("a1")
    await runner.disappear()
    runner.worker.let_go("a1")
    await asyncio.sleep(0.1)
    await runner.appear()
    assert result_of(await following).ending is Ending.OK
    assert runner.worker.started == ["a1"]


async def test_a_runner_started_anew_is_given_the_job_again(runner: StandInRunner, client: RunnerClient) -> None:
    following = asyncio.create_task(followed(client, job()))
    await runner.running("a1")
    await runner.die()
    runner.forget()
    await runner.appear()
    await runner.running("a1")
    runner.worker.let_go("a1")
    assert result_of(await following).ending is Ending.OK


async def test_a_runner_that_stays_away_is_unavailable_after_a_bounded_time(runner: StandInRunner) -> None:
    client = RunnerClient(str(runner.path), SECRET, backoff=Backoff(first_s=0.01, most_s=0.05, bound_s=0.3))
    following = asyncio.create_task(followed(client, job()))
    await runner.running("a1")
    await runner.die()
    runner.forget()
    with pytest.raises(UnavailableError):
        await following
    await runner.appear()
    await client.close()


async def test_following_a_job_twice_gives_both_its_end(runner: StandInRunner, client: RunnerClient) -> None:
    both = [asyncio.create_task(followed(client, job())) for _ in range(2)]
    await runner.running("a1")
    runner.worker.let_go("a1")
    assert [result_of(await one).ending for one in both] == [Ending.OK, Ending.OK]
    assert runner.worker.started == ["a1"]


async def test_no_longer_following_a_job_does_not_end_it(runner: StandInRunner, client: RunnerClient) -> None:
    async with contextlib.aclosing(client.submit(job())) as events:
        await anext(events)
    await runner.running("a1")
    runner.worker.let_go("a1")
    assert result_of(await followed(client, job())).ending is Ending.OK
    assert runner.worker.started == ["a1"]


async def test_a_cancelled_job_ends_as_cancelled(runner: StandInRunner, client: RunnerClient) -> None:
    following = asyncio.create_task(followed(client, job()))
    await runner.running("a1")
    await client.cancel("a1")
    assert result_of(await following).ending is Ending.CANCELLED
    assert runner.worker.cancelled == ["a1"]


async def test_a_job_cancelled_while_the_runner_is_away_never_starts_again(
    runner: StandInRunner, client: RunnerClient
) -> None:
    following = asyncio.create_task(followed(client, job()))
    await runner.running("a1")
    await runner.die()
    runner.forget()
    await client.cancel("a1")
    await runner.appear()
    assert result_of(await following).ending is Ending.CANCELLED
    assert runner.worker.started == []


async def test_cancelling_an_unknown_job_is_no_error(client: RunnerClient) -> None:
    await client.cancel("nothing")


async def test_a_job_that_the_runner_does_not_take_is_an_error_with_its_code(client: RunnerClient) -> None:
    with pytest.raises(JobRefusedError) as caught:
        await followed(client, Job("a1", JobKind.RUN, "say x", "a", device=Device.CUDA))
    assert caught.value.code == Refusal.UNSUPPORTED
    assert (await followed(client, job("b1", "say x")))[-1]


async def test_a_source_too_large_for_the_wire_is_too_large_without_being_sent(
    runner: StandInRunner, client: RunnerClient
) -> None:
    events = await followed(client, job(source="x" * 2_000_000))
    assert result_of(events).ending is Ending.TOO_LARGE
    assert runner.worker.started == []


async def test_a_closed_client_ends_its_streams(runner: StandInRunner, client: RunnerClient) -> None:
    following = asyncio.create_task(followed(client, job()))
    await runner.running("a1")
    await client.close()
    with pytest.raises(UnavailableError):
        await following
    with pytest.raises(UnavailableError, match="closed"):
        await client.capabilities()


class Hostile:
    """Something that listens like a runner and says what the test wants."""

    def __init__(self, path: Path, *said: bytes) -> None:
        self.path = path
        self.said = said
        self.ended = asyncio.Event()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, EOFError):
            await read_body(reader, ASK_BYTES)
            for piece in self.said:
                writer.write(piece)
            await writer.drain()
            await read_body(reader, ASK_BYTES)
            await asyncio.sleep(0.05)
        writer.transport.abort()
        self.ended.set()


@contextlib.asynccontextmanager
async def hostile(folder: Path, *said: bytes) -> AsyncIterator[RunnerClient]:
    one = Hostile(folder / "h", *said)
    client = RunnerClient(str(one.path), SECRET, backoff=Backoff(first_s=0.01, most_s=0.02, bound_s=0.3, attempts=5))
    with unix_socket(one.path) as listener:
        server = await asyncio.start_unix_server(one.connected, sock=listener)
        try:
            yield client
        finally:
            await client.close()
            await one.ended.wait()
            server.close()
            await asyncio.sleep(0)


WELCOME = pack(Welcome(CAPABILITIES), TELL_BYTES)


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        struct.pack(">I", 0xFFFFFFFF),
        struct.pack(">I", 2) + b"{}",
        pack(Rejected("a1", Refusal.BAD_JOB), TELL_BYTES),
    ],
)
async def test_what_does_not_speak_as_a_runner_is_a_wire_error(tmp_path: Path, said: bytes) -> None:
    async with hostile(tmp_path, said) as client:
        with pytest.raises(WireError):
            await client.capabilities()


async def test_a_result_of_another_job_is_not_believed(tmp_path: Path) -> None:
    forged = ToldFinished("a1", Finished(Result("b1", JobKind.RUN, Ending.OK)))
    async with hostile(tmp_path, WELCOME, pack(forged, TELL_BYTES)) as client:
        with pytest.raises((WireError, UnavailableError)):
            await followed(client, job())


async def test_a_runner_that_drops_every_connection_is_given_up(tmp_path: Path) -> None:
    async with hostile(tmp_path, WELCOME) as client:
        with pytest.raises(UnavailableError):
            await followed(client, job())


async def test_a_runner_that_falls_silent_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_runner.connection.PING_S", 0.1)

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_body(reader, ASK_BYTES)
        writer.write(WELCOME)
        with contextlib.suppress(OSError):
            await reader.read()
        writer.transport.abort()

    client = RunnerClient(str(tmp_path / "h"), SECRET, backoff=Backoff(first_s=0.01, bound_s=0.1, attempts=2))
    with unix_socket(tmp_path / "h") as listener:
        server = await asyncio.start_unix_server(mute, sock=listener)
        with pytest.raises(UnavailableError, match="silent for"):
            await followed(client, job())
        await client.close()
        server.close()


async def test_a_quiet_connection_is_kept_alive(
    runner: StandInRunner, client: RunnerClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox_runner.connection.PING_S", 0.05)
    await client.capabilities()
    connection = client._connection
    await asyncio.sleep(0.5)
    assert (await followed(client, job(source="say x")))[-1]
    assert client._connection is connection
    assert runner.worker.started == ["a1"]


async def test_unread_progress_does_not_pile_up(runner: StandInRunner, client: RunnerClient) -> None:
    events = client.submit(job())
    await anext(events)
    await runner.running("a1")
    run = runner.dispatcher._find("a1")
    assert run is not None
    for done in range(2_000):
        run.say(Progress(Phase.MEASURE, done, 2_000))
        await asyncio.sleep(0)
    runner.worker.let_go("a1")
    await asyncio.sleep(0.2)
    rest = [event async for event in events]
    assert len(rest) <= 3
    assert isinstance(rest[-1], Finished)


async def test_a_client_names_what_is_wrong(runner: StandInRunner) -> None:
    wrong = RunnerClient(f"unix:{runner.path}", "wrong secret")
    with pytest.raises(AuthError):
        await wrong.capabilities()
    with pytest.raises(UnavailableError, match="No such file"):
        await RunnerClient(f"{runner.path}x", SECRET).capabilities()
    for address in ("runner", "http://x:1", "tls://x", "tls://x:99999", "tls://:1", "unix:relative"):
        with pytest.raises(ValueError, match="is not a runner's address"):
            RunnerClient(address, SECRET)


async def test_a_client_of_another_version_names_both(runner: StandInRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandbox_runner.connection.PROTOCOL_VERSION", 9)
    with pytest.raises(WireError, match="version 1, this bot version 9"):
        await RunnerClient(str(runner.path), SECRET).capabilities()
