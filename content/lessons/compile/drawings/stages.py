"""What torch.compile does at the first call, from a Python function to machine code, and what later calls do."""

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from content.drawing import MONO, Palette, rtl

HEIGHT = 4.9
STAGES = (
    ("TorchDynamo", "يقرأ الدالة ويستخرج الرسم"),
    ("AOTAutograd", "يضيف رسم التدرجات في التدريب"),
    ("TorchInductor", "يدمج العمليات ويولّد الكود"),
)
LEFT, WIDTH, TALL, STEP = 40, 280, 58, 84


def draw(axes: Axes, palette: Palette) -> None:
    """Draw the stages of the first call from above to below, two ends, and the way of later calls."""
    axes.text(340, 22, rtl("ماذا يحدث في الاستدعاء الأول؟"), ha="right", va="center", fontsize=11, fontweight="bold")
    _box(axes, (110, 46, 140, 34), palette.paper, palette.faint)
    axes.text(180, 63, rtl("دالة بايثون"), ha="center", va="center", fontsize=10.5)
    for index, (name, what) in enumerate(STAGES):
        y = 106 + index * STEP
        _arrow(axes, (180, y - 26), (180, y), palette.faint)
        _box(axes, (LEFT, y, WIDTH, TALL), palette.accent_fill, palette.accent)
        axes.text(180, y + 19, name, ha="center", va="center", family=MONO, fontsize=11, color=palette.accent)
        axes.text(180, y + 41, rtl(what), ha="center", va="center", fontsize=10)
    bottom = 106 + 2 * STEP + TALL
    for x, name, where in ((108, "C++", "على المعالج"), (252, "Triton", "على بطاقة الرسوميات")):
        _arrow(axes, (x, bottom), (x, bottom + 26), palette.faint)
        _box(axes, (x - 68, bottom + 26, 136, 54), palette.other_fill, palette.other)
        axes.text(x, bottom + 43, name, ha="center", va="center", family=MONO, fontsize=11, color=palette.other)
        axes.text(x, bottom + 65, rtl(where), ha="center", va="center", fontsize=9.5)
    note = "الاستدعاء التالي يفحص الحراس ثم ينفّذ الكود الجاهز"
    axes.text(340, bottom + 112, rtl(note), ha="right", va="center", fontsize=9.5, color=palette.faint)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    look = {"arrowstyle": "-|>", "mutation_scale": 10, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.2}
    axes.add_patch(FancyArrowPatch(start, end, color=color, **look))


def _box(axes: Axes, box: tuple[float, float, float, float], fill: str, edge: str) -> None:
    x, y, width, height = box
    axes.add_patch(Rectangle((x, y), width, height, facecolor=fill, edgecolor=edge, linewidth=1))
