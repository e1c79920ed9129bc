"""Measured times as a table with bars, drawn as inline SVG: bars grow from the right, as the page reads.

Law: the bars only repeat the table, so they are hidden from readers of the screen; every drawn figure is finite and
inside the drawing, whatever was measured.
"""

import math
from collections.abc import Callable, Mapping

from markupsafe import Markup

from bot.adapters.web import isolates, roofline
from bot.engine import replies

_WIDTH = 1000.0
_HEIGHT = 20
_LEAST = 3.0
"""Units of width below which a bar could not be seen."""

_CLAIMS = frozenset({"faster", "slower", "same", "unclear"})
_EMPTY = Markup()


def figure(block: replies.Timings, words: Mapping[str, str], spans: Callable[[replies.Spans], Markup]) -> Markup:
    """Give the figure: what each variant took, how they compare, and on which machine."""
    longest = max((_sound(value) for row in block.rows for value in (row.median_ns, row.high_ns)), default=0.0)
    rows = _EMPTY.join(_row(row, longest, words) for row in block.rows)
    ratios = _EMPTY.join(_ratio(ratio, words) for ratio in block.ratios)
    return Markup(
        '<figure class="timings"><table><caption class="unseen">{}</caption>'
        '<thead class="unseen"><tr><th scope="col">{}</th><th scope="col">{}</th></tr></thead>'
        "<tbody>{}</tbody></table>{}{}<figcaption>{}</figcaption></figure>"
    ).format(
        block.alt,
        words.get("web.variant", ""),
        words.get("web.time", ""),
        rows,
        Markup('<ul class="ratios">{}</ul>').format(ratios) if block.ratios else _EMPTY,
        roofline.figure(block.roofline) if block.roofline is not None else _EMPTY,
        spans(block.machine),
    )


def _row(row: replies.TimingRow, longest: float, words: Mapping[str, str]) -> Markup:
    first = _EMPTY
    if row.first_call:
        first = Markup('<span class="first">{} <bdi dir="ltr">{}</bdi></span>').format(
            words.get("web.first_call", ""), row.first_call
        )
    return Markup(
        '<tr><th scope="row">{}</th>'
        '<td class="time"><bdi dir="ltr" class="number">{}</bdi>{}</td>'
        '<td class="bar" aria-hidden="true">{}</td></tr>'
    ).format(isolates.code(row.name), row.shown, first, _bar(row, longest))


def _bar(row: replies.TimingRow, longest: float) -> Markup:
    if longest <= 0:
        return _EMPTY
    width = max(_share(row.median_ns, longest), _LEAST)
    low, high = _share(row.low_ns, longest), _share(row.high_ns, longest)
    whisker = _EMPTY
    if high > low:
        ends = (_line(_WIDTH - x, 4, _WIDTH - x, _HEIGHT - 4) for x in (low, high))
        middle = _line(_WIDTH - high, _HEIGHT / 2, _WIDTH - low, _HEIGHT / 2)
        whisker = Markup('<g class="whisker">{}{}</g>').format(middle, _EMPTY.join(ends))
    return Markup(
        '<svg viewBox="0 0 {:.0f} {}" width="100%" height="{}" preserveAspectRatio="none" focusable="false">'
        '<rect class="track" x="0" y="6" width="{:.0f}" height="8"/>'
        '<rect class="fill" x="{:.1f}" y="3" width="{:.1f}" height="14"/>{}</svg>'
    ).format(_WIDTH, _HEIGHT, _HEIGHT, _WIDTH, _WIDTH - width, width, whisker)


def _line(x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" vector-effect="non-scaling-stroke"/>').format(
        x1, y1, x2, y2
    )


def _ratio(ratio: replies.RatioRow, words: Mapping[str, str]) -> Markup:
    # The verdict is a paragraph of the reply already; here stand the figures it rests on.
    claim = ratio.claim if ratio.claim in _CLAIMS else "unclear"
    interval = _EMPTY
    if ratio.interval:
        interval = Markup('<span class="interval">{} <bdi dir="ltr" class="number">{}</bdi></span>').format(
            isolates.prose(words.get("web.interval", "")), ratio.interval
        )
    return Markup(
        '<li class="claim-{}"><bdi dir="ltr" class="number">{}</bdi><span class="pair">{} {} {}</span>{}</li>'
    ).format(
        claim,
        ratio.shown,
        isolates.code(ratio.name),
        words.get("web.against", ""),
        isolates.code(ratio.against),
        interval,
    )


def _share(value: float, longest: float) -> float:
    return min(_sound(value) / longest, 1.0) * _WIDTH


def _sound(value: float) -> float:
    return value if math.isfinite(value) and value > 0 else 0.0
