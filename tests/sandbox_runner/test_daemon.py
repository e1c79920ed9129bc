import asyncio
import io
import json
import os
import random
import socket
import struct
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sandbox_runner.client import RunnerClient
from sandbox_runner.codec import encode
from sandbox_runner.daemon import OUTBOX, Daemon, Patience
from sandbox_runner.dispatch import Dispatcher, Rules
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
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal
from sandbox_runner.listening import server_tls, unix_socket
from sandbox_runner.protocol import PROTOCOL_VERSION, Ending, Finished, Job, JobKind
from sandbox_runner.testing import CAPABILITIES, StandInWorker

SECRET = "correct horse battery staple"  # noqa: S105 - the tests' own
QUICK = Patience(handshake_s=0.3, body_s=0.3, idle_s=5.0, write_s=1.0, strangers=64, bots=8)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Served:
    """A daemon on a socket in a folder of the test's, with its stand-in worker and log."""

    def __init__(self, folder: Path, patience: Patience = QUICK) -> None:
        self.path = folder / "runner"
        self.worker = StandInWorker()
        self.log = io.StringIO()
        journal = Journal(self.log, lambda: datetime(2026, 1, 1, tzinfo=UTC), b"salt")
        self.dispatcher = Dispatcher(
            self.worker,
            CAPABILITIES,
            Rules(slots=2),
            lock=HostLock(folder / "lock"),
            clock=asyncio.get_running_loop().time,
            journal=journal,
        )
        self.daemon = Daemon(self.dispatcher, SECRET, journal, patience)

    async def open(self, secret: str = SECRET) -> Streams:
        reader, writer = await asyncio.open_unix_connection(self.path)
        writer.write(pack(Hello(PROTOCOL_VERSION, secret), ASK_BYTES))
        assert isinstance(await hear(reader), Welcome)
        return reader, writer

    async def answers(self) -> bool:
        """Say whether a bot that comes now has a job run."""
        client = RunnerClient(str(self.path), SECRET)
        try:
            job = Job(os.urandom(6).hex(), JobKind.RUN, "say still here", "someone")
            async with asyncio.timeout(20):
                return [type(event) async for event in client.submit(job)][-1] is Finished
        finally:
            await client.close()


@asynccontextmanager
async def serving(folder: Path, patience: Patience = QUICK) -> AsyncIterator[Served]:
    served = Served(folder, patience)
    with unix_socket(served.path) as listener:
        server = await asyncio.start_unix_server(served.daemon.connected, sock=listener, backlog=1024)
        try:
            yield served
        finally:
            server.close()
            await served.dispatcher.stop(0.0)
            await served.daemon.close()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(tmp_path) as one:
        yield one


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


async def test_a_right_hello_is_answered_with_the_capabilities(served: Served) -> None:
    reader, writer = await asyncio.open_unix_connection(served.path)
    writer.write(pack(Hello(PROTOCOL_VERSION, SECRET), ASK_BYTES))
    assert await hear(reader) == Welcome(CAPABILITIES)
    writer.close()


@pytest.mark.parametrize("secret", ["", "wrong", SECRET + "x", SECRET[:-1], "سر", "\ud800"])
async def test_a_wrong_secret_is_refused_by_code_and_shown_nowhere(served: Served, secret: str) -> None:
    reader, writer = await asyncio.open_unix_connection(served.path)
    writer.write(pack(Hello(PROTOCOL_VERSION, secret), ASK_BYTES))
    assert await hear(reader) == Refused(Refusal.BAD_SECRET)
    assert await reader.read() == b""
    assert SECRET not in served.log.getvalue()
    assert not secret.strip() or secret not in served.log.getvalue()
    writer.close()


async def test_another_version_is_refused_naming_both(served: Served) -> None:
    reader, writer = await asyncio.open_unix_connection(served.path)
    writer.write(raw(json.dumps({"say": "hello", "version": 7, "proof": [1]}).encode()))
    refused = await hear(reader)
    assert isinstance(refused, Refused)
    assert (refused.code, refused.ours, refused.yours) == (Refusal.BAD_VERSION, PROTOCOL_VERSION, 7)
    writer.close()


async def test_a_mistyped_hello_is_not_quoted_back_or_logged(served: Served) -> None:
    reader, writer = await asyncio.open_unix_connection(served.path)
    writer.write(raw(json.dumps({"say": "hello", "version": 1, "secret": [SECRET]}).encode()))
    refused = await hear(reader)
    assert isinstance(refused, Refused)
    assert refused.code is Refusal.BAD_FRAME
    assert SECRET not in refused.detail + served.log.getvalue()
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
    served: Served, bytes_sent: bytes
) -> None:
    reader, writer = await asyncio.open_unix_connection(served.path)
    writer.write(bytes_sent)
    refused = await hear_end(reader)
    assert refused is None or refused.code is Refusal.BAD_FRAME
    writer.close()
    assert await served.answers()


@pytest.mark.parametrize("sent", [b"", b"\0", raw(b'{"say":"hello","version":1}')[:-3]])
async def test_a_hello_that_does_not_come_is_not_waited_for(served: Served, sent: bytes) -> None:
    reader, writer = await asyncio.open_unix_connection(served.path)
    writer.write(sent)
    await hear_end(reader)
    async with asyncio.timeout(20):
        assert await reader.read() == b""
    writer.close()


async def test_a_hello_that_dribbles_byte_by_byte_is_not_waited_for(served: Served) -> None:
    reader, writer = await asyncio.open_unix_connection(served.path)
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
async def test_garbage_from_a_bot_ends_its_connection_and_no_job(served: Served, bytes_sent: bytes) -> None:
    reader, writer = await served.open()
    writer.write(pack(Submit(Job("a1", JobKind.RUN, "wait", "a")), ASK_BYTES))
    await hear(reader)
    writer.write(bytes_sent)
    refused = await hear_end(reader)
    assert refused is not None
    assert refused.code is Refusal.BAD_FRAME
    assert served.worker.under_way == {"a1"}
    writer.close()
    assert await served.answers()


async def test_random_bytes_never_bring_the_runner_down(served: Served) -> None:
    dice = random.Random(7)  # noqa: S311 - repeatable noise
    for _ in range(60):
        reader, writer = await (served.open() if dice.random() < 0.5 else asyncio.open_unix_connection(served.path))
        body = dice.randbytes(dice.randrange(1, 200))
        writer.write(raw(body) if dice.random() < 0.5 else body)
        if dice.random() < 0.5:
            writer.transport.abort()
        else:
            writer.close()
        del reader
    assert await served.answers()
    assert "fault" not in served.log.getvalue()


async def test_a_thousand_connections_that_say_nothing_keep_no_bot_out(tmp_path: Path) -> None:
    async with serving(tmp_path, Patience(handshake_s=30.0, strangers=32)) as served:
        held: list[socket.socket] = []
        try:
            for _ in range(1000):
                one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                one.settimeout(0)
                one.connect(str(served.path))
                held.append(one)
                if len(held) % 100 == 0:
                    await asyncio.sleep(0)
            assert await served.answers()
            assert len(served.daemon._strangers) <= 32
        finally:
            for one in held:
                one.close()


async def test_more_bots_than_allowed_are_told_so(tmp_path: Path) -> None:
    async with serving(tmp_path, Patience(bots=2)) as served:
        first, second = await served.open(), await served.open()
        client = RunnerClient(str(served.path), SECRET)
        with pytest.raises(UnavailableError, match="too_many"):
            await client.capabilities()
        first[1].close()
        await asyncio.sleep(0.1)
        assert await client.capabilities() == CAPABILITIES
        await client.close()
        second[1].close()


async def test_one_connection_carries_many_jobs(served: Served) -> None:
    reader, writer = await served.open()
    for number in range(6):
        writer.write(pack(Submit(Job(f"j{number}", JobKind.RUN, f"say {number}", f"l{number}")), ASK_BYTES))
    outputs: dict[str, str] = {}
    while len(outputs) < 6:
        tell = await hear(reader)
        if isinstance(tell, ToldFinished):
            outputs[tell.job_id] = tell.event.result.stdout.head
    assert outputs == {f"j{number}": str(number) for number in range(6)}
    writer.close()


async def test_a_malformed_job_is_rejected_and_the_connection_goes_on(served: Served) -> None:
    reader, writer = await served.open()
    writer.write(pack(Submit(Job("../a", JobKind.RUN, "say x", "l")), ASK_BYTES))
    rejected = await hear(reader)
    assert isinstance(rejected, Rejected)
    assert (rejected.job_id, rejected.code) == ("../a", Refusal.BAD_JOB)
    writer.write(pack(Ping(), ASK_BYTES))
    assert await hear(reader) == Pong()
    writer.close()


async def test_a_disconnected_bot_finds_its_jobs_result_again(served: Served) -> None:
    job = Job("a1", JobKind.RUN, "wait", "a")
    reader, writer = await served.open()
    writer.write(pack(Submit(job), ASK_BYTES))
    await hear(reader)
    writer.transport.abort()
    await asyncio.sleep(0.05)
    assert served.worker.under_way == {"a1"}
    served.worker.let_go("a1")
    await asyncio.sleep(0.05)
    reader, writer = await served.open()
    writer.write(pack(Submit(job), ASK_BYTES))
    tells = [await hear(reader) for _ in range(3)]
    assert isinstance(tells[-1], ToldFinished)
    assert tells[-1].event.result.ending is Ending.OK
    assert served.worker.started == ["a1"]
    writer.close()


async def test_a_bot_that_does_not_listen_is_not_read_from_without_end(served: Served) -> None:
    reader, writer = await served.open()
    ask = pack(Submit(Job("../a", JobKind.RUN, "x" * 500, "l")), ASK_BYTES)
    writer.transport.set_write_buffer_limits(high=1 << 16)
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(0.5):
            for _ in range(200 * OUTBOX):
                writer.write(ask)
                await writer.drain()
    for outbox in served.daemon._bots.values():
        assert len(outbox._answers) <= OUTBOX
    writer.transport.abort()
    del reader
    assert await served.answers()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Make a certificate for 127.0.0.1 that signs itself."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj", "/CN=runner"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(words, check=True, capture_output=True)
    return certificate, key


@asynccontextmanager
async def serving_tls(served: Served, certificate: tuple[Path, Path]) -> AsyncIterator[int]:
    server = await asyncio.start_server(
        served.daemon.connected, "127.0.0.1", 0, ssl=server_tls(*certificate), ssl_handshake_timeout=0.5
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_a_bot_that_trusts_the_certificate_runs_a_job_over_tls(
    served: Served, certificate: tuple[Path, Path]
) -> None:
    async with serving_tls(served, certificate) as port:
        client = RunnerClient(f"tls://127.0.0.1:{port}", SECRET, authority=certificate[0])
        events = [event async for event in client.submit(Job("a1", JobKind.RUN, "say x", "a"))]
        assert isinstance(events[-1], Finished)
        await client.close()


async def test_a_certificate_that_is_not_trusted_gets_no_secret(served: Served, certificate: tuple[Path, Path]) -> None:
    async with serving_tls(served, certificate) as port:
        client = RunnerClient(f"tls://127.0.0.1:{port}", SECRET)
        with pytest.raises(UnavailableError, match="certificate verify failed"):
            await client.capabilities()
        await client.close()


async def test_plain_bytes_on_the_tls_port_get_nowhere(served: Served, certificate: tuple[Path, Path]) -> None:
    async with serving_tls(served, certificate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(pack(Hello(PROTOCOL_VERSION, SECRET), ASK_BYTES))
        with suppress(OSError):
            assert b"welcome" not in await reader.read()
        writer.close()
        assert await served.answers()
