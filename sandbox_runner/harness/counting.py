"""Counts the work of one call that is never timed: multiplications of matrices, and the bytes that must be moved.

Law: a count is a claim like all that is said here; it makes a result shown beside what the machine can do, or doubted,
never believed. Operations are those of products only (2 for each multiply-add), as torch's own counter has them;
`least` is what of them no way of computing spares: Winograd's convolutions do with a 2.25th, causal attention with 1/2.
"""

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from .work import is_tf32

_modules = sys.modules
_MOST_ARRAYS = 64
_SPARED = {"conv": 1 - 1 / 2.25, "attention": 1 / 2}


def count(function: types.FunctionType, inputs: dict[str, object]) -> dict[str, object]:
    """Call `function` once, on copies of `inputs` that watch what is done to them; {} where that fails."""
    names = function.__globals__
    read = {name: names[name] for name in function.__code__.co_names if name in names} | inputs
    read |= dict(zip(function.__code__.co_varnames, function.__defaults__ or (), strict=False))
    arrays = {name: value for name, value in list(read.items())[:_MOST_ARRAYS] if _bytes(value)}
    seen: dict[str, Any] = {"flops": 0, "dtype": "", "largest": 0, "spared": 0}
    try:
        with _eager(), _torch_counter(seen):
            value = _watched(function, arrays, seen)
    except Exception:  # noqa: BLE001 - what is counted may not take what watches
        return {"flops": 0, "bytes": 0, "dtype": "", "least": 0}
    moved = {id(array): _bytes(array) for array in (*arrays.values(), value)}
    counted = {"flops": seen["flops"], "bytes": sum(moved.values()), "dtype": seen["dtype"]}
    return {**counted, "least": seen["flops"] - seen["spared"]}


def _bytes(value: Any) -> int:  # noqa: ANN401 - whatever stands under a name
    numpy, torch = _modules.get("numpy"), _modules.get("torch")
    if numpy is not None and isinstance(value, numpy.ndarray):
        return int(value.nbytes)
    if torch is not None and type(value) in {torch.Tensor, torch.nn.Parameter} and value.layout is torch.strided:
        return int(value.numel() * value.element_size())
    return 0


def _watched(function: types.FunctionType, arrays: dict[str, Any], seen: dict[str, Any]) -> object:
    """Call over names of its own, with numpy's arrays in a dress that tells of products."""
    numpy = _modules.get("numpy")
    if numpy is None:
        return function()
    kind = _watching(numpy, seen)
    dressed = {name: value.view(kind) if type(value) is numpy.ndarray else value for name, value in arrays.items()}
    names = {**function.__globals__, **dressed}
    code = function.__code__
    defaults = tuple(
        dressed.get(name, value) for name, value in zip(code.co_varnames, function.__defaults__ or (), strict=False)
    )
    value = types.FunctionType(code, names, function.__name__, defaults)()
    return value.view(numpy.ndarray) if isinstance(value, kind) else value


def _watching(numpy: Any, seen: dict[str, Any]) -> Any:  # noqa: ANN401 - numpy may be absent
    class Watching(numpy.ndarray):  # type: ignore[misc]
        """An array that counts the products it is part of."""

        def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **more: Any) -> Any:  # noqa: ANN401
            plain = [_undress(one) for one in given]
            if "out" in more:
                more["out"] = tuple(_undress(one) for one in more["out"])
            value = getattr(ufunc, method)(*plain, **more)
            if ufunc is numpy.matmul and method == "__call__":
                _note(seen, plain[0], plain[1], numpy)
            return value.view(Watching) if type(value) is numpy.ndarray else value

        def __array_function__(self, function: Any, kinds: Any, given: Any, more: Any) -> Any:  # noqa: ANN401
            plain = [_undress(one) for one in given]
            value = function(*plain, **{name: _undress(one) for name, one in more.items()})
            if function in {numpy.dot, numpy.inner, numpy.vdot} and len(plain) > 1:
                _note(seen, plain[0], plain[1], numpy)
            return value.view(Watching) if type(value) is numpy.ndarray else value

    def _undress(value: Any) -> Any:  # noqa: ANN401
        return value.view(numpy.ndarray) if isinstance(value, Watching) else value

    return Watching


def _note(seen: dict[str, Any], one: Any, two: Any, numpy: Any) -> None:  # noqa: ANN401 - numpy's arrays
    one, two = numpy.asarray(one), numpy.asarray(two)
    if one.ndim == 0 or two.ndim == 0:
        return
    inner = one.shape[-1]
    columns = two.shape[-1] if two.ndim > 1 else 1
    seen["flops"] += 2 * (one.size // max(inner, 1)) * inner * columns
    if one.size >= seen["largest"]:
        seen["largest"], seen["dtype"] = one.size, numpy.result_type(one, two).name


@contextlib.contextmanager
def _torch_counter(seen: dict[str, Any]) -> Iterator[None]:
    torch = _modules.get("torch")
    if torch is None:
        yield
        return
    from torch.utils.flop_counter import FlopCounterMode  # noqa: PLC0415 - torch may be absent

    with FlopCounterMode(display=False) as counter, _dtypes(seen, torch):
        yield
    seen["flops"] += int(counter.get_total_flops())
    for operation, flops in counter.get_flop_counts().get("Global", {}).items():
        share = next((share for word, share in _SPARED.items() if word in str(operation)), 0.0)
        seen["spared"] += int(flops * share)


@contextlib.contextmanager
def _dtypes(seen: dict[str, Any], torch: Any) -> Iterator[None]:  # noqa: ANN401
    """Remember the type of the largest product."""
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415 - torch may be absent

    products = {"mm", "addmm", "bmm", "baddbmm", "convolution"}

    class Types(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, operation: Any, kinds: Any, given: Any = (), more: Any = None) -> Any:  # noqa: ANN401
            value = operation(*given, **(more or {}))
            name = operation.name().partition("::")[2].partition(".")[0]
            if name in products and isinstance(value, torch.Tensor) and value.numel() >= seen["largest"]:
                tf32 = value.is_cuda and value.dtype == torch.float32 and is_tf32(convolution="conv" in name)
                seen["largest"] = value.numel()
                seen["dtype"] = "tf32" if tf32 else str(value.dtype).removeprefix("torch.")
            return value

    with Types():
        yield


@contextlib.contextmanager
def _eager() -> Iterator[None]:
    """Let compiled code run as it is written, for the counters to see it."""
    if "torch._dynamo" not in _modules:
        yield
        return
    import torch.compiler  # noqa: PLC0415 - torch may be absent

    with torch.compiler.set_stance("force_eager"):
        yield
