"""Gives jobs to runners: takes a job on from what the broker knows of it, claims an attempt, and lays it down.

Law: of two processes one makes the attempt that counts; laid down twice, a job lies there once.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from dataclasses import replace

from sandbox_runner.broker.choosing import choose
from sandbox_runner.broker.depot import Depot
from sandbox_runner.broker.desk import Desk, away, closed
from sandbox_runner.broker.ends import Ends
from sandbox_runner.broker.following import Follow, Where
from sandbox_runner.broker.letters import Assignment, job_letter
from sandbox_runner.broker.line import AGAIN_S, FAULTS
from sandbox_runner.broker.names import A_LEARNER, proof
from sandbox_runner.broker.room import NoRoomError
from sandbox_runner.broker.roster import Roster
from sandbox_runner.errors import UnavailableError, WireError
from sandbox_runner.protocol import Accepted, Ending

LOG = logging.getLogger("tasree.broker")
PLACES_TOLD = 200


class Assigner:
    """Finds each job a runner."""

    def __init__(self, desk: Desk, roster: Roster, ends: Ends) -> None:
        self._desk = desk
        self._roster = roster
        self._ends = ends

    async def take_on(self, follow: Follow) -> None:
        """Find out what the broker knows of a job, and go on from there."""
        while follow.where is Where.ASKED:
            try:
                depot = await self._desk.open()
                kept, follow.revision = await depot.assignment(follow.job.id)
                if kept is None:
                    self._desk.hold(follow)
                elif kept.attempt == 0:
                    self._desk.conclude(follow, Ending.CANCELLED)
                else:
                    await self._adopt(depot, follow, kept)
            except (UnavailableError, WireError, *FAULTS) as fault:
                if self._given_up(follow, fault, follow.since):
                    return
                await asyncio.sleep(AGAIN_S)

    async def _adopt(self, depot: Depot, follow: Follow, kept: Assignment) -> None:
        """Take up an attempt that is on its way: its end may lie there, it may be under way, or was never sent."""
        follow.number, follow.runner = kept.attempt, kept.runner
        self._desk.attempts[follow.attempt] = follow
        result = await depot.end_of(kept.runner, follow.attempt)
        if result is not None and self._ends.take_result(follow, result):
            return
        follow.where = Where.GOING
        try:
            await self._send(depot, follow)
        except FAULTS:
            if follow.where is Where.GOING:  # it was not laid down: it is taken on once more
                follow.where = Where.ASKED
            raise

    async def pump(self) -> None:
        """Give waiting jobs to runners that have room, whenever something changed."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._desk.times.beat_s):
                    await self._desk.changed.wait()
            self._desk.changed.clear()
            loads = self._loads()
            out = Counter(follow.job.learner for follow in self._desk.attempts.values())
            moved = True
            while moved:
                moved = False
                for follow in self._desk.held.heads():
                    if out[follow.job.learner] >= A_LEARNER:
                        continue
                    runner = self._choose(follow, loads)
                    if runner is None:
                        continue
                    moved = True
                    self._desk.held.remove(follow)
                    loads[runner] += 1
                    out[follow.job.learner] += 1
                    follow.where, follow.runner, follow.number = Where.GOING, runner, follow.number + 1
                    self._desk.attempts[follow.attempt] = follow
                    self._desk.spawn(self._assign(follow))
            self._tell_places()

    def _choose(self, follow: Follow, loads: Counter[str]) -> str | None:
        job = follow.job
        before = self._desk.before.get(job.learner, "")
        return choose(
            job, self._roster.seen.values(), loads, oldest=self._roster.oldest(), before=before, avoid=follow.avoid
        )

    def _loads(self) -> Counter[str]:
        """Count the jobs of each runner: ours that count, and what others gave it."""
        loads = Counter(follow.runner for follow in self._desk.attempts.values())
        for one in self._roster.seen.values():
            loads[one.beat.runner] += sum(attempt not in self._desk.attempts for attempt in one.beat.held)
        return loads

    def _tell_places(self) -> None:
        slots = max(1, sum(one.beat.capabilities.slots for one in self._roster.alive()))
        for place, follow in enumerate(self._desk.held.order(), start=1):
            if place > PLACES_TOLD:
                return
            known = follow.news.get(Accepted)
            if not isinstance(known, Accepted) or known.position != place:
                follow.say(Accepted(place, round(place * self._desk.durations.expect(follow.job.kind) / slots, 1)))

    async def _assign(self, follow: Follow) -> None:
        """Claim the attempt, so that no other process makes one, and send it."""
        depot = await self._desk.open()
        began = self._desk.now()
        wanted = Assignment(follow.number, follow.runner)
        while follow.where is Where.GOING:
            try:
                claimed = await depot.assign(follow.job.id, wanted, follow.revision)
                if claimed is None:  # another process was first, or we were and did not hear it
                    kept, follow.revision = await depot.assignment(follow.job.id)
                    if kept != wanted:
                        self._desk.attempts.pop(follow.attempt, None)
                        follow.where, follow.number = Where.ASKED, 0
                        await self.take_on(follow)
                        return
                else:
                    follow.revision = claimed
                await self._send(depot, follow)
            except (WireError, *FAULTS) as fault:
                if self._given_up(follow, fault, began):
                    return
                await asyncio.sleep(AGAIN_S)

    def _given_up(self, follow: Follow, fault: Exception, since: float) -> bool:
        """End a job that could not be sent for the bounded time, or is no longer wanted; say whether it is ended."""
        desk, full = self._desk, isinstance(fault, NoRoomError)
        if desk.closed:
            desk.fail(follow, closed())
        elif follow.cancelled and (full or desk.now() - follow.cancelled > desk.times.cancel_s):
            desk.conclude(follow, Ending.CANCELLED)
        elif desk.now() - since <= desk.times.bound_s:
            return False
        elif full:
            LOG.error("a job is turned away: the broker has no room for it: %s", fault)
            desk.conclude(follow, Ending.QUEUE_FULL)
        else:
            desk.fail(follow, fault if isinstance(fault, UnavailableError) else away(fault))
        return True

    async def _send(self, depot: Depot, follow: Follow) -> None:
        """Lay a job down for its runner. Laid down twice, it lies there once."""
        await depot.admit(follow.runner)
        job = replace(follow.job, id=follow.attempt)
        body, headers = job_letter(job, proof(self._desk.key, follow.attempt, follow.runner))
        place = await depot.lay(follow.runner, job.learner, body, headers)
        if follow.where is not Where.GOING:
            await self._unsend(depot, follow, place)
            return
        if place is None:  # the learner has as many there as may be
            self._desk.attempts.pop(follow.attempt, None)
            follow.number -= 1
            await asyncio.sleep(AGAIN_S / 5)
            self._desk.hold(follow, first=True)
            return
        now = self._desk.now()
        follow.where, follow.place, follow.since, follow.looked = Where.THERE, place, now, now
        follow.first_held = follow.last_held = 0.0
        self._desk.before[follow.job.learner] = follow.runner
        if follow.cancelled:
            await self._ends.cancel(follow)

    async def _unsend(self, depot: Depot, follow: Follow, place: int | None) -> None:
        """Take back a job that was cancelled while it was laid down."""
        if follow.cancelled and place:
            with contextlib.suppress(*FAULTS):
                await depot.remove(place)
                await depot.tell_cancel(follow.runner, follow.attempt)
