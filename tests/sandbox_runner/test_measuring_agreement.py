"""Results cross as typed bytes, are read strictly, and agree as far as their precision allows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sandbox_runner.agreement import Agreement, Part, compare, read, relative_error
from sandbox_runner.channel import Tampered
from sandbox_runner.harness.outputs import piece

MOST_ELEMENTS = 1 << 12


def crossed(value: object, share: float = 0.5) -> Part:
    """Send a value through the wire's form and back."""
    dtype, shape, raw = piece(value, share, MOST_ELEMENTS)
    (part,) = read([("", dtype, shape, len(raw))], raw)
    return part


def outcome(one: object, two: object) -> Agreement:
    return compare([crossed(one)], [crossed(two)]).outcome


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        (1.0, 1, Agreement.AGREE),
        (1.0, np.float32(1.0), Agreement.AGREE),
        (0.1 + 0.2, 0.3, Agreement.AGREE),
        (1.0, 1.0 + 1e-10, Agreement.CLOSE),
        (1.0, 1.001, Agreement.DIFFER),
        (np.float32(1), np.float32(1.0001), Agreement.CLOSE),
        (0, 0.0, Agreement.AGREE),
        (0.0, 1e-300, Agreement.DIFFER),
        (True, 1, Agreement.AGREE),
        (10**30, 10**30, Agreement.AGREE),
        (10**30, 10**30 + 1, Agreement.DIFFER),
        (2**62 + 1, 2**62, Agreement.DIFFER),
        (1 + 2j, 1 + 2j, Agreement.AGREE),
        ([1, 2, 3], (1, 2, 3), Agreement.AGREE),
        ([1, 2, 3], np.array([1.0, 2.0, 3.0]), Agreement.AGREE),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]]), Agreement.AGREE),
        ([[1, 2], [3]], [[1, 2], [3]], Agreement.INCOMPARABLE),
        ([1, 2, 3], [1, 2], Agreement.DIFFER),
        (np.ones((2, 3)), np.ones((3, 2)), Agreement.DIFFER),
        (np.ones((2, 1)), np.ones(2), Agreement.DIFFER),
        ([], [], Agreement.AGREE),
        (np.ones((2, 2)).T, np.ones((2, 2)), Agreement.AGREE),
        (np.arange(3, dtype=">i4"), np.arange(3), Agreement.AGREE),
        ("سلام", "سلام", Agreement.AGREE),
        ("a", "b", Agreement.DIFFER),
        ("1", 1, Agreement.DIFFER),
        (None, None, Agreement.INCOMPARABLE),
        ({1}, {1}, Agreement.INCOMPARABLE),
        (np.array(["a"]), np.array(["a"]), Agreement.INCOMPARABLE),
        (math.nan, math.nan, Agreement.NONFINITE),
        (1.0, math.inf, Agreement.NONFINITE),
        (np.array([1.0, math.nan]), np.ones(2), Agreement.NONFINITE),
        (1e308, 1e308, Agreement.AGREE),
        (1e300, -1e300, Agreement.DIFFER),
    ],
)
def test_values_agree_as_far_as_their_precision_allows(one: object, two: object, said: Agreement) -> None:
    assert outcome(one, two) is said


def test_a_subclass_of_an_array_or_a_number_is_never_asked_for_its_values() -> None:
    class Sly(np.ndarray):
        def tobytes(self, order: str | None = None) -> bytes:
            raise AssertionError

    class SlyFloat(float):
        pass

    assert crossed(np.ones(3).view(Sly)).values is None
    assert crossed(SlyFloat(1.0)).values is None
    assert crossed(SlyFloat(1.0)).dtype == "other:SlyFloat"


@given(arrays.arrays(arrays.array_dtypes() | arrays.floating_dtypes() | arrays.integer_dtypes(), (2, 3)))
def test_whatever_array_crosses_comes_back_equal_or_not_at_all(value: np.ndarray) -> None:
    part = crossed(value)
    assert part.values is None or np.array_equal(np.asarray(part.values).reshape(2, 3), value, equal_nan=True)


@given(st.floats(0, 0.999))
def test_a_large_array_is_sampled_from_a_start_that_is_chosen_outside(share: float) -> None:
    value = np.arange(2 * MOST_ELEMENTS + 1)
    part = crossed(value, share)
    assert isinstance(part.values, np.ndarray)
    assert part.shape == value.shape
    assert part.values[0] == int(share * 3)
    assert part.values.size <= MOST_ELEMENTS


@pytest.mark.parametrize(
    ("dtype", "shape", "raw"),
    [
        ("float64", (2,), b"1234567"),
        ("float64", (1,), bytes(16)),
        ("float64", (-1,), bytes(8)),
        ("float64", (0,), bytes(8)),
        ("float64", (5,), b""),
        ("int", (), b"12x"),
        ("int", (), b"9" * 5000),
        ("float64", (1,) * 100, bytes(8)),
    ],
)
def test_bytes_that_do_not_fit_their_header_are_tampering(dtype: str, shape: tuple[int, ...], raw: bytes) -> None:
    with pytest.raises(Tampered):
        read([("", dtype, shape, len(raw))], raw)


@pytest.mark.parametrize("size", [-1, 3, 5])
def test_sizes_that_do_not_fit_the_payload_are_tampering(size: int) -> None:
    with pytest.raises(Tampered):
        read([("", "text", (), size)], b"abcd")


def test_several_parts_are_compared_by_the_names_that_both_have() -> None:
    one = [Part("a", "int64", (), np.array(1)), Part("b", "int64", (), np.array(2))]
    two = [Part("b", "int64", (), np.array(2)), Part("c", "int64", (), np.array(9))]
    assert compare(one, two).outcome is Agreement.AGREE
    assert compare(one, [*two, Part("a", "int64", (), np.array(7))]).outcome is Agreement.DIFFER
    assert compare(one, [Part("x", "int64", (), np.array(1)), two[1]]).outcome is Agreement.INCOMPARABLE
    assert compare([], []).outcome is Agreement.INCOMPARABLE


@given(st.floats(1e-200, 1e200), st.floats(0, 1))
def test_the_error_does_not_depend_on_scale(scale: float, off: float) -> None:
    reference = np.array([1.0, 2.0, -2.0])
    other = reference + np.array([off, 0.0, 0.0])
    expected = off / 3
    assert relative_error(reference * scale, other * scale) == pytest.approx(expected, rel=1e-6, abs=1e-15)
