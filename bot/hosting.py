"""Puts one bot together from the settings: course, store, runner, checker, chat; and takes it apart again.

Law: no learner is heard and nothing is adopted before the course loaded whole and the store is at its newest revision.
"""

import asyncio
import contextlib
import fcntl
import hmac
import logging
import signal
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from bot import codecheck, errands, second
from bot.app import App, SystemClock, SystemDice
from bot.engine.known import Dice
from bot.engine.owned.rows import Keeping
from bot.errors import SettingsError
from bot.figures import CountedRunner, Figures
from bot.phraser import Phraser
from bot.ports import Chat, Clock, Reports, Runner
from bot.reminding import Reminder
from bot.settings import Settings, installation_key
from bot.stores import postgres, sqlite
from bot.stores.sql import SqlStore
from bot.sweeping import Sweeper
from bot.waking import Waker
from bot.watching import Watch, seen
from content.schema import Course
from sandbox_runner.client import EmbeddedRunner, RunnerClient
from sandbox_runner.errors import RunnerError, UnavailableError
from sandbox_runner.protocol import Capabilities, Ending, Event, Finished, Job, Result

LOG = logging.getLogger("tasree.hosting")


class NoRunner:
    """Stands where no runner is wanted: every job is refused at once."""

    async def capabilities(self) -> Capabilities:
        """Say that there is none."""
        message = "this bot was started without a runner"
        raise UnavailableError(message)

    async def submit(self, job: Job) -> AsyncIterator[Event]:
        """Refuse."""
        LOG.info("job %s is refused: there is no runner", job.id)
        await self.capabilities()
        yield Finished(Result(job.id, job.kind, Ending.INFRA_ERROR))  # never reached: it makes this a generator

    async def cancel(self, job_id: str) -> None:
        """Nothing runs here."""


class OwnRunner:
    """The embedded runner, begun in the background: the bot answers while the runner proves its walls."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._embedded: EmbeddedRunner | None = EmbeddedRunner(environment)  # a mistake in its settings stops us here
        self._starting: asyncio.Task[RunnerClient] | None = None

    async def capabilities(self) -> Capabilities:
        """Wait for the start, then ask."""
        return await (await self._client()).capabilities()

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        """Wait for the start, then follow the job."""
        async with contextlib.aclosing((await self._client()).submit(job)) as events:
            async for event in events:
                yield event

    async def cancel(self, job_id: str) -> None:
        """Stop a job."""
        await (await self._client()).cancel(job_id)

    async def close(self) -> None:
        """End the runner and its jobs."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._embedded is not None:
            await self._embedded.close()

    async def _client(self) -> RunnerClient:
        if self._starting is None or (self._starting.done() and self._starting.exception() is not None):
            self._embedded = EmbeddedRunner(self._environment)
            self._starting = asyncio.create_task(self._embedded.start())
        return await asyncio.shield(self._starting)


@contextmanager
def only_one(data: Path, platform: str = "") -> Iterator[None]:
    """Hold the folder for one serving bot of a platform, or, where none is named, for nobody that serves.

    Bots of several platforms may share a folder: they are one for those who learn on both. Two of one platform would
    take up the same unfinished runs.

    Raises:
        SettingsError: when another bot serves from this folder.
    """
    with contextlib.ExitStack() as stack:
        for name, how in (("serving", fcntl.LOCK_SH if platform else fcntl.LOCK_EX), (platform, fcntl.LOCK_EX)):
            if name:
                stack.enter_context(_held(data, name, how))
        yield


@contextmanager
def _held(data: Path, name: str, how: int) -> Iterator[None]:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (data / f"{name}.lock").open("w")
    except OSError as error:
        message = f"TASREE_DATA={data}: {error.strerror or error}"
        raise SettingsError(message) from error
    with lock:
        try:
            fcntl.flock(lock, how | fcntl.LOCK_NB)
        except OSError:
            message = f"TASREE_DATA={data}: another bot is serving from this folder; stop it, or give this one its own"
            raise SettingsError(message) from None
        yield


def _migrated(settings: Settings) -> None:
    """Bring the file to the newest revision; bots that start at once do it one after the other."""
    with (settings.data / "migrating.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sqlite.migrate(settings.database)
        settings.database.chmod(0o600)


def try_address(host: str, port: int) -> None:
    """Try the web chat's address before anything else is begun.

    Raises:
        SettingsError: naming the two variables, when the address cannot be had.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        message = f"TASREE_WEB_HOST={host}, TASREE_WEB_PORT={port}: {error.strerror or error}"
        raise SettingsError(message) from error


@asynccontextmanager
async def open_app(  # noqa: PLR0913 - what differs between the commands
    settings: Settings,
    environment: Mapping[str, str],
    course: Course,
    chat: Chat,
    *,
    adopt: bool,
    with_runner: bool,
    prepare: Callable[[SqlStore], Awaitable[None]] | None = None,
    platform: str = "",
) -> AsyncIterator[App]:
    """Open the store, begin the runner, and give the app; everything is closed at the end.

    `prepare` is given the store before anything of earlier runs is taken up. With a `platform` its learners are
    reminded, and what is old is swept, as long as the app is open.

    Raises:
        SettingsError, StoreError: naming what is wrong.
    """
    key = installation_key(settings.data)
    dice = SystemDice()
    async with contextlib.AsyncExitStack() as stack:
        figures = Figures(platform, asyncio.get_running_loop().time) if platform else None
        if figures is not None:
            await stack.enter_async_context(seen(settings.metrics, figures))
        store = await _store(settings, key, dice)
        stack.push_async_callback(store.close)
        if prepare is not None:
            await prepare(store)
        runner = _runner(settings, environment, stack) if with_runner else NoRunner()
        runner = runner if figures is None else CountedRunner(runner, figures)
        app = App(
            course=course,
            store=store,
            runner=runner,
            checker=codecheck.LimitedChild(),
            clock=SystemClock(),
            dice=dice,
            chat=chat,
            errands=_errands(settings, store, course if adopt else None, stack),
            keeping=Keeping(settings.keep_days, settings.backup_days),
            platforms=(platform,) if platform else (),
            figures=figures,
        )
        stack.push_async_callback(app.close)
        await app.start(adopt=adopt)
        if figures is not None:
            reminder = Reminder(app, store.reminding(), SystemClock(), dice.identity(), (platform,))
            sweeper = Sweeper(store.owned(), lambda: app.course, SystemClock(), settings.keep_days)
            watch = Watch(app, store.incidents(), figures, SystemClock(), dice.identity(), settings.admins, chat)
            waker = Waker(app, store, SystemClock(), platform)
            loops = [asyncio.create_task(each.run()) for each in (reminder, sweeper, watch, waker)]
            stack.push_async_callback(_ended, loops)
        yield app


async def tick(settings: Settings, course: Course, chat: Chat, clock: Clock, platform: str) -> tuple[int, str]:
    """Send the digests that fell due, and sweep what is old, once; gives how many were due, and what was swept.

    Raises:
        SettingsError, StoreError: naming what is wrong.
    """
    key = installation_key(settings.data)
    dice = SystemDice()
    keeping = Keeping(settings.keep_days, settings.backup_days)
    async with contextlib.AsyncExitStack() as stack:
        store = await _store(settings, key, dice)
        stack.push_async_callback(store.close)
        app = App(
            course=course,
            store=store,
            runner=NoRunner(),
            checker=codecheck.LimitedChild(),
            clock=clock,
            dice=dice,
            chat=chat,
            keeping=keeping,
        )
        stack.push_async_callback(app.close)
        await app.start(adopt=False)
        due = await Reminder(app, store.reminding(), clock, dice.identity(), (platform,)).tick()
        swept = await Sweeper(store.owned(), lambda: course, clock, settings.keep_days).sweep()
    return due, "nothing, it was done today" if swept is None else str(swept)


def told_to_stop(reload: Callable[[], None]) -> asyncio.Event:
    """Give what is set by the signals that stop a bot; the signal for a new look at the course calls `reload`."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, reload)
    return stop


async def until(stop: asyncio.Event, hearing: "asyncio.Task[None] | None") -> None:
    """Wait for the word to stop, or for a fault that ends the hearing, which is raised."""
    waiting = asyncio.create_task(stop.wait())
    tasks: set[asyncio.Future[Any]] = {waiting, *([hearing] if hearing is not None else [])}
    done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if hearing is not None and hearing in done:
        hearing.result()


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def open_runner(settings: Settings, environment: Mapping[str, str]) -> AsyncIterator[Runner]:
    """Give the runner alone.

    Raises:
        SettingsError: naming what is wrong.
    """
    async with contextlib.AsyncExitStack() as stack:
        yield _runner(settings, environment, stack)


@asynccontextmanager
async def open_reports(settings: Settings) -> AsyncIterator[Reports]:
    """Give the store alone, for the teacher's report.

    Raises:
        SettingsError, StoreError: naming what is wrong.
    """
    store = await _store(settings, installation_key(settings.data), SystemDice())
    try:
        yield store
    finally:
        await store.close()


def _errands(
    settings: Settings, store: SqlStore, lasting: Course | None, stack: contextlib.AsyncExitStack
) -> errands.Errands:
    """Put together who makes reports, who gives other words, and who doubts; say which of them there are.

    Who doubts needs a while to read the course: only a bot that lasts (`lasting` is its course) has one.
    """
    phraser: Phraser | None = None
    if settings.answerer_url:
        phraser = Phraser(settings.answerer_url, settings.answerer_model, _answerer_key(settings))
        stack.push_async_callback(phraser.close)
    opinion: second.Second | None = None
    if lasting is not None and second.installed():
        opinion = second.Second()
        stack.callback(opinion.close)
        opinion.build(lasting)
    LOG.info(
        "questions: %s second opinion, %s answerer",
        f"with the {second.PACKAGE}" if opinion else "without a",
        f"with {settings.answerer_model} as" if phraser else "without an",
    )
    return errands.Errands(store, SystemClock(), settings.admins, phraser, opinion)


def _answerer_key(settings: Settings) -> str:
    if settings.answerer_key_file is None:
        return ""
    try:
        key = settings.answerer_key_file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        key = ""
    if not key or not key.isprintable() or " " in key:
        message = f"TASREE_ANSWERER_KEY_FILE={settings.answerer_key_file}: one line with the key was expected"
        raise SettingsError(message)
    return key


async def _store(settings: Settings, key: bytes, dice: Dice) -> SqlStore:
    if settings.server:
        await postgres.migrate(settings.server)
        return postgres.open_store(settings.server, key, dice.identity)
    await asyncio.to_thread(_migrated, settings)
    return sqlite.open_store(settings.database, key, dice.identity)


def _runner(settings: Settings, environment: Mapping[str, str], stack: contextlib.AsyncExitStack) -> Runner:
    if settings.runner == "embedded":
        own = OwnRunner(environment)
        stack.push_async_callback(own.close)
        return own
    if settings.runner_secret_file is None:
        message = "TASREE_RUNNER_SECRET_FILE is not set"
        raise SettingsError(message)
    if settings.runner.startswith("nats"):
        return _brokered(settings, settings.runner_secret_file, stack)
    try:
        secret = settings.runner_secret_file.read_text(encoding="utf-8").strip()
        client = RunnerClient(settings.runner, secret, authority=settings.runner_ca_file)
    except (OSError, UnicodeDecodeError, RunnerError) as error:
        message = f"TASREE_RUNNER={settings.runner}: {error}"
        raise SettingsError(message) from error
    stack.push_async_callback(client.close)
    return client


def _brokered(settings: Settings, seed: Path, stack: contextlib.AsyncExitStack) -> Runner:
    """Give all runners behind a broker as one. The key of proofs is made of the installation's, so all bots have it."""
    try:
        from sandbox_runner.broker.line import Broker  # noqa: PLC0415 - the extra `nats` may not be installed
        from sandbox_runner.broker.submitting import BrokerRunner  # noqa: PLC0415
    except ModuleNotFoundError as error:
        message = f"TASREE_RUNNER={settings.runner}: the extra `nats` is not installed ({error})"
        raise SettingsError(message) from error
    key = hmac.digest(installation_key(settings.data), b"proofs of runs at a broker", "sha256")
    runner = BrokerRunner(Broker(settings.runner, seed, settings.runner_ca_file), key)
    stack.push_async_callback(runner.close)
    return runner
