"""Passes over what torch.compile has done so far in this process: graph breaks, recompilations, CUDA graphs skipped.

Law: reads counters and caches of the compiler only; nothing is compiled for it.
"""

import importlib
import sys
import types
from collections import Counter
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


def recompiles(subjects: list[Subject], *, makes: bool) -> Iterator[Finding]:
    """Mistake 25: a compiled function was compiled again and again, for other shapes."""
    utils = _modules.get("torch._dynamo.utils")
    if utils is None:
        return
    least = _SHAPES_MADE if makes else _SHAPES
    forms = {code: count for code in list(utils.guard_failures) if (count := _forms(code)) >= least}
    told = set()
    for subject in subjects:
        own = [code for code in forms if code in _compiled(subject)]
        told |= set(own)
        if own:
            yield Finding("recompiled", subject.line, {"count": max(forms[code] for code in own)}, subject.index)
    if rest := [count for code, count in forms.items() if code not in told]:
        yield Finding("recompiled", None, {"count": max(rest)})


def _compiled(subject: Subject) -> set[types.CodeType]:
    """Give the code of the compiled functions and modules that a variant reaches."""
    found = set()
    for value in (thing.value for thing in subject.things()):
        function = getattr(value, "_torchdynamo_orig_callable", None)
        if function is None and hasattr(value, "_orig_mod"):
            function = type(value._orig_mod).forward  # noqa: SLF001 - torch's own name for it
        function = getattr(function, "__func__", function)
        if isinstance(function, types.FunctionType):
            found.add(function.__code__)
    return found


def _forms(code: types.CodeType) -> int:
    """Count the forms in which one backend has compiled some code: each way of compiling it is one by itself."""
    dynamo = importlib.import_module("torch._dynamo.eval_frame")
    entries = dynamo._debug_get_cache_entry_list(code)  # noqa: SLF001 - torch's own way to look
    return max(Counter(id(entry.backend) for entry in entries).values(), default=0)


def _counters() -> Any:  # noqa: ANN401 - torch's own
    utils = _modules.get("torch._dynamo.utils")
    return utils.counters if utils is not None else None
