"""What reads left to right within Arabic prose, and the marks that keep it so on every chat platform.

Law: isolates are U+2066 to U+2069, never U+202A to U+202E; a line not begun by an Arabic letter gets U+061C.
"""

import re

LTR, FIRST_STRONG, END, ARABIC_MARK = "\u2066", "\u2068", "\u2069", "\u061c"
ARABIC = re.compile(r"[\u0620-\u064a\u0671-\u06d3]")
URL = re.compile(r"(?:https?://|mailto:)[^\s\"'<>]+", re.IGNORECASE)
_UNIT = r" ?[A-Za-zµμ][A-Za-zµμ²³/]*(?!\w|\.\w|\()"
FIGURE = (
    r"\([-+\u2212]?\d+(?:\.\d+)?(?:, ?(?:[-+\u2212]?\d+(?:\.\d+)?)?)+\)"
    rf"|(?<![A-Za-z0-9_.,])[-+\u2212±]?\d[\d.,]*[eE][-+\u2212]?\d+(?!\w)(?: ?%|{_UNIT})?"
    rf"|(?<![A-Za-z0-9_.,])[-+\u2212±]?\d[\d.,]*(?: ?[–-] ?\d[\d.,]*)?{_UNIT}"
    r"|[-+\u2212±]\d[\d.,]*(?: ?[–-] ?[-+\u2212]?\d[\d.,]*)?(?: ?%)?"
    r"|\d[\d.,]* ?[–-] ?\d[\d.,]*(?: ?%)?"
    r"|\d[\d.,]* ?%"
)
"""The pattern of a shape, a number with an exponent or a unit, a signed number, a range or a percentage."""
_LATIN_RUN = re.compile(r"[-+~<>=(\[{@#/\w.%×*]*[A-Za-z0-9](?:[ -~×⁻⁰¹²³⁴-⁹]*[A-Za-z0-9)\]}%×⁰¹²³⁴-⁹])?", re.ASCII)
"""A run of Latin letters, digits and signs inside a label, from its first to its last meaningful character."""


def isolated_label(shown: str) -> str:
    """Give a label with its Latin runs isolated, marked where it would be drawn left to right."""
    isolated = _LATIN_RUN.sub(lambda found: f"{LTR}{found.group()}{END}", shown)
    return isolated if ARABIC.match(shown[:1]) else ARABIC_MARK + isolated


def opening(text: str) -> str:
    """Give the mark with which a code span's isolate opens: what a learner wrote may be prose."""
    return FIRST_STRONG if ARABIC.search(text) else LTR
