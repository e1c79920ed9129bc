"""The same three launches twice: the clock read at once, and the clock read after waiting for the GPU."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 4.9
LEFT, LAUNCH, KERNEL = 54, 22, 72
"""Where time begins, and how long a launch and a kernel last, in pixels."""
LAST = LEFT + LAUNCH + 3 * KERNEL
"""When the GPU has finished."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw both halves; time grows to the right."""
    _half(axes, palette, 0, waits=False)
    axes.plot([20, 340], [240, 240], color=palette.faint, linewidth=0.6, alpha=0.6)
    _half(axes, palette, 246, waits=True)


def _half(axes: Axes, palette: Palette, top: float, *, waits: bool) -> None:
    title = f"بعد {code('synchronize')}: زمن العمل كله" if waits else "بلا انتظار: زمن الإطلاق وحده"
    color = palette.accent if waits else palette.other
    axes.text(340, top + 22, rtl(title), ha="right", va="center", fontsize=11, fontweight="bold", color=color)
    _lane(axes, top + 62, "CPU", palette)
    _lane(axes, top + 108, "GPU", palette)
    for index in range(3):
        start = LEFT + index * LAUNCH
        _block(axes, (start, top + 46, LAUNCH, 32), (palette.other_fill, palette.other), str(index + 1))
        at = (LEFT + LAUNCH + index * KERNEL, top + 92, KERNEL, 32)
        _block(axes, at, (palette.accent_fill, palette.accent), str(index + 1))
    sent = LEFT + 3 * LAUNCH
    if waits:
        axes.add_patch(Rectangle((sent, top + 46), LAST - sent, 32, facecolor="none", edgecolor=palette.faint, ls="--"))
        axes.text((sent + LAST) / 2, top + 62, rtl("انتظار"), ha="center", va="center", fontsize=9.5)
    _measured(axes, palette, top + 150, waits=waits)


def _measured(axes: Axes, palette: Palette, y: float, *, waits: bool) -> None:
    color, end = (palette.accent, LAST) if waits else (palette.other, LEFT + 3 * LAUNCH)
    for x in (LEFT, end):
        axes.plot([x, x], [y - 108, y + 6], color=color, linewidth=1, linestyle=":")
    look = {"arrowstyle": "<|-|>", "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.4}
    axes.add_patch(FancyArrowPatch((LEFT, y), (end, y), color=color, **look))
    said = "تتوقف الساعة بعد انتهاء العمل" if waits else "تتوقف الساعة والعمل مستمر"
    axes.text(340, y + 24, rtl(said), ha="right", va="center", fontsize=10, color=color)
    note = "الأرقام 1 و2 و3 عمليات متتالية" if waits else "بطاقة الرسوميات لم يُنهِ العملية الأولى بعد"
    axes.text(340, y + 48, rtl(note), ha="right", va="center", fontsize=9.5, color=palette.faint)


def _lane(axes: Axes, y: float, name: str, palette: Palette) -> None:
    axes.text(14, y, name, ha="left", va="center", family=MONO, fontsize=10, color=palette.ink)
    axes.plot([LEFT, 344], [y + 18, y + 18], color=palette.faint, linewidth=0.6, alpha=0.7)


def _block(axes: Axes, box: tuple[float, float, float, float], colors: tuple[str, str], text: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colors[0], edgecolor=colors[1], linewidth=1))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", family=MONO, fontsize=10)
