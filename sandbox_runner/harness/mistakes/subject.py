"""One variant as the passes see it: how to call it, and the arrays that it reads.

Law: a pass may put values into arrays only if it puts back what was there. Clocks are taken at import.
"""

import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .things import Thing, codes_of, walk

clock = time.perf_counter_ns
_modules = sys.modules
_MOST_NAMES = 200
_LEAST_NS = 1.0
KEPT_BYTES = 64 << 20


@dataclass(frozen=True)
class Subject:
    """A variant: `names` are its globals, `made` the inputs made for it."""

    index: int
    line: int
    function: types.FunctionType
    names: dict[str, Any]
    made: dict[str, Any] = field(default_factory=dict)

    def call(self) -> Any:  # noqa: ANN401 - whatever the learner's code returns
        """Call it once, on its own inputs."""
        self.names.update(self.made)
        value = self.function()
        synchronize()
        return value

    def time(self, function: Callable[[], Any] | None = None) -> float:
        """Give the ns of one call."""
        call = function or self.function
        synchronize()
        begin = clock()
        call()
        synchronize()
        return max(float(clock() - begin), _LEAST_NS)

    def reads(self) -> dict[str, Any]:
        """Give what it reads of the globals by name, through the functions of the same globals too."""
        seen: dict[str, Any] = {}
        queue = [self.function.__code__]
        while queue and len(seen) < _MOST_NAMES:
            code = queue.pop()
            inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
            queue += inner
            for name in (*code.co_names, *code.co_varnames[: code.co_argcount]):
                if name in self.names and name not in seen:
                    seen[name] = value = self.names[name]
                    queue += codes_of(value, self.names)
        return seen

    def things(self) -> list[Thing]:
        """Give all that it reaches from what it reads, in containers, attributes and closures too."""
        return walk(self.names, self.reads())

    def arrays(self) -> dict[str, Any]:
        """Give the arrays and plain tensors among what it reads."""
        return {thing.path: thing.value for thing in self.things() if is_array(thing.value)}

    def modules(self) -> list[Any]:
        """Give the `torch.nn.Module`s among what it reads."""
        torch = _modules.get("torch")
        if torch is None:
            return []
        found = [getattr(thing.value, "_orig_mod", thing.value) for thing in self.things()]
        return [value for value in found if isinstance(value, torch.nn.Module)]


def synchronize() -> None:
    """Wait for the GPU where one was touched."""
    torch = _modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


def is_array(value: Any) -> bool:  # noqa: ANN401 - anything
    """Whether a value is exactly an array of numpy or a dense tensor of torch."""
    numpy, torch = _modules.get("numpy"), _modules.get("torch")
    if numpy is not None and type(value) is numpy.ndarray:
        return bool(value.dtype.kind in "fiub")
    return torch is not None and type(value) is torch.Tensor and value.layout is torch.strided and not value.is_meta


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor of torch."""
    torch = _modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def size_of(value: Any) -> int:  # noqa: ANN401 - an array of either kind
    """Give the bytes of an array."""
    return int(value.nbytes)


def count_of(value: Any) -> int:  # noqa: ANN401 - an array of either kind
    """Give the elements of an array."""
    return int(value.numel()) if is_tensor(value) else int(value.size)


def dtype_of(value: Any) -> str:  # noqa: ANN401 - an array of either kind
    """Name the type of an array's elements."""
    return str(value.dtype).removeprefix("torch.")


def is_float(value: Any) -> bool:  # noqa: ANN401 - an array of either kind
    """Whether an array's elements are of floating point."""
    return bool(value.is_floating_point()) if is_tensor(value) else value.dtype.kind == "f"


def copy_of(value: Any) -> Any:  # noqa: ANN401 - an array of either kind
    """Give a copy of an array."""
    return value.detach().clone() if is_tensor(value) else value.copy()


def put(target: Any, source: Any) -> None:  # noqa: ANN401 - arrays of either kind
    """Copy an array's values into another of the same shape."""
    if is_tensor(target):
        torch = _modules["torch"]
        with torch.no_grad():
            target.copy_(source)
        return
    target[...] = source


def same(one: Any, two: Any) -> bool:  # noqa: ANN401 - arrays of either kind
    """Whether two arrays hold the same values, bit for bit where they are finite."""
    if is_tensor(one) and is_tensor(two):
        torch = _modules["torch"]
        return bool(torch.equal(torch.nan_to_num(one.detach()), torch.nan_to_num(two.detach())))
    numpy = _modules.get("numpy")
    if numpy is not None and isinstance(one, numpy.ndarray) and isinstance(two, numpy.ndarray):
        return bool(numpy.array_equal(one, two, equal_nan=one.dtype.kind == "f"))
    return type(one) is type(two) and isinstance(one, int | float | str | bool) and (one == two or one != one)  # noqa: PLR0124 - nan


@contextmanager
def kept(arrays: list[Any]) -> Iterator[None]:
    """Put back afterwards what some arrays held."""
    copies = [copy_of(array) for array in arrays]
    try:
        yield
    finally:
        for array, copy in zip(arrays, copies, strict=True):
            put(array, copy)


def paired(
    one: Callable[[], Any], two: Callable[[], Any], subject: Subject, pairs: int = 7, budget_ns: float = 4e8
) -> float:
    """Give the median ratio of the time of `one` to that of `two`, called in turn; each is called once before."""
    one()
    two()
    ratios = []
    begin = clock()
    for i in range(pairs):
        first, second = (one, two) if i % 2 else (two, one)
        times = {first: subject.time(first), second: subject.time(second)}
        ratios.append(times[one] / times[two])
        if clock() - begin > budget_ns and len(ratios) > 2:  # noqa: PLR2004 - a median of three at least
            break
    return sorted(ratios)[len(ratios) // 2]


def many(call: Callable[[], Any], times: int) -> Callable[[], None]:
    """Give a function that calls `times` times."""

    def repeated() -> None:
        for _ in range(times):
            call()

    return repeated
