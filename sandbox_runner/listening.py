"""Where a runner listens: a private Unix socket, or TCP with TLS.

Law: a socket that someone answers on is never taken over, and what is not a socket is never removed.
"""

import errno
import os
import socket
import ssl
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox_runner.errors import SetupError

PATH_BYTES = 107
"""A Unix socket's address holds 108 bytes, the last of them 0 (unix(7))."""
BACKLOG = 1024


@contextmanager
def unix_socket(path: Path) -> Iterator[socket.socket]:
    """Listen on a new socket of mode 600 at `path`, replacing one that nobody answers on; remove it at the end.

    Raises:
        SetupError: the path is too long, is taken by something else or by a living runner, or cannot be bound.
    """
    if len(os.fsencode(path)) > PATH_BYTES:
        message = f"the socket's path {path} has {len(os.fsencode(path))} bytes; at most {PATH_BYTES} fit an address"
        raise SetupError(message)
    _clear(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        before = os.umask(0o177)  # from its first moment nobody else can connect
        try:
            listener.bind(os.fspath(path))
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
        listener.settimeout(0)
        mine = path.lstat().st_ino
    except OSError as fault:
        listener.close()
        message = f"cannot listen on {path}: {fault.strerror}"
        raise SetupError(message) from None
    try:
        yield listener
    finally:
        listener.close()
        with suppress(OSError):
            if path.lstat().st_ino == mine:
                path.unlink()


def _clear(path: Path) -> None:
    """Remove a socket that nobody answers on."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as fault:
        message = f"cannot look at {path}: {fault.strerror}"
        raise SetupError(message) from None
    if not stat.S_ISSOCK(mode):
        message = f"{path} exists and is not a socket; it is left as it is"
        raise SetupError(message)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0)
        answer = probe.connect_ex(os.fspath(path))
    if answer != errno.ECONNREFUSED:
        message = f"a runner already listens on {path}" if answer in {0, errno.EAGAIN} else f"{path} cannot be tried"
        raise SetupError(message)
    path.unlink()


def server_tls(certificate: Path, key: Path) -> ssl.SSLContext:
    """Make the TLS settings of a runner: version 1.2 at least, its certificate and key.

    Raises:
        SetupError: naming the file that cannot be used.
    """
    for name, path in (("certificate", certificate), ("key", key)):
        if not path.is_file():
            message = f"the TLS {name} {path} is not there"
            raise SetupError(message)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        tls.load_cert_chain(certificate, key)
    except (ssl.SSLError, OSError) as fault:
        message = f"the TLS certificate {certificate} and key {key} cannot be used: {fault}"
        raise SetupError(message) from None
    return tls
