"""What the broker keeps, made by the bot's end: four streams, and one consumer a runner.

Law: nothing here is the only copy. Jobs and results stand in the bot's store; the broker may be emptied at any time.
"""

from dataclasses import replace

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError

from sandbox_runner.broker.names import A_LEARNER, ADVISORIES, DEAD, DELIVERIES, JOBS, RESULTS, RUNS, Times, jobs_of

DUPLICATES_S = 600.0
_HOUR = 3600.0
_GIB = 1 << 30

STREAMS: tuple[StreamConfig, ...] = (
    StreamConfig(
        name=JOBS,
        subjects=["jobs.*.*"],
        retention=RetentionPolicy.WORK_QUEUE,
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        discard_new_per_subject=True,
        max_msgs_per_subject=A_LEARNER,
        max_bytes=4 * _GIB,
        max_age=6 * _HOUR,  # far longer than the longest wait and job: what is too old vanishes without a word
        duplicate_window=DUPLICATES_S,
    ),
    StreamConfig(
        name=RESULTS,
        subjects=["results.*.*"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_bytes=4 * _GIB,
        max_age=_HOUR,
        duplicate_window=DUPLICATES_S,
    ),
    StreamConfig(
        name=RUNS,
        subjects=["runs.*"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_msgs_per_subject=1,
        max_age=6 * _HOUR,
        max_bytes=_GIB,
        duplicate_window=DUPLICATES_S,
    ),
    StreamConfig(
        name=DEAD,
        subjects=[ADVISORIES, "dead.*.*"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.OLD,
        max_age=30 * 24 * _HOUR,
        max_bytes=_GIB // 4,
        duplicate_window=DUPLICATES_S,
    ),
)

DEAD_READER = "bots"
_TAKEN_NAME = 10058


async def prepare(stream: JetStreamContext, replicas: int = 1) -> None:
    """Make the streams, or bring them to how they shall be.

    Raises:
        nats.errors.Error, TimeoutError: the broker does not answer, or does not let us.
    """
    for wanted in STREAMS:
        config = replace(wanted, num_replicas=replicas)
        try:
            await stream.add_stream(config)
        except BadRequestError as fault:
            if fault.err_code != _TAKEN_NAME:
                raise
            await stream.update_stream(config)
    letters = ConsumerConfig(
        durable_name=DEAD_READER, filter_subject=ADVISORIES, ack_policy=AckPolicy.EXPLICIT, ack_wait=30.0
    )
    await stream.add_consumer(DEAD, letters)


async def admit(stream: JetStreamContext, runner: str, times: Times) -> None:
    """Make the consumer of a runner, which it may not make itself."""
    config = ConsumerConfig(
        durable_name=runner,
        filter_subject=jobs_of(runner),
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=times.ack_wait_s,
        max_deliver=DELIVERIES,
    )
    await stream.add_consumer(JOBS, config)
