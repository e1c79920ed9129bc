"""Small kernels launched one by one, with gaps between them, and the same kernels replayed as a CUDA graph."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import Palette, code, rtl

HEIGHT = 4.3
KERNELS = 5
LAUNCH = 50
"""Width of one launch; a kernel is `WORK` wide, so the GPU waits for the rest."""
WORK = 18
LEFT = 22


def draw(axes: Axes, palette: Palette) -> None:
    """Draw both timelines; time runs to the right in both, on the same scale."""
    _title(axes, 22, "إطلاق كل نواة وحدها", palette.other)
    _row(axes, 48, f"المعالج {code('CPU')} يطلق", palette)
    _row(axes, 106, f"البطاقة {code('GPU')} تعمل ثم تنتظر", palette)
    for index in range(KERNELS):
        x = LEFT + index * LAUNCH
        _box(axes, (x, 60, LAUNCH - 2, 24), palette.other_fill, palette.other)
        _box(axes, (x + LAUNCH, 118, WORK, 24), palette.other, palette.other)
    _note(axes, 162, "الفراغات زمن ضائع في البطاقة", palette.faint)
    axes.plot([20, 340], [188, 188], color=palette.faint, linewidth=0.6, alpha=0.6)
    _title(axes, 212, f"رسم {code('CUDA')}: إطلاق واحد للكل", palette.accent)
    _row(axes, 238, f"المعالج {code('CPU')}: {code('replay')} واحدة", palette)
    _row(axes, 296, f"البطاقة {code('GPU')} تعمل بلا انتظار", palette)
    _box(axes, (LEFT, 250, LAUNCH - 2, 24), palette.accent_fill, palette.accent)
    for index in range(KERNELS):
        _box(axes, (LEFT + LAUNCH + index * (WORK + 2), 308, WORK, 24), palette.accent, palette.accent)
    _note(axes, 352, "عدد النوى واحد في الحالتين", palette.faint)
    look = {"arrowstyle": "-|>", "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.2}
    axes.add_patch(FancyArrowPatch((LEFT, 384), (338, 384), color=palette.faint, **look))
    axes.text(180, 404, rtl("الزمن"), ha="center", va="center", fontsize=9.5, color=palette.faint)


def _row(axes: Axes, y: float, text: str, palette: Palette) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=9.5, color=palette.ink)


def _title(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=11, fontweight="bold", color=color)


def _note(axes: Axes, y: float, text: str, color: str) -> None:
    axes.text(340, y, rtl(text), ha="right", va="center", fontsize=9.5, color=color)


def _box(axes: Axes, box: tuple[float, float, float, float], fill: str, edge: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=1))
