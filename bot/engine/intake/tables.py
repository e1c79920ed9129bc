"""Which sign stands for which, once a chat client, a word processor or an Arabic keyboard has changed it.

Law: a sign is here only when nothing else can have been meant outside strings and comments.
"""

from bot.engine.intake.lex import INVISIBLE
from bot.engine.intake.types import RepairKind

_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\u2800"
_HYPHENS = "\u2010\u2011\u2012\u2013\u2212\ufe63\u2500\u02d7"
_FULL_WIDTH_FIRST, _FULL_WIDTH_LAST, _FULL_WIDTH_GAP = 0xFF01, 0xFF5E, 0xFEE0


def _table() -> dict[str, tuple[str, RepairKind]]:
    table: dict[str, tuple[str, RepairKind]] = {}
    for code in range(_FULL_WIDTH_FIRST, _FULL_WIDTH_LAST + 1):
        table[chr(code)] = chr(code - _FULL_WIDTH_GAP), RepairKind.FULL_WIDTH
    kinds = {
        RepairKind.SPACE: dict.fromkeys(_SPACES, " "),
        RepairKind.INVISIBLE: dict.fromkeys(INVISIBLE, ""),
        # clients turn two hyphens into the long dash, and one between numbers into the short one
        RepairKind.DASH: dict.fromkeys(_HYPHENS, "-") | {"—": "--", "―": "--", "⸺": "----"},
        RepairKind.SHIFT: {"»": ">>", "«": "<<", "≫": ">>", "≪": "<<", "›": ">", "‹": "<"},
        RepairKind.ELLIPSIS: {"…": "..."},
        RepairKind.ARABIC_PUNCTUATION: {"،": ",", "؛": ";", "٪": "%", "٭": "*", "۔": ".", "、": ",", "。": "."},
        RepairKind.OPERATOR: {
            "×": "*",
            "÷": "/",
            "∗": "*",
            "⋅": "*",
            "·": "*",
            "•": "*",
            "⁎": "*",
            "∕": "/",
            "⁄": "/",
            "≤": "<=",
            "≥": ">=",
            "⩽": "<=",
            "⩾": ">=",
            "≠": "!=",
            "→": "->",
            "➔": "->",
            "⟶": "->",
            "≔": ":=",
            "∶": ":",
            "꞉": ":",
            "ː": ":",
            "﹕": ":",
            "˜": "~",
            "∼": "~",
            "ˆ": "^",
            "∣": "|",
            "²": "**2",
            "³": "**3",
            "‚": ",",
        },
        RepairKind.AUTOCORRECT: {
            "©": "(c)",
            "®": "(r)",
            "™": "(tm)",
            "½": "1/2",
            "¼": "1/4",
            "¾": "3/4",
            "⅓": "1/3",
            "⅔": "2/3",
        },
    }
    for kind, signs in kinds.items():
        table.update({sign: (straight, kind) for sign, straight in signs.items()})
    return table


SIGNS = _table()
"""Sign -> what it stood for, and the kind of damage. Quotes, digits and their separators need their surroundings."""

ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&nbsp;": " ", "&quot;": '"', "&#39;": "'", "&#x27;": "'"}
"""What a web page's source shows in place of a sign."""

ESCAPED = frozenset("_*[]()#<>~`|{}.!+-=")
"""Signs that Markdown puts a backslash before; in Python a backslash there is always an error."""

CYRILLIC_GREEK = str.maketrans(
    "аеорсухіјѕһԁԛԝкАВЕКМНОРСТХУІЈЅοινΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwkABEKMHOPCTXYIJSoivABEZHIKMNOPTYX",
)
"""Cyrillic and Greek letters that look like Latin ones."""
