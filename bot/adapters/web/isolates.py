"""What reads left to right inside Arabic lines, isolated, so that `(3, 4)`, `-1` and `5 %` keep their order.

Law: plain text comes in and escaped HTML goes out; marks that a text brings itself are dropped.
"""

import re
from functools import lru_cache

from markupsafe import Markup

_MARKS = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
"""Embeddings, overrides and isolates: in prose they could only turn our own sentences around."""

# A run of Latin letters, digits and signs inside a plain label, from its first to its last meaningful character, so
# that `(3, 4)` and `x.sum()` keep their order while a colon or full stop after them stays with the prose.
_LATIN_RUN = re.compile(r"[-+~<>=(\[{@#/\w.%×*]*[A-Za-z0-9](?:[ -~×⁻⁰¹²³⁴-⁹]*[A-Za-z0-9)\]}%×⁰¹²³⁴-⁹])?", re.ASCII)

_PERCENT = re.compile(r"[0-9][0-9.,]*(?:–[0-9.,]+)? ?%")
"""What stands in a sentence as it stands in a `Number`: the sign behind its figure."""

# A label that is nothing but code.
_CODE_LABEL = re.compile(r"(?=.*[A-Za-z])(?=.*[()\[\]_.=@])[!-~][ -~]*", re.ASCII)

_ARABIC = re.compile("[\u0600-\u06ff]")
_ONE_LINE = 24
"""Characters of code that fit a line of every phone: such a piece keeps the bracket or the letter that touches it."""
_MAY_BREAK = Markup(' class="long"')


def unmarked(text: str) -> str:
    """Drop the marks of direction."""
    return text.translate(_MARKS)


def code(text: str) -> Markup:
    """Give a piece of code inside a line; what has Arabic letters, which stand badly in a mono face, as a quotation."""
    text = unmarked(text)
    if _ARABIC.search(text):
        return Markup('<bdi dir="auto" class="quoted">{}</bdi>').format(text)
    return Markup('<code dir="ltr"{}>{}</code>').format(_MAY_BREAK if len(text) > _ONE_LINE else "", text)


def prose(text: str) -> Markup:
    """Give a stretch of prose with its percentages isolated."""
    return _isolated(_PERCENT, unmarked(text))


@lru_cache(maxsize=4096)
def label(text: str) -> Markup:
    """Give a plain label with its Latin and numeric runs isolated left to right."""
    text = unmarked(text)
    if _CODE_LABEL.fullmatch(text):
        return code(text)
    return _isolated(_LATIN_RUN, text)


def _isolated(runs: re.Pattern[str], text: str) -> Markup:
    parts: list[Markup] = []
    end = 0
    for found in runs.finditer(text):
        parts.append(Markup('{}<bdi dir="ltr">{}</bdi>').format(text[end : found.start()], found.group()))
        end = found.end()
    parts.append(Markup("{}").format(text[end:]))
    return Markup().join(parts)
