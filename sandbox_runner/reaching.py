"""Holds a time against what this machine can do at most: which bound applies, and what part of it was reached.

Law: pure. Ceilings are operations a second (`matmul_DTYPE`) and bytes a second (`copy`), measured on the same cores.
Nothing is faster than the machine: a product under its floor is not believed, where the ceilings were measured in
quiet. A share of the memory's bound over 1 means that the data never left the caches: then it is no bound.
"""

from collections.abc import Mapping
from dataclasses import dataclass

NOISE = "noise"
"""The key under which ceilings keep how noisy the machine was while they were measured."""
QUIET = 0.05
MARGIN = 1.05
_NS = 1e9


@dataclass(frozen=True, slots=True)
class Reach:
    """The bound that applies (`compute`, `memory`, or "" where none is known), the share of it, and the floor in ns."""

    bound: str = ""
    share: float = 0.0
    impossible: bool = False


def reach(median_ns: float, flops: int, moved: int, dtype: str, ceilings: Mapping[str, float]) -> Reach:
    """Give what a call of `median_ns` reached that did `flops` in `dtype` and had to move `moved` bytes."""
    compute, copy = ceilings.get(f"matmul_{dtype}", 0.0), ceilings.get("copy", 0.0)
    by_compute = flops / compute * _NS / median_ns if compute > 0 else 0.0
    by_memory = moved / copy * _NS / median_ns if copy > 0 else 0.0
    quiet = ceilings.get(NOISE, 1.0) <= QUIET
    if by_compute > MARGIN:
        return Reach("compute", by_compute, impossible=quiet)
    if by_memory > MARGIN:
        by_memory = 0.0
    if by_compute <= 0 and by_memory <= 0:
        return Reach()
    return Reach("compute", by_compute) if by_compute >= by_memory else Reach("memory", by_memory)
