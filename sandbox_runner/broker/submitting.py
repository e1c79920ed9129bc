"""The bot's end of the broker: all runners behind it as one, in the shape of a runner's client.

Law: of a job's attempts one counts, and of its results the first that repeats that attempt's proof. All that must
outlive this process lies at the broker, so that another process takes a job up where this one left it.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace
from functools import partial

from nats.aio.msg import Msg

from sandbox_runner.broker import names
from sandbox_runner.broker.assigning import Assigner
from sandbox_runner.broker.choosing import together
from sandbox_runner.broker.depot import Depot
from sandbox_runner.broker.desk import MOST_A_LEARNER, Desk, away, closed
from sandbox_runner.broker.ends import Ends
from sandbox_runner.broker.following import Follow
from sandbox_runner.broker.letters import Assignment, job_letter
from sandbox_runner.broker.line import AGAIN_S, FAULTS, Broker, connect, ended
from sandbox_runner.broker.names import ATTEMPTS, Times, attempt_id
from sandbox_runner.broker.roster import Roster
from sandbox_runner.broker.watching import Watch
from sandbox_runner.errors import JobRefusedError, UnavailableError, WireError
from sandbox_runner.frames import Refusal
from sandbox_runner.protocol import Capabilities, Ending, Event, Finished, Job, Result

LOG = logging.getLogger("tasree.broker")


async def _lasting(work: Callable[[], Awaitable[None]]) -> None:
    """Do work that has no end; what ends it after all is told to the log, and it is begun anew."""
    while True:
        try:
            await work()
        except Exception:
            LOG.exception("lasting work at the broker failed")
        await asyncio.sleep(AGAIN_S)


class BrokerRunner:
    """All runners behind a broker, as one: the shape of a runner's client."""

    def __init__(
        self, broker: Broker, key: bytes, times: Times | None = None, most_a_learner: int = MOST_A_LEARNER
    ) -> None:
        """Keep where the broker is, and the key of proofs, the same in every process of this bot.

        So many jobs of one learner may wait here; more are turned away.
        """
        self._broker = broker
        self._desk = Desk(key, times or Times(), self._open, most_a_learner)
        self._roster = Roster(self._desk)
        self._ends = Ends(self._desk)
        self._assigner = Assigner(self._desk, self._roster, self._ends)
        self._watch = Watch(self._desk, self._roster, self._ends)
        self._opening = asyncio.Lock()
        self._loops: list[asyncio.Task[None]] = []

    async def capabilities(self) -> Capabilities:
        """Say what the runners can do together.

        Raises:
            UnavailableError: the broker does not answer or keeps nothing, or no runner lives.
        """
        depot = await self._open()
        try:
            await depot.prove()
        except FAULTS as fault:
            raise away(fault) from None
        found = together(self._roster.alive())
        if found is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(3 * self._desk.times.beat_s):
                    self._roster.heard.clear()
                    await self._roster.heard.wait()
            found = together(self._roster.alive())
        if found is None:
            message = "the broker answers, but no runner has said that it lives"
            raise UnavailableError(message)
        return found

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        """Run a job, or attach to the one with its id, and give its events up to `Finished`.

        Raises:
            UnavailableError: the broker or every runner stayed away for the bounded time, or this end was closed.
            JobRefusedError: no runner takes such a job.
        """
        try:
            job_letter(replace(job, id=attempt_id(job.id, ATTEMPTS)), "")
        except WireError:
            yield Finished(Result(job.id, job.kind, Ending.TOO_LARGE, job.device))
            return
        if self._desk.closed:
            raise closed()
        follow = self._desk.follows.get(job.id)
        if follow is None:
            follow = self._desk.follows[job.id] = Follow(job, self._desk.now())
            self._desk.spawn(self._assigner.take_on(follow))
        elif follow.job != job:
            raise JobRefusedError(Refusal.ID_CONFLICT, "another job has this id")
        inbox = follow.attach()
        try:
            while True:
                event = await inbox.get()
                yield event
                if isinstance(event, Finished):
                    return
        finally:
            follow.inboxes.discard(inbox)

    async def cancel(self, job_id: str) -> None:
        """End a job; its stream ends with what came of it. One that is not known shall never start.

        Raises:
            UnavailableError: the broker does not answer and this end has no such job under way.
        """
        follow = self._desk.follows.get(job_id)
        if follow is not None:
            await self._ends.cancel(follow)
            return
        depot = await self._open()
        try:
            kept, revision = await depot.assignment(job_id)
            if kept is None:
                await depot.assign(job_id, Assignment(0), revision)
            elif kept.attempt:
                await depot.tell_cancel(kept.runner, attempt_id(job_id, kept.attempt))
                await depot.tell_bots(job_id)
        except FAULTS as fault:
            raise away(fault) from None

    async def close(self) -> None:
        """Leave the broker; jobs go on at their runners, and streams end with UnavailableError."""
        self._desk.closed = True
        await ended((*self._loops, *self._desk.tasks))
        for follow in tuple(self._desk.follows.values()):
            self._desk.fail(follow, closed())
        if self._desk.depot is not None:
            await self._desk.depot.close()

    async def _open(self) -> Depot:
        async with self._opening:
            if self._desk.closed:
                raise closed()
            if self._desk.depot is not None:
                return self._desk.depot
            line = await connect(self._broker, "tasree bot", self._reconnected)
            try:
                depot = Depot(line, self._desk.key, self._desk.times)
                await depot.prepare()
                await line.subscribe("alive.*", cb=self._roster.hear)
                await line.subscribe("progress.*.*", cb=self._ends.hear_progress)
                await line.subscribe(names.BOTS_CANCEL, cb=self._hear_cancel)
                await line.flush()
            except FAULTS as fault:
                await line.close()
                raise away(fault) from None
            self._desk.depot = depot
            self._roster.connected_at = self._desk.now()
            read = partial(depot.read, self._ends.hear_end)
            self._loops = [
                asyncio.create_task(_lasting(each))
                for each in (read, depot.bury, self._assigner.pump, self._watch.watch)
            ]
            return depot

    async def _reconnected(self) -> None:
        self._roster.connected_at = self._desk.now()
        if self._desk.depot is not None:
            self._desk.depot.reconnected()

    async def _hear_cancel(self, letter: Msg) -> None:
        digest = letter.data[:64].decode("ascii", "replace")
        for follow in tuple(self._desk.follows.values()):
            if names.token(follow.job.id) == digest:
                await self._ends.cancel(follow)
