"""The bits of a number as a table, left to right, in three colours: sign, exponent, fraction.

Law: colour only repeats what the columns and the gaps between them say; the words stand in the table's head and in the
key under it.
"""

from markupsafe import Markup

from bot.engine import replies

_PARTS = ("sign", "exponent", "fraction")
_EMPTY = Markup()


def figure(block: replies.Bits) -> Markup:
    """Give the figure: a row a format, its bits, and what they stand for."""
    heads = _EMPTY.join(Markup('<th scope="col">{}</th>').format(field) for field in block.fields)
    key = _EMPTY.join(
        Markup('<span class="bit-key bit-{}">{}</span>').format(part, field)
        for part, field in zip(_PARTS, block.fields, strict=True)
    )
    return Markup(
        '<figure class="bits"><table dir="ltr" role="table"><caption class="unseen" dir="rtl">{}</caption>'
        '<thead class="unseen"><tr><td></td>{}<td></td></tr></thead><tbody role="rowgroup">{}</tbody></table>'
        "<figcaption>{}</figcaption></figure>"
    ).format(block.alt, heads, _EMPTY.join(_row(row) for row in block.rows), key)


def _row(row: replies.BitsRow) -> Markup:
    cells = _EMPTY.join(
        Markup('<td class="bit-{}" role="cell">{}</td>').format(part, bits)
        for part, bits in zip(_PARTS, (row.sign, row.exponent, row.fraction), strict=True)
    )
    return Markup(
        '<tr role="row"><th scope="row" role="rowheader"><code dir="ltr">{}</code></th>{}'
        '<td class="value number" role="cell">{}</td></tr>'
    ).format(row.name, cells, row.shown)
