"""The positive range of float32, float16 and bfloat16 on one scale of powers of ten."""

import math

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import MONO, Palette, rtl

HEIGHT = 3.2
FORMATS = (("float32", 8, 23), ("float16", 5, 10), ("bfloat16", 8, 7))
LEFT, WIDE = 20, 320
LOWEST, HIGHEST = -46, 40
"""Powers of ten at the two ends of the scale."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw a bar from the smallest to the largest number of each format; numbers below the normal ones are paler."""
    axes.text(340, 20, rtl("من أصغر عدد موجب إلى أكبر عدد"), ha="right", va="center", fontsize=11, fontweight="bold")
    for row, (name, exponent, fraction) in enumerate(FORMATS):
        top = 62 + row * 60
        fill, edge = (palette.other_fill, palette.other) if row == 1 else (palette.accent_fill, palette.accent)
        smallest, normal, largest = limits(exponent, fraction)
        axes.text(LEFT, top - 10, name, ha="left", va="center", family=MONO, fontsize=10, color=edge)
        _bar(axes, (smallest, normal), top, (palette.paper, edge))
        _bar(axes, (normal, largest), top, (fill, edge))
    bottom = 240
    axes.plot([LEFT, LEFT + WIDE], [bottom, bottom], color=palette.faint, linewidth=1)
    for power in (-40, -20, 0, 20, 38):
        x = _at(power)
        axes.plot([x, x], [bottom, bottom + 4], color=palette.faint, linewidth=1)
        label = "1" if power == 0 else f"1e{power}"
        axes.text(x, bottom + 15, label, ha="center", va="center", family=MONO, fontsize=9, color=palette.ink)
    axes.add_patch(Rectangle((327, 282), 13, 13, facecolor=palette.paper, edgecolor=palette.accent, linewidth=1))
    axes.text(322, 288, rtl("أعداد دون المعتادة، أرقامها أقل"), ha="right", va="center", fontsize=9.5)


def limits(exponent: int, fraction: int) -> tuple[float, float, float]:
    """Give the powers of ten of the smallest, the smallest normal and the largest number (IEEE 754)."""
    bias = 2 ** (exponent - 1) - 1
    normal = (1 - bias) * math.log10(2)
    return normal - fraction * math.log10(2), normal, (bias + 1) * math.log10(2)


def _bar(axes: Axes, ends: tuple[float, float], top: float, look: tuple[str, str]) -> None:
    left, right = (_at(power) for power in ends)
    axes.add_patch(Rectangle((left, top), right - left, 22, facecolor=look[0], edgecolor=look[1], linewidth=1))


def _at(power: float) -> float:
    return LEFT + WIDE * (power - LOWEST) / (HIGHEST - LOWEST)
