"""Beyond this host both ends reach the broker by TLS, and trust only who they were told to trust."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nats_server import NatsServer

from sandbox_runner.broker.line import Broker, connect
from sandbox_runner.errors import UnavailableError

SECURE = """
listen: "127.0.0.1:{port}"
tls {{ cert_file: "{folder}/cert.pem", key_file: "{folder}/key.pem" }}
"""


@pytest.fixture
async def secure(tmp_path: Path) -> AsyncIterator[NatsServer]:
    folder = tmp_path / "nats"
    folder.mkdir()
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"), "-days", "2", "-subj", "/CN=broker"]
    subprocess.run([*words, "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)  # noqa: ASYNC221
    server = NatsServer(folder, SECURE)
    await server.start()
    yield server
    server.kill()


async def test_a_broker_with_a_certificate_of_ones_own_is_reached_by_naming_it(secure: NatsServer) -> None:
    address = secure.address.replace("nats://", "nats+tls://")
    line = await connect(Broker(address, authority=secure.folder / "cert.pem"), "x")
    assert line.is_connected
    await line.close()


async def test_a_broker_whose_certificate_nobody_vouches_for_is_refused(secure: NatsServer) -> None:
    with pytest.raises(UnavailableError, match="not trusted"):
        await connect(Broker(secure.address.replace("nats://", "nats+tls://")), "x")
