"""One graph of a whole step, and the three graphs that print and .item() break it into."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 3.9
PARTS = ((14, 72, "* 2 + 1"), (142, 84, "relu sum"), (294, 52, "/"))
"""Left edge, width and operations of each graph."""
CUTS = ((114, "print"), (260, ".item()"))
"""Middle of each piece of Python between two graphs."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the whole graph above the broken one; time runs to the right."""
    _title(axes, 22, "خطوة كاملة في رسم واحد", palette.accent)
    _box(axes, (14, 46, 332, 40), palette.accent_fill, palette.accent)
    _mono(axes, (180, 66), "* 2 + 1    relu    sum    /", palette.ink, 10)
    _note(axes, 106, "يُترجم كله معًا، ويندمج ما فيه", palette.faint)
    axes.plot([20, 340], [132, 132], color=palette.faint, linewidth=0.6, alpha=0.6)
    _title(axes, 158, "كسران، فثلاثة رسوم", palette.other)
    for left, width, text in PARTS:
        _box(axes, (left, 182, width, 40), palette.other_fill, palette.other)
        _mono(axes, (left + width / 2, 202), text, palette.ink, 9.5)
    for middle, text in CUTS:
        _box(axes, (middle - 32, 252, 64, 32), palette.paper, palette.faint)
        _mono(axes, (middle, 268), text, palette.ink, 8.5)
    for start, middle, end in ((86, 114, 142), (226, 260, 294)):
        _arrow(axes, (start - 8, 224), (middle - 12, 250), palette.other)
        _arrow(axes, (middle + 12, 250), (end + 8, 224), palette.other)
    _note(axes, 306, f"بين الرسوم عودة إلى بايثون {code('eager')}", palette.ink)
    _note(axes, 330, "لا اندماج عبر الكسر", palette.faint)
    _note(axes, 354, "ولكل رسم حراسه وترجمته", palette.faint)


def _title(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=11, fontweight="bold", color=color)


def _note(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=9.5, color=color)


def _mono(axes: Axes, at: tuple[float, float], text: str, color: str, size: float) -> None:
    axes.text(*at, text, ha="center", va="center", family=MONO, fontsize=size, color=color)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.2}
    axes.add_patch(FancyArrowPatch(start, end, color=color, **look))


def _box(axes: Axes, box: tuple[float, float, float, float], fill: str, edge: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=1))
