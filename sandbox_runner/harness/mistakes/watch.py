"""Watches one call operation by operation, in torch and in numpy: what kinds go in and out, and how long each takes.

Law: never while anything is timed for the learner. Torch's classes are made only where torch is there.
"""

import contextlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

_clock = time.perf_counter_ns
_modules = sys.modules
_MOST_OPS = 20_000
_LEAST_SIZE = 256


@dataclass(frozen=True)
class Seen:
    """A tensor as an operation saw it."""

    dtype: str
    device: str
    count: int
    dims: int
    place: int
    contiguous: bool
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Op:
    """One operation: its name, its own ns, what went in and out, and the memory format it was asked for."""

    name: str
    ns: int
    ins: tuple[Seen, ...]
    outs: tuple[Seen, ...]
    layout: bool = False


@dataclass
class Watched:
    """What one call did."""

    ops: list[Op] = field(default_factory=list)
    anomaly: bool = False
    profiler: bool = False
    promoted: str = ""
    value: Any = None
    done: bool = False

    def share(self, names: frozenset[str]) -> float:
        """Give the part of the time of all operations that those of some names take."""
        total = sum(op.ns for op in self.ops)
        return sum(op.ns for op in self.ops if op.name in names) / total if total else 0.0

    def share_of(self, ops: list[Op]) -> float:
        """Give the part of the time of all operations that some take."""
        total = sum(op.ns for op in self.ops)
        return sum(op.ns for op in ops) / total if total else 0.0


def _seen(value: Any) -> Seen:  # noqa: ANN401 - a tensor
    strided = str(value.layout) == "torch.strided"
    return Seen(
        dtype=str(value.dtype).removeprefix("torch."),
        device=value.device.type,
        count=value.numel(),
        dims=value.dim(),
        place=value.untyped_storage().data_ptr() if strided else 0,
        contiguous=strided and value.is_contiguous(),
        shape=tuple(value.shape),
    )


def _tensors(value: Any, torch: Any) -> list[Any]:  # noqa: ANN401 - arguments of an operation
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [inner for each in value for inner in _tensors(each, torch)]
    return []


def watch(call: Callable[[], Any], watched: Watched) -> None:
    """Call once with every operation of torch watched; what is compiled runs as it was before compiling."""
    torch: Any = _modules.get("torch")
    if torch is None:
        watched.value = call()
        return
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415 - torch is there only now

    synchronize = torch.cuda.synchronize if torch.cuda.is_initialized() else lambda: None

    class Watch(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, op: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
            synchronize()
            ins = tuple(_seen(each) for each in _tensors(args, torch))
            begin = _clock()
            out = op(*args, **(kwargs or {}))
            synchronize()
            took = _clock() - begin
            if len(watched.ops) < _MOST_OPS:
                outs = tuple(_seen(each) for each in _tensors(out, torch))
                layout = (kwargs or {}).get("memory_format") is not None
                watched.ops.append(Op(op.overloadpacket.__name__, took, ins, outs, layout))
            watched.anomaly = watched.anomaly or torch.is_anomaly_enabled()
            watched.profiler = watched.profiler or torch.autograd._profiler_enabled()  # noqa: SLF001
            return out

    stance = torch.compiler.set_stance("force_eager") if "torch._dynamo" in _modules else contextlib.nullcontext()
    with stance, Watch():
        watched.value = call()


def watch_numpy(subject: Any) -> str:  # noqa: ANN401 - a Subject; no import, for one direction
    """Call a variant once with its arrays watched: name the first operation that widened float32 to float64.

    What numpy was asked for by `dtype=` or `out=` is no accident and is not named.
    """
    numpy: Any = _modules.get("numpy")
    if numpy is None:
        return ""
    found: list[str] = []

    class Array(numpy.ndarray):  # type: ignore[misc]
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            plain = [bare(each) for each in inputs]
            asked = {"dtype", "out", "signature"} & set(kwargs)
            if "out" in kwargs:
                kwargs["out"] = tuple(bare(each) for each in kwargs["out"])
            result = getattr(ufunc, method)(*plain, **kwargs)
            if not asked and method == "__call__" and _widened(plain, result, numpy):
                found.append(ufunc.__name__)
            return result.view(Array) if type(result) is numpy.ndarray else result

    def bare(value: Any) -> Any:  # noqa: ANN401 - an operand
        return value.view(numpy.ndarray) if type(value) is Array else value

    arrays = {
        name: value
        for name, value in subject.arrays().items()
        if isinstance(value, numpy.ndarray) and value.dtype == numpy.float32
    }
    if not arrays:
        return ""
    subject.names.update(subject.made)
    try:
        subject.names.update({name: value.view(Array) for name, value in arrays.items()})
        subject.function()
    finally:
        subject.names.update(arrays)
    return found[0] if found else ""


def _widened(inputs: list[Any], result: Any, numpy: Any) -> bool:  # noqa: ANN401 - operands of a ufunc
    if type(result) is not numpy.ndarray or result.dtype != numpy.float64 or result.size < _LEAST_SIZE:
        return False
    narrow = [each for each in inputs if type(each) is numpy.ndarray and each.dtype == numpy.float32]
    return any(each.size >= _LEAST_SIZE for each in narrow)
