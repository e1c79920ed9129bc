"""Training steps of four real models, eager and compiled, as bars: figures seen on one H200 host."""

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from content.drawing import MONO, Palette, code, rtl

HEIGHT = 4.5
SEEN = (
    ("ResNet-50  b64  bf16", 28.5, 18.9),
    ("BERT-base  b16  bf16", 33.1, 22.0),
    ("BERT-base  b16  fp32", 32.5, 31.4),
    ("ResNeXt-101  b32  fp16", 53.0, 42.9),
)
"""Model, batch and type; milliseconds of one training step, eager and compiled."""
LEFT, WIDTH, LONGEST = 20, 258, 53.0


def draw(axes: Axes, palette: Palette) -> None:
    """Draw two bars a model from the left; time grows to the right."""
    axes.text(340, 22, rtl("خطوة تدريب واحدة بالميلي ثانية"), ha="right", va="center", fontsize=11, fontweight="bold")
    for index, (name, eager, compiled) in enumerate(SEEN):
        y = 48 + index * 80
        axes.text(LEFT, y, name, ha="left", va="center", family=MONO, fontsize=9.5, color=palette.ink)
        _bar(axes, y + 13, eager, palette.other_fill, palette.other, palette.ink)
        _bar(axes, y + 37, compiled, palette.accent_fill, palette.accent, palette.ink)
    _key(axes, 330, 374, f"تنفيذ مباشر {code('(eager)')}", palette.other_fill, palette.other, palette)
    _key(axes, 330, 398, f"بعد الترجمة {code('(compiled)')}", palette.accent_fill, palette.accent, palette)
    axes.text(
        340, 428, rtl("شوهدت على مضيف فيه بطاقة H200"), ha="right", va="center", fontsize=9.5, color=palette.faint
    )


def _bar(axes: Axes, y: float, ms: float, fill: str, edge: str, ink: str) -> None:  # noqa: PLR0913 - one bar
    long = ms / LONGEST * WIDTH
    axes.add_patch(Rectangle((LEFT, y), long, 19, facecolor=fill, edgecolor=edge, linewidth=1))
    axes.text(LEFT + long + 8, y + 10, f"{ms:.1f}", ha="left", va="center", family=MONO, fontsize=9.5, color=ink)


def _key(axes: Axes, x: float, y: float, text: str, fill: str, edge: str, palette: Palette) -> None:  # noqa: PLR0913 - one entry
    axes.add_patch(Rectangle((x - 4, y - 7), 14, 14, facecolor=fill, edgecolor=edge, linewidth=1))
    axes.text(x - 12, y, rtl(text), ha="right", va="center", fontsize=9.5, color=palette.ink)
