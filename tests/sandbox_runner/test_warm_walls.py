"""That a warm child has every wall that a cold start has, reaches nobody, and looks like a Python that just began."""

import asyncio
from typing import TYPE_CHECKING

import pytest

from sandbox_runner.protocol import Ending, Job, JobKind, Progress, Result
from sandbox_runner.sandbox.probing import Try
from sandbox_runner.sandbox.watchdog import resident, tree
from sandbox_runner.warm.proving import prove_parent, prove_walls

if TYPE_CHECKING:
    from conftest import Walls, WarmWalls

pytestmark = [pytest.mark.sandbox, pytest.mark.asyncio(loop_scope="session")]

ENDS_LIKE_PYTHON = """
import atexit, os, sys, threading, time
class Late:
    def __del__(self): print("let go", flush=True)
late = Late()
_private = Late()
kept = open("kept.txt", "w"); kept.write("flushed by nobody but the end")
def work():
    time.sleep(0.2); print("thread done")
threading.Thread(target=work).start()
atexit.register(lambda: print("exit hook", late is not None))
print(os.getpid(), os.getppid(), sys.argv, __name__, sys.flags.isolated, len(sys.path))
print([name for name in sys.modules if "tasree" in name])
sys.stdout.write("no newline")
"""
LOOKS_FRESH = """
import multiprocessing, os, resource, signal, sys, threading
def square(x): return x * x
if __name__ == "__main__":
    print(sorted(os.environ), os.getcwd(), os.umask(0))
    print([signal.getsignal(getattr(signal, "SIG" + n)) for n in ("INT", "PIPE", "CHLD", "TERM", "XFSZ")])
    print(signal.pthread_sigmask(signal.SIG_BLOCK, ()), threading.active_count(), os.getsid(0) == os.getpid())
    limits = ("NPROC", "NOFILE", "FSIZE", "CPU", "CORE", "MSGQUEUE")
    print([resource.getrlimit(getattr(resource, "RLIMIT_" + n)) for n in limits])
    print(sys.stdin.read() == "", sys.stdout.encoding, sys.stdout.line_buffering, os.path.realpath("/proc/self/fd/0"))
    print(sorted(os.listdir("/")), sorted(os.listdir("/etc")), sorted(os.listdir("/dev")), os.listdir("/box"))
    with multiprocessing.Pool(2) as pool: print(pool.map(square, [1, 2, 3]))
    with multiprocessing.get_context("spawn").Pool(1) as pool: print(pool.map(abs, [-1]))
"""
SAME = {
    "ends-like-python": ENDS_LIKE_PYTHON,
    "looks-fresh": LOOKS_FRESH,
    "exits-with-a-number": "import sys\nprint('x')\nsys.exit(3)",
    "exits-with-a-text": "raise SystemExit('why')",
    "exits-behind-python": "import os\nos._exit(5)",
    "dies-of-a-signal": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
    "raises": "def f(x):\n    return 1 / x\nf(0)",
    "fails-in-an-exit-hook": "import atexit\natexit.register(lambda: 1 / 0)\nprint('ok')",
    "forks-and-waits": "import os\nif not (one := os.fork()): raise SystemExit(4)\nprint(os.waitpid(one, 0)[1] >> 8)",
    "threads-as-asked": "import torch, os\nprint(torch.get_num_threads(), os.environ['OMP_NUM_THREADS'])",
    "a-figure": "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.title('x')",
    "interrupts-itself": "import os\ntry: os.kill(os.getpid(), 2)\nexcept KeyboardInterrupt: print('interrupted')",
}


@pytest.mark.parametrize("name", SAME)
async def test_a_program_does_the_same_as_after_a_cold_start(
    walls: "Walls", warm: "WarmWalls", waited: "WarmWalls", name: str
) -> None:
    cold = await walls.run(SAME[name])
    assert cold.start == ""
    for way in (warm, waited):
        sooner = await way.run(SAME[name])
        for seen in ("ending", "fault", "value", "stdout", "files"):
            assert getattr(sooner, seen) == getattr(cold, seen), (seen, sooner.stderr, cold.stderr)
        assert sooner.start == "warm"
        assert way.survivors() == []


async def test_every_wall_of_a_child_that_waited_stands_that_stands_after_a_cold_start(waited: "WarmWalls") -> None:
    stand = (*waited.sandbox.walls, "cuda")  # as on a host with a GPU, which a parent for the processor does not lend
    assert await prove_walls(_attempt(waited), waited.sandbox.setting, stand) == ""
    assert await prove_parent(_attempt(waited), waited.parent.pid) == ""
    assert waited.survivors() == []


async def test_every_wall_of_a_warm_child_stands_that_stands_after_a_cold_start(warm: "WarmWalls") -> None:
    stand = (*warm.sandbox.walls, "cuda")
    assert len(stand) >= 16
    assert await prove_walls(_attempt(warm), warm.sandbox.setting, stand) == ""


async def test_the_parent_and_other_children_are_out_of_reach(warm: "WarmWalls") -> None:
    assert await prove_parent(_attempt(warm), warm.parent.pid) == ""
    assert warm.survivors() == []


async def test_two_versions_are_measured_in_a_warm_child(warm: "WarmWalls") -> None:
    source = "import numpy as np\nx = np.ones(200_000)\n# %% loop\nsum(x.tolist())\n# %% array\nfloat(x.sum())\n"
    result = await warm.run(source, kind=JobKind.TIME)
    assert (result.ending, result.start) == (Ending.OK, "warm")
    assert [ratio.claim for ratio in result.ratios] == ["faster"]


async def test_the_parent_keeps_nothing_of_its_children(warm: "WarmWalls") -> None:
    for source in ("print(1)", "1/0", "import os\nos.abort()", "import torch\nx = torch.ones(1 << 22)"):
        await warm.run(source)
    assert warm.parent.under_way == 0
    async with asyncio.timeout(10):
        while [*tree(warm.parent.pid)] != [warm.parent.pid]:  # noqa: ASYNC110 - it reaps in its own time
            await asyncio.sleep(0.01)
    assert resident(warm.parent.pid) < warm.parent.first_bytes + (32 << 20)


def _attempt(warm: "WarmWalls") -> Try:
    async def attempt(job: Job, slot: int) -> Result:
        def silent(_: Progress) -> None:
            return None

        return await warm.worker.run_job(job, slot, silent)

    return attempt
