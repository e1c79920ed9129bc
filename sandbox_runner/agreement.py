"""Reads what variants returned, as raw bytes, and says whether they agree; decides nothing about time.

Law: bytes from a sandbox are sized and typed before numpy sees them (`np.frombuffer`, never pickle); a value that is
not finite never agrees with anything. The error is the relative Frobenius norm of the difference.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sandbox_runner.channel import Tampered

Item = tuple[str, str, tuple[int, ...], int]
"""A part of a result as its header tells it: name, dtype or kind, shape, bytes."""

_DTYPES = {
    name: np.dtype(name).newbyteorder("<")
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
} | {"bfloat16": np.dtype("<u2")}
_TIGHT = {"bfloat16": 2e-2, "float16": 3e-3, "float32": 1e-5, "complex64": 1e-5}
_LOOSE = {"bfloat16": 1e-1, "float16": 3e-2, "float32": 1e-3, "complex64": 1e-3}
_TIGHT_DOUBLE, _LOOSE_DOUBLE = 1e-12, 1e-8
FLOATS = frozenset({"bfloat16", "float16", "float32", "float64"})
PRECISION_LIMITS = {"float64": 1e-12, "float32": 1e-5, "tf32": 2e-3, "float16": 3e-3, "bfloat16": 2e-2}
"""The relative error against float64 that a product in each precision stays under."""
LAZY = frozenset(
    {
        *("generator", "map", "filter", "zip", "enumerate", "reversed", "islice", "chain", "coroutine"),
        *("accumulate", "starmap", "compress", "dropwhile", "takewhile", "filterfalse", "groupby", "pairwise"),
        *("zip_longest", "product", "permutations", "combinations", "combinations_with_replacement", "batched"),
        *("cycle", "count", "repeat", "range_iterator", "list_iterator", "tuple_iterator", "async_generator"),
        *("callable_iterator", "list_reverseiterator", "dict_keyiterator", "set_iterator", "partial"),
        *("Future", "Task", "Thread", "AsyncResult", "_GeneratorContextManager"),
    }
)
_HALF_ENDS, _LOWERED = 1e-3, 1e-4
_MOST_DIMENSIONS = 64
_MOST_ERROR = 1e9


class Agreement(StrEnum):
    """How two results compare."""

    AGREE = "agree"
    CLOSE = "close"
    DIFFER = "differ"
    NONFINITE = "nonfinite"
    INCOMPARABLE = "incomparable"


@dataclass(frozen=True, slots=True)
class Part:
    """One named part of a result; `values` is None where the kind of value cannot be compared."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    values: NDArray[np.generic] | str | int | None

    @property
    def kind(self) -> str:
        """The name of a type that cannot be compared; empty for every other."""
        return self.dtype.removeprefix("other:") if self.dtype.startswith("other:") else ""

    @property
    def finite(self) -> bool:
        """Whether no value is infinite or not a number."""
        return not isinstance(self.values, np.ndarray) or bool(np.isfinite(self.values).all())


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome, and the largest relative error seen (at most 1e9)."""

    outcome: Agreement
    error: float = 0.0


def read(items: Sequence[Item], payload: bytes) -> tuple[Part, ...]:
    """Read the parts of one result.

    Raises:
        Tampered: the header and the bytes do not fit each other.
    """
    parts, start = [], 0
    for name, dtype, shape, size in items:
        if size < 0 or start + size > len(payload):
            message = f"a result of {size} bytes where {len(payload) - start} are left"
            raise Tampered(message)
        parts.append(_part(name, dtype, shape, payload[start : start + size]))
        start += size
    if start != len(payload):
        message = f"{len(payload) - start} bytes belong to no result"
        raise Tampered(message)
    return tuple(parts)


def _part(name: str, dtype: str, shape: tuple[int, ...], raw: bytes) -> Part:
    if dtype == "text":
        return Part(name, dtype, (), raw.decode("utf-8", "replace"))
    if dtype == "int":
        if not raw.removeprefix(b"-").isdigit() or len(raw) > 4000:  # noqa: PLR2004 - under Python's own limit
            message = "a whole number that is none"
            raise Tampered(message)
        return Part(name, dtype, (), int(raw))
    kind = _DTYPES.get(dtype)
    if kind is None:
        return Part(name, dtype, (), None)
    count = math.prod(shape)
    if len(shape) > _MOST_DIMENSIONS or min(shape, default=0) < 0 or len(raw) % kind.itemsize:
        message = f"{len(raw)} bytes are no array of {dtype} and shape {shape}"
        raise Tampered(message)
    values = np.frombuffer(raw, dtype=kind)
    if values.size > count or (values.size == 0) != (count == 0):
        message = f"{values.size} elements for the shape {shape}"
        raise Tampered(message)
    if dtype == "bfloat16":
        values = (values.astype("<u4") << 16).view("<f4")
    return Part(name, dtype, shape, values)


def width(dtype: str) -> int:
    """Give the bytes of an element of `dtype`; 0 for what is no array."""
    return _DTYPES[dtype].itemsize if dtype in _DTYPES else 0


def compare(reference: Sequence[Part], other: Sequence[Part], coarsest: str = "") -> Comparison:
    """Compare two results: single parts with each other, several by the names that both have.

    `coarsest` is the type of what they were made from: digits that it did not have cannot be asked for.
    """
    if len(reference) == 1 and len(other) == 1:
        pairs = [(reference[0], other[0])]
    else:
        named = {part.name: part for part in other}
        pairs = [(part, named[part.name]) for part in reference if part.name in named]
    found = [_compare(one, two, coarsest) for one, two in pairs]
    for outcome in (Agreement.NONFINITE, Agreement.DIFFER, Agreement.INCOMPARABLE, Agreement.CLOSE):
        errors = [comparison.error for comparison in found if comparison.outcome is outcome]
        if errors:
            return Comparison(outcome, max(errors))
    if not found:
        return Comparison(Agreement.INCOMPARABLE)
    return Comparison(Agreement.AGREE, max(comparison.error for comparison in found))


def _compare(reference: Part, other: Part, coarsest: str) -> Comparison:
    one, two = reference.values, other.values
    if one is None or two is None:
        return Comparison(Agreement.INCOMPARABLE)
    if not (reference.finite and other.finite):
        return Comparison(Agreement.NONFINITE)
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
        if reference.shape != other.shape or one.size != two.size:
            return Comparison(Agreement.DIFFER, _MOST_ERROR)
        error = relative_error(one, two)
        if one.dtype.kind in "iu" and two.dtype.kind in "iu":
            return Comparison(Agreement.AGREE if np.array_equal(one, two) else Agreement.DIFFER, error)
        return Comparison(_graded(error, reference.dtype, other.dtype, coarsest or other.dtype), error)
    if type(one) is type(two):
        same = bool(one == two)
        return Comparison(Agreement.AGREE if same else Agreement.DIFFER, 0.0 if same else _MOST_ERROR)
    return Comparison(Agreement.DIFFER, _MOST_ERROR)


def relative_error(reference: NDArray[np.generic], other: NDArray[np.generic]) -> float:
    """Give the Frobenius norm of the difference over that of the reference (0 to 1e9), without overflow."""
    wide = np.complex128 if "c" in {reference.dtype.kind, other.dtype.kind} else np.float64
    one, two = reference.astype(wide), other.astype(wide)
    scale = max(float(np.abs(one).max(initial=0.0)), float(np.abs(two).max(initial=0.0)))
    if scale == 0 or not math.isfinite(scale):
        return 0.0 if scale == 0 else _MOST_ERROR
    norm, difference = _norm(one / scale), _norm(two / scale - one / scale)
    if norm == 0:
        return 0.0 if difference == 0 else _MOST_ERROR
    return min(difference / norm, _MOST_ERROR)


def _norm(values: NDArray[np.generic]) -> float:
    """Give the Frobenius norm without a library of linear algebra: its threads would go on beside what is measured."""
    return math.sqrt(float(np.square(np.abs(values)).sum()))


def _graded(error: float, *dtypes: str) -> Agreement:
    """Grade by the coarser of the two precisions: order of summation may cost digits, another formula costs more."""
    if error <= max(_TIGHT.get(dtype, _TIGHT_DOUBLE) for dtype in dtypes):
        return Agreement.AGREE
    loose = max(_LOOSE.get(dtype, _LOOSE_DOUBLE) for dtype in dtypes)
    return Agreement.CLOSE if error <= loose else Agreement.DIFFER


def precision_of(dtype: str, error: float, *, cuda: bool) -> str:
    """Name the precision that a result of `dtype` was really computed in, by its relative error against float64.

    Measured on products of matrices: 2.6e-7 float32, 2.9e-4 tf32, 3.6e-4 float16, 2.9e-3 bfloat16. tf32 and float16
    cannot be told apart by their error: on a CPU there is no tf32. Empty where no precision explains the error.
    """
    if dtype not in FLOATS:
        return ""
    if dtype == "float64" and error <= PRECISION_LIMITS["float64"]:
        return "float64"
    if dtype in {"float64", "float32"} and error <= PRECISION_LIMITS["float32"]:
        return "float32"
    if error <= _HALF_ENDS:
        return dtype if dtype in {"float16", "bfloat16"} else "tf32" if cuda else "float16"
    return "bfloat16" if error <= PRECISION_LIMITS["bfloat16"] else ""


def lowered(dtype: str, coarsest: str, error: float) -> bool:
    """Tell whether a result in `dtype`, of inputs no coarser than `coarsest`, lost digits that both types have."""
    fine = {"float32", "float64"}
    return dtype in fine and (coarsest or dtype) in fine and error > _LOWERED
