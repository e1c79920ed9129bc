"""Passes over one call with a clock around what draws random values, and with Python's own profiler around printing.

Law: what is wrapped for one call is put back after it. The profiler distorts a call of very many small steps, so of its
figures only the time inside functions written in C is used.
"""

import cProfile
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .findings import Finding
from .subject import Subject

_clock = time.perf_counter_ns
_modules = sys.modules
_LEAST_SHARE = 0.15
_PRINTED = re.compile(r"built-in method builtins\.print|method 'write' of|'flush' of")
_DRAWN = re.compile(r"method '\w+' of '_random\.Random'")


def profile(subject: Subject) -> Iterator[Finding]:
    """Mistakes 35 and 36: Python's random values are drawn, or text is written, in what is timed."""
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        subject.function()
    finally:
        profiler.disable()
    entries = profiler.getstats()
    total = sum(entry.inlinetime for entry in entries) or 1.0
    for code, pattern in (("creation_timed", _DRAWN), ("print_timed", _PRINTED)):
        spent = sum(e.inlinetime for e in entries if pattern.search(_name(e.code)))
        if spent / total >= _LEAST_SHARE:
            yield Finding(code, subject.line, {"share": min(spent / total, 1.0)}, subject.index)


def _name(code: Any) -> str:  # noqa: ANN401 - a name or a code object
    """Name what a profiler's entry is of; functions of the module `random` draw for their callers."""
    if isinstance(code, str):
        return code
    return "method 'random' of '_random.Random'" if code.co_filename == getattr(random, "__file__", "") else ""


class _Drawing:
    """A generator of numpy with a clock around each of its methods."""

    def __init__(self, inner: Any, spent: list[int]) -> None:  # noqa: ANN401 - numpy's
        self._inner, self._spent = inner, spent

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the generator has
        value = getattr(self._inner, name)
        return _clocked(value, self._spent) if callable(value) else value


def _clocked(function: Callable[..., Any], spent: list[int]) -> Callable[..., Any]:
    def clocked(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the function's own
        begin = _clock()
        try:
            value = function(*args, **kwargs)
        finally:
            spent[0] += _clock() - begin
        return _Drawing(value, spent) if type(value).__name__ in {"Generator", "RandomState"} else value

    return clocked


@contextmanager
def _wrapped(subject: Subject, numpy: Any, spent: list[int]) -> Iterator[None]:  # noqa: ANN401 - numpy may be absent
    generators = (numpy.random.Generator, numpy.random.RandomState)
    places = [thing for thing in subject.things() if thing.put and _draws(thing.value, generators)]
    functions = {
        name: value
        for name, value in vars(numpy.random).items()
        if not name.startswith("_") and callable(value) and not isinstance(value, type)
    }
    try:
        for thing in places:
            drawing = isinstance(thing.value, generators)
            thing.put(_Drawing(thing.value, spent) if drawing else _clocked(thing.value, spent))  # type: ignore[misc]
        for name, value in functions.items():
            setattr(numpy.random, name, _clocked(value, spent))
        yield
    finally:
        for thing in places:
            thing.put(thing.value)  # type: ignore[misc]
        for name, value in functions.items():
            setattr(numpy.random, name, value)


def converts_layout(subject: Subject) -> Iterator[Finding]:
    """Mistake 42: numpy lays an array out anew in what is timed, beside products of matrices."""
    numpy: Any = _modules.get("numpy")
    if numpy is None:
        return
    spent = [0]
    functions = {name: getattr(numpy, name) for name in ("ascontiguousarray", "asfortranarray", "require")}
    places = [(each, name) for each in subject.things() if each.put for name in functions
              if each.value is functions[name]]  # fmt: skip
    try:
        for name, function in functions.items():
            setattr(numpy, name, _clocked(function, spent))
        for thing, name in places:
            thing.put(getattr(numpy, name))  # type: ignore[misc]
        shares = sorted(_spent(subject, spent) for _ in range(3))
    finally:
        for name, function in functions.items():
            setattr(numpy, name, function)
        for thing, _ in places:
            thing.put(thing.value)  # type: ignore[misc]
    if shares[1] >= _LEAST_SHARE:
        yield Finding("layout_copy", subject.line, {"share": shares[1]}, subject.index)


def _spent(subject: Subject, spent: list[int]) -> float:
    """Call once, and give the part of the time that the clocks around functions have counted."""
    spent[0] = 0
    begin = _clock()
    subject.function()
    return min(spent[0] / max(_clock() - begin, 1), 1.0)


def _draws(value: Any, generators: tuple[type, ...]) -> bool:  # noqa: ANN401 - anything
    """Whether a value is a generator of numpy, a method of one, or a function that makes one."""
    own = isinstance(getattr(value, "__self__", None), generators) if callable(value) else False
    return own or isinstance(value, generators) or value is getattr(_modules["numpy"].random, "default_rng", None)


def draws(subject: Subject) -> Iterator[Finding]:
    """Mistake 35: numpy draws random values in what is timed."""
    numpy: Any = _modules.get("numpy")
    if numpy is None:
        return
    spent = [0]
    with _wrapped(subject, numpy, spent):
        share = _spent(subject, spent)
    if share >= _LEAST_SHARE:
        yield Finding("creation_timed", subject.line, {"share": share}, subject.index)
