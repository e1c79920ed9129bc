import asyncio
import socket
import ssl
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from sandbox_runner.client import RunnerClient
from sandbox_runner.errors import SetupError, UnavailableError
from sandbox_runner.frames import ASK_BYTES, Hello, pack
from sandbox_runner.listening import server_tls, unix_socket
from sandbox_runner.protocol import PROTOCOL_VERSION, Finished, Job, JobKind
from sandbox_runner.testing import StandInRunner

SECRET = "correct horse battery staple"  # noqa: S105 - the tests' own


@pytest.fixture
async def runner(tmp_path: Path) -> AsyncIterator[StandInRunner]:
    async with StandInRunner(tmp_path, SECRET) as one:
        yield one


async def test_the_socket_is_its_owners_alone_and_gone_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "runner"
    with unix_socket(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.exists()


def test_a_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "runner"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    assert path.exists()
    with unix_socket(path):
        assert path.exists()


def test_a_living_runners_socket_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "runner"
    with unix_socket(path), pytest.raises(SetupError, match="already listens"), unix_socket(path):
        pass
    assert not path.exists()


def test_what_is_not_a_socket_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes"
    path.write_text("mine")
    with pytest.raises(SetupError, match="is not a socket"), unix_socket(path):
        pass
    assert path.read_text() == "mine"


def test_a_path_too_long_for_an_address_is_named_with_its_length(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"at most 107"), unix_socket(tmp_path / ("x" * 120)):
        pass


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


def test_a_tls_file_that_is_not_there_is_named(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    with pytest.raises(SetupError, match=r"nothing\.pem is not there"):
        server_tls(tmp_path / "nothing.pem", certificate[1])
    with pytest.raises(SetupError, match="cannot be used"):
        server_tls(certificate[1], certificate[0])
    assert server_tls(*certificate).minimum_version >= ssl.TLSVersion.TLSv1_2


@asynccontextmanager
async def serving_tls(runner: StandInRunner, certificate: tuple[Path, Path]) -> AsyncIterator[int]:
    server = await asyncio.start_server(
        runner.daemon.connected, "127.0.0.1", 0, ssl=server_tls(*certificate), ssl_handshake_timeout=0.5
    )
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def test_a_bot_that_trusts_the_certificate_runs_a_job_over_tls(
    runner: StandInRunner, certificate: tuple[Path, Path]
) -> None:
    async with serving_tls(runner, certificate) as port:
        client = RunnerClient(f"tls://127.0.0.1:{port}", SECRET, authority=certificate[0])
        events = [event async for event in client.submit(Job("a1", JobKind.RUN, "say x", "a"))]
        assert isinstance(events[-1], Finished)
        await client.close()


async def test_an_untrusted_certificate_gets_no_secret(runner: StandInRunner, certificate: tuple[Path, Path]) -> None:
    async with serving_tls(runner, certificate) as port:
        client = RunnerClient(f"tls://127.0.0.1:{port}", SECRET)
        with pytest.raises(UnavailableError, match="certificate verify failed"):
            await client.capabilities()
        await client.close()


async def test_plain_bytes_on_the_tls_port_get_nowhere(runner: StandInRunner, certificate: tuple[Path, Path]) -> None:
    async with serving_tls(runner, certificate) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(pack(Hello(PROTOCOL_VERSION, SECRET), ASK_BYTES))
        with suppress(OSError):
            assert b"welcome" not in await reader.read()
        writer.close()
