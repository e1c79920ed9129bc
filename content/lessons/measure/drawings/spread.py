"""How 300 recorded times of one call spread: most stand close together, a few late ones pull the mean away."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import MONO, Palette, rtl

HEIGHT = 3.9
COUNTS = (150, 51, 13, 21, 10, 8, 2, 1, 2, 3, 4)
"""Times between 0.95 and 1.5 medians, in steps of 0.05: `numpy.sort` of 100,000 numbers on a busy machine."""
LATE = 35
"""Times of more than 1.5 medians."""
MEAN = 1.215
LEFT, BASE, WIDTH, TALL = 24, 262, 26, 156


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the bars, and the least, the median and the mean as lines; time grows to the right."""
    title = "300 قياس لدالة واحدة على جهاز مشغول"
    axes.text(340, 22, rtl(title), ha="right", va="center", fontsize=11, fontweight="bold")
    for index, count in enumerate((*COUNTS, LATE)):
        late = index == len(COUNTS)
        look = (palette.other_fill, palette.other) if late else (palette.accent_fill, palette.accent)
        tall = max(1.0, count * TALL / COUNTS[0])
        box = Rectangle((LEFT + index * WIDTH, BASE - tall), WIDTH, tall, facecolor=look[0], edgecolor=look[1])
        axes.add_patch(box)
    axes.plot([LEFT - 8, 344], [BASE, BASE], color=palette.faint, linewidth=0.8)
    for ratio in (1.0, 1.1, 1.2, 1.3, 1.4, 1.5):
        axes.text(_x(ratio), BASE + 14, f"{ratio:g}", ha="center", va="center", family=MONO, fontsize=9)
    axes.text(_x(1.525), 200, rtl("أكثر\nمن 1.5"), ha="center", va="center", fontsize=9, color=palette.other)
    _line(axes, 1.0, 74, "الوسيط", palette.accent)
    _line(axes, MEAN, 112, "المتوسط", palette.other)
    axes.text(340, BASE + 40, rtl("الزمن مقسومًا على الوسيط"), ha="right", va="center", fontsize=10)
    notes = ("القياسات المعتادة متقاربة، والبقية ذيل من المقاطعات.", "الذيل يجرّ المتوسط إليه، ولا يجرّ الوسيط.")
    for index, note in enumerate(notes):
        y = BASE + 68 + index * 24
        axes.text(340, y, rtl(note), ha="right", va="center", fontsize=9.5, color=palette.faint)


def _x(ratio: float) -> float:
    return LEFT + (ratio - 0.95) / 0.05 * WIDTH


def _line(axes: Axes, ratio: float, top: float, name: str, color: str) -> None:
    axes.plot([_x(ratio)] * 2, [top + 10, BASE], color=color, linewidth=1.6, linestyle="--")
    axes.text(_x(ratio) + 6, top + 4, rtl(name), ha="left", va="center", fontsize=10.5, color=color)
