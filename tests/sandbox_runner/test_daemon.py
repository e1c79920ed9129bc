import asyncio
import json
import os
import random
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox_runner.client import RunnerClient
from sandbox_runner.codec import encode
from sandbox_runner.daemon import OUTBOX, Patience
from sandbox_runner.dispatch import Rules
from sandbox_runner.errors import UnavailableError
from sandbox_runner.frames import (
    ASK_BYTES,
    TELL_BYTES,
    Hello,
    Ping,
    Pong,
    Refusal,
    Refused,
    Rejected,
    Submit,
    Tell,
    ToldFinished,
    Welcome,
    pack,
    read_body,
    tell_of,
)
from sandbox_runner.protocol import PROTOCOL_VERSION, Ending, Finished, Job, JobKind
from sandbox_runner.testing import CAPABILITIES, StandInRunner

SECRET = "correct horse battery staple"  # noqa: S105 - the tests' own
QUICK = Patience(handshake_s=0.3, body_s=0.3, idle_s=5.0, write_s=1.0, strangers=64, bots=8)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
async def runner(tmp_path: Path) -> AsyncIterator[StandInRunner]:
    async with StandInRunner(tmp_path, SECRET, Rules(slots=2), QUICK) as one:
        yield one


async def opened(runner: StandInRunner) -> Streams:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    writer.write(pack(Hello(PROTOCOL_VERSION, SECRET), ASK_BYTES))
    assert isinstance(await hear(reader), Welcome)
    return reader, writer


async def answers(runner: StandInRunner) -> bool:
    """Say whether a bot that comes now has a job run."""
    client = RunnerClient(str(runner.path), SECRET)
    try:
        job = Job(os.urandom(6).hex(), JobKind.RUN, "say still here", "someone")
        async with asyncio.timeout(20):
            return [type(event) async for event in client.submit(job)][-1] is Finished
    finally:
        await client.close()


async def hear(reader: asyncio.StreamReader) -> Tell:
    async with asyncio.timeout(20):
        return tell_of(await read_body(reader, TELL_BYTES))


async def hear_end(reader: asyncio.StreamReader) -> Refused | None:
    """Give the reason for which the connection ended, if one was told."""
    async with asyncio.timeout(20):
        try:
            while True:
                tell = tell_of(await read_body(reader, TELL_BYTES))
                if isinstance(tell, Refused):
                    return tell
        except (EOFError, OSError):
            return None


def raw(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


async def test_a_right_hello_is_answered_with_the_capabilities(runner: StandInRunner) -> None:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    writer.write(pack(Hello(PROTOCOL_VERSION, SECRET), ASK_BYTES))
    assert await hear(reader) == Welcome(CAPABILITIES)
    writer.close()


@pytest.mark.parametrize("secret", ["", "wrong", SECRET + "x", SECRET[:-1], "سر", "\ud800"])
async def test_a_wrong_secret_is_refused_by_code_and_shown_nowhere(runner: StandInRunner, secret: str) -> None:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    writer.write(pack(Hello(PROTOCOL_VERSION, secret), ASK_BYTES))
    assert await hear(reader) == Refused(Refusal.BAD_SECRET)
    assert await reader.read() == b""
    assert SECRET not in runner.log.getvalue()
    assert not secret.strip() or secret not in runner.log.getvalue()
    writer.close()


async def test_another_version_is_refused_naming_both(runner: StandInRunner) -> None:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    writer.write(raw(json.dumps({"say": "hello", "version": 7, "proof": [1]}).encode()))
    refused = await hear(reader)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.ours, refused.yours) == (Refusal.BAD_VERSION, PROTOCOL_VERSION, 7)
    writer.close()


async def test_a_mistyped_hello_is_not_quoted_back_or_logged(runner: StandInRunner) -> None:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    writer.write(raw(json.dumps({"say": "hello", "version": 1, "secret": [SECRET]}).encode()))
    refused = await hear(reader)
    assert isinstance(refused, Refused)
    assert refused.code is Refusal.BAD_FRAME
    assert SECRET not in refused.detail + runner.log.getvalue()
    writer.close()


@pytest.mark.parametrize(
    "bytes_sent",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\xff" * 64,
        raw(b"not json"),
        raw(b"[]"),
        raw(b"[" * 4000),
        raw(b'{"say":"submit"}'),
        struct.pack(">I", 0xFFFFFFFF),
        struct.pack(">I", 0),
        struct.pack(">I", 5000) + b"x" * 5000,
    ],
)
async def test_garbage_instead_of_a_hello_ends_the_connection_and_nothing_else(
    runner: StandInRunner, bytes_sent: bytes
) -> None:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    writer.write(bytes_sent)
    refused = await hear_end(reader)
    assert refused is None or refused.code is Refusal.BAD_FRAME
    writer.close()
    assert await answers(runner)


@pytest.mark.parametrize("sent", [b"", b"\0", raw(b'{"say":"hello","version":1}')[:-3]])
async def test_a_hello_that_does_not_come_is_not_waited_for(runner: StandInRunner, sent: bytes) -> None:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    writer.write(sent)
    await hear_end(reader)
    async with asyncio.timeout(20):
        assert await reader.read() == b""
    writer.close()


async def test_a_hello_that_dribbles_byte_by_byte_is_not_waited_for(runner: StandInRunner) -> None:
    reader, writer = await asyncio.open_unix_connection(runner.path)
    ended = asyncio.create_task(hear_end(reader))
    with suppress(OSError):
        for byte in pack(Hello(PROTOCOL_VERSION, SECRET), ASK_BYTES):
            if ended.done():
                break
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)
    await ended
    assert ended.done()
    writer.close()


@pytest.mark.parametrize(
    "bytes_sent",
    [
        raw(b"not json"),
        raw(b'{"say":"shutdown"}'),
        raw(b'{"say":"submit","job":{}}'),
        raw(json.dumps({"say": "submit", "job": encode(Job("a", JobKind.RUN, "", "l")) | {"uid": 0}}).encode()),
        raw(b'{"say":"cancel","job_id":{}}'),
        struct.pack(">I", ASK_BYTES + 1),
        pack(Ping(), ASK_BYTES)[:-1],
    ],
)
async def test_garbage_from_a_bot_ends_its_connection_and_no_job(runner: StandInRunner, bytes_sent: bytes) -> None:
    reader, writer = await opened(runner)
    writer.write(pack(Submit(Job("a1", JobKind.RUN, "wait", "a")), ASK_BYTES))
    await hear(reader)
    writer.write(bytes_sent)
    refused = await hear_end(reader)
    assert refused is not None
    assert refused.code is Refusal.BAD_FRAME
    assert runner.worker.under_way == {"a1"}
    writer.close()
    assert await answers(runner)


async def test_random_bytes_never_bring_the_runner_down(runner: StandInRunner) -> None:
    dice = random.Random(7)  # noqa: S311 - repeatable noise
    for _ in range(60):
        reader, writer = await (opened(runner) if dice.random() < 0.5 else asyncio.open_unix_connection(runner.path))
        body = dice.randbytes(dice.randrange(1, 200))
        writer.write(raw(body) if dice.random() < 0.5 else body)
        if dice.random() < 0.5:
            writer.transport.abort()
        else:
            writer.close()
        del reader
    assert await answers(runner)
    assert "fault" not in runner.log.getvalue()


async def test_a_thousand_connections_that_say_nothing_keep_no_bot_out(tmp_path: Path) -> None:
    async with StandInRunner(tmp_path, SECRET, patience=Patience(handshake_s=30.0, strangers=32)) as runner:
        held: list[socket.socket] = []
        try:
            for _ in range(1000):
                one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                one.settimeout(0)
                one.connect(str(runner.path))
                held.append(one)
                if len(held) % 100 == 0:
                    await asyncio.sleep(0)
            assert await answers(runner)
            assert len(runner.daemon._strangers) <= 32
        finally:
            for one in held:
                one.close()


async def test_more_bots_than_allowed_are_told_so(tmp_path: Path) -> None:
    async with StandInRunner(tmp_path, SECRET, patience=Patience(bots=2)) as runner:
        first, second = await opened(runner), await opened(runner)
        client = RunnerClient(str(runner.path), SECRET)
        with pytest.raises(UnavailableError, match="too_many"):
            await client.capabilities()
        first[1].close()
        await asyncio.sleep(0.1)
        assert await client.capabilities() == CAPABILITIES
        await client.close()
        second[1].close()


async def test_one_connection_carries_many_jobs(runner: StandInRunner) -> None:
    reader, writer = await opened(runner)
    for number in range(6):
        writer.write(pack(Submit(Job(f"j{number}", JobKind.RUN, f"say {number}", f"l{number}")), ASK_BYTES))
    outputs: dict[str, str] = {}
    while len(outputs) < 6:
        tell = await hear(reader)
        if isinstance(tell, ToldFinished):
            outputs[tell.job_id] = tell.event.result.stdout.head
    assert outputs == {f"j{number}": str(number) for number in range(6)}
    writer.close()


async def test_a_malformed_job_is_rejected_and_the_connection_goes_on(runner: StandInRunner) -> None:
    reader, writer = await opened(runner)
    writer.write(pack(Submit(Job("../a", JobKind.RUN, "say x", "l")), ASK_BYTES))
    rejected = await hear(reader)
    assert isinstance(rejected, Rejected)
    assert (rejected.job_id, rejected.code) == ("../a", Refusal.BAD_JOB)
    writer.write(pack(Ping(), ASK_BYTES))
    assert await hear(reader) == Pong()
    writer.close()


async def test_a_disconnected_bot_finds_its_jobs_result_again(runner: StandInRunner) -> None:
    job = Job("a1", JobKind.RUN, "wait", "a")
    reader, writer = await opened(runner)
    writer.write(pack(Submit(job), ASK_BYTES))
    await hear(reader)
    writer.transport.abort()
    await asyncio.sleep(0.05)
    assert runner.worker.under_way == {"a1"}
    runner.worker.let_go("a1")
    await asyncio.sleep(0.05)
    reader, writer = await opened(runner)
    writer.write(pack(Submit(job), ASK_BYTES))
    tells = [await hear(reader) for _ in range(3)]
    assert isinstance(tells[-1], ToldFinished)
    assert tells[-1].event.result.ending is Ending.OK
    assert runner.worker.started == ["a1"]
    writer.close()


async def test_a_bot_that_does_not_listen_is_not_read_from_without_end(runner: StandInRunner) -> None:
    reader, writer = await opened(runner)
    ask = pack(Submit(Job("../a", JobKind.RUN, "x" * 500, "l")), ASK_BYTES)
    writer.transport.set_write_buffer_limits(high=1 << 16)
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(0.5):
            for _ in range(200 * OUTBOX):
                writer.write(ask)
                await writer.drain()
    for outbox in runner.daemon._bots.values():
        assert len(outbox._answers) <= OUTBOX
    writer.transport.abort()
    del reader
    assert await answers(runner)


async def test_a_refused_frame_or_job_puts_no_code_into_the_log(runner: StandInRunner) -> None:
    reader, writer = await opened(runner)
    writer.write(pack(Submit(Job("a1", JobKind.RUN, "x", "l", filename="../my-code.py")), ASK_BYTES))
    assert isinstance(await hear(reader), Rejected)
    writer.write(raw(b'{"say":"submit","job":{"id":["my-code"],"kind":"run","source":"","learner":"l"}}'))
    refused = await hear_end(reader)
    assert refused is not None
    assert "my-code" in refused.detail
    assert "my-code" not in runner.log.getvalue()
    assert '"$.job.id"' in runner.log.getvalue()
    writer.close()
