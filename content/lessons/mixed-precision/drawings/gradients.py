"""Ten thousand gradients by size, before and after scaling, and which of them float16 makes zero; all computed."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 4.9
LEFT, WIDE, TALL = 20, 320, 120
LOWEST, HIGHEST = -12.0, 6.0
"""Powers of ten at the ends of the scale."""
SCALE = 2.0**16
HALF_OF_SMALLEST = 2.0**-25
"""What is not larger than this becomes zero in float16 (its smallest number is 2 to the -24)."""
EDGES = np.log10(HALF_OF_SMALLEST) + np.arange(-13, 40) / 3
"""Powers of ten between the bars, three a power, so that no bar lies on both sides of the limit."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the same gradients twice, as they are and times 65536."""
    # The numbers of counted.py: the figure shows what that file counts.
    grads = 10.0 ** np.random.default_rng(0).normal(-7.5, 1.2, 10_000)
    _panel(axes, 40, grads, "التدرجات كما هي", palette)
    _panel(axes, 258, grads * SCALE, f"بعد الضرب في {code('65536')}", palette)
    for right, text, fill, edge in (
        (340, "تصبح صفرًا", palette.other_fill, palette.other),
        (210, "تبقى", palette.accent_fill, palette.accent),
    ):
        axes.add_patch(Rectangle((right - 13, 462), 13, 13, facecolor=fill, edgecolor=edge, linewidth=1))
        axes.text(right - 18, 468, rtl(text), ha="right", va="center", fontsize=9.5, color=palette.ink)


def _panel(axes: Axes, top: float, grads: np.ndarray, title: str, palette: Palette) -> None:
    base = top + TALL + 34
    half = grads.astype(np.float16)
    lost = 100 * float((half == 0).mean())
    axes.text(340, top - 16, rtl(title), ha="right", va="center", fontsize=11, fontweight="bold", color=palette.ink)
    told = rtl(f"يصبح صفرًا: {code(f'{lost:.0f}%')}")
    axes.text(20, top - 16, told, ha="left", va="center", fontsize=10, color=palette.other if lost else palette.accent)
    for kept, fill, edge in (
        (half == 0, palette.other_fill, palette.other),
        (half != 0, palette.accent_fill, palette.accent),
    ):
        counts, _ = np.histogram(np.log10(grads[kept]), bins=EDGES)
        for count, left, right in zip(counts, EDGES[:-1], EDGES[1:], strict=True):
            if count:
                high = TALL * count / 1300
                box = Rectangle((_at(left), base - high), _at(right) - _at(left), high, facecolor=fill, edgecolor=edge)
                box.set_linewidth(0.7)
                axes.add_patch(box)
    axes.plot([LEFT, LEFT + WIDE], [base, base], color=palette.faint, linewidth=1)
    for value in (HALF_OF_SMALLEST, 65504.0):
        x = _at(float(np.log10(value)))
        axes.plot([x, x], [top + 14, base], color=palette.ink, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(x, top + 5, f"{value:.0e}".replace("e-0", "e-") if value < 1 else "65504", ha="center", va="center",
                  family=MONO, fontsize=8.5, color=palette.ink)  # fmt: skip
    for power in (-10, -5, 0, 5):
        x = _at(power)
        axes.plot([x, x], [base, base + 4], color=palette.faint, linewidth=1)
        name = "1" if power == 0 else f"1e{power}"
        axes.text(x, base + 14, name, ha="center", va="center", family=MONO, fontsize=9, color=palette.ink)


def _at(power: float) -> float:
    return LEFT + WIDE * (power - LOWEST) / (HIGHEST - LOWEST)
