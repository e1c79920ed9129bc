"""Whether a job is well formed and something that this runner does; pure.

Law: what is refused here is the bot's mistake, named by field and value, never a learner's.
"""

import re
from dataclasses import fields

from sandbox_runner.frames import Refusal
from sandbox_runner.protocol import Capabilities, Device, Job, JobKind, Limits

LONGEST_S = 3_600.0
LARGEST = 1 << 40
MOST_CHECKS = 16
LONGEST_MACHINE = 255
"""Characters of a host's name, at most."""
MOST_GPUS = 64
"""More than any host has: a job that names more is a mistake of the bot's."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_LEARNER = re.compile(r"[\x21-\x7e]{1,128}")
_FILENAME_BYTES = 200


def fault_of(job: Job, capabilities: Capabilities) -> tuple[Refusal, str] | None:
    """Say what is wrong with a job, as a code and words for a log; None when nothing is."""
    fault = _shape_fault(job) or _limits_fault(job.limits)
    if fault is not None:
        return Refusal.BAD_JOB, fault
    if job.kind not in capabilities.kinds:
        return Refusal.UNSUPPORTED, f"kind: this runner does not do {job.kind.value!r}"
    if (job.kind is JobKind.EXERCISE) != (job.exercise is not None):
        return Refusal.BAD_JOB, "exercise: an exercise has starter, reference and checks, and nothing else has"
    if job.exercise is not None and not 1 <= len(job.exercise.checks) <= MOST_CHECKS:
        return Refusal.BAD_JOB, f"exercise.checks: 1 to {MOST_CHECKS} were expected, not {len(job.exercise.checks)}"
    if not 1 <= job.gpus <= (1 if job.device is Device.CPU else MOST_GPUS):
        return Refusal.BAD_JOB, f"gpus: {job.gpus} is not 1 to {MOST_GPUS} for a GPU, or 1 for the processor"
    if len(job.machine) > LONGEST_MACHINE or not job.machine.isprintable():
        return Refusal.BAD_JOB, f"machine: at most {LONGEST_MACHINE} printable characters were expected"
    wanted = {Device.CPU, Device.CUDA} if job.device is Device.BOTH else {job.device}
    missing = sorted(device.value for device in wanted - set(capabilities.devices))
    if missing:
        return Refusal.UNSUPPORTED, f"device: this runner has no {missing[0]!r}"
    return None


def _shape_fault(job: Job) -> str | None:
    if not _ID.fullmatch(job.id):
        return f"id: {job.id[:80]!r} is not 1 to 64 letters, digits, '.', '_', ':' or '-'"
    if not _LEARNER.fullmatch(job.learner):
        return "learner: 1 to 128 visible ASCII characters were expected"
    try:
        job.source.encode()
        name = job.filename.encode()
    except UnicodeEncodeError:
        return "source or filename: a lone surrogate cannot be written as UTF-8"
    if not name or len(name) > _FILENAME_BYTES or job.filename in {".", ".."} or set(job.filename) & {"/", "\0"}:
        return f"filename: {job.filename[:80]!r} is not a bare file name of at most {_FILENAME_BYTES} bytes"
    return None


def _limits_fault(limits: Limits) -> str | None:
    for limit in fields(limits):
        value = getattr(limits, limit.name)
        most = LONGEST_S if limit.name.endswith("_s") else LARGEST
        if not 0 < value <= most:
            return f"limits.{limit.name}: {value} is not above 0 and at most {most:g}"
    return None
