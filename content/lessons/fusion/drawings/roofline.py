"""The roofline: how fast an operation can be, by how much it computes for each byte that it moves."""

import math

from matplotlib.axes import Axes

from content.drawing import MONO, Palette, rtl

HEIGHT = 4.2
BYTES_A_S = 3.9e12
"""Copying, and the best product below: figures seen on one H200 host, and said to be its."""
FLOPS_A_S = 2 * 2 * 4096 * 4096 * 16384 / 1.58e-3
POINTS = (
    ("relu(x*2+1)", 3 / 24, 12, 16, "left"),
    ("fused", 3 / 8, 12, 14, "left"),
    ("matmul", 2 * 4096**3 / (3 * 4096**2 * 2), 0, 20, "center"),
)
"""Operations by count: floating-point operations for each byte read or written; where the name stands beside it."""
LEFT, RIGHT, TOP, BASE = 44, 334, 66, 300
LOW, HIGH = -2, 4
"""Powers of ten of the operations a byte that are drawn."""
FLOOR, CEILING = 10, 15.4
"""Powers of ten of the operations a second that are drawn."""


def draw(axes: Axes, palette: Palette) -> None:
    """Draw both roofs and the operations under them; both scales are logarithmic."""
    axes.text(340, 22, rtl("سقف السرعة لكل عملية"), ha="right", va="center", fontsize=11, fontweight="bold")
    ridge = FLOPS_A_S / BYTES_A_S
    axes.plot([LEFT, LEFT, RIGHT], [TOP, BASE, BASE], color=palette.faint, linewidth=0.8)
    axes.plot([_x(10**LOW), _x(ridge)], [_y(BYTES_A_S * 10**LOW), _y(FLOPS_A_S)], color=palette.other, linewidth=2)
    axes.plot([_x(ridge), _x(10**HIGH)], [_y(FLOPS_A_S)] * 2, color=palette.accent, linewidth=2)
    axes.text(136, 122, rtl("سقف الذاكرة"), ha="right", va="center", fontsize=10, color=palette.other)
    axes.text(340, 72, rtl("سقف الحساب"), ha="right", va="center", fontsize=10, color=palette.accent)
    for name, intensity, right, down, side in POINTS:
        x, y = _x(intensity), _y(min(intensity * BYTES_A_S, FLOPS_A_S))
        axes.plot([x], [y], marker="o", markersize=7, color=palette.ink)
        axes.text(x + right, y + down, name, ha=side, va="center", family=MONO, fontsize=9, color=palette.ink)
    for power in range(LOW, HIGH + 1):
        axes.text(_x(10**power), BASE + 14, f"{10**power:g}", ha="center", va="center", family=MONO, fontsize=8.5)
    axes.text(340, BASE + 38, rtl("عمليات حسابية لكل بايت يُنقل"), ha="right", va="center", fontsize=10)
    axes.text(LEFT - 6, TOP - 12, rtl("عمليات في الثانية"), ha="left", va="center", fontsize=9, color=palette.faint)
    notes = ("الدمج يحرّك السلسلة إلى اليمين: الحساب نفسه ببايتات أقل.", "السقفان شوهدا على مضيف فيه بطاقة H200.")
    for index, note in enumerate(notes):
        y = BASE + 66 + index * 24
        axes.text(340, y, rtl(note), ha="right", va="center", fontsize=9.5, color=palette.faint)


def _x(intensity: float) -> float:
    return LEFT + (math.log10(intensity) - LOW) / (HIGH - LOW) * (RIGHT - LEFT)


def _y(speed: float) -> float:
    return BASE - (math.log10(speed) - FLOOR) / (CEILING - FLOOR) * (BASE - TOP)
