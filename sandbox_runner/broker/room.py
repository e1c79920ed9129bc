"""Whether the broker has room: what it says when it has none, and a try of it.

Law: what was refused for want of room lies nowhere, and may be given again as it was.
"""

import contextlib
import logging

from nats.aio.client import Client
from nats.errors import Error
from nats.js import JetStreamContext
from nats.js.errors import APIError

from sandbox_runner.broker.line import FAULTS
from sandbox_runner.broker.names import JOBS, RESULTS, RUNS, job_subject, result_subject, run_subject
from sandbox_runner.errors import UnavailableError

LOG = logging.getLogger("tasree.broker")

_STORE_FAILED = 10077
_NO_ROOM = frozenset({10023, 10028, 10047, _STORE_FAILED})
"""The broker's codes that say that there is no room: of the server, in memory, in its storage, in a stream."""
_OF_A_SUBJECT = "per subject"
"""What tells a subject's bound from a stream's, which have one code."""
_NOTE = b" " * 8192
"""More than what a full disk may still have at the end of a file."""
_STEP = "Make room there, then start nats-server anew."
_NOBODY = "_"
"""A place where no runner looks: none can have this name."""


class NoRoomError(Error):
    """The broker has no room for what it was given."""


def told(fault: APIError) -> Error:
    """Give what the broker said, by what it means to us."""
    return NoRoomError(fault.description or "") if fault.err_code in _NO_ROOM else fault


def of_a_subject(fault: APIError) -> bool:
    """Say whether the stream has room, and only this subject has as much as it may."""
    return fault.err_code == _STORE_FAILED and _OF_A_SUBJECT in (fault.description or "")


async def prove(line: Client, stream: JetStreamContext) -> None:
    """Have the broker keep a little thing in each stream that jobs go through.

    A server whose disk was full once keeps nothing more in the streams that met it until it is started anew, and says
    so to nobody: what is published there is never answered (nats-server 2.15.1, tried).

    Raises:
        UnavailableError: it answers, and does not keep it.
        nats.errors.Error, TimeoutError: it does not answer.
    """
    places = (
        (RUNS, run_subject(_NOBODY)),
        (JOBS, job_subject(_NOBODY, "")),
        (RESULTS, result_subject(_NOBODY, _NOBODY)),
    )
    for name, subject in places:
        try:
            ack = await stream.publish(subject, _NOTE, stream=name)
            if name == JOBS:
                with contextlib.suppress(APIError):
                    await stream.delete_msg(JOBS, ack.seq)
        except APIError as fault:
            if not of_a_subject(fault):
                LOG.warning("the broker takes nothing into %s: %s", name, fault.description)
        except FAULTS:
            if line.is_connected and await _answers(stream):
                message = f"the broker answers, but keeps nothing in {name}: is its disk full, or was it? {_STEP}"
                raise UnavailableError(message) from None
            raise


async def _answers(stream: JetStreamContext) -> bool:
    """Say whether the broker answers what it need not write for."""
    with contextlib.suppress(*FAULTS):
        await stream.stream_info(RUNS)
        return True
    return False
