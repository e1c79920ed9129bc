import socket
import ssl
import stat
import subprocess
from pathlib import Path

import pytest

from sandbox_runner.errors import SetupError
from sandbox_runner.listening import server_tls, unix_socket


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
