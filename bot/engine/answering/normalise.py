"""A question's text to plain words: folded, repeats and joints of alphabets undone.

Law: only what is compared is changed, and a text of any length costs the same: what lies beyond `MOST` is not read.
"""

import re

from bot.engine.letters import fold

MOST = 600
"""Characters of a question that are read; longer ones are rather code, or an attack."""

MOST_WORDS = 60
"""Words of a question that are read."""

_OTHER_LETTERS = str.maketrans("ہھەڭڪڤپچژېۇڨڥ", "هههككفبجزيوقف")
"""Letters of neighbouring alphabets, as keyboards there give them."""
_REPEATED = re.compile(r"(.)\1{2,}")
_PIECES = re.compile(r"[a-z0-9]+|[^\W_a-z0-9]+")
_DOUBLED = "اا"
_SPELLED = {
    **dict.fromkeys(("ستاشر", "سته عشر", "ست عشر", "ستعش", "ستعشر", "سطعش", "ستطعش", "سطعشر", "سطاش", "ستطاشر"), "16"),
    **dict.fromkeys(("اثنين وثلاثين", "اتنين وتلاتين", "تنين وتلاتين", "اثنان وثلاثون", "جوج وتلاتين"), "32"),
    **dict.fromkeys(("اربعه وستين", "اربعه وستون"), "64"),
}
"""Numbers of bits as they are spelled out."""
_NUMBERS = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(_SPELLED, key=len, reverse=True))})(?!\w)")


def words(text: str) -> list[str]:
    """Give the words of a question; a word of two alphabets is two words."""
    folded = fold(text[:MOST].translate(_OTHER_LETTERS))
    folded = _REPEATED.sub(r"\1", folded).replace(_DOUBLED, _DOUBLED[0])
    folded = _NUMBERS.sub(lambda found: _SPELLED[found[0]], folded)
    return _PIECES.findall(folded)[:MOST_WORDS]
