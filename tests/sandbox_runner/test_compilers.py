"""What `probe` says of the compilers: only a right result counts, and what was wrong is told with how to mend it."""

import json
from dataclasses import dataclass, field

import pytest

from sandbox_runner.protocol import Device, Ending, Fault, Job, JobKind, Result, Stream
from sandbox_runner.sandbox.compilers import compilers, told


def said(**values: object) -> Result:
    return Result("a", JobKind.RUN, Ending.OK, stdout=Stream(json.dumps(values)))


@dataclass
class Attempts:
    """Answers every job alike and keeps what was asked."""

    result: Result
    jobs: list[Job] = field(default_factory=list)

    async def __call__(self, job: Job, slot: int) -> Result:
        self.jobs.append(job)
        return self.result


async def test_every_device_has_its_compiler_tried_and_a_gpu_has_triton_besides() -> None:
    attempts = Attempts(said(right=True, seconds=12.34, version="2.11"))
    found = await compilers(attempts, (Device.CPU, Device.CUDA))
    assert [(wall.name, wall.stands, wall.matters) for wall in found] == [
        ("compile_cpu", True, False),
        ("compile_cuda", True, False),
        ("triton", True, False),
    ]
    assert found[0].detail == "version 2.11: right, the first call took 12.3 s"
    assert [job.device for job in attempts.jobs] == [Device.CPU, Device.CUDA, Device.CUDA]
    assert [f'device="{job.device.value}"' in job.source for job in attempts.jobs[:2]] == [True, True]


async def test_a_compiler_that_fails_is_told_with_how_to_mend_it() -> None:
    broken = Result("a", JobKind.RUN, Ending.PY_ERROR, fault=Fault("InvalidCxxCompiler", "no working C++ compiler"))
    (wall,) = await compilers(Attempts(broken), (Device.CPU,))
    assert not wall.stands
    assert wall.detail == "py_error no working C++ compiler"
    assert "g++" in wall.mend


@pytest.mark.parametrize(
    "result",
    [said(right=False, seconds=1, version="1"), said(right="yes", seconds=1, version="1"), said(right=True), said()],
)
def test_only_a_right_result_counts(result: Result) -> None:
    assert not told(result)[0]
