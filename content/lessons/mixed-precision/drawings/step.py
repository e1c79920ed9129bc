"""One step of mixed-precision training in float16, from the weights to the weights, with the scale on its way."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 5.3
LEFT, WIDE, TALL = 92, 236, 42
STAGES = (
    ("الأوزان", "float32", False),
    ("الحساب الأمامي داخل autocast", "float16", True),
    ("الخسارة", "float32", False),
    ("الخسارة المكبَّرة", "loss * scale", False),
    ("الحساب الخلفي: تدرجات مكبَّرة", "backward()", True),
    ("التدرجات بحجمها الصحيح", "unscale_()", False),
)
"""What each stage is, what it is called in code, and whether it is done in 16 bits."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the stages from top to bottom, then the two ways out of the check, and the way back."""
    for index, (name, called, low) in enumerate(STAGES):
        y = 16 + index * 62
        look = (palette.other_fill, palette.other) if low else (palette.accent_fill, palette.accent)
        _stage(axes, (LEFT, y), (name, called), look, palette)
        _arrow(axes, (LEFT + WIDE / 2, y + TALL), (LEFT + WIDE / 2, y + 62), palette.faint)
    y = 16 + len(STAGES) * 62
    axes.text(LEFT + WIDE / 2, y + 14, rtl(f"هل فيها {code('inf')} أو {code('nan')}؟"), ha="center", va="center",
              fontsize=11, fontweight="bold", color=palette.ink)  # fmt: skip
    _way_out(axes, (192, y + 62), ("لا", "تُحدَّث الأوزان", "step()"), palette.accent, palette)
    _way_out(axes, (32, y + 62), ("نعم", "تُترك الخطوة", "scale / 2"), palette.other, palette)
    _arrow(axes, (LEFT + WIDE / 2 + 20, y + 28), (268, y + 60), palette.accent)
    _arrow(axes, (LEFT + WIDE / 2 - 20, y + 28), (108, y + 60), palette.other)
    _back(axes, (y + 62, 37), palette)


def _stage(
    axes: Axes, at: tuple[float, float], words: tuple[str, str], look: tuple[str, str], palette: Palette
) -> None:
    x, y = at
    axes.add_patch(Rectangle(at, WIDE, TALL, facecolor=look[0], edgecolor=look[1], linewidth=1.2))
    axes.text(x + WIDE / 2, y + 13, rtl(words[0]), ha="center", va="center", fontsize=10, color=palette.ink)
    axes.text(x + WIDE / 2, y + 30, words[1], ha="center", va="center", family=MONO, fontsize=9.5, color=palette.ink)


def _way_out(axes: Axes, at: tuple[float, float], words: tuple[str, str, str], color: str, palette: Palette) -> None:
    x, y = at
    answer, name, called = words
    axes.add_patch(Rectangle(at, 152, TALL, facecolor=palette.paper, edgecolor=color, linewidth=1.6))
    axes.text(x + 76, y + 13, rtl(f"{answer}: {name}"), ha="center", va="center", fontsize=10, color=palette.ink)
    axes.text(x + 76, y + 30, called, ha="center", va="center", family=MONO, fontsize=9.5, color=palette.ink)


def _back(axes: Axes, ends: tuple[float, float], palette: Palette) -> None:
    start, end = ends
    for x in (108, 268):
        axes.plot([x, x], [start + TALL, start + TALL + 14], color=palette.faint, linewidth=1.2)
    axes.plot(
        [268, 16, 16, LEFT - 4], [start + TALL + 14, start + TALL + 14, end, end], color=palette.faint, linewidth=1.2
    )
    _arrow(axes, (LEFT - 12, end), (LEFT, end), palette.faint)
    below = rtl("ثم الخطوة التالية")
    axes.text(188, start + TALL + 26, below, ha="center", va="center", fontsize=9.5, color=palette.faint)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    arrow = FancyArrowPatch(
        start, end, arrowstyle="-|>", mutation_scale=10, shrinkA=0, shrinkB=0, linewidth=1.2, color=color
    )
    axes.add_patch(arrow)
