"""Passes over what variants return, beside each other: views, kinds and sizes, graphs for gradients, modes of modules.

Law: the learner's values are only looked at; a name is rebound for one call and put back.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import subject as of
from .findings import Finding
from .subject import Subject
from .things import Thing

_modules = sys.modules
_LEAST_COUNT, _MOST_TAKEN = 16, 10_000
_DIFFERS, _ROUNDING = 0.01, 0.01
_LOOP_TIMES = 1.2
_MOST_LOOP_NS = 5e8
_SENSITIVE = ("Dropout", "BatchNorm", "InstanceNorm", "LSTM", "GRU")


@dataclass(frozen=True)
class Returned:
    """What one call of a variant returned, and how it stands.

    `work`: the most elements that one of its operations was given, and its multiplications in products of matrices.
    """

    subject: Subject
    value: Any
    trains: bool = False
    only_views: bool = False
    line: int | None = None
    modes: frozenset[bool] = frozenset()
    work: tuple[int, int] = (0, 0)


def views(returned: Returned) -> Iterator[Finding]:
    """Mistake 31: the result is a view of an input, and nothing was computed."""
    subject, value = returned.subject, returned.value
    parts = list(value) if type(value) in {list, tuple} else [value]
    if not returned.only_views or not parts or not all(of.is_array(part) for part in parts):
        return
    arrays = list(subject.arrays().values())
    if all(any(shares_memory(part, array) for array in arrays if array is not part) for part in parts):
        yield Finding("view_only", returned.line or subject.line, {}, subject.index)


def shares_memory(one: Any, two: Any) -> bool:  # noqa: ANN401 - arrays of either kind
    """Whether two arrays of one kind lie in the same memory."""
    if of.is_tensor(one) != of.is_tensor(two):
        tensor, array = (one, two) if of.is_tensor(one) else (two, one)
        start, begin = array.__array_interface__["data"][0], tensor.untyped_storage().data_ptr()
        return bool(begin <= start < begin + max(tensor.untyped_storage().nbytes(), 1))
    if of.is_tensor(one):
        return bool(one.untyped_storage().data_ptr() == two.untyped_storage().data_ptr())
    return bool(_modules["numpy"].may_share_memory(one, two))


def loops(
    subject: Subject, taken: Mapping[str, int], lines: Mapping[str, int | None], call_ns: float
) -> Iterator[Finding]:
    """Mistake 33: a Python loop goes over the elements of an array; over a list it would be faster.

    `taken` are the elements taken one by one, by path of the array, and empty where nobody watched; `lines` those of
    the loops that the source shows.
    """
    for thing in subject.things():
        array = thing.value
        if not of.is_array(array) or of.count_of(array) < _LEAST_COUNT:
            continue
        shown = not taken and thing.path in lines and array.ndim == 1
        if shown or taken.get(thing.path, 0) >= min(of.count_of(array), _MOST_TAKEN) // 2:
            line = lines.get(thing.path, next(iter(lines.values()), subject.line))
            yield _loop(subject, thing, line, call_ns)
            return


def _loop(subject: Subject, thing: Thing, line: int | None, call_ns: float) -> Finding:
    """Tell of a loop, with the part of its time that a list would save, where a list does."""
    array = thing.value
    values: dict[str, str | int | float] = {"what": thing.path}
    if call_ns < _MOST_LOOP_NS and thing.put is not None:
        try:
            thing.put(array.tolist())
            subject.function()
            over_list = min(subject.time() for _ in range(3))
        except Exception:  # noqa: BLE001 - a list need not do
            over_list = 0.0
        finally:
            thing.put(array)
        over_array = min(subject.time() for _ in range(3))
        if over_list and over_array / over_list >= _LOOP_TIMES:
            values["share"] = 1 - over_list / over_array
    return Finding("loop_over_array", line, values, subject.index)


def compared(all_returned: list[Returned]) -> Iterator[Finding]:
    """Mistakes 8, 40 and 41: the first variant and another differ in more than how they work."""
    first, *others = all_returned
    for other in others:
        line, index = other.subject.line, other.subject.index
        kinds = _kind(first), _kind(other)
        if set(kinds) == {("numpy", "float64"), ("torch", "float32")}:
            yield Finding("numpy64_torch32", line, {}, index)
        if _has_graph(first.value) != _has_graph(other.value) and not (first.trains or other.trains):
            yield Finding("grad_differs", line, {}, index)
        if first.modes and other.modes and first.modes != other.modes:
            yield Finding("train_mode_differs", line, {}, index)
        times = _more_work(first, other) or _other_work(first, other)
        if times:
            yield Finding("work_differs", line, {"times": times}, index)


def _has_graph(value: Any) -> bool:  # noqa: ANN401 - a result
    if type(value) in {list, tuple}:
        return any(_has_graph(each) for each in value[:_LEAST_COUNT])
    return of.is_tensor(value) and value.grad_fn is not None


def modes_of(subject: Subject) -> frozenset[bool]:
    """Give the modes, training or not, of the modules to which that makes a difference, as they are now."""
    return frozenset(module.training for module in _sensitive(subject))


def _sensitive(subject: Subject) -> list[Any]:
    return [
        inner
        for module in subject.modules()
        for inner in module.modules()
        if type(inner).__name__.startswith(_SENSITIVE)
    ]


def _kind(returned: Returned) -> tuple[str, str]:
    """Name the library and the floating-point type that a variant works in, where there is only one."""
    arrays = [a for a in returned.subject.arrays().values() if of.is_float(a) and of.count_of(a) >= _LEAST_COUNT]
    kinds = {("torch" if of.is_tensor(array) else "numpy", of.dtype_of(array)) for array in arrays}
    return kinds.pop() if len(kinds) == 1 else ("", "")


def _more_work(first: Returned, other: Returned) -> float:
    """Give how many times one has more elements to work on than the other; 0 where they are equal or it is unclear."""
    one, two = first.value, other.value
    if of.is_array(one) and of.is_array(two):
        return _times(of.count_of(one), of.count_of(two))
    counts = [sorted(of.count_of(array) for array in each.subject.arrays().values()) for each in (first, other)]
    if len(counts[0]) == len(counts[1]) and all(counts):
        return _times(sum(counts[0]), sum(counts[1]))
    return 0.0


def _other_work(first: Returned, other: Returned) -> float:
    """Give how many times one works on more, or multiplies more, where the answers differ, too; else 0.

    Where they are alike, less work is what the one is better by.
    """
    if not _apart(first.value, other.value):
        return 0.0
    return next((times for one, two in zip(first.work, other.work, strict=True) if (times := _times(one, two))), 0.0)


def _apart(one: Any, two: Any) -> bool:  # noqa: ANN401 - results
    """Whether two numbers, or two arrays of one kind and shape, differ by more than rounding."""
    if of.is_array(one) and of.is_array(two):
        if of.is_tensor(one) != of.is_tensor(two) or tuple(one.shape) != tuple(two.shape) or not of.count_of(one):
            return False
        first, second = _wide(one), _wide(two)
        return bool(abs(first - second).max() > _ROUNDING * (abs(first).max() + abs(second).max()))
    try:
        first, second = float(one), float(two)
    except (TypeError, ValueError):
        return False
    return abs(first - second) > _ROUNDING * (abs(first) + abs(second))


def _wide(array: Any) -> Any:  # noqa: ANN401 - an array of either kind
    """Give what can be subtracted: truth values cannot, what has no sign goes round below zero, and devices differ."""
    return array.detach().cpu().double() if of.is_tensor(array) else array.astype("float64")


def _times(one: int, two: int) -> float:
    if not one or not two or abs(one - two) / max(one, two) <= _DIFFERS:
        return 0.0
    return max(one, two) / min(one, two)
