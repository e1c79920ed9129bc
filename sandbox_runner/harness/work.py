"""Looks at the work of one call: its operations by time, its kernels, its memory, the precision of its products.

Law: nothing here is a timing: shares are of one call that was watched, and watching costs.
"""

import contextlib
import cProfile
import os
import re
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from .mistakes.instrument_ops import MATMULS
from .mistakes.watch import Op, Watched

_modules = sys.modules
_HERE = os.path.dirname(os.path.abspath(__file__))
_TOP, _MOST_PRODUCTS = 8, 16
_IDLE = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "ProfilerStep*"}
_COMPILED, _AROUND = (
    "## Call CompiledFxGraph",
    ("Torch-Compiled Region", "TorchDynamo", "AOTDispatcher", "Pregraph", "##"),
)
"""The profiler's rows for what was compiled: its own kernels, and what stands around them (guards, wrappers)."""
_METHOD = re.compile(r"<?method '(\w+)' of '([\w.]+)' objects>?")
_FREE = {"detach", "alias", "_unsafe_view", "lift_fresh", "empty", "empty_strided", "_local_scalar_dense"}
"""Operations that launch nothing, beside views."""


def profiled(call: Callable[[], Any]) -> dict[str, object]:
    """Call once under the profiler that fits: torch's where torch has been imported, else Python's own."""
    torch: Any = _modules.get("torch")
    if torch is not None:
        seen = _by_torch(call, torch)
        if seen["operations"]:
            return seen
    return _by_python(call)


def _by_torch(call: Callable[[], Any], torch: Any) -> dict[str, object]:  # noqa: ANN401
    from torch.profiler import ProfilerActivity, profile  # noqa: PLC0415 - torch is there only now

    cuda = torch.cuda.is_initialized()
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]
    for _ in range(2):  # what is watched for the first time costs more
        with profile(activities=activities, profile_memory=True) as profiler:
            call()
    averages = [row for row in profiler.key_averages() if row.key not in _IDLE and not row.key.startswith("[")]
    spent: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for row in averages:
        spent[_label(row.key)] += row.self_device_time_total if cuda else row.self_cpu_time_total
        calls[_label(row.key)] += row.count
    total = sum(spent.values())
    found = [_row(name, calls[name], took / total) for name, took in spent.most_common(_TOP) if took > 0]
    launched = sum(row.count for row in averages if cuda and _is_kernel(row))
    return {"operations": found, "launches": launched, "peak_bytes": _peak(profiler, cuda=cuda)}


def _label(key: str) -> str:
    if key.startswith(_COMPILED):
        return "compiled kernels"
    return "torch.compile around them" if key.startswith(_AROUND) else key


def _is_kernel(row: Any) -> bool:  # noqa: ANN401 - the profiler's
    return str(getattr(row, "device_type", "")).endswith("CUDA") and not row.key.startswith(("Memcpy", "Memset"))


def _row(name: str, calls: int, share: float) -> dict[str, object]:
    return {"name": name[:120], "calls": int(calls), "share": round(min(max(share, 0.0), 1.0), 4)}


def _peak(profiler: Any, *, cuda: bool) -> int:  # noqa: ANN401 - torch's
    """Give the most that was allocated at once beyond what there was, from the allocator's own events."""
    events = profiler.profiler.kineto_results.events()
    changes = [
        (event.start_ns(), event.nbytes())
        for event in events
        if event.name() == "[memory]" and str(event.device_type()).endswith("CUDA" if cuda else "CPU")
    ]
    held = most = 0
    for _, change in sorted(changes):
        held += change
        most = max(most, held)
    return int(most)


def _by_python(call: Callable[[], Any]) -> dict[str, object]:
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        call()
    finally:
        profiler.disable()
    entries = sorted(profiler.getstats(), key=lambda entry: -entry.inlinetime)
    named = [(name, entry) for entry in entries if (name := _plain(entry.code))]
    total = sum(entry.inlinetime for _, entry in named) or 1.0
    rows = [_row(name, entry.callcount, entry.inlinetime / total) for name, entry in named][:_TOP]
    return {"operations": rows, "launches": 0, "peak_bytes": _traced(call)}


def _plain(code: Any) -> str:  # noqa: ANN401 - a name or a code object
    if not isinstance(code, str):
        if code.co_filename.startswith(_HERE):
            return ""  # ours, around the learner's
        if code.co_name[:1] == "<" or code.co_filename[:1] in {"<", os.sep}:
            return str(code.co_name)  # a line is told of the learner's file alone, whose name is no path
        return f"{code.co_name} (line {code.co_firstlineno})"
    if method := _METHOD.fullmatch(code):
        return f"{method[2]}.{method[1]}"
    plain = code.removeprefix("<").removesuffix(">").removeprefix("built-in method ")
    return "" if "_lsprof.Profiler" in plain else plain


def _traced(call: Callable[[], Any]) -> int:
    """Give the peak of what Python and numpy allocated in one call."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        value = call()
        _, peak = tracemalloc.get_traced_memory()
        del value
    finally:
        tracemalloc.stop()
    return max(0, peak - before)


def eager_kernels(watched: Watched) -> int:
    """Count the operations that compute: not views, nor what only looks."""
    return sum(_computes(op) for op in watched.ops)


def _computes(op: Op) -> bool:
    if op.name in _FREE or not op.outs:
        return False
    places = {each.place for each in op.ins}
    return op.name.endswith("_") or not all(each.place in places for each in op.outs)


def products(watched: Watched) -> list[dict[str, object]]:
    """Name the precision of each product of matrices; TF32 where float32 is multiplied in it."""
    found = Counter(_product(op) for op in watched.ops if op.name in MATMULS and op.ins)
    rows = found.most_common(_MOST_PRODUCTS)
    return [{"op": name, "precision": kind, "shape": shape, "count": times} for (name, kind, shape), times in rows]


def _product(op: Op) -> tuple[str, str, str]:
    heavy = [each for each in op.ins if each.dims > 1] or list(op.ins)
    kind, device = heavy[0].dtype, heavy[0].device
    if kind == "float32" and device == "cuda" and is_tf32(convolution="conv" in op.name):
        kind = "tf32"
    return op.name[:60], kind, " @ ".join("×".join(map(str, each.shape)) for each in heavy[:2])[:60]


def is_tf32(*, convolution: bool) -> bool:
    """Whether a GPU multiplies float32 in TF32 as torch is set now: in convolutions, or in other products."""
    torch = _modules["torch"]
    # Reading `allow_tf32` raises once both of torch's ways to set it were used.
    with contextlib.suppress(AttributeError, RuntimeError):
        backend = torch.backends.cudnn.conv if convolution else torch.backends.cuda.matmul
        return bool(backend.fp32_precision == "tf32")
    return False


@contextlib.contextmanager
def synchronized() -> Iterator[None]:
    """Wait for the GPU behind what is done here, where one was touched."""
    yield
    torch: Any = _modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
