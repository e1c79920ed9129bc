"""What can be reached from a learner's names: through attributes, containers and closures, and how to rebind it.

Law: no method of the learner's is called to look; only what is exactly a dict, list, tuple, or an instance of one of
the learner's own classes is looked into, to a depth and a number that are small.
"""

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_MOST_THINGS, _MOST_INSIDE, _MOST_DEPTH = 400, 64, 3
_fields = object.__getattribute__


@dataclass(frozen=True)
class Thing:
    """A value under the path by which it is reached (`state.x`, `box[0]`); `put` binds another in its place."""

    path: str
    value: Any
    put: Callable[[Any], None] | None = None


def walk(names: Mapping[str, Any], roots: Iterable[str]) -> list[Thing]:
    """Give what some global names reach, the nearest first; what stands in two places is given twice."""
    queue = [(Thing(name, names[name], _into(names, name)), 0) for name in roots]
    seen: set[int] = set()
    found: list[Thing] = []
    while queue and len(found) < _MOST_THINGS:
        thing, depth = queue.pop(0)
        found.append(thing)
        if depth < _MOST_DEPTH and id(thing.value) not in seen:
            seen.add(id(thing.value))
            queue += [(inner, depth + 1) for inner in _inside(thing, names)]
    return found


def _inside(thing: Thing, names: Mapping[str, Any]) -> Iterator[Thing]:
    value, path = thing.value, thing.path
    kind = type(value)
    if kind is dict and len(value) <= _MOST_INSIDE:
        yield from (Thing(f"{path}[{key!r}]"[:60], value[key], _into(value, key)) for key in list(value))
    elif kind is list and len(value) <= _MOST_INSIDE:
        yield from (Thing(f"{path}[{i}]", each, _into(value, i)) for i, each in enumerate(value))
    elif kind is tuple and len(value) <= _MOST_INSIDE:
        yield from (Thing(f"{path}[{i}]", each) for i, each in enumerate(value))
    elif kind is types.FunctionType:
        yield from _closed(value)
    elif kind is types.MethodType:
        yield Thing(path, value.__self__)
    elif kind is type:
        if is_own(value, names):
            yield from _of_class(value, path)
    elif is_own(kind, names):
        yield from _slots(value, path)
        yield from _of_class(kind, path)
        try:
            inside = _fields(value, "__dict__")
        except AttributeError:
            return
        own = {key: each for key, each in inside.items() if not key.startswith("__")}
        for key, each in list(own.items())[:_MOST_INSIDE]:
            yield Thing(f"{path}.{key}"[:60], each, _into(inside, key))


def _of_class(kind: type, path: str) -> Iterator[Thing]:
    """Give what a class of the learner's holds for all its instances, without its methods and descriptors."""
    for name, each in list(vars(kind).items())[:_MOST_INSIDE]:
        if not name.startswith("__") and not callable(each) and not hasattr(type(each), "__get__"):
            yield Thing(f"{path}.{name}"[:60], each, _into_class(kind, name))


def _slots(value: Any, path: str) -> Iterator[Thing]:  # noqa: ANN401 - an instance
    for name, slot in vars(type(value)).items():
        if type(slot) is types.MemberDescriptorType:
            try:
                yield Thing(f"{path}.{name}"[:60], slot.__get__(value), _into_slot(slot, value))
            except AttributeError:  # nothing is bound to it yet
                continue


def _closed(function: types.FunctionType) -> Iterator[Thing]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield Thing(name, cell.cell_contents, _into_cell(cell))
        except ValueError:  # nothing is bound to it yet
            continue
    for i, each in enumerate(function.__defaults__ or ()):
        arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
        yield Thing(arguments[i - len(function.__defaults__ or ())], each)


def is_own(kind: type, names: Mapping[str, Any]) -> bool:
    """Whether a class is the learner's own: defined in the source that the names are of."""
    functions = [each for each in vars(kind).values() if isinstance(each, types.FunctionType)]
    return any(each.__globals__ is names for each in functions) or kind.__module__ == "__main__"


def codes_of(value: Any, names: Mapping[str, Any]) -> list[types.CodeType]:  # noqa: ANN401 - anything
    """Give the code of the learner's that runs when a value of theirs is called or its methods are."""
    found = getattr(value, "__wrapped__", value) if callable(value) and not isinstance(value, type) else value
    found = found.func if type(found).__name__ == "partial" else found
    found = found.__func__ if isinstance(found, types.MethodType) else found
    if isinstance(found, types.FunctionType):
        inner = [cell for cell in _closed(found) if isinstance(cell.value, types.FunctionType)]
        own = [found.__code__] if found.__globals__ is names else []
        return own + [each.value.__code__ for each in inner if each.value.__globals__ is names]
    kind = found if isinstance(found, type) else type(found)
    if not is_own(kind, names):
        return []
    methods = [getattr(each, "__func__", getattr(each, "fget", each)) for each in vars(kind).values()]
    return [each.__code__ for each in methods if isinstance(each, types.FunctionType)]


def _into(owner: Any, key: Any) -> Callable[[Any], None]:  # noqa: ANN401 - a dict or a list
    def put(value: Any) -> None:  # noqa: ANN401 - anything
        owner[key] = value

    return put


def _into_class(kind: type, name: str) -> Callable[[Any], None]:
    def put(value: Any) -> None:  # noqa: ANN401 - anything
        setattr(kind, name, value)

    return put


def _into_slot(slot: types.MemberDescriptorType, owner: Any) -> Callable[[Any], None]:  # noqa: ANN401
    def put(value: Any) -> None:  # noqa: ANN401 - anything
        slot.__set__(owner, value)

    return put


def _into_cell(cell: types.CellType) -> Callable[[Any], None]:
    def put(value: Any) -> None:  # noqa: ANN401 - anything
        cell.cell_contents = value

    return put
