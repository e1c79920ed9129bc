"""How things are called at the broker: streams, subjects, headers, attempts and their proofs; and how long it waits.

Law: no subject holds anything that a learner wrote, or a job's own id: learners and jobs stand there as hashes.
"""

import hashlib
import hmac
import re
from dataclasses import dataclass

JOBS = "JOBS"
RESULTS = "RESULTS"
RUNS = "RUNS"
DEAD = "DEAD"

VERSION = "Tasree-Version"
PROOF = "Tasree-Proof"
PART = "Tasree-Part"
LIFE = "Tasree-Life"
ONCE = "Nats-Msg-Id"
EXPECTED = "Nats-Expected-Last-Subject-Sequence"

DELIVERIES = 3
"""So often is an attempt delivered to its runner before it is a dead letter."""
ATTEMPTS = 3
"""So many runners may lose a job before it is taken for the cause."""
A_LEARNER = 2
"""So many jobs of one learner lie at the broker for one runner; the others wait at the bot."""

ADVISORIES = f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{JOBS}.*"
BOTS_CANCEL = "bots.cancel"

_RUNNER = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Times:
    """How long each end waits, in seconds.

    A runner says every `beat_s` that it lives, and is given up after `gone_s` of silence. A delivered job is delivered
    again unless it is heard of within `ack_wait_s`. A job that no runner can take is given back after `bound_s`. A
    cancelled job is reported as ended after `cancel_s`, whatever its runner says.
    """

    beat_s: float = 1.0
    gone_s: float = 6.0
    ack_wait_s: float = 15.0
    bound_s: float = 60.0
    cancel_s: float = 1.5


def is_runner(name: str) -> bool:
    """Say whether this may be a runner's name: 1 to 32 of a-z, 0-9 and inner hyphens."""
    return _RUNNER.fullmatch(name) is not None


def token(job_id: str) -> str:
    """Give the hash under which a job stands in subjects."""
    return hashlib.blake2s(job_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def attempt_id(job_id: str, number: int) -> str:
    """Name the attempt `number` (from 1) at a job; it is the id of the job as its runner sees it."""
    return f"{token(job_id)}-{number}"


def proof(key: bytes, attempt: str, runner: str) -> str:
    """Give what this runner must repeat beside the result of this attempt; whoever has the key can tell it."""
    return hmac.new(key, f"{attempt} {runner}".encode(), hashlib.sha256).hexdigest()


def job_subject(runner: str, learner: str) -> str:
    """Name where a learner's jobs for a runner go."""
    return f"jobs.{runner}.{token(learner)}"


def jobs_of(runner: str) -> str:
    """Name all jobs of a runner."""
    return f"jobs.{runner}.*"


def result_subject(runner: str, attempt: str) -> str:
    """Name where a runner tells what came of an attempt."""
    return f"results.{runner}.{attempt}"


def progress_subject(runner: str, attempt: str) -> str:
    """Name where a runner tells how an attempt goes on."""
    return f"progress.{runner}.{attempt}"


def alive_subject(runner: str) -> str:
    """Name where a runner says that it lives."""
    return f"alive.{runner}"


def cancel_subject(runner: str) -> str:
    """Name where a runner hears which attempts shall end."""
    return f"cancel.{runner}"


def run_subject(job_id: str) -> str:
    """Name where it is kept which attempt at a job counts, and at which runner."""
    return f"runs.{token(job_id)}"


def dead_subject(runner: str, attempt: str) -> str:
    """Name where a row for the operator goes about a job that ended its runners."""
    return f"dead.{runner}.{attempt}"
