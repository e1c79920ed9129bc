"""Total time against calls: the original from zero, the compiled one from its compile time, and where they cross."""

from matplotlib.axes import Axes

from content.drawing import Palette, rtl

HEIGHT = 3.8
LEFT, RIGHT, TOP, BASE = 36, 336, 66, 292
COST, EAGER, COMPILED = 90.0, 0.70, 0.28
"""Pixels: the compile time, and what each call adds, by pixel of calls; invented, for the shape alone."""
CROSSING = COST / (EAGER - COMPILED)


def draw(axes: Axes, palette: Palette) -> None:
    """Draw both lines from the left; calls grow to the right, time upwards."""
    axes.text(340, 22, rtl("متى تُعوَّض كلفة الترجمة؟"), ha="right", va="center", fontsize=11, fontweight="bold")
    for end in ((RIGHT + 8, BASE), (LEFT, TOP - 12)):
        axes.annotate("", end, (LEFT, BASE), arrowprops={"arrowstyle": "-|>", "color": palette.faint, "lw": 1})
    axes.text(RIGHT + 4, BASE + 18, rtl("عدد الاستدعاءات"), ha="right", va="center", fontsize=10)
    axes.text(LEFT + 8, TOP - 14, rtl("الزمن كله"), ha="left", va="center", fontsize=10)
    span = RIGHT - LEFT
    axes.plot([LEFT, RIGHT], [BASE, BASE - EAGER * span], color=palette.other, linewidth=2)
    axes.plot([LEFT, LEFT], [BASE, BASE - COST], color=palette.accent, linewidth=5, solid_capstyle="butt")
    axes.plot([LEFT, RIGHT], [BASE - COST, BASE - COST - COMPILED * span], color=palette.accent, linewidth=2)
    _name(axes, (LEFT + 76, BASE - 24), "الأصلي", palette.other)
    _name(axes, (RIGHT - 52, BASE - COST - COMPILED * span + 34), "المترجم", palette.accent)
    _name(axes, (LEFT + 50, BASE - COST - 42), "زمن الترجمة", palette.accent)
    _crossing(axes, palette)
    notes = ("قبل نقطة التعادل تخسر الترجمة، وبعدها تربح.", "كلما طالت الترجمة أو صغر الفرق ابتعدت النقطة.")
    for index, note in enumerate(notes):
        axes.text(340, BASE + 42 + index * 24, rtl(note), ha="right", va="center", fontsize=9.5, color=palette.faint)


def _crossing(axes: Axes, palette: Palette) -> None:
    x, y = LEFT + CROSSING, BASE - EAGER * CROSSING
    axes.plot([x, x], [y, BASE], color=palette.ink, linewidth=1, linestyle=":")
    axes.plot(x, y, "o", color=palette.ink, markersize=7)
    axes.text(x + 6, y - 26, rtl("نقطة التعادل"), ha="right", va="center", fontsize=10)


def _name(axes: Axes, at: tuple[float, float], text: str, color: str) -> None:
    axes.text(*at, rtl(text), ha="center", va="center", fontsize=10.5, color=color)
