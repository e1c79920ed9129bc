"""Watches one call in numpy: which operation widened float32 to float64, and over which arrays a Python loop went.

Law: never while anything is timed for the learner. The arrays stand in for the learner's for one call, in the same
memory, and are taken away whatever happens.
"""

import sys
from collections.abc import Iterable
from typing import Any

from . import subject as of
from .subject import Subject
from .things import Thing

_modules = sys.modules
_LEAST_SIZE = 256


def watch_numpy(subject: Subject) -> tuple[str, dict[str, int], int]:
    """Call a variant once with its arrays watched: the first widening operation, elements taken by path of array.

    The last is the most elements that one operation was given.

    What numpy was asked for by `dtype=` or `out=` is no accident and is not named.
    """
    numpy: Any = _modules.get("numpy")
    if numpy is None:
        return "", {}, 0
    subject.names.update(subject.made)
    places = [each for each in subject.things() if each.put and type(each.value) is numpy.ndarray and _is_plain(each)]
    if not places:
        return "", {}, 0
    widened: list[str] = []
    taken: dict[str, int] = {}
    sizes = [0]
    kind = _watched_kind(numpy, widened, taken, sizes)
    try:
        for place in places:
            array = place.value.view(kind)
            array.root = place.path
            place.put(array)  # type: ignore[misc]
        subject.function()
    finally:
        for place in places:
            place.put(place.value)  # type: ignore[misc]
    return (widened[0] if widened else ""), taken, max(sizes)


def _is_plain(thing: Thing) -> bool:
    return of.is_array(thing.value)


def _watched_kind(numpy: Any, widened: list[str], taken: dict[str, int], sizes: list[int]) -> Any:  # noqa: ANN401, C901 - one class
    plain_kind = numpy.ndarray

    class Array(plain_kind):  # type: ignore[misc, valid-type]
        def __array_finalize__(self, source: Any) -> None:  # noqa: ANN401 - numpy's
            self.root = getattr(source, "root", "")

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            plain = [bare(each) for each in inputs]
            sizes[0] = max([sizes[0], *(getattr(each, "size", 1) for each in plain)])
            asked = {"dtype", "out", "signature"} & set(kwargs)
            if "out" in kwargs:
                kwargs["out"] = tuple(bare(each) for each in kwargs["out"])
            result = getattr(ufunc, method)(*plain, **kwargs)
            if not asked and method == "__call__" and _widens(plain, result, numpy):
                widened.append(ufunc.__name__)
            return result.view(Array) if type(result) is plain_kind else result

        def __array_function__(self, function: Any, _: Any, args: Any, kwargs: Any) -> Any:  # noqa: ANN401
            plain, named = bare(args), bare(kwargs)
            result = function(*plain, **named)
            operands = list(_flat((*plain, *named.values())))
            sizes[0] = max([sizes[0], *(getattr(each, "size", 1) for each in operands)])
            mixed = any(getattr(each, "dtype", None) == numpy.float64 for each in operands)
            if mixed and not {"dtype", "out"} & set(kwargs) and _widens(operands, result, numpy):
                widened.append(function.__name__)
            return result.view(Array) if type(result) is plain_kind else result

        def __iter__(self) -> Any:  # noqa: ANN401 - an iterator
            if self.ndim != 1:
                return super().__iter__()
            taken[self.root] = taken.get(self.root, 0) + self.size
            return iter(self.view(plain_kind))

        def __getitem__(self, key: Any) -> Any:  # noqa: ANN401 - whatever numpy takes
            found = super().__getitem__(key)
            if not isinstance(found, plain_kind):
                taken[self.root] = taken.get(self.root, 0) + 1
            return found

        def item(self, *place: Any) -> Any:  # noqa: ANN401 - numpy's
            taken[self.root] = taken.get(self.root, 0) + 1
            return super().item(*place)

        @property
        def flat(self) -> Any:  # noqa: ANN401 - numpy's
            taken[self.root] = taken.get(self.root, 0) + self.size
            return self.view(plain_kind).flat

    def bare(value: Any) -> Any:  # noqa: ANN401 - operands
        match value:
            case list() | tuple() if type(value) in {list, tuple}:
                return type(value)(bare(each) for each in value)
            case dict() if type(value) is dict:
                return {key: bare(each) for key, each in value.items()}
            case _:
                return value.view(plain_kind) if type(value) is Array else value

    return Array


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(value)
        else:
            yield value


def _widens(inputs: list[Any], result: Any, numpy: Any) -> bool:  # noqa: ANN401 - operands of an operation
    if type(result) is not numpy.ndarray or result.dtype != numpy.float64 or result.size < _LEAST_SIZE:
        return False
    narrow = [each for each in inputs if type(each) is numpy.ndarray and each.dtype == numpy.float32]
    return any(each.size >= _LEAST_SIZE for each in narrow)
