"""The distance from a float16 number to the next: a stretch of the number line, and its growth over the whole range."""

import numpy as np
from matplotlib.axes import Axes

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 4.5
FIRST, LAST = 2040, 2056
LEFT, WIDE = 24, 312
BASE, STEP = 400, 11.5
"""Where the staircase stands, and the pixels for one doubling of the distance."""
LABELS = (
    (1, "0.001", 0, -34, "left"),
    (1000, "0.5", 4, -10, "right"),
    (2048, "2", 4, -10, "right"),
    (32768, "32", 4, -10, "right"),
)
"""Stairs that are named: a number on each, the distance there, and where its name stands."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw every float16 number of a stretch as a tick, then the distance at each power of two as a stair."""
    _title(axes, 22, f"كل أعداد {code('float16')} حول 2048", palette.ink)
    _line(axes, palette)
    axes.plot([20, 340], [140, 140], color=palette.faint, linewidth=0.6, alpha=0.6)
    _title(axes, 164, "المسافة إلى العدد التالي", palette.ink)
    _stairs(axes, palette)


def _line(axes: Axes, palette: Palette) -> None:
    axes.plot([LEFT, LEFT + WIDE], [78, 78], color=palette.faint, linewidth=1)
    value = np.float16(FIRST)
    while value <= LAST:
        x = LEFT + WIDE * (float(value) - FIRST) / (LAST - FIRST)
        color = palette.accent if value < 2048 else palette.other
        axes.plot([x, x], [66, 90], color=color, linewidth=1.6)
        value = np.nextafter(value, np.float16(np.inf))
    for number in (2040, 2048, 2056):
        x = LEFT + WIDE * (number - FIRST) / (LAST - FIRST)
        axes.text(x, 105, str(number), ha="center", va="center", family=MONO, fontsize=9.5, color=palette.ink)
    axes.text(LEFT + WIDE / 4, 50, rtl("المسافة 1"), ha="center", va="center", fontsize=9.5, color=palette.accent)
    axes.text(LEFT + WIDE * 3 / 4, 50, rtl("المسافة 2"), ha="center", va="center", fontsize=9.5, color=palette.other)
    axes.text(180, 126, rtl("لا علامة عند 2049"), ha="center", va="center", fontsize=9, color=palette.faint)


def _stairs(axes: Axes, palette: Palette) -> None:
    exponents = np.arange(16)
    spacings = np.spacing((2.0**exponents).astype(np.float16)).astype(float)
    wide = WIDE / len(exponents)
    heights = (np.log2(spacings) + 11) * STEP
    xs = np.repeat(LEFT + wide * np.arange(len(exponents) + 1), 2)[1:-1]
    ys = np.repeat(BASE - heights, 2)
    axes.fill_between(xs, ys, BASE, color=palette.accent_fill, linewidth=0)
    axes.plot(xs, ys, color=palette.accent, linewidth=1.6)
    axes.plot([LEFT, LEFT + WIDE], [BASE, BASE], color=palette.faint, linewidth=1)
    for value, shown, dx, dy, ha in LABELS:
        stair = int(np.log2(value))
        spacing = float(np.spacing(np.float16(value)))
        x, y = LEFT + wide * stair, BASE - (np.log2(spacing) + 11) * STEP
        axes.plot(x + wide / 2, y, "o", color=palette.accent, markersize=4.5)
        axes.text(x + dx, y + dy, shown, ha=ha, va="center", family=MONO, fontsize=9.5, color=palette.accent)
    for power, name in ((0, "1"), (5, "32"), (10, "1024"), (15, "32768")):
        x = LEFT + wide * power
        axes.plot([x, x], [BASE, BASE + 4], color=palette.faint, linewidth=1)
        axes.text(x, BASE + 14, name, ha="center", va="center", family=MONO, fontsize=9, color=palette.ink)
    below = rtl("قيمة العدد، وكل درجة ضِعف ما قبلها")
    axes.text(180, 437, below, ha="center", va="center", fontsize=9, color=palette.faint)


def _title(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=11, fontweight="bold", color=color)
