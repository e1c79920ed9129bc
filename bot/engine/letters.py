"""Arabic and Latin letters brought to one form for matching: folding for words, plain digits for numbers.

Law: only what is compared is folded; what is shown or run is never touched. The order of steps is the one of the
project's page on learners' questions.
"""

import math
import re
import unicodedata

_INVISIBLE = dict.fromkeys(
    [0x00AD, 0x061C, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A)]
)
_TASHKEEL = dict.fromkeys([0x0640, 0x0670, *range(0x0610, 0x061B), *range(0x064B, 0x0660)])
_FOLDED = str.maketrans(
    {
        "أ": "ا",
        "إ": "ا",
        "آ": "ا",
        "ٱ": "ا",
        "ى": "ي",
        "ی": "ي",
        "ئ": "ي",
        "ؤ": "و",
        "ة": "ه",
        "ک": "ك",
        "گ": "ك",
        "ء": None,
    }
)
_DIGITS = str.maketrans("٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹", "01234567890123456789")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?")
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻"
_LOWERED = str.maketrans(_RAISED, "0123456789+-")
_POWER = re.compile(
    r"(?:([+-]?(?:\d+(?:\.\d*)?|\.\d+)) ?[×x*] ?|([+-]?))(2|10)(?: ?(?:\^|\*\*) ?\(?([+-]?\d{1,4})\)?|(["
    + _RAISED
    + r"]{1,5}))"
)
_WORD = re.compile(r"[^\W_]+")

_HALF = re.compile("[\ud800-\udfff]")

ARABIC = re.compile(r"[\u0621-\u064a]")
"""One Arabic letter."""


def whole(text: str) -> str:
    """Put U+FFFD in the place of half a character, which cannot be encoded, hence neither stored, shown nor run."""
    return _HALF.sub("\ufffd", text)


def stripped(text: str) -> str:
    """Take the invisible marks off."""
    return text.translate(_INVISIBLE)


def plain_digits(text: str) -> str:
    """Write every digit as 0-9, the Arabic decimal mark as `.`, its thousands mark as `,`, a minus sign as `-`."""
    return text.translate(_DIGITS).replace("٫", ".").replace("٬", ",").replace("−", "-").replace("➖", "-")


def fold(text: str) -> str:
    """Bring words to the form in which they are compared: one space between words, no marks, no punctuation."""
    text = unicodedata.normalize("NFKC", stripped(text)).translate(_TASHKEEL)
    text = plain_digits(text.translate(_FOLDED)).casefold()
    return " ".join(_WORD.findall(text))


def number(text: str) -> float | None:
    """Read a number as learners write it: `6.5e4`, `65,504`, `٦٥٬٥٠٤`, `65 504`, `80 %`; None when it is none."""
    if any(each in _RAISED for each in text):
        return None  # folded, 2¹⁶ would read as 216
    text = plain_digits(unicodedata.normalize("NFKC", stripped(text))).strip().rstrip("%٪.").strip()
    text = re.sub(r"(?<=\d)[\s_](?=\d{3}(?!\d))", "", text).replace("،", ",")
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    elif re.fullmatch(r"[+-]?\d+,\d+", text):
        # A single comma that does not part thousands is the decimal comma of many keyboards.
        text = text.replace(",", ".")
    return float(text) if len(text) <= 40 and _PLAIN.fullmatch(text) else None  # noqa: PLR2004 - no honest answer is longer


def figure(text: str) -> float | None:
    """Read a number, or a power of two or ten: `2^16`, `2**-24`, `2¹⁶`, `6.5×10^4`; what is too large is inf."""
    plain = plain_digits(stripped(text)).strip()
    found = _POWER.fullmatch(plain) if len(plain) <= 40 else None  # noqa: PLR2004 - as above
    if found is None:
        return number(text)
    factor, sign, base, exponent, raised = found.groups()
    power = (exponent or raised).translate(_LOWERED)
    if not power.lstrip("+-").isdecimal():
        return None
    coefficient = factor or f"{sign}1"
    if base == "10":
        return float(f"{coefficient}e{power}")
    try:
        return float(coefficient) * math.ldexp(1.0, int(power))
    except OverflowError:
        return math.copysign(math.inf, float(coefficient))


def count(text: str) -> int | None:
    """Read a small whole number (a place in a list); None when it is none."""
    text = plain_digits(stripped(text)).strip().strip(".#)(")
    return int(text) if re.fullmatch(r"\d{1,3}", text) else None
