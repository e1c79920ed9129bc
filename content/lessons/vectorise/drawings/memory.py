"""A Python list of separate objects above a numpy array of neighbouring numbers, as they lie in memory."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 4.5
VALUES = (0.5, 1.5, 2.5, 3.5)
SCATTERED = ((118, 112), (28, 150), (276, 112), (186, 158))
"""Where each value's object lies: the order in memory is not the order in the list."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw both halves; addresses grow to the right, titles begin at the right."""
    _list(axes, palette)
    axes.plot([20, 340], [270, 270], color=palette.faint, linewidth=0.6, alpha=0.6)
    _array(axes, palette)


def _list(axes: Axes, palette: Palette) -> None:
    _title(axes, 22, "قائمة بايثون: مؤشرات إلى كائنات متفرقة", palette.other)
    for index, (value, (x, y)) in enumerate(zip(VALUES, SCATTERED, strict=True)):
        left = 68 + index * 56
        _box(axes, (left, 42, 56, 30), palette.other_fill, palette.other)
        axes.plot(left + 28, 57, "o", color=palette.other, markersize=5)
        _arrow(axes, (left + 28, 57), (x + 28, y - 1), palette.other)
        _box(axes, (x, y, 56, 46), palette.paper, palette.other)
        _mono(axes, (x + 28, y + 15), "float", palette.faint)
        _mono(axes, (x + 28, y + 33), f"{value}", palette.ink)
    _note(axes, 224, "لكل عدد كائن فيه نوعه وعدّاد مراجعه", palette.faint)
    _note(axes, 246, "24 بايتًا للكائن و8 للمؤشر", palette.faint)


def _array(axes: Axes, palette: Palette) -> None:
    _title(axes, 294, f"مصفوفة {code('numpy')}: أعداد متجاورة بلا كائنات", palette.accent)
    axes.text(180, 323, rtl(f"حلقة واحدة بلغة {code('C')}"), ha="center", va="center", color=palette.accent)
    _arrow(axes, (22, 338), (338, 338), palette.accent)
    for index in range(8):
        _box(axes, (20 + index * 40, 350, 40, 34), palette.accent_fill, palette.accent)
        _mono(axes, (40 + index * 40, 367), f"{index + 0.5}", palette.ink)
    _note(axes, 406, "النوع والطول مكتوبان مرة واحدة", palette.faint)
    _note(axes, 428, "8 بايتات لكل عدد", palette.faint)


def _title(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=11, fontweight="bold", color=color)


def _note(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=9.5, color=color)


def _mono(axes: Axes, at: tuple[float, float], text: str, color: str) -> None:
    axes.text(*at, text, ha="center", va="center", family=MONO, fontsize=9.5, color=color)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.2}
    axes.add_patch(FancyArrowPatch(start, end, color=color, **look))


def _box(axes: Axes, box: tuple[float, float, float, float], fill: str, edge: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=1))
