"""The runner's end of the broker: takes its jobs one for each free slot, tells how they go, and says that it lives.

Law: a result lies at the broker before its job is acknowledged. What was delivered is heard of until then; killed in
between, a runner finds the job delivered again.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import uuid4

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.errors import APIError

from sandbox_runner.broker.letters import Beat, end_letters, job_of, refusal_frame, written
from sandbox_runner.broker.line import AGAIN_S, FAULTS, Broker, connect, ended
from sandbox_runner.broker.names import (
    JOBS,
    PROOF,
    Times,
    alive_subject,
    cancel_subject,
    progress_subject,
    result_subject,
)
from sandbox_runner.dispatch import Dispatcher
from sandbox_runner.errors import UnavailableError, WireError
from sandbox_runner.frames import Rejected
from sandbox_runner.journal import Journal, where
from sandbox_runner.protocol import PROTOCOL_VERSION, Job
from sandbox_runner.runs import Run

ACK_TRIES = 2
ACK_S = 1.0
PULL_S = 2.0
_PREFIX = 4


@dataclass(slots=True, eq=False)
class Taken:
    """A job in hand: its newest delivery, and what was told of it. It is a watcher of its run."""

    delivery: Msg
    attempt: str
    proof: str
    run: Run | None = None
    seen: int = 0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def touch(self, run: Run) -> None:
        """Hear that the run has news."""
        self.run = run
        self.news.set()


class Puller:
    """Feeds a dispatcher from the broker, as the daemon does from its connections."""

    def __init__(  # noqa: PLR0913 - each is a thing of its own
        self, line: Client, name: str, life: str, dispatcher: Dispatcher, journal: Journal, times: Times | None = None
    ) -> None:
        self._line = line
        self._stream = line.jetstream()
        self._name = name
        self._life = life
        self._dispatcher = dispatcher
        self._journal = journal
        self._times = times or Times()
        self._taken: dict[str, Taken] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._room = asyncio.Event()
        self._changed = asyncio.Event()
        self._loops: list[asyncio.Task[None]] = []
        self._stopping = False

    async def start(self) -> None:
        """Begin to live.

        Raises:
            nats.errors.Error, TimeoutError: the broker went away meanwhile.
        """
        await self._line.subscribe(cancel_subject(self._name), cb=self._cancel)
        self._loops = [asyncio.create_task(self._beat()), asyncio.create_task(self._pull())]

    async def drain(self, grace_s: float) -> None:
        """Take nothing more, let what runs end within `grace_s` seconds and tell it, and say that we go."""
        self._stopping = True
        self._changed.set()
        await self._dispatcher.stop(grace_s)
        told = [task for attempt, task in self._tasks.items() if self._ended(attempt)]
        if told:
            await asyncio.wait(told, timeout=5.0)
        await ended((*self._loops, *self._tasks.values()))
        with suppress(*FAULTS):
            await self._say_alive(())
            async with asyncio.timeout(1.0):
                await self._line.flush()

    def _ended(self, attempt: str) -> bool:
        taken = self._taken.get(attempt)
        return taken is not None and taken.run is not None and taken.run.ending is not None

    async def close(self) -> None:
        """Leave the broker."""
        with suppress(*FAULTS):
            async with asyncio.timeout(2.0):
                await self._line.close()

    async def _cancel(self, letter: Msg) -> None:
        attempt = letter.data[:64].decode("ascii", "replace")
        self._dispatcher.cancel(attempt)

    # --- signs of life ------------------------------------------------------------------------------------------------

    async def _beat(self) -> None:
        while True:
            with suppress(*FAULTS):
                await self._say_alive(tuple(self._taken))
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._times.beat_s):
                    await self._changed.wait()
                    await asyncio.sleep(self._times.beat_s / 20)  # several changes are one sign

    async def _say_alive(self, held: tuple[str, ...]) -> None:
        beat = Beat(PROTOCOL_VERSION, self._name, self._life, held, self._dispatcher.capabilities, self._stopping)
        await self._line.publish(alive_subject(self._name), written(beat))

    # --- taking -------------------------------------------------------------------------------------------------------

    async def _pull(self) -> None:
        """Fetch one job for each free slot, whatever becomes of the broker meanwhile."""
        jobs = await self._stream.pull_subscribe_bind(self._name, stream=JOBS)
        while not self._stopping:
            if len(self._taken) >= self._dispatcher.capabilities.slots:
                self._room.clear()
                await self._room.wait()
                continue
            try:
                (delivery,) = await jobs.fetch(1, timeout=PULL_S)
            except TimeoutError:
                continue
            except (APIError, *FAULTS) as fault:  # no consumer yet, or no broker
                self._journal.note("no_jobs", why=type(fault).__name__)
                await asyncio.sleep(self._times.beat_s)
                continue
            await self._take(delivery)

    async def _take(self, delivery: Msg) -> None:
        try:
            job, proof = job_of(delivery.data, delivery.headers or {})
        except WireError as fault:
            self._journal.note("refused", code="bad_job", at=str(fault).split(":", 1)[0][:120])
            with suppress(*FAULTS):
                await delivery.term()
            return
        known = self._taken.get(job.id)
        if known is not None:
            known.delivery = delivery  # it was delivered again while in hand: the newest is the one to acknowledge
            return
        taken = Taken(delivery, job.id, proof)
        self._taken[job.id] = taken
        self._changed.set()
        task = asyncio.create_task(self._carry(taken, job), name=f"attempt {job.id}")
        self._tasks[job.id] = task
        task.add_done_callback(lambda _: self._let_go(job.id))

    def _let_go(self, attempt: str) -> None:
        task = self._tasks.pop(attempt, None)
        self._taken.pop(attempt, None)
        if task is not None and not task.cancelled() and (fault := task.exception()) is not None:
            self._journal.note("fault", fault=where(fault))
        self._room.set()
        self._changed.set()

    # --- one job ------------------------------------------------------------------------------------------------------

    async def _carry(self, taken: Taken, job: Job) -> None:
        rejected = self._dispatcher.submit(job, taken)
        if rejected is not None:
            await self._refuse(taken, rejected)
            return
        try:
            frame = await self._follow(taken)
        finally:
            if taken.run is not None:
                taken.run.watchers.discard(taken)
        await self._end(taken, frame)

    async def _follow(self, taken: Taken) -> bytes:
        """Tell what there is to tell until the end, which is given; say meanwhile that the job is in hand."""
        clock = asyncio.get_running_loop().time
        every = self._times.ack_wait_s / 3
        due = clock() + every
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, due - clock())):
                    await taken.news.wait()
            if clock() >= due:
                due = clock() + every
                with suppress(*FAULTS):
                    await taken.delivery.in_progress()
            taken.news.clear()
            if taken.run is None:
                continue
            frames, taken.seen = taken.run.news(taken.seen)
            if taken.run.ending is not None:
                return frames[-1]
            for frame in frames:
                with suppress(*FAULTS):
                    await self._line.publish(
                        progress_subject(self._name, taken.attempt), frame[_PREFIX:], headers={PROOF: taken.proof}
                    )

    async def _refuse(self, taken: Taken, rejected: Rejected) -> None:
        self._journal.note("rejected", code=rejected.code, at=rejected.detail.split(":", 1)[0][:120])
        await self._end(taken, refusal_frame(rejected))

    async def _end(self, taken: Taken, frame: bytes) -> None:
        """Publish what came of it, for as long as it takes, then acknowledge, at most twice."""
        for body, headers in end_letters(frame, taken.attempt, taken.proof, self._life):
            await self._publish(taken, body, headers)
        for _ in range(ACK_TRIES):
            try:
                await taken.delivery.ack_sync(timeout=ACK_S)
            except FAULTS:
                continue
            return
        self._journal.note("not_acknowledged", job=taken.attempt)

    async def _publish(self, taken: Taken, body: bytes, headers: dict[str, str]) -> None:
        clock = asyncio.get_running_loop().time
        heard = clock()
        while True:
            try:
                await self._stream.publish(
                    result_subject(self._name, taken.attempt), body, timeout=2.0, headers=dict(headers)
                )
            except (APIError, *FAULTS):
                if clock() - heard > self._times.ack_wait_s / 3:
                    heard = clock()
                    with suppress(*FAULTS):
                        await taken.delivery.in_progress()
                await asyncio.sleep(AGAIN_S)
            else:
                return


async def attach(  # noqa: PLR0913 - each is a thing of its own
    broker: Broker,
    name: str,
    dispatcher: Dispatcher,
    journal: Journal,
    stop: asyncio.Event,
    times: Times | None = None,
) -> Puller | None:
    """Ask for the broker until it answers, and begin to take jobs; None when told to stop before.

    Raises:
        SetupError: the address cannot be used.
    """
    told = ""
    while not stop.is_set():
        try:
            line = await connect(broker, name, inbox=f"_INBOX.{name}")
            puller = Puller(line, name, uuid4().hex, dispatcher, journal, times)
            await puller.start()
        except (UnavailableError, *FAULTS) as fault:
            if str(fault) != told:
                told = str(fault)
                journal.note("no_broker", why=told[:200])
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await stop.wait()
        else:
            return puller
    return None
