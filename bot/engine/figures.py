"""Figures as they are shown: only as many digits as their interval allows, with digits 0-9 and a point.

Law: the last digit shown is of the order of the interval's half-width (the measuring page: "digits only as the interval
allows"); at most four digits are significant.
"""

import math
from decimal import Decimal

_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_AMOUNT_UNITS = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_SIZE_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_LEAST_WRITTEN_OUT, _MOST_WRITTEN_OUT = 1e-3, 1e7
"""Beyond these a number is shown with a power of ten."""
_SHORT_POWERS = (-5, 20)
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_MOST_DIGITS = 4
_PLAIN_DIGITS = 3
_ROUNDING = 1e-9
"""Keeps a half-width of 0.1 that came out as 0.0999… from asking for one digit more."""


def duration(ns: float) -> str:
    """Show a time in nanoseconds with three significant digits and its unit."""
    scale, unit = _time_unit(ns)
    return f"{_rounded(ns / scale, _places(ns / scale, 0.0, most=_PLAIN_DIGITS))} {unit}"


def duration_within(ns: float, low: float, high: float) -> str:
    """Show a time whose 99 % interval is known, all in nanoseconds."""
    scale, unit = _time_unit(ns)
    return f"{within(ns / scale, low / scale, high / scale)} {unit}"


def interval(low: float, high: float) -> str:
    """Show an interval of ratios, both ends with the digits that its width allows."""
    return "–".join(interval_ends(low, high))


def interval_ends(low: float, high: float) -> tuple[str, str]:
    """Show both ends of an interval of ratios."""
    places = max(_places(low, _half(low, high)), _places(high, _half(low, high)))
    return _rounded(low, places), _rounded(high, places)


def within(point: float, low: float, high: float) -> str:
    """Show a figure whose 99 % interval is known."""
    return _rounded(point, _places(point, _half(low, high)))


def size(count: float) -> str:
    """Show a number of bytes: `512 B`, `64 KiB`, `2 GiB`."""
    for scale, unit in _SIZE_UNITS:
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"


def amount(count: float) -> str:
    """Show a number of bytes in decimal units, as bandwidths are given: `400 MB`, `1.6 GB`."""
    scale, unit = next((each for each in _AMOUNT_UNITS if count >= each[0]), _AMOUNT_UNITS[-1])
    return f"{plain(count / scale)} {unit}"


def plain(value: float) -> str:
    """Show a figure without an interval with at most three digits that matter: `0.3`, `2.5`, `1,000`."""
    shown = _rounded(value, _places(value, 0.0, most=_PLAIN_DIGITS))
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def digits(value: float, most: int) -> str:
    """Show a number with at most `most` significant digits, in powers of ten where it is very small or large."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    if _LEAST_WRITTEN_OUT <= abs(value) < _MOST_WRITTEN_OUT:
        shown = _rounded(value, most - 1 - math.floor(math.log10(abs(value))))
        return shown.rstrip("0").rstrip(".") if "." in shown else shown
    # By its shortest decimal, which is the number that was meant: 0.1 and not 0.1000000000000000055.
    mantissa, _, exponent = f"{Decimal(repr(value)):.{most - 1}e}".partition("e")
    return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"


def power_of_two(value: float) -> str:
    """Show a power of two: written out where that is short, as `0.5` and `256`, else as `2⁻²⁴ ≈ 5.96e-8`."""
    exponent = math.frexp(value)[1] - 1
    if _SHORT_POWERS[0] <= exponent <= _SHORT_POWERS[1]:
        return f"{value:,}" if exponent < 0 else f"{value:,.0f}"
    return f"{raised(exponent)} ≈ {digits(value, 3)}"


def raised(exponent: int) -> str:
    """Write two to a power: `2¹⁶`."""
    return f"2{str(exponent).translate(_RAISED)}"


def percent(share: float) -> str:
    """Show a share from 0 to 1 as a percentage."""
    return f"{plain(share * 100)}%"


def _half(low: float, high: float) -> float:
    return abs(high - low) / 2 if math.isfinite(low) and math.isfinite(high) else 0.0


def _time_unit(ns: float) -> tuple[float, str]:
    return next(((scale, unit) for scale, unit in _TIME_UNITS if abs(ns) >= scale), _TIME_UNITS[-1])


def _places(value: float, half: float, most: int = _MOST_DIGITS) -> int:
    """Decimal places (negative: tens, hundreds) that the half-width allows."""
    if not math.isfinite(value) or value == 0:
        return 0
    first = math.floor(math.log10(abs(value)))
    finest = most - 1 - first
    return finest if half <= 0 else max(min(finest, -math.floor(math.log10(half) + _ROUNDING)), -first)


def _rounded(value: float, places: int) -> str:
    if not math.isfinite(value):
        return str(value)
    return f"{round(value, places):,.{max(places, 0)}f}"
