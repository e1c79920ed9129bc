"""What the bot's end does at the broker: claims, jobs laid down and removed, ends read, the dead buried.

Law: each of these may be done twice, by two processes or after a broken try, and has then been done once.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Mapping
from uuid import uuid4

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import APIError, NotFoundError

from sandbox_runner.broker.letters import Assignment, Parts, assignment_of, end_letters, job_of, written
from sandbox_runner.broker.line import AGAIN_S, FAULTS
from sandbox_runner.broker.names import (
    BOTS_CANCEL,
    DEAD,
    EXPECTED,
    JOBS,
    RESULTS,
    RUNS,
    Times,
    cancel_subject,
    dead_subject,
    job_subject,
    proof,
    result_subject,
    run_subject,
    token,
)
from sandbox_runner.broker.room import of_a_subject, prove, told
from sandbox_runner.broker.streams import DEAD_READER, admit, prepare
from sandbox_runner.errors import WireError
from sandbox_runner.frames import TELL_BYTES, ToldFinished, pack
from sandbox_runner.protocol import Ending, Finished, Result

LOG = logging.getLogger("tasree.broker")
ANSWER_S = 3.0
READ_S = 5.0
_OTHER_REVISION = 10071


class Depot:
    """The broker's streams as the bot's end uses them."""

    def __init__(self, line: Client, key: bytes, times: Times) -> None:
        self._line = line
        self._stream = line.jetstream(timeout=ANSWER_S)
        self._key = key
        self._times = times
        self._admitted: set[str] = set()
        self._lost = asyncio.Event()
        self._read = 0
        """The broker's number of the last end that was read."""

    @property
    def connected(self) -> bool:
        """Whether the broker answers now, as far as is known."""
        return bool(self._line.is_connected)

    async def close(self) -> None:
        """Leave the broker."""
        with contextlib.suppress(*FAULTS):
            async with asyncio.timeout(2.0):
                await self._line.close()

    def reconnected(self) -> None:
        """Hear that the connection was lost and is back: what was under way to us may be lost."""
        self._admitted.clear()
        self._lost.set()

    async def prepare(self) -> None:
        """Make what the broker keeps, and note from where ends are read."""
        await prepare(self._stream)
        last = (await self._stream.stream_info(RESULTS)).state.last_seq
        if not self._read or last < self._read:  # the broker was emptied: its numbers begin anew
            self._read = last

    async def prove(self) -> None:
        """Try whether the broker keeps what it is given. Raises as `room.prove`."""
        await prove(self._line, self._stream)

    async def admit(self, runner: str) -> None:
        """Make a runner's consumer, once a connection."""
        if runner not in self._admitted:
            await admit(self._stream, runner, self._times)
            self._admitted.add(runner)

    # --- assignments --------------------------------------------------------------------------------------------------

    async def assignment(self, job_id: str) -> tuple[Assignment | None, int]:
        """Give which attempt at a job counts, and the assignment's revision; None when there is none that can be read.

        A runner can have the broker put a notice there, as a pull's answer goes wherever it wants it.
        """
        try:
            kept = await self._stream.get_last_msg(RUNS, run_subject(job_id))
        except NotFoundError:
            return None, 0
        try:
            return assignment_of(kept.data or b""), kept.seq or 0
        except WireError as fault:
            LOG.warning("an assignment cannot be read: %s", str(fault).split(":", 1)[0][:120])
            return None, kept.seq or 0

    async def assign(self, job_id: str, wanted: Assignment, revision: int) -> int | None:
        """Let an attempt count, if `revision` is still the newest; give the new revision, None when it is not."""
        try:
            ack = await self._stream.publish(
                run_subject(job_id), written(wanted), headers={EXPECTED: str(revision)}, stream=RUNS
            )
        except APIError as fault:
            if fault.err_code == _OTHER_REVISION:
                return None
            raise told(fault) from None
        return ack.seq

    # --- jobs ---------------------------------------------------------------------------------------------------------

    async def lay(self, runner: str, learner: str, body: bytes, headers: dict[str, str]) -> int | None:
        """Lay a job down and give its place; None when the learner has as many there as may be."""
        try:
            ack = await self._stream.publish(job_subject(runner, learner), body, headers=dict(headers), stream=JOBS)
        except APIError as fault:
            if of_a_subject(fault):
                return None
            raise told(fault) from None
        return ack.seq

    async def remove(self, place: int) -> None:
        """Remove a job from where it was laid, if it is still there."""
        if place:
            with contextlib.suppress(APIError):
                await self._stream.delete_msg(JOBS, place)

    async def lies(self, place: int) -> bool:
        """Say whether a job still lies where it was laid."""
        try:
            await self._stream.get_msg(JOBS, place)
        except NotFoundError:
            return False
        return True

    async def tell_cancel(self, runner: str, attempt: str) -> None:
        """Tell a runner that an attempt shall end."""
        await self._line.publish(cancel_subject(runner), attempt.encode())

    async def tell_bots(self, job_id: str) -> None:
        """Tell every process of the bot that a job shall end."""
        await self._line.publish(BOTS_CANCEL, token(job_id).encode())

    # --- ends ---------------------------------------------------------------------------------------------------------

    async def end_of(self, runner: str, attempt: str) -> Result | None:
        """Look whether the result of an attempt lies there already, with the right proof."""
        subject = result_subject(runner, attempt)
        try:
            await self._stream.get_last_msg(RESULTS, subject)
        except NotFoundError:
            return None
        config = ConsumerConfig(
            name=f"look-{uuid4().hex}",
            filter_subject=subject,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=30.0,
            mem_storage=True,
        )
        await self._stream.add_consumer(RESULTS, config)
        letters = await self._stream.pull_subscribe_bind(config.name, stream=RESULTS)
        parts, found = Parts(), None
        right = proof(self._key, attempt, runner)
        try:
            while found is None:
                for letter in await letters.fetch(64, timeout=0.5):
                    if (letter.headers or {}).get("Tasree-Proof", "") == right and found is None:
                        found = parts.add(letter.data, letter.headers or {})
        except (TimeoutError, WireError):
            return None
        finally:
            await letters.unsubscribe()
            with contextlib.suppress(*FAULTS):
                await self._stream.delete_consumer(RESULTS, config.name or "")
        match found:
            case ToldFinished(said, Finished(result)) if said == result.job_id == attempt:
                return result
            case _:
                return None  # no result, or none that could be used

    async def read(self, hear: Callable[[Msg], None]) -> None:
        """Give every end that comes from now on, without end; none is passed over when the connection was lost."""
        while True:
            self._lost.clear()
            name = f"bot-{uuid4().hex}"
            config = ConsumerConfig(
                name=name,
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=self._read + 1,
                ack_policy=AckPolicy.NONE,
                inactive_threshold=300.0,
                mem_storage=True,
            )
            try:
                await self._stream.add_consumer(RESULTS, config)
                letters = await self._stream.pull_subscribe_bind(name, stream=RESULTS)
            except FAULTS:
                await asyncio.sleep(AGAIN_S)
                continue
            try:
                while not self._lost.is_set():
                    with contextlib.suppress(TimeoutError):
                        for letter in await letters.fetch(64, timeout=READ_S):
                            self._read = max(self._read, letter.metadata.sequence.stream)
                            hear(letter)
            except FAULTS as fault:
                LOG.info("results are read anew: %s", type(fault).__name__)
                await asyncio.sleep(AGAIN_S)
            with contextlib.suppress(*FAULTS):
                await letters.unsubscribe()
                await self.prepare()

    # --- the dead -----------------------------------------------------------------------------------------------------

    async def bury(self) -> None:
        """End, without end, the attempts that were delivered as often as may be: the learner gets `infra_error`."""
        while True:
            try:
                letters = await self._stream.pull_subscribe_bind(DEAD_READER, stream=DEAD)
                while True:
                    with contextlib.suppress(TimeoutError):
                        for letter in await letters.fetch(1, timeout=READ_S):
                            await self._bury(letter)
                            await letter.ack()
            except FAULTS as fault:
                LOG.info("dead letters are read anew: %s", type(fault).__name__)
                await asyncio.sleep(AGAIN_S)

    async def _bury(self, letter: Msg) -> None:
        place, runner = _advised(letter.data)
        if not place:
            return
        try:
            kept = await self._stream.get_msg(JOBS, place)
        except NotFoundError:
            return
        try:
            job, _ = job_of(kept.data or b"", kept.headers or {})
        except WireError:
            await self.remove(place)
            return
        result = Result(job.id, job.kind, Ending.INFRA_ERROR, job.device)
        frame = pack(ToldFinished(job.id, Finished(result)), TELL_BYTES)
        for body, headers in end_letters(frame, job.id, proof(self._key, job.id, runner), "dead"):
            await self._stream.publish(result_subject(runner, job.id), body, headers=headers, stream=RESULTS)
        await self.row(runner, job.id, job.kind.value, "delivered too often")
        await self.remove(place)

    async def row(self, runner: str, attempt: str, kind: str, why: str) -> None:
        """Keep a row for the operator about an attempt that was given up."""
        LOG.error("attempt %s is dead, last at runner %s: %s", attempt, runner, why)
        body = json.dumps({"attempt": attempt, "runner": runner, "kind": kind, "why": why}).encode()
        await self._stream.publish(dead_subject(runner, attempt), body, stream=DEAD)


def _advised(body: bytes) -> tuple[int, str]:
    """Read an advisory of the broker's own: the place of the job, and whose consumer it was; 0 when it is none."""
    try:
        plain: Mapping[str, object] = json.loads(body)
        place, runner = plain["stream_seq"], plain["consumer"]
    except (ValueError, KeyError, TypeError):
        return 0, ""
    return (place, runner) if isinstance(place, int) and isinstance(runner, str) else (0, "")
