"""One training step on three cards: a batch in three parts, three gradients, one mean that goes back to all."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, rtl

HEIGHT = 4.4
CARDS = (68, 180, 292)
"""Middle of each card."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw from the batch, at the top, to the update; the cards stand side by side."""
    _box(axes, (20, 16, 320, 34), palette.paper, palette.faint)
    _say(axes, 180, 33, "دفعة واحدة، ثلاثة أجزاء", palette.ink)
    for number, x in enumerate(CARDS):
        _arrow(axes, (x, 52), (x, 82), palette.faint)
        _box(axes, (x - 48, 84, 96, 68), palette.accent_fill, palette.accent)
        axes.text(x, 102, f"GPU {number}", ha="center", va="center", family=MONO, fontsize=10, color=palette.ink)
        _say(axes, x, 126, "نسخة من الأوزان", palette.ink, 9)
        _arrow(axes, (x, 154), (x, 184), palette.accent)
        _box(axes, (x - 48, 186, 96, 34), palette.other_fill, palette.other)
        _say(axes, x, 203, "تدرجاتها", palette.ink)
        _arrow(axes, (x, 222), (180 + (x - 180) * 0.55, 258), palette.other)
        _arrow(axes, (180 + (x - 180) * 0.55, 300), (x, 336), palette.other)
        _box(axes, (x - 48, 338, 96, 34), palette.accent_fill, palette.accent)
        _say(axes, x, 355, "تحديث واحد", palette.ink)
    _box(axes, (60, 260, 240, 38), palette.other_fill, palette.other)
    _say(axes, 180, 279, "متوسط التدرجات", palette.ink, 11)
    _say(axes, 180, 394, "الأوزان متطابقة قبل الخطوة وبعدها", palette.ink)
    _say(axes, 180, 418, "والنقل بين البطاقات عند المتوسط وحده", palette.faint, 9.5)


def _say(axes: Axes, x: float, y: float, text: str, color: str, size: float = 10) -> None:  # noqa: PLR0913 - one text
    axes.text(x, y, rtl(text), ha="center", va="center", fontsize=size, color=color)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.4}
    axes.add_patch(FancyArrowPatch(start, end, color=color, **look))


def _box(axes: Axes, box: tuple[float, float, float, float], fill: str, edge: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=1))
