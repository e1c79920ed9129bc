"""A chain of three operations: three reads and three writes of memory, and one of each when they are fused."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 4.3
STEPS = ("x * 2", "+ 1", "relu")


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the unfused chain above the fused one; time runs to the right."""
    _title(axes, 22, "بلا دمج: كل عملية تمر على الذاكرة", palette.other)
    for index, step in enumerate(STEPS):
        left = 28 + index * 108
        _box(axes, (left, 44, 88, 36), palette.other_fill, palette.other)
        _mono(axes, (left + 44, 62), step, palette.ink)
        _arrow(axes, (left + 22, 126), (left + 22, 82), palette.other)
        _arrow(axes, (left + 66, 82), (left + 66, 126), palette.other)
    _memory(axes, 128, palette)
    _note(axes, 178, "3 قراءات و3 كتابات", palette.ink)
    axes.plot([20, 340], [204, 204], color=palette.faint, linewidth=0.6, alpha=0.6)
    _title(axes, 230, "بعد الدمج: نواة واحدة", palette.accent)
    _box(axes, (28, 252, 304, 36), palette.accent_fill, palette.accent)
    _mono(axes, (180, 270), "relu(x * 2 + 1)", palette.ink)
    _arrow(axes, (50, 334), (50, 290), palette.accent)
    _arrow(axes, (310, 290), (310, 334), palette.accent)
    axes.text(
        180, 312, rtl("القيم الوسيطة في سجلات المعالج"), ha="center", va="center", fontsize=9.5, color=palette.faint
    )
    _memory(axes, 336, palette)
    _note(axes, 386, "قراءة واحدة وكتابة واحدة", palette.ink)
    _note(axes, 410, f"السهم الصاعد قراءة {code('(read)')}، والنازل كتابة {code('(write)')}", palette.faint)


def _memory(axes: Axes, y: float, palette: Palette) -> None:
    _box(axes, (20, y, 320, 28), palette.paper, palette.faint)
    axes.text(180, y + 14, rtl("الذاكرة"), ha="center", va="center", fontsize=10, color=palette.ink)


def _title(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=11, fontweight="bold", color=color)


def _note(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=9.5, color=color)


def _mono(axes: Axes, at: tuple[float, float], text: str, color: str) -> None:
    axes.text(*at, text, ha="center", va="center", family=MONO, fontsize=10, color=color)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.4}
    axes.add_patch(FancyArrowPatch(start, end, color=color, **look))


def _box(axes: Axes, box: tuple[float, float, float, float], fill: str, edge: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=1))
