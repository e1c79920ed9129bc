"""Cores are divided between what measures and what is measured, and given back; a job's threads are as many as said."""

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.pinning import Place, apart, place_on
from sandbox_runner.protocol import JobKind

if TYPE_CHECKING:
    from conftest import Walls


@pytest.mark.parametrize(
    ("cores", "place"),
    [
        ({0}, Place(1)),
        ({0, 1}, Place(1, (1,), (0,))),
        ({5, 3}, Place(1, (5,), (3,))),
        ({0, 1, 2, 3}, Place(3, (1, 2, 3), (0,))),
    ],
)
def test_the_parent_keeps_one_core_and_the_job_has_the_others(cores: set[int], place: Place) -> None:
    assert place_on(cores) == place


def test_a_measuring_thread_keeps_to_its_core_and_gets_the_others_back() -> None:
    before, way = os.sched_getaffinity(0), os.sched_getscheduler(0)
    place = place_on(before)
    with apart(place):
        assert os.sched_getaffinity(0) == (set(place.outer) or before)
    assert (os.sched_getaffinity(0), os.sched_getscheduler(0)) == (before, way)


def test_cores_that_are_not_there_change_nothing() -> None:
    before = os.sched_getaffinity(0)
    with apart(Place(1, (4095,), (4094,))):
        assert os.sched_getaffinity(0) == before


SAYS = """\
import os
print(os.environ["OMP_NUM_THREADS"], os.environ["OPENBLAS_NUM_THREADS"], len(os.sched_getaffinity(0)))
"""


@pytest.mark.sandbox
async def test_a_measured_job_has_the_cores_and_threads_that_the_machine_says(walls: "Walls") -> None:
    place = place_on(os.sched_getaffinity(0))
    result = await walls.run(SAYS + "# %% a\n1 + 1\n", kind=JobKind.TIME)
    assert result.stdout.head.split() == [str(place.threads)] * 2 + [str(len(place.inner) or 1)]
    assert result.machine.threads == place.threads


@pytest.mark.sandbox
async def test_a_run_has_the_threads_of_a_measured_job(walls: "Walls") -> None:
    result = await walls.run(SAYS)
    assert result.stdout.head.split()[:2] == [str(place_on(os.sched_getaffinity(0)).threads)] * 2


LITTLE = """\
import os, sys
import torch
sys.path.insert(0, sys.argv[1])
from harness import blocks
from harness.warm import preloading
count = lambda: len(os.listdir("/proc/self/task"))
{tell}
before = count()
torch.tanh(torch.ones(100))
print(count() - before, torch.get_num_threads())
"""


@pytest.mark.sandbox
@pytest.mark.parametrize("tell", ["blocks.pin(4, [])", "preloading.awake(4, b'')"])
def test_a_torch_that_was_loaded_before_does_little_work_in_one_thread(learners_python: Path, tell: str) -> None:
    folder = Path(__file__).resolve().parents[2] / "sandbox_runner"
    program = [str(learners_python), "-c", LITTLE.format(tell=tell), str(folder)]
    said = subprocess.run(program, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["0", "4"]
