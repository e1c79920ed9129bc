"""The bits of float32, float16 and bfloat16: sign, exponent, fraction, each bit a cell."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import MONO, Palette, rtl

HEIGHT = 3.2
FORMATS = (("float32", 8, 23), ("float16", 5, 10), ("bfloat16", 8, 7))
"""Bits of the exponent and of the fraction; one more is the sign."""
LEFT, CELL, TALL = 20, 10, 26


def draw(axes: Axes, palette: Palette) -> None:
    """Draw a row of cells for each format, the sign at the left, as the bits are written; name the parts above."""
    _legend(axes, palette)
    for row, (name, exponent, fraction) in enumerate(FORMATS):
        top = 78 + row * 82
        axes.text(LEFT, top - 13, name, ha="left", va="center", family=MONO, fontsize=10.5, color=palette.ink)
        looks = [(palette.paper, palette.ink)]
        looks += [(palette.accent_fill, palette.accent)] * exponent
        looks += [(palette.other_fill, palette.other)] * fraction
        for index, (fill, edge) in enumerate(looks):
            box = Rectangle((LEFT + index * CELL, top), CELL, TALL, facecolor=fill, edgecolor=edge, linewidth=0.9)
            axes.add_patch(box)
        starts = (0, 1, 1 + exponent)
        colors = (palette.ink, palette.accent, palette.other)
        for start, count, color in zip(starts, (1, exponent, fraction), colors, strict=True):
            middle = LEFT + (start + count / 2) * CELL
            axes.text(middle, top + TALL + 11, str(count), ha="center", va="center", fontsize=9.5, color=color)


def _legend(axes: Axes, palette: Palette) -> None:
    parts = (
        (340, "الإشارة", palette.paper, palette.ink),
        (250, "الأس: المدى", palette.accent_fill, palette.accent),
        (134, "الكسر: الدقة", palette.other_fill, palette.other),
    )
    for right, text, fill, edge in parts:
        axes.add_patch(Rectangle((right - 13, 16), 13, 13, facecolor=fill, edgecolor=edge, linewidth=1))
        axes.text(right - 18, 22, rtl(text), ha="right", va="center", fontsize=9.5, color=palette.ink)
