"""Names that learners choose for the board: what a name may hold, and the form in which two of them are the same.

Law: a name can ping nobody, link nowhere, turn no line around, and looks like no other name on the board.
"""

import re
import unicodedata
from dataclasses import dataclass

from bot.engine.letters import fold, plain_digits, stripped

LONGEST = 24
_SIGNS = frozenset("-_'’.!")
"""Signs that a name may hold beside letters, digits and spaces."""
_LINK = re.compile(r"\w\.\w|www|https?", re.IGNORECASE)
_ALIKE = str.maketrans("1l0|", "iioi")
"""Letters and digits that are drawn alike in most faces, brought together after folding."""
_SCRIPTS = ("ARABIC", "LATIN")
_READ = 200
"""Characters beyond which a text is no name, whatever it holds."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that was chosen, or (`fault`) the code of what is wrong with it; `sign` is what may not stand in it."""

    text: str = ""
    fault: str = ""
    sign: str = ""


def chosen(text: str) -> Name:
    """Read a name: 1 to 24 visible characters of Arabic or Latin script."""
    if len(text) > _READ:
        return Name(fault="long")
    if unicodedata.normalize("NFC", text) != stripped(unicodedata.normalize("NFC", text)):
        return Name(fault="invisible")
    name = unicodedata.normalize("NFC", text).strip(" ")
    for sign in name:
        fault = _fault(sign)
        if fault:
            return Name(fault=fault, sign=sign if fault == "sign" else "")
    if len(name) > LONGEST:
        return Name(fault="long")
    if "  " in name:
        return Name(fault="spaces")
    if _LINK.search(name):
        return Name(fault="link")
    return Name(name) if likeness(name) else Name(fault="empty")


def likeness(text: str) -> str:
    """Give the form in which names are compared: folded, without accents and spaces, look-alikes brought together."""
    bare = "".join(each for each in unicodedata.normalize("NFKD", text[:_READ]) if unicodedata.category(each) != "Mn")
    return fold(bare).replace(" ", "").translate(_ALIKE)


def _fault(sign: str) -> str:
    """Say why a character may not stand in a name; empty when it may."""
    category = unicodedata.category(sign)
    if category in {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"} or (category == "Zs" and sign != " "):
        return "invisible"
    if category.startswith("L"):
        return "" if unicodedata.name(sign, "").startswith(_SCRIPTS) else "script"
    if category == "Nd":
        return "" if plain_digits(sign) in "0123456789" else "script"
    mark = category == "Mn" and unicodedata.name(sign, "").startswith("ARABIC")
    return "" if mark or sign == " " or sign in _SIGNS else "sign"
