"""The roofline as inline SVG: operations a second over operations a byte, both in powers, with the learner's points.

Law: axes run from left to right, as figures do; the sentences beside it say all that it shows, so it is hidden from
readers of the screen. Every drawn figure is finite and inside the drawing, whatever was measured.
"""

import math
from collections.abc import Sequence

from markupsafe import Markup

from bot.adapters.web import isolates
from bot.engine import replies

_WIDTH, _HEIGHT = 360.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 350.0, 30.0, 190.0
_LEAST, _MOST = 1e-6, 1e30
_EMPTY = Markup()
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def figure(block: replies.Roofline) -> Markup:
    """Give the drawing and its legend; nothing where it has no point or no roof."""
    points = [point for point in block.points if _sound(point.intensity) and _sound(point.rate)]
    roofs = [roof for roof in block.compute if _sound(roof)]
    if not points or not roofs or not _sound(block.memory):
        return _EMPTY
    ridges = [roof / block.memory for roof in roofs]
    x_ends = _ends([*(point.intensity for point in points), *ridges])
    y_ends = _ends([*(point.rate for point in points), *roofs])
    legend = _EMPTY.join(
        Markup('<li><bdi dir="ltr" class="mark">{}</bdi> {} <bdi dir="ltr">{}</bdi></li>').format(
            i, isolates.code(point.name), point.shown
        )
        for i, point in enumerate(points, 1)
    )
    drawing = Markup('<svg viewBox="0 0 {:.0f} {:.0f}" width="100%" aria-hidden="true" focusable="false">{}</svg>')
    inside = (
        _axes(block, x_ends, y_ends) + _roofs(block.memory, roofs, x_ends, y_ends) + _points(points, x_ends, y_ends)
    )
    return Markup('<div class="roofline"><p class="unseen">{}</p>{}<ol class="roofs">{}</ol></div>').format(
        block.alt, drawing.format(_WIDTH, _HEIGHT, inside), legend
    )


def _sound(value: float) -> bool:
    return math.isfinite(value) and _LEAST <= value <= _MOST


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """Give whole powers of ten around some values, at least two apart."""
    low, high = math.floor(math.log10(min(values)) - 0.2), math.ceil(math.log10(max(values)) + 0.2)
    return float(low), float(max(high, low + 2))


def _x(value: float, ends: tuple[float, float]) -> float:
    return _LEFT + (math.log10(value) - ends[0]) / (ends[1] - ends[0]) * (_RIGHT - _LEFT)


def _y(value: float, ends: tuple[float, float]) -> float:
    return _BOTTOM - (math.log10(value) - ends[0]) / (ends[1] - ends[0]) * (_BOTTOM - _TOP)


def _axes(block: replies.Roofline, x_ends: tuple[float, float], y_ends: tuple[float, float]) -> Markup:
    across, upward = (range(round(low), round(high) + 1) for low, high in (x_ends, y_ends))
    parts = [
        Markup('<line class="grid" x1="{0:.1f}" y1="{1}" x2="{0:.1f}" y2="{2}"/>').format(
            _x(10.0**power, x_ends), _TOP, _BOTTOM
        )
        + _text(_x(10.0**power, x_ends), _BOTTOM + 14, _short(power), "middle")
        for power in _thinned(across)
    ]
    parts += [
        Markup('<line class="grid" x1="{1}" y1="{0:.1f}" x2="{2}" y2="{0:.1f}"/>').format(
            _y(10.0**power, y_ends), _LEFT, _RIGHT
        )
        + _text(_LEFT - 5, _y(10.0**power, y_ends) + 4, _short(power), "end")
        for power in _thinned(upward)
    ]
    # The text is Arabic, the anchor of a drawing is not: with the direction right to left, "start" is its right end.
    named = Markup('<text class="axis" direction="rtl" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>')
    parts += [
        named.format((_LEFT + _RIGHT) / 2, _BOTTOM + 33, "middle", block.across),
        named.format(_LEFT - 38, 14, "end", block.upward),
    ]
    return _EMPTY.join(parts)


def _thinned(powers: range) -> range:
    """Leave out powers where there are too many to be read."""
    return powers[:: 1 + (len(powers) - 1) // 7]


def _short(power: int) -> str:
    """Write a power of ten as people do: 0.01, 1, 100, 10k, 1G."""
    for size, unit in _UNITS:
        if 10.0**power >= size:
            return f"{10.0**power / size:g}{unit}"
    return f"{10.0**power:g}"


def _text(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def _roofs(memory: float, roofs: Sequence[float], x_ends: tuple[float, float], y_ends: tuple[float, float]) -> Markup:
    """Draw the slope of the memory up to the highest roof, and each roof from where it meets the slope."""
    left, right = 10.0 ** x_ends[0], 10.0 ** x_ends[1]
    floor = 10.0 ** y_ends[0]
    begin = max(left, floor / memory)
    top = max(roofs) / memory
    line = Markup('<line class="roof" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>')
    slope = line.format(_x(begin, x_ends), _y(begin * memory, y_ends), _x(top, x_ends), _y(max(roofs), y_ends))
    flat = (
        line.format(_x(roof / memory, x_ends), _y(roof, y_ends), _x(right, x_ends), _y(roof, y_ends)) for roof in roofs
    )
    return slope + _EMPTY.join(flat)


def _points(points: Sequence[replies.RoofPoint], x_ends: tuple[float, float], y_ends: tuple[float, float]) -> Markup:
    mark = Markup(
        '<circle class="point" cx="{0:.1f}" cy="{1:.1f}" r="9"/>'
        '<text class="number" x="{0:.1f}" y="{2:.1f}" text-anchor="middle">{3}</text>'
    )
    return _EMPTY.join(
        mark.format(_x(each.intensity, x_ends), _y(each.rate, y_ends), _y(each.rate, y_ends) + 4, i)
        for i, each in enumerate(points, 1)
    )
