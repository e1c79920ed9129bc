"""Passes over one call with a clock around what draws random values, and with Python's own profiler around printing.

Law: what is wrapped for one call is put back after it. The profiler distorts a call of very many small steps, so of its
figures only the time inside functions written in C is used.
"""

import cProfile
import logging
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
_LEAST_SHARE, _LEAST_MADE = 0.15, 0.3
_MANY_DRAWS = 1000
_LAYOUTS = ("ascontiguousarray", "asfortranarray", "require")
_MAKERS = (
    ("numpy", ("linspace", "arange", "logspace", "geomspace", "meshgrid", "indices", "loadtxt", "genfromtxt"), False),
    ("numpy", ("load", "fromfile", "fromfunction"), False),
    ("numpy", ("array", "asarray"), True),
    ("torch", ("tensor", "as_tensor"), True),
)
"""What makes arrays, by module; and whether only of lists."""
_PRINTED = re.compile(r"built-in method (builtins\.print|posix\.write)|method '(write|flush)' of '_io\.(Text|Buf|File)")
_WRITTEN = re.compile(
    r"built-in method (builtins\.print|posix\.write)|method 'write' of '_io\.(Text|Buf|File)|_warnings\.warn"
)
_DRAWN = re.compile(r"method '\w+' of '_random\.Random'")


def profile(subject: Subject, may_print: int | None) -> Iterator[Finding]:
    """Mistakes 35 and 36: Python's random values are drawn, or text is written, in what is timed.

    `may_print`: the line that writes if a condition or a level lets it: told of if anything is written, or logged.
    """
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        subject.function()
    finally:
        profiler.disable()
    entries = profiler.getstats()
    total = sum(entry.inlinetime for entry in entries) or 1.0
    for code, pattern in (("creation_timed", _DRAWN), ("print_timed", _PRINTED)):
        found = [entry for entry in entries if pattern.search(_name(entry.code))]
        share = sum(entry.inlinetime for entry in found) / total
        if code == "creation_timed" and any(_shuffles(entry.code) for entry in entries):
            continue
        if code == "creation_timed" and share < _LEAST_SHARE:
            share = _drawn(subject, sum(entry.callcount for entry in found))
        if share >= _LEAST_SHARE:
            yield Finding(code, subject.line, {"share": min(share, 1.0)}, subject.index)
    if may_print is not None:
        logged = sum(entry.inlinetime for entry in entries if _is_logging(entry.code)) / total
        if logged >= _LEAST_SHARE or any(_writes(entry.code) for entry in entries):
            values = {"share": min(logged, 1.0)} if logged >= _LEAST_SHARE else {}
            yield Finding("print_timed", may_print, dict(values), subject.index)


def _shuffles(code: Any) -> bool:  # noqa: ANN401 - a name or a code object
    """Whether a profiler's entry is of what puts given things into another order: that is work, and makes nothing."""
    return not isinstance(code, str) and code.co_name == "shuffle" and str(code.co_filename) == random.__file__


def _drawn(subject: Subject, count: int) -> float:
    """Give the part of a call that so many draws take by themselves: the profiler adds to the rest around them."""
    if count < _MANY_DRAWS:
        return 0.0
    draw = random.Random(0).random  # noqa: S311 - nothing is kept secret by it
    ratios = []
    for _ in range(3):
        begin = _clock()
        for _ in range(_MANY_DRAWS):
            draw()
        ratios.append(count * (_clock() - begin) / _MANY_DRAWS / subject.time())
    return min(ratios)


def _writes(code: Any) -> bool:  # noqa: ANN401 - a name or a code object
    """Whether a profiler's entry is of what writes, or of a handler of `logging` that was given something."""
    if isinstance(code, str):
        return bool(_WRITTEN.search(code))
    return _is_logging(code) and str(code.co_name) == "emit"


def _is_logging(code: Any) -> bool:  # noqa: ANN401 - a name or a code object
    return not isinstance(code, str) and str(code.co_filename) == logging.__file__


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
    """Mistake 42: numpy lays an array out anew in what is timed, beside other work."""
    numpy: Any = _modules.get("numpy")
    if numpy is None:
        return
    spent = [0]
    functions = {name: getattr(numpy, name) for name in _LAYOUTS}
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


@contextmanager
def _made_watched(subject: Subject, spent: list[int], made: list[Any]) -> Iterator[None]:
    """Put a clock around what makes arrays of a range, of lists or of files, and keep what it gives in `made`."""
    makers = [(_modules.get(module), name, of_lists) for module, names, of_lists in _MAKERS for name in names]
    plain = [(owner, name, getattr(owner, name), of_lists) for owner, name, of_lists in makers if owner is not None]
    clocked = {id(value): _noted((_of_lists if of_lists else _clocked)(value, spent), made)
               for _, _, value, of_lists in plain}  # fmt: skip
    places = [thing for thing in subject.things() if thing.put and id(thing.value) in clocked]
    try:
        for owner, name, value, _ in plain:
            setattr(owner, name, clocked[id(value)])
        for thing in places:
            thing.put(clocked[id(thing.value)])  # type: ignore[misc]
        yield
    finally:
        for owner, name, value, _ in plain:
            setattr(owner, name, value)
        for thing in places:
            thing.put(thing.value)  # type: ignore[misc]


def _of_lists(function: Callable[..., Any], spent: list[int]) -> Callable[..., Any]:
    """Put a clock around a function, which runs only where it is given a list or a tuple: an array may be a view."""
    watched = _clocked(function, spent)

    def chosen(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the function's own
        return (watched if args and type(args[0]) in {list, tuple} else function)(*args, **kwargs)

    return chosen


def _noted(function: Callable[..., Any], made: list[Any]) -> Callable[..., Any]:
    """Keep what a function gives."""

    def noted(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the function's own
        made.append(function(*args, **kwargs))
        return made[-1]

    return noted


def makes(subject: Subject) -> Iterator[Finding]:
    """Mistake 35: arrays are made of lists, ranges or files in what is timed, beside other work.

    Who gives back what was made has it timed on purpose: one way to load or make it, beside another.
    """
    if "numpy" not in _modules:
        return
    spent, made = [0], list[Any]()
    with _made_watched(subject, spent, made):
        value = subject.call()
        if any(each is value for each in made):
            return
        made.clear()
        shares = sorted(_spent(subject, spent) for _ in range(3))
    if shares[1] >= _LEAST_MADE:
        yield Finding("creation_timed", subject.line, {"share": shares[1]}, subject.index)


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


NAMED = {converts_layout: _LAYOUTS, makes: tuple(name for _, names, _ in _MAKERS for name in names)}
"""The passes that call a variant some times more for functions that a source must name to use, with their names."""
