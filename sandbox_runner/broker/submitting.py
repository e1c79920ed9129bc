"""The bot's end of the broker: gives jobs to runners, hears what comes of them, and takes them back from the lost.

Law: of a job's attempts one counts, and of its results the first that repeats that attempt's proof. All that must
outlive this process lies at the broker, so that another process takes a job up where this one left it.
"""

import asyncio
import contextlib
import hmac
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine
from dataclasses import replace
from typing import Any, assert_never

from nats.aio.msg import Msg

from sandbox_runner.broker import names
from sandbox_runner.broker.choosing import Seen, choose, offers, together
from sandbox_runner.broker.depot import Depot
from sandbox_runner.broker.following import Follow, Held, Where
from sandbox_runner.broker.letters import Assignment, Beat, beat_of, job_letter, progress_of
from sandbox_runner.broker.line import AGAIN_S, FAULTS, Broker, connect
from sandbox_runner.broker.names import A_LEARNER, ATTEMPTS, Times, attempt_id, proof
from sandbox_runner.dispatch import deadline_s
from sandbox_runner.errors import JobRefusedError, UnavailableError, WireError
from sandbox_runner.frames import Refusal, Rejected, Tell, ToldAccepted, ToldFinished, ToldProgress
from sandbox_runner.protocol import (
    PROTOCOL_VERSION,
    Accepted,
    Capabilities,
    Ending,
    Event,
    Finished,
    Job,
    Result,
)
from sandbox_runner.queueing import Durations

LOG = logging.getLogger("tasree.broker")
MOST_HELD = 10_000
MOST_A_LEARNER = 20
"""So many jobs wait here, in all and of one learner; more are turned away, as a full runner would."""
PLACES_TOLD = 200


class BrokerRunner:
    """All runners behind a broker, as one: the shape of a runner's client."""

    def __init__(self, broker: Broker, key: bytes, times: Times | None = None) -> None:
        """Keep where the broker is, and the key of proofs, the same in every process of this bot."""
        self._broker = broker
        self._key = key
        self._times = times or Times()
        self._follows: dict[str, Follow] = {}
        self._attempts: dict[str, Follow] = {}
        self._held = Held()
        self._seen: dict[str, Seen] = {}
        self._before: dict[str, str] = {}
        self._durations = Durations()
        self._depot: Depot | None = None
        self._opening = asyncio.Lock()
        self._heard = asyncio.Event()
        self._pump_soon = asyncio.Event()
        self._connected_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._loops: list[asyncio.Task[None]] = []
        self._never: set[str] = set()
        self._closed = False

    # --- the port -----------------------------------------------------------------------------------------------------

    async def capabilities(self) -> Capabilities:
        """Say what the runners can do together.

        Raises:
            UnavailableError: the broker does not answer, or no runner lives.
        """
        await self._open()
        found = together(self._alive())
        if found is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(3 * self._times.beat_s):
                    self._heard.clear()
                    await self._heard.wait()
            found = together(self._alive())
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
        if self._closed:
            raise _closed()
        follow = self._follows.get(job.id)
        if follow is None:
            follow = self._follows[job.id] = Follow(job, self._now())
            self._spawn(self._take_on(follow))
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
        follow = self._follows.get(job_id)
        if follow is not None:
            await self._cancel(follow)
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
            raise _away(fault) from None

    async def close(self) -> None:
        """Leave the broker; jobs go on at their runners, and streams end with UnavailableError."""
        self._closed = True
        tasks = (*self._loops, *self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for follow in tuple(self._follows.values()):
            self._fail(follow, _closed())
        if self._depot is not None:
            await self._depot.close()

    # --- opening ------------------------------------------------------------------------------------------------------

    async def _open(self) -> Depot:
        async with self._opening:
            if self._closed:
                raise _closed()
            if self._depot is not None:
                return self._depot
            line = await connect(self._broker, "tasree bot", self._reconnected)
            try:
                depot = Depot(line, self._key, self._times)
                await depot.prepare()
                await line.subscribe("alive.*", cb=self._hear_beat)
                await line.subscribe("progress.*.*", cb=self._hear_progress)
                await line.subscribe(names.BOTS_CANCEL, cb=self._hear_cancel)
                await line.flush()
            except FAULTS as fault:
                await line.close()
                raise _away(fault) from None
            self._depot, self._connected_at = depot, self._now()
            self._loops = [
                asyncio.create_task(each)
                for each in (depot.read(self._hear_end), depot.bury(), self._pump(), self._watch())
            ]
            return depot

    async def _reconnected(self) -> None:
        self._connected_at = self._now()
        if self._depot is not None:
            self._depot.reconnected()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    # --- runners ------------------------------------------------------------------------------------------------------

    async def _hear_beat(self, letter: Msg) -> None:
        name = letter.subject.rpartition(".")[2]
        try:
            beat = beat_of(letter.data)
        except WireError as fault:
            LOG.warning("runner %s: its sign of life is refused: %s", name[:32], _first(fault))
            return
        if isinstance(beat, int):
            if self._seen.pop(name, None) is not None or self._pump_soon.is_set():
                LOG.warning("runner %s speaks version %d, this bot %d", name[:32], beat, PROTOCOL_VERSION)
            return
        if beat.runner != name or not names.is_runner(name):
            LOG.warning("runner %s: its sign of life is another's", name[:32])
            return
        new = name not in self._seen or self._seen[name].beat.life != beat.life
        if new and self._depot is not None:
            try:
                await self._depot.admit(name)
            except FAULTS as fault:
                LOG.warning("runner %s could not be admitted: %s", name, type(fault).__name__)
                return
        self._note(beat)
        self._heard.set()
        self._pump_soon.set()

    def _note(self, beat: Beat) -> None:
        now = self._now()
        self._seen[beat.runner] = Seen(beat, now)
        for attempt in beat.held:
            follow = self._attempts.get(attempt)
            if follow is not None and follow.runner == beat.runner:
                follow.first_held = follow.first_held or now
                follow.last_held = now

    def _alive(self) -> list[Seen]:
        oldest = self._oldest()
        return [one for one in self._seen.values() if one.at >= oldest and not one.beat.stopping]

    def _oldest(self) -> float:
        """Give the time before which a sign of life is too old; what no broker could bring is not held against one."""
        now = self._now()
        if self._depot is None or not self._depot.connected:
            return 0.0
        if now - self._connected_at < self._times.gone_s:
            return self._connected_at - 3600.0
        return now - self._times.gone_s

    # --- assigning ----------------------------------------------------------------------------------------------------

    async def _take_on(self, follow: Follow) -> None:
        """Find out what the broker knows of a job, and go on from there."""
        while follow.where is Where.ASKED:
            try:
                depot = await self._open()
                kept, follow.revision = await depot.assignment(follow.job.id)
                if kept is None:
                    self._hold(follow)
                elif kept.attempt == 0:
                    self._conclude(follow, Ending.CANCELLED)
                else:
                    await self._adopt(depot, follow, kept)
            except (UnavailableError, WireError, *FAULTS) as fault:
                if self._closed or self._now() - follow.since > self._times.bound_s:
                    self._fail(follow, fault if isinstance(fault, UnavailableError) else _away(fault))
                    return
                await asyncio.sleep(AGAIN_S)

    async def _adopt(self, depot: Depot, follow: Follow, kept: Assignment) -> None:
        """Take up an attempt that is on its way: its end may lie there, it may be under way, or was never sent."""
        follow.number, follow.runner = kept.attempt, kept.runner
        self._attempts[follow.attempt] = follow
        tell = await depot.end_of(kept.runner, follow.attempt)
        if tell is not None:
            self._take_end(follow, tell)
            return
        follow.where = Where.GOING
        await self._send(depot, follow)

    def _hold(self, follow: Follow, *, first: bool = False) -> None:
        follow.since = self._now()
        if follow.cancelled:
            self._conclude(follow, Ending.CANCELLED)
        elif not first and self._held.of(follow.job.learner) >= MOST_A_LEARNER:
            self._conclude(follow, Ending.RATE_LIMITED)
        elif not first and len(self._held) >= MOST_HELD:
            self._conclude(follow, Ending.QUEUE_FULL)
        else:
            follow.where, follow.runner, follow.place = Where.HELD, "", 0
            self._held.add(follow, first=first)
            self._pump_soon.set()

    async def _pump(self) -> None:
        """Give waiting jobs to runners that have room, whenever something changed."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._times.beat_s):
                    await self._pump_soon.wait()
            self._pump_soon.clear()
            loads = self._loads()
            out = Counter(follow.job.learner for follow in self._attempts.values())
            moved = True
            while moved:
                moved = False
                for follow in self._held.heads():
                    if out[follow.job.learner] >= A_LEARNER:
                        continue
                    runner = self._choose(follow, loads)
                    if runner is None:
                        continue
                    moved = True
                    self._held.remove(follow)
                    loads[runner] += 1
                    out[follow.job.learner] += 1
                    follow.where, follow.runner, follow.number = Where.GOING, runner, follow.number + 1
                    self._attempts[follow.attempt] = follow
                    self._spawn(self._assign(follow))
            self._tell_places()

    def _choose(self, follow: Follow, loads: Counter[str]) -> str | None:
        job = follow.job
        before = self._before.get(job.learner, "")
        return choose(job, self._seen.values(), loads, oldest=self._oldest(), before=before, avoid=follow.avoid)

    def _loads(self) -> Counter[str]:
        """Count the jobs of each runner: ours that count, and what others gave it."""
        loads = Counter(follow.runner for follow in self._attempts.values())
        for one in self._seen.values():
            loads[one.beat.runner] += sum(attempt not in self._attempts for attempt in one.beat.held)
        return loads

    def _tell_places(self) -> None:
        slots = max(1, sum(one.beat.capabilities.slots for one in self._alive()))
        for place, follow in enumerate(self._held.order(), start=1):
            if place > PLACES_TOLD:
                return
            known = follow.news.get(Accepted)
            if not isinstance(known, Accepted) or known.position != place:
                follow.say(Accepted(place, round(place * self._durations.expect(follow.job.kind) / slots, 1)))

    async def _assign(self, follow: Follow) -> None:
        """Claim the attempt, so that no other process makes one, and send it."""
        depot = await self._open()
        began = self._now()
        wanted = Assignment(follow.number, follow.runner)
        while follow.where is Where.GOING:
            try:
                claimed = await depot.assign(follow.job.id, wanted, follow.revision)
                if claimed is None:  # another process was first, or we were and did not hear it
                    kept, follow.revision = await depot.assignment(follow.job.id)
                    if kept != wanted:
                        self._attempts.pop(follow.attempt, None)
                        follow.where, follow.number = Where.ASKED, 0
                        await self._take_on(follow)
                        return
                else:
                    follow.revision = claimed
                await self._send(depot, follow)
            except (WireError, *FAULTS) as fault:
                if self._now() - began > self._times.bound_s:
                    self._fail(follow, _away(fault))
                    return
                await asyncio.sleep(AGAIN_S)

    async def _send(self, depot: Depot, follow: Follow) -> None:
        """Lay a job down for its runner. Laid down twice, it lies there once."""
        await depot.admit(follow.runner)
        job = replace(follow.job, id=follow.attempt)
        body, headers = job_letter(job, proof(self._key, follow.attempt, follow.runner))
        place = await depot.lay(follow.runner, job.learner, body, headers)
        if follow.where is not Where.GOING:
            return
        if place is None:  # the learner has as many there as may be
            self._attempts.pop(follow.attempt, None)
            follow.number -= 1
            await asyncio.sleep(AGAIN_S / 5)
            self._hold(follow, first=True)
            return
        now = self._now()
        follow.where, follow.place, follow.since, follow.looked = Where.THERE, place, now, now
        follow.first_held = follow.last_held = 0.0
        self._before[follow.job.learner] = follow.runner
        if follow.cancelled:
            await self._cancel(follow)

    # --- what runners tell --------------------------------------------------------------------------------------------

    async def _hear_progress(self, letter: Msg) -> None:
        follow = self._counting(letter)
        if follow is None:
            return
        try:
            tell = progress_of(letter.data)
        except WireError as fault:
            LOG.warning("runner %s: progress is refused: %s", follow.runner, _first(fault))
            return
        if isinstance(tell, ToldAccepted | ToldProgress) and tell.job_id == follow.attempt:
            follow.first_held = follow.first_held or self._now()
            follow.last_held = self._now()
            follow.say(tell.event)

    def _counting(self, letter: Msg) -> Follow | None:
        """Give the job whose counting attempt this letter is about, if it comes from that attempt's runner."""
        _, runner, attempt = letter.subject.split(".", 2)
        follow = self._attempts.get(attempt)
        if follow is None:
            return None
        given = (letter.headers or {}).get(names.PROOF, "")
        right = hmac.compare_digest(given.encode(), proof(self._key, attempt, runner).encode())
        if follow.runner != runner or not right:
            LOG.warning("runner %s spoke of an attempt that is not its own", runner[:32])
            return None
        return follow

    def _hear_end(self, letter: Msg) -> None:
        follow = self._counting(letter)
        if follow is None or follow.where is Where.ENDED:
            return
        try:
            tell = follow.parts.add(letter.data, letter.headers or {})
        except WireError as fault:
            self._refuse_end(follow, _first(fault))
            return
        if tell is not None:
            self._take_end(follow, tell)

    def _refuse_end(self, follow: Follow, why: str) -> None:
        LOG.warning("runner %s: a result is refused: %s", follow.runner, why)
        if follow.where in {Where.THERE, Where.GOING}:
            self._spawn(self._take_back(follow, "its result is refused", look=False))

    def _take_end(self, follow: Follow, tell: Tell) -> None:
        match tell:
            case ToldFinished(job_id, Finished(result)):
                if job_id != follow.attempt or result.job_id != job_id or result.kind is not follow.job.kind:
                    self._refuse_end(follow, "it is another job's")
                    return
                if follow.first_held:
                    self._durations.add(follow.job.kind, self._now() - follow.first_held)
                self._finish(follow, replace(result, job_id=follow.job.id))
            case Rejected(_, Refusal.STOPPING, _):
                self._spawn(self._take_back(follow, "its runner is stopping", look=False))
            case Rejected(_, code, detail):
                self._fail(follow, JobRefusedError(code, detail))
            case _:
                self._refuse_end(follow, f"a {type(tell).__name__} is no result")

    def _conclude(self, follow: Follow, ending: Ending) -> None:
        self._finish(follow, Result(follow.job.id, follow.job.kind, ending, follow.job.device))

    def _finish(self, follow: Follow, result: Result) -> None:
        if follow.cancelled and result.ending is Ending.INFRA_ERROR:
            result = replace(result, ending=Ending.CANCELLED)
        self._forget(follow)
        follow.say(Finished(result))

    def _fail(self, follow: Follow, fault: Exception) -> None:
        self._forget(follow)
        follow.fail(fault)

    def _forget(self, follow: Follow) -> None:
        self._held.remove(follow)
        self._attempts.pop(follow.attempt, None)
        if self._follows.get(follow.job.id) is follow:
            del self._follows[follow.job.id]
        self._pump_soon.set()

    # --- cancelling ---------------------------------------------------------------------------------------------------

    async def _hear_cancel(self, letter: Msg) -> None:
        digest = letter.data[:64].decode("ascii", "replace")
        for follow in tuple(self._follows.values()):
            if names.token(follow.job.id) == digest:
                await self._cancel(follow)

    async def _cancel(self, follow: Follow) -> None:
        follow.cancelled = follow.cancelled or self._now()
        match follow.where:
            case Where.HELD:
                self._conclude(follow, Ending.CANCELLED)
                if self._depot is not None:
                    with contextlib.suppress(*FAULTS):
                        await self._depot.assign(follow.job.id, Assignment(0), follow.revision)
            case Where.THERE:
                with contextlib.suppress(*FAULTS):
                    depot = await self._open()
                    await depot.tell_cancel(follow.runner, follow.attempt)
                    if not follow.first_held:
                        await depot.remove(follow.place)
            case Where.ASKED | Where.GOING | Where.BACK | Where.ENDED:
                pass  # looked at when it gets on, or too late
            case _:
                assert_never(follow.where)

    # --- watching -----------------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._times.beat_s / 4)
            if self._depot is None or not self._depot.connected:
                continue
            for follow in tuple(self._follows.values()):
                if follow.where is Where.HELD:
                    self._watch_waiting(follow)
                elif follow.where is Where.THERE:
                    self._watch_there(follow)

    def _watch_waiting(self, follow: Follow) -> None:
        """Give a job back that no living runner could take for the bounded time, or that none ever takes."""
        alive = self._alive()
        if any(offers(one.beat.capabilities, follow.job) for one in alive):
            return
        waited = self._now() - follow.since
        if waited < self._times.bound_s and not (alive and waited > 2 * self._times.gone_s):
            return
        if alive:
            self._fail(follow, JobRefusedError(Refusal.UNSUPPORTED, "kind or device: no living runner offers it"))
        else:
            self._fail(follow, UnavailableError("no runner lives"))

    def _watch_there(self, follow: Follow) -> None:
        """Take a job back whose runner is silent, or lives and has it no more, or has had it for too long."""
        now, times = self._now(), self._times
        if follow.cancelled and now - follow.cancelled > times.cancel_s:
            self._conclude(follow, Ending.CANCELLED)
            return
        seen = self._seen.get(follow.runner)
        heard = max(seen.at if seen else 0.0, follow.since, self._connected_at)
        if now - heard > times.gone_s:
            self._spawn(self._take_back(follow, "its runner is silent"))
        elif seen is not None and seen.beat.stopping and follow.attempt not in seen.beat.held:
            self._spawn(self._take_back(follow, "its runner is stopping"))
        elif follow.first_held and now - max(follow.last_held, self._connected_at) > 2 * times.gone_s:
            self._spawn(self._take_back(follow, "its runner has it no more"))
        elif follow.first_held and now - follow.first_held > deadline_s(follow.job) + times.bound_s:
            self._spawn(self._take_back(follow, "its runner does not end it"))
        elif not follow.first_held and now - follow.looked > 2 * times.gone_s:
            follow.looked = now
            self._spawn(self._look(follow))

    async def _look(self, follow: Follow) -> None:
        """Look whether a job that nobody has seen still lies where it was laid."""
        with contextlib.suppress(*FAULTS):
            depot = await self._open()
            attempt = follow.attempt
            if not await depot.lies(follow.place) and follow.where is Where.THERE and follow.attempt == attempt:
                await self._take_back(follow, "it lies there no more")

    async def _take_back(self, follow: Follow, why: str, *, look: bool = True) -> None:
        """Let this attempt count no more, and make another one at another runner, a few times."""
        if follow.where not in {Where.THERE, Where.GOING}:
            return
        follow.where = Where.BACK
        attempt, runner = follow.attempt, follow.runner
        LOG.warning("attempt %s is taken back from runner %s: %s", attempt, runner, why)
        tell: Tell | None = None
        with contextlib.suppress(UnavailableError, WireError, *FAULTS):
            depot = await self._open()
            tell = await depot.end_of(runner, attempt) if look else None
            if tell is None:
                self._attempts.pop(attempt, None)  # before it is ended: what comes of that is not the job's end
                await depot.tell_cancel(runner, attempt)
                await depot.remove(follow.place)
        if follow.where is not Where.BACK:
            return
        if tell is not None:
            self._take_end(follow, tell)
            return
        self._attempts.pop(attempt, None)
        if follow.cancelled:
            self._conclude(follow, Ending.CANCELLED)
        elif follow.number >= ATTEMPTS:
            with contextlib.suppress(UnavailableError, *FAULTS):
                await (await self._open()).row(runner, attempt, follow.job.kind.value, why)
            self._conclude(follow, Ending.INFRA_ERROR)
        else:
            follow.avoid = runner
            self._hold(follow, first=True)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            LOG.error("work at the broker failed", exc_info=task.exception())


def _first(fault: Exception) -> str:
    """Give a fault's place without what was sent."""
    return str(fault).split(":", 1)[0][:120]


def _away(fault: Exception) -> UnavailableError:
    return UnavailableError(f"the broker does not answer: {type(fault).__name__}")


def _closed() -> UnavailableError:
    return UnavailableError("this end was closed")
