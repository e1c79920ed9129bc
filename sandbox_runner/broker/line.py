"""A connection to the broker, for both ends: made again for as long as it takes.

Law: nothing is sent to a broker beyond this host but over TLS.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import nats
import nkeys
from nats.aio.client import Client
from nats.errors import Error

from sandbox_runner.errors import SetupError, UnavailableError

LOG = logging.getLogger("tasree.broker")
FAULTS = (Error, TimeoutError, OSError)
"""What the client raises when the broker is away, slow, or says no."""
AGAIN_S = 0.25
FIRST_S = 5.0
KEY_S = 1.0
"""So often the file of the key is looked at."""
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Broker:
    """Where the broker is (`nats://HOST:PORT`, or `nats+tls://`), our nkey seed's file, and a PEM file to trust."""

    address: str
    seed_file: Path | None = None
    authority: Path | None = None


async def connect(
    broker: Broker, name: str, reconnected: Callable[[], Awaitable[None]] | None = None, inbox: str = "_INBOX"
) -> Client:
    """Connect once; later losses are mended by the client itself, without end.

    Raises:
        UnavailableError: the broker does not answer or refused us.
        SetupError: the address leaves this host without TLS.
    """
    parts = urlsplit(broker.address)
    secure = parts.scheme == "nats+tls"
    if not secure and parts.hostname not in _LOOPBACK:
        message = f"{broker.address}: beyond this host TLS is needed, nats+tls://HOST:PORT"
        raise SetupError(message)
    tls = ssl.create_default_context(cafile=None if broker.authority is None else str(broker.authority))

    refused, why = asyncio.Event(), [f"no answer within {FIRST_S:g} s"]

    async def fault(error: Exception) -> None:
        LOG.warning("broker: %s %s", type(error).__name__, str(error)[:120])
        if isinstance(error, ssl.SSLError):
            said = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error.reason
            why[:] = [f"its certificate is not trusted: {said}"]
            refused.set()
        elif "authorization violation" in str(error).lower():
            why[:] = ["it refused this key"]
            refused.set()

    options: dict[str, object] = {"tls": tls} if secure else {}
    keeping: list[asyncio.Task[None]] = []
    if broker.seed_file is not None:
        options["nkeys_seed"] = str(broker.seed_file)

    async def closed() -> None:
        for task in keeping:
            task.cancel()

    connecting = asyncio.ensure_future(
        nats.connect(
            f"{'tls' if secure else 'nats'}://{parts.netloc}",
            name=name,
            error_cb=fault,
            reconnected_cb=reconnected,
            closed_cb=closed,
            connect_timeout=3,
            reconnect_time_wait=AGAIN_S,
            max_reconnect_attempts=-1,
            ping_interval=5,
            max_outstanding_pings=2,
            inbox_prefix=inbox,
            **options,
        )
    )
    # A client that may reconnect tries for ever at the start, too, and says nothing: so the first try is bounded.
    refusal = asyncio.create_task(refused.wait())
    try:
        await asyncio.wait({connecting, refusal}, timeout=FIRST_S, return_when=asyncio.FIRST_COMPLETED)
        if connecting.done():
            line = connecting.result()
            if broker.seed_file is not None:
                keeping.append(asyncio.create_task(_follow_key(line, broker.seed_file)))
            return line
    except (*FAULTS, ValueError, ImportError) as error:
        raise _lost(broker, f"{type(error).__name__} {str(error)[:120]}") from None
    finally:
        refusal.cancel()
        connecting.cancel()
    raise _lost(broker, why[0])


async def _follow_key(line: Client, seed_file: Path) -> None:
    """Connect anew with another key once the file has one, so that a key is changed while jobs go on."""
    known = await asyncio.to_thread(_key, seed_file)
    while not line.is_closed:
        await asyncio.sleep(KEY_S)
        now = await asyncio.to_thread(_key, seed_file)
        if now and now != known:
            try:
                line._setup_nkeys_seed_connect()  # noqa: SLF001 - the client reads the public half only when it is made
            except (OSError, ValueError, nkeys.NkeysError) as fault:
                LOG.warning("broker: %s holds no key: %s", seed_file, type(fault).__name__)
                continue
            known = now
            LOG.info("broker: connecting anew with the key that %s holds now", seed_file)
            await line.force_reconnect()


async def ended(tasks: Iterable["asyncio.Task[None]"]) -> None:
    """End tasks that talk to a broker.

    Python 3.11's `asyncio.wait_for`, which the client uses, forgets that it was cancelled when what it waited for came
    at the same moment, so that a task is asked again until it has ended.
    """
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=0.5)


def _key(seed_file: Path) -> bytes:
    """Give what stands in a file; nothing while it is not there."""
    try:
        return seed_file.read_bytes().strip()
    except OSError:
        return b""


def _lost(broker: Broker, why: str) -> UnavailableError:
    return UnavailableError(f"no connection to the broker at {broker.address}: {why}")
