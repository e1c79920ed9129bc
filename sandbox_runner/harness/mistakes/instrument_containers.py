"""A pass over lists, dicts, sets and other containers that the calls of a variant have changed, so that each differs.

Law: what a container held is put back, whatever happens. A container that a variant only fills, and fills alike each
time, is no mistake.
"""

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from . import subject as of
from .findings import Finding
from .subject import Subject
from .things import walk

_Cache = type(lru_cache(len))
_KINDS = (list, dict, set, bytearray, deque, defaultdict, Counter, OrderedDict)
_MOST_ITEMS = 200_000
_LONG_NS = 2e8
_MEMO_TIMES, _LEAST_MEMO_NS = 3.0, 2e4

Held = dict[int, tuple[Any, Any]]
"""Containers by identity, each with a copy of what it held."""


def remember(names: dict[str, Any]) -> Held:
    """Keep copies of the containers that some names reach, while there is room."""
    held: Held = {}
    room = _MOST_ITEMS
    for thing in walk(names, [name for name in names if not name.startswith("__")]):
        if type(thing.value) in _KINDS and len(thing.value) <= room and id(thing.value) not in held:
            held[id(thing.value)] = thing.value, _copied(thing.value)
            room -= len(thing.value)
    return held


def changes(subject: Subject, held: Held, call_ns: float) -> Iterator[Finding]:
    """Mistake 34: a container is not what it was before the calls, and what a call does depends on it."""
    if call_ns > _LONG_NS:
        return
    for thing in subject.things():
        owner, before = held.get(id(thing.value), (None, None))
        if (
            owner is not None
            and owner is thing.value
            and not _alike(owner, before)
            and _matters(subject, owner, before)
        ):
            yield Finding("input_changed", subject.line, {"what": thing.path}, subject.index)
            return


def remembers(subject: Subject, call_ns: float) -> Iterator[Finding]:
    """Mistake 34 in another dress: a call is answered by `functools.cache` from a call before, and computes nothing."""
    caches = [each for each in subject.things() if type(each.value) is _Cache and each.value.cache_info().currsize]
    for thing in caches if call_ns < _LONG_NS else ():
        before = thing.value.cache_info()
        kept = subject.time()
        after = thing.value.cache_info()
        if after.hits == before.hits or after.misses != before.misses:
            continue
        thing.value.cache_clear()
        anew = subject.time()
        if anew > _MEMO_TIMES * kept and anew - kept > _LEAST_MEMO_NS:
            yield Finding("remembers", subject.line, {"what": thing.path}, subject.index)
            return


def _matters(subject: Subject, owner: Any, before: Any) -> bool:  # noqa: ANN401 - a container
    """Whether calls on what a container held first, on what a call left, and on other content, do not end alike.

    One that only grows, as a list of losses does, changes nothing for a call that does not read it.
    """
    now = _copied(owner)
    try:
        ends = [_end(subject, owner, content) for content in (before, before, None, _other(before))]
    finally:
        _fill(owner, now)
    first, twice, *others = ends
    grown = len(before) < len(now) and _begins(now, before)
    if not (_same(first.value, twice.value) and _alike(first.left, twice.left)):
        return not grown  # it goes on by itself: what it returns tells nothing of the container
    empty_ns, filled_ns = min(first.ns, twice.ns), others[0].ns  # a busy machine makes one long, hardly both
    remembers = grown and empty_ns > _MEMO_TIMES * filled_ns and empty_ns - filled_ns > _LEAST_MEMO_NS
    read = not all(_same(first.value, other.value) for other in others)
    return read or remembers or (not grown and not all(_alike(first.left, other.left) for other in others))


@dataclass(frozen=True)
class _End:
    """What a call returned, what it left in the container, and how long it took."""

    value: Any
    left: Any
    ns: float


def _end(subject: Subject, owner: Any, content: Any) -> _End:  # noqa: ANN401 - a container
    if content is not None:
        _fill(owner, content)
    begin = of.clock()
    value = subject.function()
    took = float(of.clock() - begin)
    return _End(_kept(value), _copied(owner), took)


def _begins(whole: Any, start: Any) -> bool:  # noqa: ANN401 - containers
    """Whether a container holds all that another does, where it did."""
    if isinstance(whole, dict):
        return all(key in whole and _same(each, whole[key]) for key, each in start.items())
    if isinstance(whole, set):
        return bool(start <= whole)
    return all(_same(a, b) for a, b in zip(whole, start, strict=False))


def _copied(value: Any) -> Any:  # noqa: ANN401 - a container
    """Copy a container, not what it holds: that is looked at by itself."""
    return dict(dict.items(value)) if isinstance(value, dict) else value.copy()


def _kept(value: Any) -> Any:  # noqa: ANN401 - a result
    return of.copy_of(value) if of.is_array(value) else _copied(value) if type(value) in _KINDS else value


def _other(before: Any) -> Any:  # noqa: ANN401 - a container
    """Give other content of the same size where there is such: the first item again and again."""
    if isinstance(before, list | deque) and before:
        return type(before)([before[0]] * len(before))
    return before


def _fill(owner: Any, content: Any) -> None:  # noqa: ANN401 - a container
    owner.clear()
    (owner.update if isinstance(owner, dict | set) else owner.extend)(content)


def _alike(one: Any, two: Any) -> bool:  # noqa: ANN401 - containers
    if len(one) != len(two):
        return False
    if isinstance(one, dict):
        return all(key in two and _same(each, two[key]) for key, each in one.items())
    if isinstance(one, set):
        return bool(one == two)
    return all(_same(a, b) for a, b in zip(one, two, strict=True))


def _same(one: Any, two: Any) -> bool:  # noqa: ANN401 - items, or results
    """Whether two values are alike; of what is no number, text, array or list, only whether they are one thing."""
    if one is two:
        return True
    if type(one) is list and type(two) is list:
        return len(one) == len(two) and all(_same(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, _KINDS) and isinstance(two, _KINDS) and isinstance(one, dict) is isinstance(two, dict):
        return isinstance(one, set) is isinstance(two, set) and _alike(one, two)
    plain = type(one) is type(two) and type(one) in {int, float, str, bytes, bool, complex, tuple}
    return of.same(one, two) or (plain and bool(one == two or one != one))  # noqa: PLR0124 - nan
