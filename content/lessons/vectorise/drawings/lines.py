"""Cache lines of eight numbers: all used when the array is packed, one in each when a column is read."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import Palette, rtl

HEIGHT = 3.3
CELL = 40
LEFT = 20


def draw(axes: Axes, palette: Palette) -> None:
    """Draw one full line above, and below the four lines that the same four numbers of a column need."""
    _title(axes, 22, "أعداد متجاورة: سطر واحد يحمل 8 أعداد", palette.accent)
    for index in range(8):
        _cell(axes, (LEFT + index * CELL, 44), palette.accent_fill, palette.accent)
    _note(axes, 90, "ما نُقل من الذاكرة استُعمل كله", palette.faint)
    axes.plot([20, 340], [112, 112], color=palette.faint, linewidth=0.6, alpha=0.6)
    _title(axes, 136, "عمود متباعد: سطر كامل لكل عدد", palette.other)
    for row in range(4):
        for index in range(8):
            used = index == 0
            look = (palette.other_fill, palette.other) if used else (palette.paper, palette.faint)
            _cell(axes, (LEFT + index * CELL, 158 + row * 32), *look)
    _note(axes, 304, "يُستعمل من كل سطر عدد واحد، والبقية تُنقل عبثًا", palette.faint)


def _title(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=11, fontweight="bold", color=color)


def _note(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=9.5, color=color)


def _cell(axes: Axes, at: tuple[float, float], fill: str, edge: str) -> None:
    axes.add_patch(Rectangle(at, CELL, 26, facecolor=fill, edgecolor=edge, linewidth=1))
