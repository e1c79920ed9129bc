"""Figures as they are shown: only as many digits as their interval allows, with digits 0-9 and a point.

Law: the last digit shown is of the order of the interval's half-width (the measuring page: "digits only as the interval
allows"); at most four digits are significant.
"""

import math

_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_SIZE_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
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
    places = max(_places(low, _half(low, high)), _places(high, _half(low, high)))
    return f"{_rounded(low, places)}–{_rounded(high, places)}"


def within(point: float, low: float, high: float) -> str:
    """Show a figure whose 99 % interval is known."""
    return _rounded(point, _places(point, _half(low, high)))


def size(count: float) -> str:
    """Show a number of bytes: `512 B`, `64 KiB`, `2 GiB`."""
    for scale, unit in _SIZE_UNITS:
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.0f} B"


def plain(value: float) -> str:
    """Show a figure without an interval with at most three digits that matter: `0.3`, `2.5`, `1,000`."""
    shown = _rounded(value, _places(value, 0.0, most=_PLAIN_DIGITS))
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def percent(share: float) -> str:
    """Show a share from 0 to 1 as a percentage."""
    return f"{plain(share * 100)} %"


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
