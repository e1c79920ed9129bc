"""What a bot holds of a runner: capabilities, a stream of events for each job, a way to cancel, a child of its own.

Law: a dropped connection loses no job. The job is submitted again under its id, which attaches to it where the runner
still has it, for a bounded time; then the caller is told that no runner answers.
"""

import asyncio
import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox_runner.connection import Connection, Inbox, address_of, connect
from sandbox_runner.errors import SetupError, UnavailableError, WireError
from sandbox_runner.frames import ASK_BYTES, Cancel, Submit, pack
from sandbox_runner.protocol import Capabilities, Ending, Event, Finished, Job, Result
from sandbox_runner.settings import read_settings
from sandbox_runner.spawning import started


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a lost runner is asked for again: waits from `first_s`, doubling to `most_s`, `bound_s` in all."""

    first_s: float = 0.1
    most_s: float = 5.0
    bound_s: float = 60.0
    attempts: int = 100


class RunnerClient:
    """A runner at an address: `unix:/PATH`, `/PATH`, or `tls://HOST:PORT` with a PEM file to trust."""

    def __init__(
        self, address: str, secret: str, *, authority: Path | None = None, backoff: Backoff | None = None
    ) -> None:
        self._address = address_of(address, authority)
        self._secret = secret
        self._backoff = backoff or Backoff()
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._under_way: dict[str, int] = {}
        self._cancelled: set[str] = set()
        self._closed = False

    async def capabilities(self) -> Capabilities:
        """Say what the runner can do, connecting if need be.

        Raises:
            UnavailableError, AuthError, WireError: as for `connect`.
        """
        return (await self._connected()).capabilities

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        """Run a job, or attach to the one with its id, and give its events up to `Finished`.

        Raises:
            UnavailableError: no runner answered for the bounded time, or this client was closed.
            AuthError: the runner refused the secret.
            JobRefusedError: the runner does not take such a job.
            WireError: the other end speaks another version, or broke the protocol.
        """
        try:
            pack(Submit(job), ASK_BYTES)
        except WireError:
            yield Finished(Result(job.id, job.kind, Ending.TOO_LARGE, job.device))
            return
        self._under_way[job.id] = self._under_way.get(job.id, 0) + 1
        try:
            async with contextlib.aclosing(self._follow(job)) as events:
                async for event in events:
                    yield event
        finally:
            self._under_way[job.id] -= 1
            if not self._under_way[job.id]:
                del self._under_way[job.id]
                self._cancelled.discard(job.id)

    async def cancel(self, job_id: str) -> None:
        """End a job; its stream ends with what came of it. An unknown id is no error.

        Raises:
            UnavailableError: no runner answers and this client has no such job under way.
        """
        if job_id in self._under_way:
            self._cancelled.add(job_id)
        try:
            await (await self._connected()).send(Cancel(job_id))
        except UnavailableError:
            if job_id not in self._under_way:  # else it is said when the job is submitted again
                raise

    async def close(self) -> None:
        """Close the connection; jobs go on at the runner, and streams end with UnavailableError."""
        self._closed = True
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _follow(self, job: Job) -> AsyncGenerator[Event, None]:
        """Give a job's events, submitting it again when the connection is lost."""
        clock = asyncio.get_running_loop().time
        heard, wait_s = clock(), self._backoff.first_s
        for attempt in range(self._backoff.attempts):
            try:
                async with contextlib.aclosing(self._events(job)) as events:
                    async for event in events:
                        yield event
                        if isinstance(event, Finished):
                            return
                        heard, wait_s = clock(), self._backoff.first_s
            except UnavailableError:
                last = attempt == self._backoff.attempts - 1
                if self._closed or last or clock() - heard + wait_s > self._backoff.bound_s:
                    raise
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, self._backoff.most_s)

    async def _events(self, job: Job) -> AsyncGenerator[Event, None]:
        """Give a job's events over one connection."""
        connection = await self._connected()
        inbox: Inbox = connection.attach(job.id)
        try:
            if job.id in self._cancelled:
                await connection.send(Cancel(job.id))  # first, so that a new runner never starts it
            await connection.send(Submit(job))
            while True:
                yield await inbox.get()
        finally:
            connection.detach(inbox)

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._closed:
                message = "this client is closed"
                raise UnavailableError(message)
            if self._connection is not None and not self._connection.alive:
                await self._connection.close()
                self._connection = None
            if self._connection is None:
                self._connection = await connect(self._address, self._secret)
            return self._connection


PLAIN_VARIABLES = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "XDG_RUNTIME_DIR"})
OWN_PREFIXES = ("TASREE_RUNNER_", "TASREE_SANDBOX_")
PROGRAM = (sys.executable, "-m", "sandbox_runner")
LONGEST_FOLDER = 99
READY_S = 180.0
"""A runner proves its walls and warms up before it answers; an import of torch from a cold disk takes half a minute."""
STEADY_S = 60.0
"""A runner that lived so long is started again at once; one that keeps dying waits longer each time."""


def _private_folder() -> Path:
    """Make a folder of mode 700 whose path is short: a socket's address holds 107 bytes, and TMPDIR may be long."""
    folder = Path(tempfile.mkdtemp(prefix="tasree-"))
    if len(os.fsencode(folder)) <= LONGEST_FOLDER:
        return folder
    folder.rmdir()
    return Path(tempfile.mkdtemp(prefix="tasree-", dir="/tmp"))


class EmbeddedRunner:
    """A runner of the bot's own: a child on a private Unix socket, started again when it dies, gone with the bot.

    Its secret is made here and passed by a pipe. The pipe stays open: when this process is gone, however it ended,
    the kernel closes it, and the child ends its jobs and itself.
    """

    def __init__(
        self, environment: Mapping[str, str], arguments: Sequence[str] = (), program: Sequence[str] = PROGRAM
    ) -> None:
        """Keep what `start` needs: the environment to pass on the runner's part of, and further words of `serve`.

        Raises:
            SetupError: the environment has mistakes that would end the child at its start.
        """
        plain = {name: value for name, value in environment.items() if name in PLAIN_VARIABLES}
        own = {
            name: value for name, value in environment.items() if name.startswith(OWN_PREFIXES) and "SECRET" not in name
        }
        self._environment = plain | own
        python = read_settings(self._environment).python
        if python and not Path(python).exists():
            message = f"TASREE_SANDBOX_PYTHON: {python!r} is not there"
            raise SetupError(message)
        self._arguments = tuple(arguments)
        self._program = tuple(program)
        self._secret = secrets.token_urlsafe(32)
        self._folder: Path | None = None
        self._child: asyncio.subprocess.Process | None = None
        self._lifeline = -1
        self._keeper: asyncio.Task[None] | None = None
        self._client: RunnerClient | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id; None while there is none."""
        return None if self._child is None or self._child.returncode is not None else self._child.pid

    async def start(self) -> RunnerClient:
        """Start the runner, wait until it answers, and give the client that speaks with it.

        Raises:
            UnavailableError: it ended before it answered (its log, on our stderr, says why), or took too long.
        """
        self._folder = _private_folder()
        client = RunnerClient(str(self._folder / "runner"), self._secret)
        try:
            await self._spawn()
            await self._ready(client)
        except BaseException as failed:
            await client.close()
            await self.close()
            if isinstance(failed, OSError):
                message = f"the embedded runner cannot be started: {failed.strerror or failed}"
                raise UnavailableError(message) from failed
            raise
        self._client = client
        self._keeper = asyncio.create_task(self._keep(), name="embedded runner")
        return client

    async def close(self) -> None:
        """End the runner and its jobs, close the client and remove the socket's folder."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
            self._keeper = None
        if self._client is not None:
            await self._client.close()
        self._let_go()
        if self._child is not None:
            try:
                async with asyncio.timeout(10.0):
                    await self._child.wait()
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    self._child.kill()
                await self._child.wait()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _spawn(self) -> None:
        theirs, ours = os.pipe()
        words = ("serve", "--socket", f"{self._folder}/runner", "--secret-fd", str(theirs))
        try:
            os.write(ours, self._secret.encode() + b"\n")
            self._child = await started(
                lambda: asyncio.create_subprocess_exec(
                    *self._program,
                    *words,
                    *self._arguments,
                    stdin=asyncio.subprocess.DEVNULL,
                    pass_fds=(theirs,),
                    env=self._environment,
                    start_new_session=True,  # a Ctrl-C at the terminal is for the bot, which ends its runner in order
                )
            )
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._lifeline = ours

    async def _ready(self, client: RunnerClient) -> None:
        """Wait until the child answers."""
        child = self._child
        deadline = asyncio.get_running_loop().time() + READY_S
        while child is not None and child.returncode is None:
            try:
                await client.capabilities()
            except UnavailableError:
                if asyncio.get_running_loop().time() > deadline:
                    message = f"the embedded runner did not answer within {READY_S:g} s"
                    raise UnavailableError(message) from None
                await asyncio.sleep(0.05)
            else:
                return
        status = None if child is None else child.returncode
        message = f"the embedded runner ended with status {status} before it answered; its log says why"
        raise UnavailableError(message)

    async def _keep(self) -> None:
        """Start the child again whenever it dies."""
        wait_s, clock = 0.2, asyncio.get_running_loop().time
        while self._child is not None:
            born = clock()
            await self._child.wait()
            self._let_go()
            wait_s = 0.2 if clock() - born > STEADY_S else min(2 * wait_s, 30.0)
            await asyncio.sleep(wait_s)
            with contextlib.suppress(OSError):  # the host has no process or descriptor left: tried again, later
                await self._spawn()

    def _let_go(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
