"""A column of three and a row of four, broadcast to a table of three by four."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 3.3
COLUMN = (0, 10, 20)
ROW = (1, 2, 3, 4)
CELL = 50
LEFT, TOP = 118, 100
"""Where the table's corner lies; rows grow downwards and columns to the right, as numpy prints them."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the row above the table, the column to its left, and the sums where they meet."""
    middle, bottom = LEFT + 2 * CELL, TOP + 3 * CELL
    _label(axes, (middle, 16), f"صف {code('(1, 4)')}", palette.accent)
    _label(axes, (52, TOP - 16), f"عمود {code('(3, 1)')}", palette.other)
    _label(axes, (middle, bottom + 22), f"النتيجة {code('(3, 4)')}", palette.ink)
    _label(axes, (180, bottom + 54), "العمود يتكرر إلى اليمين، والصف يتكرر إلى الأسفل", palette.faint)
    for j, value in enumerate(ROW):
        _cell(axes, (LEFT + j * CELL, 30), value, palette.ink, (palette.accent_fill, palette.accent))
    for i, value in enumerate(COLUMN):
        y = TOP + i * CELL
        _cell(axes, (27, y), value, palette.ink, (palette.other_fill, palette.other))
        for j, other in enumerate(ROW):
            _cell(axes, (LEFT + j * CELL, y), value + other, palette.ink, (palette.paper, palette.faint))
    for x, y, sign in ((52, 55, "+"), (97, TOP + 1.5 * CELL, "=")):
        axes.text(x, y, sign, ha="center", va="center", family=MONO, fontsize=16)


def _label(axes: Axes, at: tuple[float, float], text: str, color: str) -> None:
    axes.text(*at, rtl(text), ha="center", va="center", fontsize=10, color=color)


def _cell(axes: Axes, at: tuple[float, float], value: int, ink: str, colors: tuple[str, str]) -> None:
    fill, edge = colors
    axes.add_patch(Rectangle(at, CELL, CELL, facecolor=fill, edgecolor=edge, linewidth=1))
    x, y = at[0] + CELL / 2, at[1] + CELL / 2
    axes.text(x, y, str(value), ha="center", va="center", family=MONO, fontsize=12, color=ink)
