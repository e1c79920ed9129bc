"""What a warm parent loads without touching a GPU, and what a child of it tells the libraries before its code."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from sandbox_runner.harness.warm import preloading, waiting


class Torch:
    """Stands in for a build of torch for GPUs: it counts how often its driver was reached."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        asks = ("_cuda_getDeviceCount", "_cuda_init", "_ensureCUDADeviceGuardSet")
        self._C = SimpleNamespace(**{name: self._reaching(name) for name in asks})
        self.cuda = SimpleNamespace(**{n: self._reaching(n) for n in ("_device_count_nvml", "_lazy_init")})

    def _reaching(self, name: str) -> Callable[[], int]:
        def reach() -> int:
            self.reached.append(name)
            return 8

        return reach

    def ways(self) -> Iterator[Callable[[], int]]:
        """Give every way to the driver."""
        yield from vars(self._C).values()
        yield from vars(self.cuda).values()


@pytest.mark.parametrize("seen", [0, 1])
def test_no_way_to_a_gpu_is_open_while_a_parent_loads_and_all_are_afterwards(seen: int) -> None:
    torch, refused = Torch(), 0
    with preloading._untouched(torch, seen=seen):
        for way in torch.ways():
            try:
                assert way() in {seen, None}
            except RuntimeError:
                refused += 1
    assert (torch.reached, refused) == ([], 2)
    assert [way() for way in torch.ways()] == [8] * 5
    assert len(torch.reached) == 5


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (b"import numpy as np\nprint(np.ones(3))", [15]),
        (b"import torch\nprint(torch.ones(3).numpy())", [15]),
        (b"__import__('num' + 'py')", [15]),
        (b"import torch\nprint(torch.ones(3).sum())", []),
        (b"print('execute')", []),
    ],
)
def test_threads_of_numpy_are_made_only_for_code_that_may_compute_with_them(code: bytes, told: list[int]) -> None:
    heard: list[int] = []
    preloading._told.append(heard.append)
    try:
        preloading.awake(15, code)
    finally:
        preloading._told.remove(heard.append)
    assert heard == told


def test_a_fault_of_a_rehearsal_begins_with_what_went_wrong() -> None:

    try:
        raise RuntimeError("No CUDA GPUs are available")  # noqa: EM101, TRY003, TRY301 - the library's own words
    except RuntimeError as fault:
        told = waiting._where(fault)
    assert told.startswith("RuntimeError: No CUDA GPUs are available\n")
    assert __file__ in told
