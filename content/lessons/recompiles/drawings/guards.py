"""Inputs one after another against the guards of a compiled function: which pass, and which compile anew."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, rtl

HEIGHT = 4.0
CALLS = (
    ("(8,)  float32", "ترجمة أولى", True),
    ("(8,)  float32", "الحراس تقبل", False),
    ("(9,)  float32", "ترجمة بطول متغير", True),
    ("(10,) float32", "الحراس تقبل", False),
    ("(10,) float64", "ترجمة لنوع جديد", True),
)
"""Each call's input, what becomes of it, and whether it is compiled for; `guards.py` of the lesson shows the same."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the calls from the first, at the top, to the last."""
    axes.text(
        340, 22, rtl("استدعاءات متتالية للدالة نفسها"), ha="right", va="center", fontsize=11, fontweight="bold",
        color=palette.ink,
    )  # fmt: skip
    _head(axes, 274, "المدخل", palette)
    _head(axes, 96, "القرار", palette)
    for index, (given, verdict, compiles) in enumerate(CALLS):
        y = 72 + index * 52
        fill, edge = (palette.other_fill, palette.other) if compiles else (palette.accent_fill, palette.accent)
        _box(axes, (208, y, 132, 36), palette.paper, palette.faint)
        axes.text(218, y + 18, given, ha="left", va="center", family=MONO, fontsize=10, color=palette.ink)
        look = {"arrowstyle": "-|>", "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.4}
        axes.add_patch(FancyArrowPatch((206, y + 18), (174, y + 18), color=edge, **look))
        _box(axes, (20, y, 152, 36), fill, edge)
        axes.text(96, y + 18, rtl(verdict), ha="center", va="center", fontsize=10, color=palette.ink)
    axes.text(340, 354, rtl("ثلاث ترجمات لخمسة استدعاءات"), ha="right", va="center", fontsize=9.5, color=palette.faint)
    axes.text(
        340, 378, rtl("القيم لا تُفحص، والشكل والنوع يُفحصان"), ha="right", va="center", fontsize=9.5, color=palette.faint
    )


def _head(axes: Axes, x: float, text: str, palette: Palette) -> None:
    axes.text(x, 52, rtl(text), ha="center", va="center", fontsize=9.5, color=palette.faint)


def _box(axes: Axes, box: tuple[float, float, float, float], fill: str, edge: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=1))
