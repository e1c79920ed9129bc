"""How an attempt ends: by its result, by cancelling, or taken back from a runner that is lost, lies or stops.

Law: what is heard of an attempt counts only while that attempt counts, from its own runner, with its proof.
"""

import contextlib
import hmac
import logging
from dataclasses import replace
from typing import assert_never

from nats.aio.msg import Msg

from sandbox_runner.broker import names
from sandbox_runner.broker.desk import Desk, first_words
from sandbox_runner.broker.following import Follow, Where
from sandbox_runner.broker.letters import Assignment, progress_of
from sandbox_runner.broker.line import FAULTS
from sandbox_runner.broker.names import ATTEMPTS, proof
from sandbox_runner.errors import JobRefusedError, UnavailableError, WireError
from sandbox_runner.frames import Refusal, Rejected, Tell, ToldAccepted, ToldFinished, ToldProgress
from sandbox_runner.protocol import Ending, Finished, Result

LOG = logging.getLogger("tasree.broker")


class Ends:
    """Hears what becomes of attempts."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def hear_progress(self, letter: Msg) -> None:
        """Hear how an attempt goes on."""
        follow = self._counting(letter)
        if follow is None:
            return
        try:
            tell = progress_of(letter.data)
        except WireError as fault:
            LOG.warning("runner %s: progress is refused: %s", follow.runner, first_words(fault))
            return
        if isinstance(tell, ToldAccepted | ToldProgress) and tell.job_id == follow.attempt:
            follow.first_held = follow.first_held or self._desk.now()
            follow.last_held = self._desk.now()
            follow.say(tell.event)

    def _counting(self, letter: Msg) -> Follow | None:
        """Give the job whose counting attempt this letter is about, if it comes from that attempt's runner."""
        _, runner, attempt = letter.subject.split(".", 2)
        follow = self._desk.attempts.get(attempt)
        if follow is None:
            return None
        given = (letter.headers or {}).get(names.PROOF, "")
        right = hmac.compare_digest(given.encode(), proof(self._desk.key, attempt, runner).encode())
        if follow.runner != runner or not right:
            LOG.warning("runner %s spoke of an attempt that is not its own", runner[:32])
            return None
        return follow

    def hear_end(self, letter: Msg) -> None:
        """Hear a part of an attempt's end."""
        follow = self._counting(letter)
        if follow is None or follow.where is Where.ENDED:
            return
        try:
            tell = follow.parts.add(letter.data, letter.headers or {})
        except WireError as fault:
            self._refuse_end(follow, first_words(fault))
            return
        if tell is not None:
            self.take_end(follow, tell)

    def _refuse_end(self, follow: Follow, why: str) -> None:
        LOG.warning("runner %s: a result is refused: %s", follow.runner, why)
        if follow.where in {Where.THERE, Where.GOING}:
            self._desk.spawn(self.take_back(follow, "its result is refused", look=False))

    def take_end(self, follow: Follow, tell: Tell) -> None:
        """Take what a runner said last of an attempt."""
        match tell:
            case ToldFinished(job_id, Finished(result)):
                if job_id != result.job_id or not self.take_result(follow, result):
                    self._refuse_end(follow, "it is another job's")
            case Rejected(_, Refusal.STOPPING, _):
                self._desk.spawn(self.take_back(follow, "its runner is stopping", look=False))
            case Rejected(_, code, detail):
                self._desk.fail(follow, JobRefusedError(code, detail))
            case _:
                self._refuse_end(follow, f"a {type(tell).__name__} is no result")

    def take_result(self, follow: Follow, result: Result) -> bool:
        """End a job with a result, if it is this attempt's; say whether it is.

        Which machine it ran on is said by the name of the runner that had it, whatever the runner says.
        """
        if result.job_id != follow.attempt or result.kind is not follow.job.kind:
            return False
        if follow.first_held:
            self._desk.durations.add(follow.job.kind, self._desk.now() - follow.first_held)
        machine = replace(result.machine, name=follow.runner)
        self._desk.finish(follow, replace(result, job_id=follow.job.id, machine=machine))
        return True

    async def cancel(self, follow: Follow) -> None:
        """End a job as far as it is on its way."""
        follow.cancelled = follow.cancelled or self._desk.now()
        match follow.where:
            case Where.HELD:
                self._desk.conclude(follow, Ending.CANCELLED)
                with contextlib.suppress(UnavailableError, *FAULTS):
                    depot = await self._desk.open()
                    await depot.assign(follow.job.id, Assignment(0), follow.revision)
            case Where.THERE:
                with contextlib.suppress(UnavailableError, *FAULTS):
                    depot = await self._desk.open()
                    await depot.tell_cancel(follow.runner, follow.attempt)
                    if not follow.first_held:
                        await depot.remove(follow.place)
            case Where.ASKED | Where.GOING | Where.BACK | Where.ENDED:
                pass  # looked at when it gets on, or too late
            case _:
                assert_never(follow.where)

    async def take_back(self, follow: Follow, why: str, *, look: bool = True) -> None:
        """Let this attempt count no more, and make another one at another runner, a few times."""
        if follow.where not in {Where.THERE, Where.GOING}:
            return
        follow.where = Where.BACK
        attempt, runner = follow.attempt, follow.runner
        LOG.warning("attempt %s is taken back from runner %s: %s", attempt, runner, why)
        result: Result | None = None
        with contextlib.suppress(UnavailableError, WireError, *FAULTS):
            depot = await self._desk.open()
            result = await depot.end_of(runner, attempt) if look else None
            if result is None:
                self._desk.attempts.pop(attempt, None)  # before it is ended: what comes of that is not the job's end
                await depot.tell_cancel(runner, attempt)
                await depot.remove(follow.place)
        if follow.where is not Where.BACK:
            return
        if result is not None and self.take_result(follow, result):
            return
        self._desk.attempts.pop(attempt, None)
        if follow.cancelled:
            self._desk.conclude(follow, Ending.CANCELLED)
        elif follow.number >= ATTEMPTS:
            with contextlib.suppress(UnavailableError, *FAULTS):
                await (await self._desk.open()).row(runner, attempt, follow.job.kind.value, why)
            self._desk.conclude(follow, Ending.INFRA_ERROR)
        else:
            follow.avoid = runner
            self._desk.hold(follow, first=True)
