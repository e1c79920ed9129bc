"""Which operations autocast lowers on a GPU, which it keeps in float32, and which follow their inputs."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import MONO, Palette, rtl

HEIGHT = 3.9
COLUMNS = (
    (14, "تنخفض إلى 16 بتًّا", ("linear", "matmul  @", "bmm", "conv2d", "LSTMCell")),
    (184, "تُحسب في 32 بتًّا", ("softmax", "exp  log  pow", "sum  norm", "layer_norm", "cross_entropy")),
)
"""Source: docs.pytorch.org, Automatic Mixed Precision package, CUDA op-specific behavior."""
FOLLOWING = ("relu  gelu  dropout", "x + y  x * y")


def draw(axes: Axes, palette: Palette) -> None:
    """Draw two columns of operations, and below them those that stand in neither list."""
    looks = ((palette.other_fill, palette.other), (palette.accent_fill, palette.accent))
    for (left, title, names), (fill, edge) in zip(COLUMNS, looks, strict=True):
        axes.text(left + 81, 20, rtl(title), ha="center", va="center", fontsize=10.5, fontweight="bold", color=edge)
        for row, name in enumerate(names):
            _cell(axes, (left, 38 + row * 38, 162, 30), name, (fill, edge), palette.ink)
    words = rtl("ليست في القائمتين: تتبع نوع مدخلاتها")
    axes.text(180, 254, words, ha="center", va="center", fontsize=10.5, fontweight="bold", color=palette.ink)
    for row, name in enumerate(FOLLOWING):
        _cell(axes, (74, 272 + row * 38, 212, 30), name, (palette.paper, palette.faint), palette.ink)
    axes.text(180, 364, rtl("وعند خلط نوعين تُحسب بالأعرض"), ha="center", va="center", fontsize=9.5, color=palette.faint)


def _cell(axes: Axes, box: tuple[float, float, float, float], name: str, look: tuple[str, str], ink: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=look[0], edgecolor=look[1], linewidth=1))
    axes.text(x + width / 2, y + height / 2, name, ha="center", va="center", family=MONO, fontsize=9.5, color=ink)
