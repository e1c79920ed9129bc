"""Holds a time against what this machine can do at most: which bound applies, and what part of it was reached.

Law: pure. Ceilings are operations a second (`matmul_DTYPE`) and bytes a second (`copy`), measured on the same cores,
or on the GPU (`cuda_` before the name). Nothing is faster than the machine: a product under its floor is not confirmed,
and far under it not believed, where the ceilings were measured in quiet. Data that comes faster than the memory can
give it never left the caches: then these are the bound, and no share of the memory's is told. No share is over 1.
"""

from collections.abc import Mapping
from dataclasses import dataclass

CUDA = "cuda_"
"""What stands before the names of a GPU's ceilings."""
NOISE = "noise"
"""The key under which ceilings keep how noisy the machine was while they were measured."""
QUIET = 0.05
MARGIN, FLAGRANT = 1.05, 1.5
"""How far over a ceiling is doubtful, and how far impossible: another size, a cooler hour give some of it honestly."""
_MOST_CACHE = 64 << 20
"""What is larger fits in no usual cache: a little over the memory's ceiling it was lucky, far over it not all read."""
_NS = 1e9


@dataclass(frozen=True, slots=True)
class Reach:
    """The bound that applies (`compute`, `memory`, `cache`, or "" where none is known), and the share of it, 0 to 1.

    Of the caches no ceiling is known: the share beside `cache` is that of computing. `times` is how many times faster
    than the machine's floor a time is, where it is; `doubtful` is a time under the floor, `impossible` far under it.
    """

    bound: str = ""
    share: float = 0.0
    times: float = 0.0
    doubtful: bool = False
    impossible: bool = False


def reach(  # noqa: PLR0913 - each is a figure of its own
    median_ns: float, flops: int, moved: int, dtype: str, ceilings: Mapping[str, float], least: int | None = None
) -> Reach:
    """Give what a call of `median_ns` reached that did `flops` in `dtype` and had to move `moved` bytes.

    `least` are the operations that no way of computing it can spare; all of them where it is left out.
    """
    compute, copy = ceilings.get(f"matmul_{dtype}", 0.0), ceilings.get("copy", 0.0)
    by_compute = flops / compute * _NS / median_ns if compute > 0 else 0.0
    by_memory = moved / copy * _NS / median_ns if copy > 0 else 0.0
    quiet = ceilings.get(NOISE, 1.0) <= QUIET
    if by_compute > 1:
        needed = by_compute * (min(least, flops) / flops if least is not None else 1.0)
        doubtful, impossible = (quiet and needed > most for most in (MARGIN, FLAGRANT))
        return Reach("compute", 1.0, by_compute, doubtful, impossible)
    if by_memory > 1 and moved <= _MOST_CACHE:
        return Reach("cache", by_compute)
    if by_memory > MARGIN:
        by_memory = 0.0
    if by_compute <= 0 and by_memory <= 0:
        return Reach()
    return Reach("compute", by_compute) if by_compute >= by_memory else Reach("memory", min(by_memory, 1.0))


def ceilings_on(ceilings: Mapping[str, float], *, cuda: bool) -> dict[str, float]:
    """Give the ceilings of one device by their plain names: the GPU's, or the processor's."""
    if not cuda:
        return {name: rate for name, rate in ceilings.items() if not name.startswith(CUDA)}
    return {name.removeprefix(CUDA): rate for name, rate in ceilings.items() if name.startswith(CUDA)}
