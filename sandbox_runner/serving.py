"""A runner's life: prove the walls, listen, and stop in order when told to.

Law: the first signal lets what runs end and starts nothing more; the second, or the end of the process that started
us, ends everything at once.
"""

import asyncio
import ctypes
import os
import resource
import select
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from sandbox_runner import metrics, showing
from sandbox_runner.daemon import Daemon
from sandbox_runner.dispatch import Dispatcher, Rules, Worker
from sandbox_runner.errors import SetupError, WallMissingError
from sandbox_runner.gauging import Gauge, Gauging, keep_gauged
from sandbox_runner.hostlock import HostLock
from sandbox_runner.journal import Journal
from sandbox_runner.listening import BACKLOG, server_tls, unix_socket
from sandbox_runner.protocol import Capabilities, Device, Wall
from sandbox_runner.sandbox.gpuproof import EACH_GPU
from sandbox_runner.settings import Settings, host_and_port, read_secret
from sandbox_runner.warm.nursery import Nursery

LIFELINE_S = 8.0
"""When the process that started us is gone, so long is given to clearing away before the kernel ends us."""
DESCRIPTORS = 16_384
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Assembled:
    """A worker with what it can do, how to try its walls from inside (seconds), and how to clear it away."""

    worker: Worker
    capabilities: Capabilities
    probe: Callable[[], Awaitable[tuple[Wall, ...]]]
    close: Callable[[], Awaitable[None]]
    gauging: Gauging | None = None
    """Measures what the instrument is worth here, some seconds of jobs; the measuring lock must be held."""
    nurseries: tuple[Nursery, ...] = ()
    """Each keeps a warm parent, once told to: for the processor, then one for each GPU."""
    looking: Callable[[Sequence[Device]], Awaitable[tuple[Wall, ...]]] | None = None
    """Tries the compilers on these devices, and looks how the GPUs stand: up to minutes, for `probe` alone."""

    @property
    def nursery(self) -> Nursery | None:
        """The one for the processor."""
        return self.nurseries[0] if self.nurseries else None


Assemble = Callable[[Settings, int], Awaitable[Assembled]]
"""Makes the worker for so many slots."""


class Stopper:
    """Whether to stop, and how: in order, or at once."""

    def __init__(self) -> None:
        self.draining = asyncio.Event()
        self.now = asyncio.Event()

    def signalled(self) -> None:
        """Stop in order; asked again, at once."""
        (self.now if self.draining.is_set() else self.draining).set()

    def parent_gone(self) -> None:
        """Stop at once: whoever started us is gone."""
        self.draining.set()
        self.now.set()


async def serve(settings: Settings, assemble: Assemble, journal: Journal, lifeline: int | None = None) -> None:
    """Serve until told to stop.

    `lifeline` is a descriptor from which the secret's line is read; its end means that whoever started us is gone.

    Raises:
        SetupError: a setting, a file or the address cannot be used.
        WallMissingError: a wall that matters is missing and was not accepted by name; the message says how to mend it.
    """
    stopper = Stopper()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopper.signalled)
    _allow_descriptors()
    secret = "" if settings.nats else _secret(settings, lifeline)
    if lifeline is not None:
        _die_with_parent(lifeline, stopper, loop)
    slots = settings.slots or default_slots()
    tally = metrics.Tally(journal, loop.time)
    journal = tally
    assembled = await assemble(settings, slots)
    try:
        walls = await assembled.probe()
        missing = demand_walls(walls, settings.accept_missing)
        for name in missing:
            journal.note("wall_missing", wall=name)
        rules = Rules(
            slots=slots,
            queue=settings.queue,
            a_learner=settings.a_learner,
            a_minute=settings.a_minute,
            source_bytes=settings.source_bytes,
            keep_s=settings.keep_s,
        )
        lock = HostLock(settings.lock)
        dispatcher = Dispatcher(
            assembled.worker,
            replace(proven(assembled.capabilities, walls), accepted_missing=missing, slots=slots),
            rules,
            lock=lock,
            clock=loop.time,
            journal=journal,
        )
        gauging = _gauged(assembled.gauging, settings, dispatcher, journal)
        async with gauging, _warmed(assembled.nurseries, dispatcher, lock), _shown(settings, dispatcher, tally):
            if settings.nats:
                await _take_from_broker(settings, dispatcher, stopper, journal)
            else:
                await _listen(settings, dispatcher, Daemon(dispatcher, secret, journal), stopper, journal)
    finally:
        await assembled.close()
        if lifeline is not None and settings.socket is not None and _hung_up(lifeline):
            with suppress(OSError):
                settings.socket.parent.rmdir()  # the private folder of a parent that can do it no more


@asynccontextmanager
async def _gauged(
    gauging: Gauging | None, settings: Settings, dispatcher: Dispatcher, journal: Journal
) -> AsyncIterator[None]:
    """While it lasts, the noise of the instrument is measured in idle moments, and told to whoever connects."""

    def tell(found: Gauge) -> None:
        dispatcher.capabilities = replace(dispatcher.capabilities, noise=found.noise, ceilings=found.ceilings)
        journal.note("gauged", noise=round(found.noise, 4), equal=found.equal)

    idle, keeping = partial(_idle, dispatcher), None
    if gauging is not None:
        keeping = asyncio.create_task(keep_gauged(gauging, HostLock(settings.lock), idle, tell))
    try:
        yield
    finally:
        if keeping is not None:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)


@asynccontextmanager
async def _shown(settings: Settings, dispatcher: Dispatcher, tally: metrics.Tally) -> AsyncIterator[None]:
    """While it lasts, figures are shown on the address that the settings name, if any."""
    if not settings.metrics:
        yield
        return

    def give() -> tuple[bool, str]:
        return True, metrics.as_text(dispatcher.capabilities, dispatcher.counts(), tally)

    host, port = host_and_port(settings.metrics)
    async with showing.shown(host, port, {"/metrics": give, "/health": showing.alive}) as taken:
        tally.note("metrics", address=f"http://{host}:{taken}/metrics")
        yield


def _idle(dispatcher: Dispatcher) -> bool:
    counts = dispatcher.counts()
    return not counts["running"] and not counts["queued"]


@asynccontextmanager
async def _warmed(nurseries: tuple[Nursery, ...], dispatcher: Dispatcher, lock: HostLock) -> AsyncIterator[None]:
    """While it lasts, warm parents are kept, and what there is to say of them is told to whoever connects.

    Those for GPUs only where a kernel was proven on one. They are made better while no runner of this host wants it.
    """

    def tell(wall: Wall) -> None:
        walls = with_wall(dispatcher.capabilities.walls, wall)
        dispatcher.capabilities = replace(dispatcher.capabilities, walls=walls)

    def idle() -> bool:
        try:
            return _idle(dispatcher) and not lock.wanted()
        except SetupError:  # whoever needs the lock for a job says so
            return False

    kept = nurseries if Device.CUDA in dispatcher.capabilities.devices else nurseries[:1]
    keeping = [asyncio.create_task(nursery.keep(tell, idle)) for nursery in kept]
    try:
        yield
    finally:
        for one in keeping:
            one.cancel()
        await asyncio.gather(*keeping, return_exceptions=True)


def with_wall(walls: tuple[Wall, ...], wall: Wall) -> tuple[Wall, ...]:
    """Give the walls with what is now known of this one."""
    return (*(one for one in walls if one.name != wall.name), wall)


async def _listen(
    settings: Settings, dispatcher: Dispatcher, daemon: Daemon, stopper: Stopper, journal: Journal
) -> None:
    async with AsyncExitStack() as stack:
        if settings.socket is not None:
            listener = stack.enter_context(unix_socket(settings.socket))
            server = await asyncio.start_unix_server(daemon.connected, sock=listener, backlog=BACKLOG)
            address = f"unix:{settings.socket}"
        else:
            server = await _listen_tcp(settings, daemon)
            host, port = server.sockets[0].getsockname()[:2]
            address = f"tls://{host}:{port}"
        journal.note("serving", address=address, slots=dispatcher.capabilities.slots)
        await stopper.draining.wait()
        server.close()
        journal.note("stopping", at_once=stopper.now.is_set(), **dispatcher.counts())
        await _drain(dispatcher, stopper, settings.drain_s)
        await daemon.close()
        journal.note("stopped")


async def _take_from_broker(settings: Settings, dispatcher: Dispatcher, stopper: Stopper, journal: Journal) -> None:
    """Take jobs from a broker, asked for until it answers, until told to stop."""
    try:
        from sandbox_runner.broker.line import Broker  # noqa: PLC0415 - the extra `nats` may not be installed
        from sandbox_runner.broker.pulling import attach  # noqa: PLC0415
    except ModuleNotFoundError as fault:
        message = f"jobs from a broker need the extra `nats`: {fault}"
        raise SetupError(message) from None
    if settings.nats_seed_file is not None:
        read_secret(settings.nats_seed_file)
    broker = Broker(settings.nats, settings.nats_seed_file, settings.nats_ca_file)
    puller = await attach(broker, settings.name, dispatcher, journal, stopper.draining)
    if puller is None:
        return
    journal.note("serving", address=settings.nats, name=settings.name, slots=dispatcher.capabilities.slots)
    await stopper.draining.wait()
    journal.note("stopping", at_once=stopper.now.is_set(), **dispatcher.counts())
    draining = asyncio.create_task(puller.drain(settings.drain_s))
    hurry = asyncio.create_task(stopper.now.wait())
    await asyncio.wait({draining, hurry}, return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not draining.done():
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)
        await puller.drain(0.0)
    await puller.close()
    journal.note("stopped")


async def _listen_tcp(settings: Settings, daemon: Daemon) -> asyncio.Server:
    if settings.tls_cert is None or settings.tls_key is None:
        message = "a runner that is not on a Unix socket needs TLS: give --tls-cert and --tls-key"
        raise SetupError(message)
    tls = server_tls(settings.tls_cert, settings.tls_key)
    host, port = host_and_port(settings.listen)
    try:
        return await asyncio.start_server(
            daemon.connected, host, port, ssl=tls, backlog=BACKLOG, ssl_handshake_timeout=5.0, ssl_shutdown_timeout=2.0
        )
    except OSError as fault:
        message = f"cannot listen on {settings.listen}: {fault.strerror or fault}"
        raise SetupError(message) from None


async def _drain(dispatcher: Dispatcher, stopper: Stopper, drain_s: float) -> None:
    draining = asyncio.create_task(dispatcher.stop(drain_s))
    hurry = asyncio.create_task(stopper.now.wait())
    await asyncio.wait({draining, hurry}, return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not draining.done():
        draining.cancel()
        await asyncio.gather(draining, return_exceptions=True)
        await dispatcher.stop(0.0)


def demand_walls(walls: tuple[Wall, ...], accepted: tuple[str, ...]) -> tuple[str, ...]:
    """Give the names of the walls that matter, are missing and were accepted by name.

    Raises:
        WallMissingError: others are missing too, or a name that was accepted is no wall's; the message is for people.
    """
    unknown = sorted(set(accepted) - {wall.name for wall in walls})
    if unknown:
        message = f"--accept-missing {unknown[0]}: no wall has this name; there are {', '.join(w.name for w in walls)}"
        raise WallMissingError(message)
    missing = [wall for wall in walls if wall.matters and not wall.stands]
    bare = [wall for wall in missing if wall.name not in accepted]
    if bare:
        lines = ["walls that matter are missing:"]
        for wall in bare:
            lines.append(f"  {wall.name}: {wall.detail}")
            lines += [f"    {line}" for line in wall.mend.splitlines()]
        lines.append("Mend them, or accept each by name: --accept-missing NAME (every result will say so).")
        raise WallMissingError("\n".join(lines))
    return tuple(wall.name for wall in missing)


def proven(capabilities: Capabilities, walls: tuple[Wall, ...]) -> Capabilities:
    """Give what a runner can do once its walls were tried: no GPU that no kernel was proven on."""
    devices, count = capabilities.devices, capabilities.device_count
    each = [wall.stands for wall in walls if wall.name.startswith(EACH_GPU)]
    count = sum(each) if each else count
    if not any(wall.name == "cuda" and wall.stands for wall in walls):
        devices, count = tuple(device for device in devices if device is not Device.CUDA), 0
    return replace(capabilities, walls=walls, devices=devices, device_count=count)


def default_slots() -> int:
    """Leave one core to the host and the daemon; jobs of a 16-core host rarely gain from more than 15 beside them."""
    return max(1, min(len(os.sched_getaffinity(0)) - 1, 15))


def stderr_journal() -> Journal:
    """Make the journal of a process: to stderr, with the clock of the host and chance of its own."""
    return Journal(sys.stderr, lambda: datetime.now(UTC), os.urandom(16))


def _secret(settings: Settings, lifeline: int | None) -> str:
    if lifeline is not None:
        return _line_of(lifeline)
    if settings.secret_file is not None:
        return read_secret(settings.secret_file)
    if settings.secret:
        return settings.secret
    message = (
        "no secret: set TASREE_RUNNER_SECRET_FILE or give --secret-file. To make one:\n"
        "  (umask 077; python3 -c 'import secrets; print(secrets.token_urlsafe(32))' > runner.secret)"
    )
    raise SetupError(message)


def _line_of(descriptor: int) -> str:
    """Read the secret's line; what follows is only the end."""
    text = b""
    while not text.endswith(b"\n") and len(text) <= 4096:  # noqa: PLR2004 - far more than a secret
        byte = os.read(descriptor, 1)
        if not byte:
            message = f"descriptor {descriptor} ended before it gave a secret"
            raise SetupError(message)
        text += byte
    os.set_inheritable(descriptor, False)  # noqa: FBT003 - the standard library's own form
    return text.decode().strip()


def _allow_descriptors() -> None:
    """Use the descriptors that the host allows: strangers' connections must not leave a job without any."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _hung_up(lifeline: int) -> bool:
    """Say whether whoever started us is gone, without waiting for it."""
    poll = select.poll()
    poll.register(lifeline, 0)
    return any(happened & select.POLLHUP for _, happened in poll.poll(0))


def _die_with_parent(lifeline: int, stopper: Stopper, loop: asyncio.AbstractEventLoop) -> None:
    """End with whoever started us, even when that is killed.

    The kernel sends SIGTERM at the parent's death (again for each of its threads that outlives another). The lifeline
    covers a parent that was gone before that was set, and a thread of its own covers a loop that hangs.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)

    def watch() -> None:
        with suppress(OSError):
            while os.read(lifeline, 4096):
                pass
        with suppress(RuntimeError):  # the loop is closed: we are ending anyway
            loop.call_soon_threadsafe(stopper.parent_gone)
        time.sleep(LIFELINE_S)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
