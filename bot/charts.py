"""The teacher's report as one picture: difficulty against discrimination, and where readers of each lesson stop.

Law: a picture is drawn from the report alone; Arabic is shaped by matplotlib itself, every line begins with U+200F and
code stands between U+2066 and U+2069.
"""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from bot.engine.teaching.figures import ItemFigures, Report, StopFigures
from bot.engine.teaching.telling import stop_title
from bot.engine.wording import Wording
from content.schema import Course

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FAMILY = ["IBM Plex Sans Arabic", "DejaVu Sans"]
_INK, _FAINT, _FILL, _WARN = "#1f2430", "#6b7280", "#0b6e69", "#9a4a06"
_MOST = 12
"""Lines of each part that are drawn."""
_WIDTH, _LINE, _HEAD = 9.0, 0.3, 1.1
"""Inches: the picture's width, the height of a line and of a part's head."""
_TITLE = 52
"""Characters of a title that are drawn."""
_WEAK = 0.1


def drawn(report: Report, course: Course) -> bytes:
    """Draw a report as a PNG."""
    import matplotlib as mpl  # noqa: PLC0415 - half a second that only a report costs
    from matplotlib.figure import Figure  # noqa: PLC0415

    _register_fonts()
    words = Wording(course.phrases)
    items = sorted((item for item in report.items if item.current), key=lambda item: -item.difficulty)[:_MOST]
    stops = _worst(report)
    heights = [max(len(items), 1) * _LINE + _HEAD, max(len(stops), 1) * _LINE + _HEAD]
    with mpl.rc_context({"font.family": _FAMILY, "font.size": 10, "text.color": _INK, "text.parse_math": False}):
        figure = Figure(figsize=(_WIDTH, sum(heights)), dpi=120, layout="constrained")
        above, below = figure.subplots(2, 1, height_ratios=heights)
        _draw_items(above, words, items)
        _draw_stops(below, words, course, stops)
        out = BytesIO()
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()


def _worst(report: Report) -> list[StopFigures]:
    left = [stop for stop in report.stops if stop.ended_here]
    return sorted(left, key=lambda stop: -stop.ended_here / max(stop.learners, 1))[:_MOST]


def _draw_items(axes: "Axes", words: Wording, items: list[ItemFigures]) -> None:
    labels = [_isolated(item.item) for item in items]
    weak = [item.discrimination is not None and item.discrimination < _WEAK for item in items]
    notes = ["" if item.discrimination is None else _isolated(f"r = {item.discrimination:.2f}") for item in items]
    _bars(axes, labels, [item.difficulty for item in items], [_WARN if each else _FILL for each in weak], notes)
    axes.set_title(_rtl(words.text("teacher.picture_items")), loc="right", color=_INK)


def _draw_stops(axes: "Axes", words: Wording, course: Course, stops: list[StopFigures]) -> None:
    labels = [_rtl(_cut(stop_title(words, course, stop))) for stop in stops]
    shares = [stop.ended_here / max(stop.learners, 1) for stop in stops]
    notes = [_isolated(f"{stop.ended_here}/{stop.learners}") for stop in stops]
    _bars(axes, labels, shares, [_FILL] * len(stops), notes)
    axes.set_title(_rtl(words.text("teacher.picture_stops")), loc="right", color=_INK)


def _bars(axes: "Axes", labels: list[str], shares: list[float], colours: list[str], notes: list[str]) -> None:
    """Draw shares as bars from the right, the largest on top, each with its percentage and a note."""
    places = range(len(labels))
    axes.barh(places, shares, color=colours, height=0.6)
    axes.set_yticks(places, labels)
    axes.yaxis.tick_right()
    axes.set_xlim(1.0, 0.0)
    axes.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0%", "25%", "50%", "75%", "100%"])
    axes.tick_params(colors=_INK, length=0)
    axes.grid(axis="x", color="#e5e7eb")
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)
    for place, (share, note) in enumerate(zip(shares, notes, strict=True)):
        text = f"{share * 100:.0f}%  {note}"
        inside = share > 0.8  # noqa: PLR2004 - no room behind a bar that long
        axes.text(
            share - 0.01 if inside else share + 0.01,
            place,
            text,
            ha="left" if inside else "right",
            va="center",
            color="#ffffff" if inside else _INK,
            fontsize=9,
        )


def _rtl(text: str) -> str:
    return "\u200f" + text


def _isolated(text: str) -> str:
    return f"\u2066{text}\u2069"


def _cut(text: str) -> str:
    """Cut a long title between two words."""
    return text if len(text) <= _TITLE else f"{text[:_TITLE].rsplit(' ', 1)[0]} …"


def _register_fonts() -> None:
    import fontpkg_ibm_plex_sans_arabic  # type: ignore[import-untyped]  # noqa: PLC0415
    from matplotlib import font_manager  # noqa: PLC0415

    folder = Path(fontpkg_ibm_plex_sans_arabic.__file__).parent / "files"
    font_manager.fontManager.addfont(str(folder / "IBMPlexSansArabic-Regular.ttf"))
