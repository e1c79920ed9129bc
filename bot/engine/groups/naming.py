"""Names that a platform tells of its members, made safe to be shown.

Law: a shown name pings nobody, links nowhere, turns no line around and is one line of at most `LONGEST` characters;
letters of every script stay.
"""

import re
import unicodedata

from bot.engine.letters import stripped, whole

LONGEST = 24
_READ = 256
"""Characters of a name that are looked at."""
_SIGNS = frozenset("-'’ ")
_MARKS = 2
"""Marks in a row that a letter may carry."""
_FIGURES = re.compile(r"\d{7,}")
"""So many figures in a row are read as a telephone or card number by some clients."""


def shown(name: str) -> str:
    """Give the name as it is shown; empty when nothing of it can be."""
    kept: list[str] = []
    marks = 0
    for sign in unicodedata.normalize("NFC", stripped(whole(name[:_READ]))):
        kind = unicodedata.category(sign)
        carries = (
            bool(kept) and kept[-1] not in _SIGNS
        )  # a mark on what is stripped from the ends would come to begin it
        marks = marks + 1 if kind in {"Mn", "Mc"} else 0
        if kind[0] == "L" or kind == "Nd" or (0 < marks <= _MARKS and carries) or sign in _SIGNS:
            kept.append(sign)
        elif not marks:
            kept.append(" ")
    bare = " ".join(_FIGURES.sub(lambda found: found.group()[:6], "".join(kept)).split()).strip("-'’ ")
    return bare[:LONGEST].rstrip() if any(each.isalnum() for each in bare) else ""
