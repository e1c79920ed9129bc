"""A pass over what a variant keeps from one call to the next beside arrays and containers: iterators, and answers.

Law: what is rebound to look is bound again by the learner's own call; an iterator is only asked for one item more, when
everything has been timed.
"""

import functools
import io
import itertools
import operator
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import subject as of
from .changing import matters
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
"""What was there before any call, by identity: instances of the learner's own classes, each with what its attributes
were, and iterators that the set-up itself had used up; 0: the global names."""


def remember(names: dict[str, Any]) -> Held:
    """Keep what the attributes of the learner's own instances are bound to, and the global names."""
    held: Held = {0: (None, dict(names))}
    for thing in walk(names, [name for name in names if not name.startswith("__")]):
        if (inside := _attributes(thing.value, names)) is not None:
            held[id(thing.value)] = thing.value, dict(inside)
        elif _is_used_up(thing.value):
            held[id(thing.value)] = thing.value, {}
    return held


def _is_used_up(value: Any) -> bool:  # noqa: ANN401 - anything
    """Whether a value is an iterator that says by itself that nothing is left in it."""
    if type(value) is types.GeneratorType:
        return value.gi_frame is None
    return type(value) in _ITERATORS and operator.length_hint(value, -1) == 0


def runs_dry(subject: Subject, held: Held) -> Iterator[Finding]:
    """Mistake 34: a variant takes from an iterator that was made before, and later calls find less."""
    for thing in subject.things():
        value = thing.value
        if id(value) in held:
            continue
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
    written = file.writable() and type(file) not in {io.StringIO, io.BytesIO}  # the learner gets it back
    if written or not file.seekable() or not file.tell():
        return False
    file.seek(0)
    one, two = subject.function(), subject.function()
    return not (one is two or of.same(one, two) or (type(one) is type(two) and type(one) in _PLAIN and one == two))


def remembers(subject: Subject, held: Held, call_ns: float) -> Iterator[Finding]:
    """Mistake 34 in another dress: an attribute or a name keeps the answer, and later calls only give it again."""
    if call_ns > _LONG_NS:
        return
    for path, value, place in list(_new(subject, held))[:_MOST_LOOKED_AT]:
        kept = min(subject.time() for _ in range(3))
        place.forget()
        try:
            anew = subject.time()
            returned = subject.function()
        except BaseException:
            place.put(value)  # another variant made it: this one only needs it
            raise
        if not (anew > _MEMO_TIMES * kept and anew - kept > _LEAST_MEMO_NS):
            continue
        if _is_only_filled(subject, value, place):
            continue
        if returned is value or of.same(returned, value) or (returned is None and anew > _UNKNOWN_TIMES * kept):
            yield Finding("remembers", subject.line, {"what": path}, subject.index)
            return


@dataclass(frozen=True)
class _Place:
    """Where a value is kept: under `name` in `owner`, where `None` was before, or nothing."""

    owner: dict[str, Any]
    name: str
    was_none: bool

    def forget(self) -> None:
        """Let it be as it was."""
        if self.was_none:
            self.owner[self.name] = None
        else:
            self.owner.pop(self.name, None)

    def put(self, value: Any) -> None:  # noqa: ANN401 - anything
        """Keep a value there."""
        self.owner[self.name] = value


def _is_only_filled(subject: Subject, value: Any, place: _Place) -> bool:  # noqa: ANN401 - what was kept
    """Whether what is kept is memory that each call fills anew: to come by it costs time, and answers nothing."""
    if not of.is_array(value):
        return False
    place.put(value)
    return not matters(subject.function, value, of.copy_of(value))


def _new(subject: Subject, held: Held) -> Iterator[tuple[str, Any, _Place]]:
    """Give what calls have bound where nothing or `None` was, by its path, with its place."""
    names = subject.names
    _, before = held.get(0, (None, {}))
    for name, value in subject.reads().items():
        if value is not None and name in before and before[name] is None:
            yield name, value, _Place(names, name, was_none=True)
    for thing in subject.things():
        inside = _attributes(thing.value, names)
        if inside is None:
            continue
        known = held.get(id(thing.value), (None, {}))[1]
        lazy = {name for name, each in vars(type(thing.value)).items() if type(each) is functools.cached_property}
        for name, value in list(inside.items()):
            path = f"{thing.path}.{name}"[:60]
            if name in lazy:
                yield path, value, _Place(inside, name, was_none=False)
            elif value is not None and id(thing.value) in held and known.get(name) is None:
                yield path, value, _Place(inside, name, was_none=name in known)


def _attributes(value: Any, names: dict[str, Any]) -> dict[str, Any] | None:  # noqa: ANN401 - anything
    """Give the dict of an instance of one of the learner's own classes."""
    if type(value) is type or not is_own(type(value), names):
        return None
    try:
        inside = _fields(value, "__dict__")
    except AttributeError:
        return None
    return inside if type(inside) is dict else None
