"""Looks into one variant: compiles it with the compiler listened to, then calls it under the profiler and as written.

Law: every figure is a claim about the learner's own code; what fails in looking finds nothing, what the learner's code
raises in its first call is its own.
"""

import time
from collections.abc import Callable
from typing import Any

from . import work
from .listening import Ears, Heard
from .mistakes.watch import Watched, watch

_clock = time.perf_counter_ns


def told(heard: Heard) -> dict[str, object]:
    """Give what the compiler said, as it crosses."""
    return {
        "graphs": heard.graphs,
        "breaks": heard.breaks,
        "recompiles": heard.recompiles,
        "guards": heard.guards,
        "nodes": heard.nodes,
        "kernels": heard.kernels,
        "libraries": heard.libraries,
    }


def look(ears: Ears, call: Callable[[], Any]) -> dict[str, object]:
    """Look into `call`, which runs a variant once on its inputs."""
    first_ns = _timed(call)
    again_ns = _timed(call)
    said = told(ears.take())
    seen = _tried(lambda: work.profiled(call)) or {"operations": [], "launches": 0, "peak_bytes": 0}
    watched = Watched()
    _tried(lambda: watch(call, watched))
    ears.take()  # what was compiled only because it was looked at
    eager = {"eager_kernels": work.eager_kernels(watched), "products": work.products(watched)}
    return {**said, **seen, **eager, "first_ns": first_ns, "again_ns": again_ns}


def _timed(call: Callable[[], Any]) -> int:
    begin = _clock()
    with work.synchronized():
        call()
    return _clock() - begin


def _tried(find: Callable[[], Any]) -> Any:  # noqa: ANN401 - what it finds
    try:
        return find()
    except BaseException:  # noqa: BLE001 - it is the learner's code that runs, once more than it was asked to
        return None
