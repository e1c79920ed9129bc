"""Shares as a table with bars, drawn as inline SVG: bars grow from the right, as the page reads.

Law: the bars and their colours only repeat the table's words, so they are hidden from readers of the screen; every
drawn figure is finite and inside the drawing.
"""

import math

from markupsafe import Markup

from bot.adapters.web import isolates
from bot.engine import replies

_WIDTH = 1000.0
_HEIGHT = 14
_LEAST = 8.0
"""Units of width below which a share that is not nothing could not be seen."""
_EMPTY = Markup()


def figure(block: replies.Bars) -> Markup:
    """Give the figure: a row a share, with its name, its words, and its bar."""
    return Markup(
        '<figure class="bars"><table role="table"><caption class="unseen">{}</caption>'
        '<tbody role="rowgroup">{}</tbody></table></figure>'
    ).format(block.alt, _EMPTY.join(_row(bar) for bar in block.bars))


def _row(bar: replies.Bar) -> Markup:
    shown = Markup('<bdi dir="ltr" class="number">{}</bdi>').format(bar.shown) if bar.shown else _EMPTY
    return Markup(
        '<tr role="row" class="is-{}"><th scope="row" role="rowheader">{}</th>'
        '<td class="share" role="cell">{}<span class="says">{}</span></td>'
        '<td class="bar" aria-hidden="true">{}</td></tr>'
    ).format(bar.state, isolates.prose(bar.name), shown, isolates.prose(bar.says), _drawn(bar.share))


def _drawn(share: float) -> Markup:
    share = min(max(share, 0.0), 1.0) if math.isfinite(share) else 0.0
    width = max(share * _WIDTH, _LEAST) if share > 0 else 0.0
    return Markup(
        '<svg viewBox="0 0 {:.0f} {}" width="100%" height="{}" preserveAspectRatio="none" focusable="false">'
        '<rect class="track" x="0" y="3" width="{:.0f}" height="8"/>'
        '<rect class="fill" x="{:.1f}" y="1" width="{:.1f}" height="12"/></svg>'
    ).format(_WIDTH, _HEIGHT, _HEIGHT, _WIDTH, _WIDTH - width, width)
