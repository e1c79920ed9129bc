"""Numbers as float32, float16 and bfloat16 keep them: the bits, what they stand for, the gaps around, exactly.

Law: everything is computed from the bits; nothing is looked up. A number is first what Python reads (float64), then
rounded to nearest, ties to even: float32 and float16 from float64, as numpy does; bfloat16 from float32, as torch does.
Sources: IEEE 754-2019, sections 3.4 and 4.3.1 (binary32, binary16, roundTiesToEven); bfloat16 is the upper half of a
binary32.
"""

import math
import struct
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Format:
    """A format of one sign bit, `exponent` and `fraction` bits; `digits` (decimal) tell its numbers apart."""

    name: str
    exponent: int
    fraction: int
    digits: int

    @property
    def infinite(self) -> int:
        """The bits of +inf: every exponent bit set."""
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def sign(self) -> int:
        """The sign bit in its place."""
        return 1 << (self.exponent + self.fraction)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return value_of(self, self.infinite - 1)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number with all its digits."""
        return value_of(self, 1 << self.fraction)

    @property
    def smallest(self) -> float:
        """The smallest positive number."""
        return value_of(self, 1)


FLOAT32 = Format("float32", 8, 23, 9)
FLOAT16 = Format("float16", 5, 10, 5)
BFLOAT16 = Format("bfloat16", 8, 7, 4)
FORMATS = (FLOAT32, FLOAT16, BFLOAT16)

_CODES = {FLOAT32: (">f", ">I"), FLOAT16: (">e", ">H")}
_HALF = 16
"""Bits of a float32 that a bfloat16 leaves out."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A number as a format keeps it. `above` and `below` are the gaps to the next numbers away from and towards zero.

    A gap is 0 where there is no finite neighbour.
    """

    format: Format
    bits: int
    value: float
    above: float
    below: float

    @property
    def fields(self) -> tuple[str, str, str]:
        """The sign, exponent and fraction bits as text."""
        form = self.format
        text = f"{self.bits:0{1 + form.exponent + form.fraction}b}"
        return text[0], text[1 : 1 + form.exponent], text[1 + form.exponent :]

    @property
    def subnormal(self) -> bool:
        """Whether it is so small that it has fewer digits than the format's others."""
        return 0 < abs(self.value) < self.format.smallest_normal


def stored(form: Format, number: float) -> Stored:
    """Round a number to a format."""
    bits = bits_of(form, number)
    magnitude = bits & ~form.sign
    above = below = 0.0
    if magnitude < form.infinite:
        here = value_of(form, magnitude)
        above = value_of(form, magnitude + 1) - here if magnitude + 1 < form.infinite else 0.0
        below = here - value_of(form, magnitude - 1) if magnitude else 0.0
    return Stored(form, bits, value_of(form, bits), above, below)


def bits_of(form: Format, number: float) -> int:
    """Give the bits of the number nearest to `number`; every nan has the same quiet bits."""
    if math.isnan(number):
        return form.infinite | (1 << (form.fraction - 1))
    if form is BFLOAT16:
        whole = bits_of(FLOAT32, number)
        # Half of what is left out, less one, plus the last bit kept: a tie goes up only where that bit is 1.
        return (whole + (1 << (_HALF - 1)) - 1 + ((whole >> _HALF) & 1)) >> _HALF
    real, plain = _CODES[form]
    try:
        packed = struct.pack(real, float(number))
    except OverflowError:
        return form.infinite | (form.sign if number < 0 else 0)
    (bits,) = struct.unpack(plain, packed)
    return int(bits)


def value_of(form: Format, bits: int) -> float:
    """Give the number that bits stand for, exactly: float64 holds every number of these formats."""
    if form is BFLOAT16:
        return value_of(FLOAT32, bits << _HALF)
    real, plain = _CODES[form]
    (value,) = struct.unpack(real, struct.pack(plain, bits))
    return float(value)


def error_of(kept: Stored, number: float) -> Fraction:
    """Give what was stored less what was meant, exactly; both must be finite."""
    return Fraction(kept.value) - Fraction(number)
