"""Which runner gets a job: one that offers what it asks, the least loaded, rather the one its learner had before; pure.

Law: a runner that is silent, stopping, or speaks another version gets nothing. A job that names its machine waits for
that one while it lives, and goes elsewhere when it does not, or has just lost the job: its result says where it ran.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sandbox_runner.broker.letters import Beat
from sandbox_runner.protocol import Capabilities, Device, Job

AHEAD = 1
"""So many jobs wait at a runner beside those that run, so that it never waits for one."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A runner's newest sign of life, and when it came (seconds of the caller's clock)."""

    beat: Beat
    at: float


def offers(capabilities: Capabilities, job: Job) -> bool:
    """Say whether a runner does jobs of this kind on this device."""
    wanted = {Device.CPU, Device.CUDA} if job.device is Device.BOTH else {job.device}
    return job.kind in capabilities.kinds and wanted <= set(capabilities.devices)


def choose(  # noqa: PLR0913 - what there is to know
    job: Job, seen: Iterable[Seen], loads: Mapping[str, int], *, oldest: float, before: str = "", avoid: str = ""
) -> str | None:
    """Name the runner for a job; None when none has room.

    `loads` counts the jobs each is known to have, `oldest` is the time before which a sign of life is no more one,
    `before` the runner that the learner's last job had, `avoid` the one that just lost this job.
    """
    living = [one for one in seen if one.at >= oldest and not one.beat.stopping and offers(one.beat.capabilities, job)]
    same = [one for one in living if one.beat.runner == job.machine != avoid]
    fit: list[tuple[bool, float, bool, str]] = []
    for one in same or living:
        beat = one.beat
        slots = max(1, beat.capabilities.slots)
        load = loads.get(beat.runner, 0)
        if load >= slots + AHEAD:
            continue
        # Of two as loaded, a job for the processor leaves the GPU's host to those that need it.
        spare = job.device is Device.CPU and Device.CUDA in beat.capabilities.devices
        waits = max(0, load + 1 - slots)
        few = job.device is not Device.CPU and beat.capabilities.device_count < job.gpus
        fit.append((few or beat.runner == avoid, waits + spare / 2 - (beat.runner == before) / 4, spare, beat.runner))
    if not fit:
        return None
    least = min(one[:3] for one in fit)
    equals = [one[3] for one in fit if one[:3] == least]
    return min(equals, key=lambda name: (loads.get(name, 0), name))


def together(seen: Iterable[Seen]) -> Capabilities | None:
    """Say what runners can do together: the machine and the walls are the first one's by name.

    A job's GPUs are all of one host, so that the most one of them has is what a job may name.
    """
    beats = sorted((one.beat for one in seen), key=lambda beat: beat.runner)
    if not beats:
        return None
    all_of = [beat.capabilities for beat in beats]
    return replace(
        all_of[0],
        kinds=tuple(dict.fromkeys(kind for each in all_of for kind in each.kinds)),
        devices=tuple(dict.fromkeys(device for each in all_of for device in each.devices)),
        device_count=max(each.device_count for each in all_of),
        slots=sum(each.slots for each in all_of),
        accepted_missing=tuple(dict.fromkeys(name for each in all_of for name in each.accepted_missing)),
        noise=max(each.noise for each in all_of),
    )
