"""Watches over jobs: those that no runner takes, and those whose runner is silent, stopping, or has them no more.

Law: a runner is silent only while the broker could have brought its voice.
"""

import asyncio
import contextlib

from sandbox_runner.broker.choosing import offers
from sandbox_runner.broker.desk import Desk
from sandbox_runner.broker.ends import Ends
from sandbox_runner.broker.following import Follow, Where
from sandbox_runner.broker.line import FAULTS
from sandbox_runner.broker.roster import Roster
from sandbox_runner.dispatch import deadline_s
from sandbox_runner.errors import JobRefusedError, UnavailableError
from sandbox_runner.frames import Refusal
from sandbox_runner.protocol import Ending


class Watch:
    """Looks at every job several times a beat."""

    def __init__(self, desk: Desk, roster: Roster, ends: Ends) -> None:
        self._desk = desk
        self._roster = roster
        self._ends = ends

    async def watch(self) -> None:
        """Look, without end."""
        while True:
            await asyncio.sleep(self._desk.times.beat_s / 4)
            self._cancelled()
            if self._desk.depot is None or not self._desk.depot.connected:
                continue
            for follow in tuple(self._desk.follows.values()):
                if follow.where is Where.HELD:
                    self._waiting(follow)
                elif follow.where is Where.THERE:
                    self._there(follow)

    def _cancelled(self) -> None:
        """End what was cancelled a while ago, whatever its runner and the broker say."""
        for follow in tuple(self._desk.follows.values()):
            on_its_way = follow.where in {Where.ASKED, Where.GOING, Where.THERE}
            if on_its_way and follow.cancelled and self._desk.now() - follow.cancelled > self._desk.times.cancel_s:
                self._desk.conclude(follow, Ending.CANCELLED)

    def _waiting(self, follow: Follow) -> None:
        """Give a job back that no living runner could take for the bounded time, or that none ever takes."""
        alive = self._roster.alive()
        if any(offers(one.beat.capabilities, follow.job) for one in alive):
            return
        waited = self._desk.now() - follow.since
        if waited < self._desk.times.bound_s and not (alive and waited > 2 * self._desk.times.gone_s):
            return
        if alive:
            self._desk.fail(follow, JobRefusedError(Refusal.UNSUPPORTED, "kind or device: no living runner offers it"))
        else:
            self._desk.fail(follow, UnavailableError("no runner lives"))

    def _there(self, follow: Follow) -> None:
        """Take a job back whose runner is silent, or lives and has it no more, or has had it for too long."""
        now, times = self._desk.now(), self._desk.times
        seen = self._roster.seen.get(follow.runner)
        heard = max(seen.at if seen else 0.0, follow.since, self._roster.connected_at)
        if now - heard > times.gone_s:
            self._desk.spawn(self._ends.take_back(follow, "its runner is silent"))
        elif seen is not None and seen.beat.stopping and follow.attempt not in seen.beat.held:
            self._desk.spawn(self._ends.take_back(follow, "its runner is stopping"))
        elif follow.first_held and now - max(follow.last_held, self._roster.connected_at) > 2 * times.gone_s:
            self._desk.spawn(self._ends.take_back(follow, "its runner has it no more"))
        elif follow.first_held and now - follow.first_held > deadline_s(follow.job) + times.bound_s:
            self._desk.spawn(self._ends.take_back(follow, "its runner does not end it"))
        elif not follow.first_held and now - follow.looked > 2 * times.gone_s:
            follow.looked = now
            self._desk.spawn(self._look(follow))

    async def _look(self, follow: Follow) -> None:
        """Look whether a job that nobody has seen still lies where it was laid."""
        with contextlib.suppress(*FAULTS):
            depot = await self._desk.open()
            attempt = follow.attempt
            if not await depot.lies(follow.place) and follow.where is Where.THERE and follow.attempt == attempt:
                await self._ends.take_back(follow, "it lies there no more")
