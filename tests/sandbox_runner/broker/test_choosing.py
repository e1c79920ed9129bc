from dataclasses import replace

import pytest

from sandbox_runner.broker.choosing import Seen, choose, together
from sandbox_runner.broker.letters import Beat
from sandbox_runner.protocol import Device, Job, JobKind
from sandbox_runner.testing import CAPABILITIES

JOB = Job("a1", JobKind.RUN, "x", "a")
GPU_JOB = replace(JOB, device=Device.CUDA)
ON_B = replace(JOB, machine="b")


def seen(name: str, *, gpu: bool = False, at: float = 10.0, slots: int = 1, stopping: bool = False) -> Seen:
    devices = (Device.CPU, Device.CUDA) if gpu else (Device.CPU,)
    capabilities = replace(CAPABILITIES, devices=devices, slots=slots, device_count=int(gpu))
    return Seen(Beat(1, name, "life", (), capabilities, stopping), at)


@pytest.mark.parametrize(
    ("job", "runners", "loads", "before", "avoid", "chosen"),
    [
        (JOB, [seen("a"), seen("b")], {"a": 1}, "", "", "b"),
        (JOB, [seen("a"), seen("b")], {}, "b", "", "b"),
        (JOB, [seen("a"), seen("b")], {"b": 1}, "b", "", "a"),
        (JOB, [seen("a", slots=4), seen("b", slots=4)], {"b": 2}, "b", "", "b"),
        (JOB, [seen("a"), seen("b")], {}, "a", "a", "b"),
        (JOB, [seen("a")], {}, "", "a", "a"),
        (JOB, [seen("a", gpu=True), seen("b")], {}, "", "", "b"),
        (GPU_JOB, [seen("a"), seen("b", gpu=True)], {"b": 1}, "", "", "b"),
        (GPU_JOB, [seen("a")], {}, "", "", None),
        (JOB, [seen("a")], {"a": 2}, "", "", None),
        (JOB, [seen("a", at=1.0), seen("b", stopping=True)], {}, "", "", None),
        (ON_B, [seen("a"), seen("b")], {"b": 1}, "a", "", "b"),
        (ON_B, [seen("a"), seen("b")], {"b": 2}, "", "", None),
        (ON_B, [seen("a"), seen("b", at=1.0)], {}, "", "", "a"),
        (ON_B, [seen("a"), seen("b", stopping=True)], {}, "", "", "a"),
        (ON_B, [seen("a"), seen("b")], {}, "", "b", "a"),
        (replace(GPU_JOB, machine="b"), [seen("a", gpu=True), seen("b")], {}, "", "", "a"),
    ],
    ids=[
        "the least loaded",
        "the one it had",
        "not the one it had when it would wait there",
        "the one it had when nobody waits",
        "another than the one that lost it",
        "the one that lost it where there is no other",
        "no GPU's host for a job without",
        "the only one with a GPU",
        "none without a GPU",
        "none that is full",
        "none silent or stopping",
        "its own machine, though another is free",
        "no other than its own while that lives and is full",
        "another when its own is silent",
        "another when its own stops",
        "another when its own just lost it",
        "another when its own has not the device",
    ],
)
def test_a_job_goes_to(  # noqa: PLR0913 - a row
    job: Job, runners: list[Seen], loads: dict[str, int], before: str, avoid: str, chosen: str | None
) -> None:
    assert choose(job, runners, loads, oldest=5.0, before=before, avoid=avoid) == chosen


def test_runners_together_do_what_each_does() -> None:
    found = together([seen("b", gpu=True, slots=3), seen("a", slots=2)])
    assert found is not None
    assert (found.devices, found.device_count, found.slots) == ((Device.CPU, Device.CUDA), 1, 5)
    assert together([]) is None
