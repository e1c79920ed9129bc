"""Jobs for a GPU behind real walls: refused where there is none, lent and shut where a stand-in looks at one."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.gpus import Gpu, Sight
from sandbox_runner.gpuwork import GpuWorker
from sandbox_runner.lending import Lender
from sandbox_runner.pooling import FreeLock, Pool
from sandbox_runner.protocol import Device, Ending, Job, JobKind, Limits, Progress, Reached, Result, Wall
from sandbox_runner.sandbox.bubblewrap import Bubblewrap
from sandbox_runner.sandbox.port import Staged
from sandbox_runner.sandbox.probing import probe
from sandbox_runner.serving import proven
from sandbox_runner.testing import CAPABILITIES
from sandbox_runner.worker import SandboxWorker

if TYPE_CHECKING:
    from conftest import Walls

pytestmark = pytest.mark.sandbox
NUMBER = 7
STAGED = Staged("test", b"", "code.py", Limits())


@dataclass
class Looked:
    """A GPU that is always seen alike."""

    busy: float
    gpu: Gpu = field(default_factory=lambda: Gpu(NUMBER, "Stand-in GPU", "1.2", 1 << 30, uuid("7")))

    def look(self, *, at_work: bool = True) -> Sight:
        return Sight(0, frozenset(), self.busy)

    def faults(self) -> tuple[str, ...]:
        return ()


@dataclass
class Lines:
    """A log that keeps its lines."""

    lines: list[dict[str, object]] = field(default_factory=list)

    def note(self, event: str, **values: str | float | bool | None) -> None:
        self.lines.append({"event": event, **values})


def uuid(digit: str) -> str:
    return f"GPU-{digit * 36}"


def _silent(_: Progress) -> None:
    """Nobody hears of the progress."""


def _job(source: str, **limits: float) -> Job:
    given = Limits(memory_bytes=2 << 30, **limits)  # type: ignore[arg-type]
    return Job("test", JobKind.RUN, source, "learner", Device.CUDA, limits=given)


def _lending(walls: "Walls", busy: float) -> tuple[GpuWorker, Lines]:
    log = Lines()
    inner = SandboxWorker(walls.sandbox, walls.worker.machine, grace_s=1.0)
    return GpuWorker(inner, Pool([(Lender(Looked(busy), log, settle_s=0.2, hang_s=0.5), FreeLock())])), log


def _several(walls: "Walls") -> GpuWorker:
    """Three GPUs whose numbers are not their places; the last has no name of its own."""
    gpus = (Gpu(2, "Stand-in GPU", uuid=uuid("2")), Gpu(5, "Stand-in GPU", uuid=uuid("5")), Gpu(6, "Stand-in GPU"))
    inner = SandboxWorker(walls.sandbox, walls.worker.machine, grace_s=1.0)
    return GpuWorker(inner, Pool([(Lender(Looked(0.0, gpu), Lines(), settle_s=0.2), FreeLock()) for gpu in gpus]))


VISIBLE = "import os\nprint(os.environ['CUDA_VISIBLE_DEVICES'], os.environ['NVSHMEM_DISABLE_NVLS'])"


@pytest.mark.parametrize(
    ("gpus", "visible", "device"),
    [
        (1, uuid("2"), "Stand-in GPU"),
        (2, f"{uuid('2')},{uuid('5')}", "2 x Stand-in GPU"),
        (3, "0,1,2", "3 x Stand-in GPU"),
    ],
)
async def test_what_is_lent_counts_from_zero_inside_whatever_its_numbers_are(
    walls: "Walls", gpus: int, visible: str, device: str
) -> None:
    worker = _several(walls)
    result = await worker.run_job(replace(_job(VISIBLE), gpus=gpus), 0, _silent)
    await worker.settle()
    assert (result.ending, result.stdout.head) == (Ending.OK, f"{visible} 1\n")
    assert result.machine.device == device


async def test_more_gpus_than_there_are_is_an_ending_and_nothing_runs(walls: "Walls") -> None:
    result = await _several(walls).run_job(replace(_job("print(1)"), gpus=4), 0, _silent)
    assert (result.ending, result.reached, result.stdout.bytes) == (Ending.TOO_FEW_GPUS, Reached("gpus", 3, "count"), 0)


async def test_each_gpu_of_several_has_a_wall_of_its_own_and_only_those_that_stand_count(walls: "Walls") -> None:
    found = await _several(walls).prove_each(0)
    assert [(wall.name, wall.stands) for wall in found] == [(f"cuda_gpu{number}", False) for number in (2, 5, 6)]
    assert all("sees no GPU" in wall.detail for wall in found)
    able = replace(CAPABILITIES, devices=(Device.CPU, Device.CUDA), device_count=3)
    cuda = Wall("cuda", stands=True, matters=False)
    assert proven(able, (cuda, replace(found[0], stands=True), *found[1:])).device_count == 1


def test_every_node_that_is_lent_is_bound_and_no_other(walls: "Walls") -> None:
    assert isinstance(walls.sandbox, Bubblewrap)
    staged = replace(STAGED, device=Device.CUDA, gpus=(2, 5))
    argv = walls.sandbox._tree_argv(staged, walls.sandbox.host.folder)
    bound = [path for flag, path in pairwise(argv) if flag == "--dev-bind-try"]
    assert [path for path in bound if path[-1].isdigit()] == ["/dev/nvidia2", "/dev/nvidia5"]


async def test_a_job_for_a_gpu_never_runs_on_the_processor_instead(walls: "Walls") -> None:
    result = await walls.worker.run_job(_job("print(1)"), 0, _silent)
    assert (result.ending, result.stdout.bytes) == (Ending.INFRA_ERROR, 0)
    assert [note.code for note in result.notes] == ["no_gpu"]


async def test_a_job_for_the_gpu_says_which_and_finds_what_cuda_needs(walls: "Walls") -> None:
    worker, _ = _lending(walls, busy=0.0)
    source = "import os\nprint(os.path.isdir('/sys/class'), os.environ['NCCL_NVLS_ENABLE'], os.environ['CUDA_HOME'])"
    result = await worker.run_job(_job(source), 0, _silent)
    await worker.settle()
    assert (result.ending, result.stdout.head) == (Ending.OK, "True 0 /usr/local/cuda\n")
    assert result.machine.device == "Stand-in GPU"


def test_a_job_gets_the_node_of_the_gpu_lent_to_it_and_of_no_other(walls: "Walls") -> None:
    assert isinstance(walls.sandbox, Bubblewrap)
    for device, gpus, nodes in ((Device.CUDA, (NUMBER,), ["/dev/nvidia7"]), (Device.CPU, (), [])):
        argv = walls.sandbox._tree_argv(replace(STAGED, device=device, gpus=gpus), walls.sandbox.host.folder)
        bound = [path for flag, path in pairwise(argv) if flag == "--dev-bind-try"]
        assert [path for path in bound if path[-1].isdigit()] == nodes
        assert ("/dev/nvidiactl" in bound) is (device is Device.CUDA)


async def test_a_kernel_that_works_on_after_its_program_was_stopped_is_a_hang_and_shuts_the_gpu(walls: "Walls") -> None:
    worker, log = _lending(walls, busy=1.0)
    result = await worker.run_job(_job("while True: pass", run_s=0.5), 0, _silent)
    assert (result.ending, result.reached and result.reached.name) == (Ending.GPU_HANG, "run_s")
    again = await worker.run_job(_job("print(1)"), 0, _silent)
    assert (again.ending, again.stdout.bytes) == (Ending.INFRA_ERROR, 0)
    assert [note.code for note in again.notes] == ["gpu_quarantined"]
    assert [line["event"] for line in log.lines] == ["gpu_in_doubt", "gpu_quarantined"]
    assert walls.survivors() == []


async def test_a_program_that_does_not_end_while_the_gpu_idles_is_no_hang(walls: "Walls") -> None:
    worker, _ = _lending(walls, busy=0.0)
    result = await worker.run_job(_job("while True: pass", run_s=0.5), 0, _silent)
    assert result.ending is Ending.TIMEOUT_RUN


async def test_a_gpu_that_no_kernel_was_proven_on_is_not_offered(walls: "Walls") -> None:
    worker, _ = _lending(walls, busy=0.0)
    assert isinstance(walls.sandbox, Bubblewrap)
    setting = walls.sandbox.setting_with((NUMBER,), "Stand-in GPU, driver 1.2")

    async def attempt(job: Job, slot: int) -> Result:
        return await worker.run_job(job, slot, _silent)

    found = await probe(attempt, setting)
    await worker.settle()
    (cuda,) = [wall for wall in found if wall.name == "cuda"]
    assert not cuda.stands
    assert "sees no GPU" in cuda.detail
    assert "nvidia-smi" in cuda.mend
    assert [wall.name for wall in found if wall.matters and not wall.stands] == []


def test_a_gpu_is_offered_when_its_wall_stands_only() -> None:
    able = replace(CAPABILITIES, devices=(Device.CPU, Device.CUDA), device_count=1)
    standing, missing = (Wall("cuda", stands=stands, matters=False) for stands in (True, False))
    assert (proven(able, (standing,)).devices, proven(able, (standing,)).device_count) == (able.devices, 1)
    assert (proven(able, (missing,)).devices, proven(able, (missing,)).device_count) == ((Device.CPU,), 0)
