"""Passes over what torch.compile has done so far in this process: graph breaks, recompilations, CUDA graphs skipped.

Law: reads counters and caches of the compiler only; nothing is compiled for it.
"""

import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

from .findings import Finding
from .subject import Subject

_modules = sys.modules
_SHAPES, _SHAPES_MADE = 3, 5
"""So many compiled forms of one function are too many; inputs that were made for checks account for some."""


def breaks() -> Iterator[Finding]:
    """Mistake 26: the compiler has split a function, because of something in it that it cannot follow."""
    counters = _counters()
    if not counters:
        return
    # A branch on a tensor's value is not counted among the breaks; where the function goes on after one always is.
    found = max(sum(counters.get("graph_break", {}).values()), len(counters.get("resumes", {})))
    if found:
        yield Finding("graph_breaks", None, {"count": min(found, 1000)})


def cudagraphs() -> Iterator[Finding]:
    """Mistake 28: CUDA graphs were asked for, and skipped."""
    counters = _counters()
    skipped = counters["inductor"].get("cudagraph_skips", 0) if counters else 0
    if skipped:
        yield Finding("cudagraph_skipped", None, {"count": int(skipped)})


def frames() -> Iterator[Finding]:
    """Tell how many frames were compiled, for mistake 2."""
    counters = _counters()
    if counters and counters["frames"].get("ok", 0):
        yield Finding("compiled_frames", None, {"count": int(counters["frames"]["ok"])})


def recompiles(subject: Subject, *, makes: bool) -> Iterator[Finding]:
    """Mistake 25: a compiled function was compiled again and again, for other shapes."""
    if "torch._dynamo.eval_frame" not in _modules:
        return
    most = max((_forms(value) for value in subject.reads().values()), default=0)
    if most >= (_SHAPES_MADE if makes else _SHAPES):
        yield Finding("recompiled", subject.line, {"count": most}, subject.index)


def _forms(value: Any) -> int:  # noqa: ANN401 - whatever a name is bound to
    function = getattr(value, "_torchdynamo_orig_callable", None)
    if function is None and hasattr(value, "_orig_mod"):
        function = type(value._orig_mod).forward  # noqa: SLF001 - torch's own name for it
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        return 0
    dynamo = importlib.import_module("torch._dynamo.eval_frame")
    return len(dynamo._debug_get_cache_entry_list(function.__code__))  # noqa: SLF001 - torch's own way to look


def _counters() -> Any:  # noqa: ANN401 - torch's own
    utils = _modules.get("torch._dynamo.utils")
    return utils.counters if utils is not None else None
