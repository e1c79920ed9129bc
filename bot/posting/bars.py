"""Measured times as a picture of bars, for platforms that show no table of ours.

Law: the picture only repeats what the text beside it says; every drawn figure is finite and inside the drawing,
whatever was measured.
"""

import io
import math
from functools import lru_cache
from threading import Lock
from typing import Any

from bot.engine.replies import TimingRow, Timings

MOST_ROWS = 12
_WIDTH_IN, _ROW_IN, _DPI = 6.4, 0.55, 150
_FILL, _TRACK, _INK, _PAPER = "#2f6f8f", "#e4e8eb", "#1c2328", "#ffffff"
_DRAWING = Lock()
"""matplotlib is not made for several threads at once."""


def drawn(block: Timings) -> bytes:
    """Draw the bars; gives a PNG of about 960 pixels' width."""
    with _DRAWING:
        return _drawn(block.rows[:MOST_ROWS])


@lru_cache(maxsize=64)
def _drawn(rows: tuple[TimingRow, ...]) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - a second of loading, when needed
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(_WIDTH_IN, _ROW_IN * len(rows) + 0.3), dpi=_DPI, facecolor=_PAPER)
    axes: Any = figure.add_axes((0.03, 0.02, 0.94, 0.96))
    axes.set_axis_off()
    longest = max((_sound(value) for row in rows for value in (row.median_ns, row.high_ns)), default=0.0) or 1.0
    for at, row in enumerate(rows):
        y = len(rows) - 1 - at
        width = min(max(_sound(row.median_ns) / longest, 0.004), 1.0)
        axes.barh(y, 1.0, height=0.34, color=_TRACK)
        axes.barh(y, width, height=0.34, color=_FILL)
        low, high = (min(_sound(value) / longest, 1.0) for value in (row.low_ns, row.high_ns))
        if high > low:
            axes.plot([low, high], [y, y], color=_INK, linewidth=1.2)
            axes.plot([low, low], [y - 0.1, y + 0.1], color=_INK, linewidth=1.2)
            axes.plot([high, high], [y - 0.1, y + 0.1], color=_INK, linewidth=1.2)
        axes.text(0.0, y + 0.34, _plain(row.name), fontsize=10, color=_INK, ha="left", va="center", parse_math=False)
        axes.text(1.0, y + 0.34, _plain(row.shown), fontsize=10, color=_INK, ha="right", va="center", parse_math=False)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(-0.4, len(rows) - 0.3)
    made = io.BytesIO()
    canvas: Any = FigureCanvasAgg(figure)
    canvas.print_png(made)
    return made.getvalue()


def _plain(text: str) -> str:
    return "".join(char for char in text if char.isprintable())[:60]


def _sound(value: float) -> float:
    return value if math.isfinite(value) and value > 0 else 0.0
