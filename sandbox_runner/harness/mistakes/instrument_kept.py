"""A pass over what a variant keeps from one call to the next beside arrays and containers: iterators, and answers.

Law: what is rebound to look is bound again by the learner's own call; an iterator is only asked for one item more, when
everything has been timed.
"""

import functools
import io
import itertools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

from . import subject as of
from .findings import Finding
from .subject import Subject
from .things import is_own, walk

_fields = object.__getattribute__
_ITERATORS: tuple[type, ...] = (
    *(map, zip, filter, enumerate, reversed, itertools.chain, itertools.islice, itertools.starmap),
    *(itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.product, itertools.permutations),
    *(itertools.combinations, itertools.zip_longest, itertools.groupby, itertools.compress, itertools.filterfalse),
    *(type(iter([])), type(iter(())), type(iter({})), type(iter(set())), type(iter("")), type(iter(range(0)))),
)
_FILES = (io.StringIO, io.BytesIO, io.TextIOWrapper, io.BufferedReader)
_PLAIN = {list, dict, set, tuple, bytes}
_MOST_LOOKED_AT = 4
_LONG_NS = 2e8
_MEMO_TIMES, _LEAST_MEMO_NS = 3.0, 2e4
_UNKNOWN_TIMES = 20.0
"""So much faster a call must be where what it returns cannot be held against what was kept."""

Held = dict[int, tuple[Any, dict[str, Any]]]
"""Instances of the learner's own classes by identity, each with what its attributes were; 0: the global names."""


def remember(names: dict[str, Any]) -> Held:
    """Keep what the attributes of the learner's own instances are bound to, and the global names."""
    held: Held = {0: (None, dict(names))}
    for thing in walk(names, [name for name in names if not name.startswith("__")]):
        if (inside := _attributes(thing.value, names)) is not None:
            held[id(thing.value)] = thing.value, dict(inside)
    return held


def runs_dry(subject: Subject) -> Iterator[Finding]:
    """Mistake 34: a variant takes from an iterator that was made before, and later calls find less."""
    for thing in subject.things():
        value = thing.value
        if type(value) is types.GeneratorType:
            dry = value.gi_frame is None
        elif type(value) in _ITERATORS:
            left = operator.length_hint(value, -1)
            subject.function()
            dry = operator.length_hint(value, -1) != left or next(value, value) is value
        elif type(value) in _FILES:
            dry = _is_read_once(subject, value)
        elif (type(value).__module__, type(value).__name__) == ("_csv", "reader"):
            dry = next(value, value) is value
        else:
            continue
        if dry:
            yield Finding("input_changed", subject.line, {"what": thing.path}, subject.index)
            return


def _is_read_once(subject: Subject, file: Any) -> bool:  # noqa: ANN401 - a file
    """Whether a call that begins at a file's start ends otherwise than the next one, which begins where it stopped."""
    if not file.seekable() or not file.tell():
        return False
    file.seek(0)
    one, two = subject.function(), subject.function()
    return not (one is two or of.same(one, two) or (type(one) is type(two) and type(one) in _PLAIN and one == two))


def remembers(subject: Subject, held: Held, call_ns: float) -> Iterator[Finding]:
    """Mistake 34 in another dress: an attribute or a name keeps the answer, and later calls only give it again."""
    if call_ns > _LONG_NS:
        return
    for path, value, forget in list(_new(subject, held))[:_MOST_LOOKED_AT]:
        kept = min(subject.time() for _ in range(3))
        forget()
        anew = subject.time()
        returned = subject.function()
        if not (anew > _MEMO_TIMES * kept and anew - kept > _LEAST_MEMO_NS):
            continue
        if returned is value or of.same(returned, value) or (returned is None and anew > _UNKNOWN_TIMES * kept):
            yield Finding("remembers", subject.line, {"what": path}, subject.index)
            return


def _new(subject: Subject, held: Held) -> Iterator[tuple[str, Any, Callable[[], None]]]:
    """Give what calls have bound where nothing or `None` was, with a way to forget it."""
    names = subject.names
    _, before = held.get(0, (None, {}))
    for name, value in subject.reads().items():
        if value is not None and name in before and before[name] is None:
            yield name, value, _putting(names, name, None)
    for thing in subject.things():
        inside = _attributes(thing.value, names)
        if inside is None:
            continue
        known = held.get(id(thing.value), (None, {}))[1]
        lazy = {name for name, each in vars(type(thing.value)).items() if type(each) is functools.cached_property}
        for name, value in list(inside.items()):
            path = f"{thing.path}.{name}"[:60]
            if name in lazy:
                yield path, value, functools.partial(inside.pop, name, None)
            elif value is not None and id(thing.value) in held and known.get(name) is None:
                forget = _putting(inside, name, None) if name in known else functools.partial(inside.pop, name, None)
                yield path, value, forget


def _attributes(value: Any, names: dict[str, Any]) -> dict[str, Any] | None:  # noqa: ANN401 - anything
    """Give the dict of an instance of one of the learner's own classes."""
    if type(value) is type or not is_own(type(value), names):
        return None
    try:
        inside = _fields(value, "__dict__")
    except AttributeError:
        return None
    return inside if type(inside) is dict else None


def _putting(owner: dict[str, Any], name: str, value: Any) -> Callable[[], None]:  # noqa: ANN401 - anything
    def put() -> None:
        owner[name] = value

    return put
