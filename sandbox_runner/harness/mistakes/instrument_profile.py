"""A pass over one call with Python's own profiler: how much of the time goes to making values, or to printing.

Law: shares are of the profiled call itself. A call of very many small steps is distorted by the profiler, so only the
time inside functions written in C is counted, never the loop around them.
"""

import cProfile
import re
from collections.abc import Iterator

from .findings import Finding
from .subject import Subject

_LEAST_SHARE = 0.15
_RANDOM = re.compile(r"numpy\.random|method '\w+' of '_random\.Random'")
_MADE = re.compile(
    r"method 'astype' of 'numpy\.ndarray'|numpy\.(array|asarray|ascontiguousarray)\b|from_numpy|'tolist'"
)
_PRINTED = re.compile(r"built-in method builtins\.print|method 'write' of|'flush' of")


def profile(subject: Subject) -> Iterator[Finding]:
    """Mistakes 35 and 36: random values are drawn, or text is written, in what is timed."""
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        subject.function()
    finally:
        profiler.disable()
    entries = profiler.getstats()
    total = sum(entry.inlinetime for entry in entries) or 1.0
    for code, pattern in (("creation_timed", _RANDOM), ("print_timed", _PRINTED)):
        spent = sum(e.inlinetime for e in entries if isinstance(e.code, str) and pattern.search(e.code))
        if spent / total >= _LEAST_SHARE:
            yield Finding(code, subject.line, {"share": min(spent / total, 1.0)}, subject.index)
