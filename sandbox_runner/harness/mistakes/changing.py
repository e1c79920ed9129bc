"""Whether what a variant changes of its inputs changes what it returns; one that only fills a buffer changes nothing.

Law: what the arrays held is put back, whatever happens.
"""

from collections.abc import Callable, Mapping
from typing import Any

from . import subject as of


def matters(function: Callable[[], Any], array: Any, base: Any) -> bool:  # noqa: ANN401 - arrays of either kind
    """Whether a variant returns other things for other values of an array: then it reads it, not only fills it."""
    with of.kept([array]):
        of.put(array, base)
        one = _kept_value(function())
        of.put(array, base[::-1] if not of.is_tensor(array) and array.ndim else base * 0)
        two = _kept_value(function())
        if one is not None and of.same(one, two):
            of.put(array, _other(base))
            two = _kept_value(function())
        if one is None or two is None:  # nothing comes back: what it leaves in the array tells
            of.put(array, base)
            function()
            left = of.copy_of(array)
            of.put(array, _other(base))
            function()
            differs = not of.same(left, array)
        else:
            differs = not of.same(one, two)
        return differs and not _only_rest_is_read(function, array, base)


def _only_rest_is_read(function: Callable[[], Any], array: Any, base: Any) -> bool:  # noqa: ANN401 - arrays
    """Whether what a call writes into an array makes no difference to it, and only what it leaves alone does."""
    other = of.copy_of(base)
    of.put(other, base == 0 if of.dtype_of(base) == "bool" else abs(base) + 1)
    written = base != base  # noqa: PLR0124 - nowhere
    for start in (base, other):
        of.put(array, start)
        function()
        written = written | (array != start)
    if not bool(written.any()) or bool(written.all()):
        return False
    ends = []
    for start in (base, other):
        values = of.copy_of(base)
        values[written] = start[written]
        of.put(array, values)
        ends.append((_kept_value(function()), of.copy_of(array)))
    (one, left), (two, left_then) = ends
    return of.same(left, left_then) and (one is two is None or of.same(one, two))


def _other(base: Any) -> Any:  # noqa: ANN401 - an array of either kind
    """Give other values than an array has: zeros, or ones where there are only zeros."""
    return base * 0 if bool((base != 0).any()) else base == 0


def only_filled(function: Callable[[], Any], changed: Mapping[str, Any]) -> bool:
    """Whether some inputs that a call has changed are arrays that it only fills.

    It is called a few times more for it; whatever that raises, they may have been read.
    """
    if not all(of.is_array(value) and not getattr(value, "requires_grad", False) for value in changed.values()):
        return False
    if sum(of.size_of(value) for value in changed.values()) > of.KEPT_BYTES:
        return False
    arrays = list(changed.values())
    with of.kept(arrays):
        try:
            return not any(matters(function, array, of.copy_of(array)) for array in arrays)
        except Exception:  # noqa: BLE001 - the learner's code, on values that it was not written for
            return False


def _kept_value(value: Any) -> Any:  # noqa: ANN401 - a result
    return of.copy_of(value) if of.is_array(value) else value
