"""What one line looks like: Python, prose, or neither; the marks by which bare code is told from talk.

Law: a guess about one line, from the line alone; no expression here repeats a repetition.
"""

import re
from enum import StrEnum

from bot.engine.intake.lex import DOUBLES, SINGLES, Lexer, masked, without_invisible
from bot.engine.intake.tables import CYRILLIC_GREEK

_ARABIC = re.compile(r"[\u0620-\u064a\u0671-\u06d3]")
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z_]")
_TARGET = re.compile(r"[A-Za-z_][\w.\[\]\"':, +*()-]*")
_ASSIGN = re.compile(r"[-+*/%&|^@<>]{0,3}=(?!=)")
_CALL = re.compile(r"(?:await )?[A-Za-z_][\w.]*\(")
_INSTALL = re.compile(r"(?:python[\d.]* -m )?(?:pip[\d.]*|conda) +install +[\w.-]")
_ORDER = re.compile(r"[OoΘΩ]\([^()]*\)[.,!?؟]?$")
_COMPUTES = re.compile(r"[\w)\]] *(?:[-+*/%@]|//|\*\*) *[\w(\[]")
_BEGINNING = re.compile(r"[A-Za-z_\d(\"-]")
_COMPUTED = re.compile(r"[A-Za-z\d(\[{\"]")
_TOKEN = re.compile(r"\"\"|[^\W\d]\w*|\d[\w.]*|[^\w\s]")
_WORDS = frozenset(
    "and or not in is if else for as import from lambda await yield return del assert raise global nonlocal while with"
    " def class elif async except print match case type True False None pass break continue exec".split()
)
_HEADS = {
    "import": re.compile(r"import +[A-Za-z_][\w.]*(?= *(?:$|,|;|#|as ))"),
    "from": re.compile(r"from +[\w.]+ +import +[\w(*]"),
    "def": re.compile(r"def +\w+ ?\("),
    "class": re.compile(r"class +\w+ *[:(]"),
    "async": re.compile(r"async +(?:def|for|with) "),
    "for": re.compile(r"for +[^:]+? in +[^:]"),
    "while": re.compile(r"while\b[^:]*:"),
    "if": re.compile(r"if\b[^:]*:"),
    "elif": re.compile(r"elif\b[^:]*:"),
    "with": re.compile(r"with\b[^:]*:"),
    "else": re.compile(r"else *:"),
    "try": re.compile(r"try *:"),
    "except": re.compile(r"except\b[^:]*:"),
    "finally": re.compile(r"finally *:"),
    "return": re.compile(r"return +\S"),
    "raise": re.compile(r"raise +[A-Z]\w*"),
    "assert": re.compile(r"assert +\S"),
    "del": re.compile(r"del +\w+"),
    "global": re.compile(r"global +\w+"),
    "lambda": re.compile(r"lambda\b[^:]*:"),
    "print": re.compile(r"print *[(\"“”„'‘’«]"),
    "await": re.compile(r"await +\w+[.(]"),
}
_WEAK_HEADS = frozenset("return raise assert del global await".split())
_STRAIGHT = str.maketrans(dict.fromkeys(DOUBLES + "«»", '"') | dict.fromkeys(SINGLES, "'"))
_APOSTROPHE = re.compile(r"(?<=[A-Za-z][A-Za-z])'(?=(?:s|t|re|ve|ll|d)\b)|(?<=\bI)'(?=m\b)")
_GREETINGS = frozenset(
    "hi hello hey code thanks please run test python py copy edit copyedit pythoncopy pythoncopyedit".split()
)


class Look(StrEnum):
    """What a line looks like."""

    BLANK = "blank"
    COMMENT = "comment"
    CODE = "code"
    PERHAPS = "perhaps"
    PROSE = "prose"


def look(line: str) -> Look:
    """Say what a line at the start of a statement looks like."""
    shown = without_invisible(line).replace("\u00a0", " ").strip()
    if not shown.isascii():
        shown = shown.translate(CYRILLIC_GREEK)
    if not shown:
        return Look.BLANK
    if shown.startswith("#"):
        return Look.COMMENT
    if shown.startswith(("%", "!")) and shown.lstrip("%!")[:1].isalpha() and shown.lstrip("%!")[:1].isascii():
        return Look.CODE
    if shown[0] in "@/" and shown[1:2].isalpha():
        # a decorator says nothing without what it decorates; a command or a name of someone is talk
        decorates = shown[0] == "@" and shown.isascii() and " " not in shown.partition("(")[0]
        return Look.PERHAPS if decorates else Look.PROSE
    if _INSTALL.match(shown):
        return Look.PERHAPS
    if _ORDER.match(shown):
        return Look.PROSE
    plain = mask(shown)
    if _structured(shown, plain):
        return Look.CODE
    return _unstructured(shown, plain)


def computes(line: str) -> bool:
    """Whether a line is arithmetic and nothing else."""
    plain = mask(line.strip())
    return plain.isascii() and _COMPUTES.search(plain) is not None and not adjacent(plain)


def mask(shown: str) -> str:
    """Give a line with its strings as `""`, curly quotes taken for straight ones, and without its comment."""
    straight = _APOSTROPHE.sub("", shown.translate(_STRAIGHT))
    return masked(straight, Lexer().feed(straight)).rstrip()


def _structured(shown: str, plain: str) -> bool:
    """Whether the line begins as only Python does."""
    word = _leading_word(plain)
    head = _HEADS.get(word)
    if head is not None:
        strong = word not in _WEAK_HEADS or any(char in plain for char in "([.=<>")
        return strong and bool(head.match(shown)) and not talkative(plain)
    if _assigns(plain):
        return True
    if _CALL.match(plain):
        # `name(` at the start and no talk behind it, or a line that goes on below
        return plain.endswith((")", ",", "(", "[", "{", ":")) or not (adjacent(plain) or talkative(plain))
    return _expression(plain)


def _assigns(plain: str) -> bool:
    found = _ASSIGN.search(plain)
    if found is None or plain[max(0, found.start() - 1) : found.start()] in {"!", "="}:
        return False
    target = plain[: found.start()].strip()
    if not target or not found.end():
        return False
    if _TARGET.fullmatch(target):
        return target.count("(") == target.count(")") and not adjacent(target) and not talkative(plain)
    # a name in Arabic letters is a name too, when it stands alone and something of code is on the right
    computed = _COMPUTED.search(plain, found.end()) is not None
    return target.isidentifier() and not adjacent(plain) and computed


def _expression(plain: str) -> bool:
    """Whether the line is a Latin expression that computes: an operator of code, or brackets, and no talk.

    A bare number, list or shape is not: it is how a question is answered.
    """
    if _ARABIC.search(plain) or adjacent(plain) or plain.endswith(("?", "!", ".")) or "://" in plain:
        return False
    if plain[:1] in tuple("[{("):
        return plain.endswith(tuple("])},")) and (_CALL.search(plain) is not None or " for " in plain)
    return _BEGINNING.match(plain) is not None and any(
        sign in plain for sign in ("**", "//", "==", "[:", "[0", "[-", "lambda ")
    )


def _unstructured(shown: str, plain: str) -> Look:
    letter = _LETTER.search(plain)
    if letter is None:
        # brackets, numbers and signs alone may belong to code; pictures and question marks do not
        return Look.PERHAPS if plain.isascii() and not plain.startswith(("?", "!")) else Look.PROSE
    if _ARABIC.match(letter.group()):
        alone = not adjacent(plain) and any(char in plain for char in "=([.+*/") and "؟" not in plain
        return Look.PERHAPS if alone else Look.PROSE
    if shown.lower().strip(".,!?:") in _GREETINGS:
        return Look.PROSE
    signs = any(char in plain for char in "()[]{}=+*/%@<>|&^~")
    if adjacent(plain) and (not signs or plain.endswith(("?", "؟"))):
        return Look.PROSE
    return Look.PERHAPS


def adjacent(plain: str) -> bool:
    """Whether two values stand side by side with nothing between them, which Python never allows and talk always does.

    `plain` is a line without strings and comments.
    """
    before = ""
    for found in _TOKEN.finditer(plain):
        piece = found.group()
        value = piece == '""' or piece[0].isalnum() or piece[0] == "_"
        word = piece in _WORDS
        if value and not word and before and not (piece == '""' and found.start() and plain[found.start() - 1] != " "):
            closes = before in {")", "]", "}"} or before == '""' or before[0].isalnum() or before[0] == "_"
            if closes and before not in _WORDS and not (before == '""' and piece == '""'):
                return True
        before = piece
    return False


def talkative(plain: str) -> bool:
    """Whether a line that could begin a statement reads on as talk."""
    if plain.endswith(("?", "؟")):
        return True
    if not adjacent(plain):
        return False
    return _ARABIC.search(plain) is not None or not any(char in plain for char in "([{=")


def arabic(line: str) -> bool:
    """Whether the first letter of a line is Arabic."""
    letter = _LETTER.search(line)
    return letter is not None and _ARABIC.match(letter.group()) is not None


def latin_start(line: str) -> int:
    """Give the place of the first Latin letter, or the line's length."""
    found = _LATIN.search(line)
    return found.start() if found else len(line)


def _leading_word(plain: str) -> str:
    found = _TOKEN.match(plain)
    return found.group() if found else ""
