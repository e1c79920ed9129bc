"""The one repair pass: what clients and keyboards did to code outside strings and comments, undone line by line.

Law: linear; the content of a string is never changed; a line stays a line. What is proposed is shown, not assumed.
"""

import keyword
import re
import unicodedata
from dataclasses import dataclass, field

from bot.engine.intake_lex import DOUBLES, INVISIBLE, SINGLES
from bot.engine.intake_tables import CYRILLIC_GREEK, ENTITIES, ESCAPED, SIGNS
from bot.engine.intake_types import RepairKind

_DOUBLE, _SINGLE = frozenset(DOUBLES), frozenset(SINGLES)
_AFTER = frozenset(",)]}:;+*/%<>=!.&|^#[-@\\")
_AFTER_WORDS = frozenset("if else for in and or not is as".split())
_EXPECTS = frozenset("([{,=+-*/%<>:;!&|^~@،؛")
_PREFIX = frozenset("rbfuRBFU")
_PLAIN = re.compile(r"[^\W\d]\w*|[ \t]+|\d[\d_.]*", re.ASCII)
_NEEDS_A_LOOK = re.compile(r"[\"'\\&#]")
_LEADING_WORD = re.compile(r"[A-Za-z]+")
_OPENERS = frozenset("“„‟〝❝‘‚‛❛")
_TRIPLE = 3
_THOUSAND = 3


@dataclass(slots=True)
class _Carry:
    """What goes on from line to line: the triple quote under way, as its family and how it must end."""

    family: frozenset[str] = frozenset()
    straight: str = ""
    continued: str = ""
    last_straight: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Line:
    """One line being repaired."""

    text: str
    loose: bool
    out: list[str] = field(default_factory=list)
    kinds: list[RepairKind] = field(default_factory=list)
    before: str = ""
    unterminated: bool = False
    no_guillemet: bool = False

    def put(self, text: str, kind: RepairKind | None = None) -> None:
        """Add repaired text; `before` stays the last sign that is not a space."""
        self.out.append(text)
        shown = text.rstrip()
        if shown:
            self.before = shown[-1]
        if kind is not None and kind not in self.kinds:
            self.kinds.append(kind)


def repair_signs(lines: list[str]) -> list[tuple[str, tuple[RepairKind, ...]]]:
    """Repair each line; give the line after, and the kinds of damage found in it."""
    carry = _Carry()
    for number, line in enumerate(lines):
        for quote in ('"""', "'''"):
            if quote in line:
                carry.last_straight[quote] = number
    repaired: list[tuple[str, tuple[RepairKind, ...]]] = []
    for number, line in enumerate(lines):
        if line.isascii() and not (carry.family or carry.continued or _NEEDS_A_LOOK.search(line)):
            repaired.append((line, ()))
            continue
        held = (carry.family, carry.straight, carry.continued)
        done = _line(line, number, carry, loose=False)
        if done.unterminated:
            after = (carry.family, carry.straight, carry.continued)
            carry.family, carry.straight, carry.continued = held
            again = _line(line, number, carry, loose=True)
            if again.unterminated:
                carry.family, carry.straight, carry.continued = after
            else:
                done = again
        repaired.append(("".join(done.out), tuple(done.kinds)))
    return repaired


def _line(text: str, number: int, carry: _Carry, *, loose: bool) -> _Line:
    line = _Line(text, loose)
    at = 0
    if carry.family:
        at = _close_triple(line, 0, number, carry)
    elif carry.continued:
        at = _straight_string(line, 0, carry.continued, carry)
    while at < len(text):
        char = text[at]
        if char == "#":
            line.out.append(text[at:])
            break
        if char in _DOUBLE or char in _SINGLE:
            at = _string(line, at, number, carry)
        elif char.isascii():
            at = _ascii(line, at)
        else:
            at = _beyond_ascii(line, at)
    return line


def _ascii(line: _Line, at: int) -> int:
    text = line.text
    found = _PLAIN.match(text, at)
    if found and (found.end() == len(text) or text[found.end()].isascii()):
        line.put(found.group())
        return found.end()
    char = text[at]
    if char.isalnum() or char == "_":
        return _word(line, at)
    if char == "\\" and at + 1 < len(text):
        return _backslash(line, at)
    if char == "&":
        for entity, sign in ENTITIES.items():
            if text.startswith(entity, at):
                return _entity(line, at, entity, sign)
    line.put(char)
    return at + 1


def _backslash(line: _Line, at: int) -> int:
    text = line.text
    if text[at + 1] in ESCAPED:
        line.kinds.append(RepairKind.MARKUP)
        return at + 1
    if not text[at + 1 :].strip():
        line.put("\\", RepairKind.SPACE)
        return len(text)
    line.put("\\")
    return at + 1


def _entity(line: _Line, at: int, entity: str, sign: str) -> int:
    begin = at + len(entity)
    line.put(sign, RepairKind.MARKUP)
    if sign in {'"', "'"}:
        end = line.text.find(entity, begin)
        if end >= 0:
            line.put(line.text[begin:end] + sign)
            return end + len(entity)
    return begin


def _beyond_ascii(line: _Line, at: int) -> int:
    text = line.text
    char = text[at]
    if char == "«" and (closing := _guillemet(line, at)):
        return closing
    if char in "٫٬":
        return _separator(line, at)
    if char in SIGNS and not _joins(text, at):
        sign, kind = SIGNS[char]
        if kind is RepairKind.FULL_WIDTH and (sign.isalnum() or sign == "_"):
            return _word(line, at)
        line.put(sign, kind)
        return at + 1
    if _continues(char):
        return _word(line, at)
    line.put(char)
    return at + 1


def _joins(text: str, at: int) -> bool:
    """Whether a mark that nobody sees stands between letters of one word."""
    return (
        text[at] in INVISIBLE
        and at > 0
        and at + 1 < len(text)
        and _continues(text[at - 1])
        and _continues(text[at + 1])
    )


def _continues(char: str) -> bool:
    return ("a" + char).isidentifier() or char in INVISIBLE


def _word(line: _Line, at: int) -> int:
    """Take a whole name or number: its digits are those of its script."""
    text = line.text
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] == "_" or _continues(text[end])):
        if text[end] in SIGNS and SIGNS[text[end]][1] in {RepairKind.OPERATOR, RepairKind.AUTOCORRECT}:
            break
        end += 1
    if end == at:
        line.put(text[at])
        return at + 1
    word = text[at:end]
    seen = "".join(char for char in word if char not in INVISIBLE)
    if seen != word:
        line.put("", RepairKind.INVISIBLE)
    line.put(*_spelt(seen))
    return end


def _spelt(word: str) -> tuple[str, RepairKind | None]:
    if word.isascii():
        return word, None
    narrow = "".join(SIGNS[char][0] if char in SIGNS else char for char in word)
    if narrow != word:
        word, kind = narrow, RepairKind.FULL_WIDTH
    else:
        kind = None
    letters = [char for char in word if not char.isdigit() and char != "_"]
    if all(char.isascii() for char in letters) and not word.isascii():
        digits = "".join(str(unicodedata.decimal(char, char)) for char in word)
        return digits, RepairKind.DIGITS if digits != word else kind
    latin = word.translate(CYRILLIC_GREEK)
    if latin != word and keyword.iskeyword(latin):
        return latin, RepairKind.HOMOGLYPH
    return word, kind


def _separator(line: _Line, at: int) -> int:
    """Arabic decimal and thousands signs: a point, nothing, or (where no digit follows) a comma."""
    text = line.text
    end = at + 1
    while end < len(text) and text[end].isdigit():
        end += 1
    between = end > at + 1 and at > 0 and text[at - 1].isdigit()
    point = text[at] == "٫" and (between or (end > at + 1 and not line.before.isalnum()))
    if point:
        line.put(".", RepairKind.DIGITS)
    elif between and end - at - 1 == _THOUSAND:
        line.put("", RepairKind.DIGITS)
    else:
        line.put(",", RepairKind.ARABIC_PUNCTUATION)
    return at + 1


def _guillemet(line: _Line, at: int) -> int:
    """Take `«text»` for a string where a value is expected; 0 when it is a shift."""
    if line.no_guillemet or (line.before and line.before not in _EXPECTS):
        return 0
    end = line.text.find("»", at)
    if end < 0:
        line.no_guillemet = True
        return 0
    line.put(_quoted(line.text[at + 1 : end], '"'), RepairKind.QUOTES)
    return end + 1


def _string(line: _Line, at: int, number: int, carry: _Carry) -> int:
    text = line.text
    char = text[at]
    family = _DOUBLE if char in _DOUBLE else _SINGLE
    quote = '"' if family is _DOUBLE else "'"
    run = text[at : at + _TRIPLE]
    if len(run) == _TRIPLE and all(other in family for other in run):
        carry.family = family
        carry.straight = quote * _TRIPLE if run == quote * _TRIPLE else ""
        line.put(quote * _TRIPLE, None if carry.straight else RepairKind.QUOTES)
        return _close_triple(line, at + _TRIPLE, number, carry)
    if char == "‚" and line.before and line.before not in _EXPECTS:
        line.put(",", RepairKind.OPERATOR)
        return at + 1
    if char == quote and not line.loose:
        line.put(quote)
        return _straight_string(line, at + 1, quote, carry)
    return _family_string(line, at, family, quote)


def _close_triple(line: _Line, at: int, number: int, carry: _Carry) -> int:
    """Go on inside a triple-quoted string. Straight quotes end with straight ones as long as there are any."""
    text = line.text
    family = carry.family
    quote = '"' if family is _DOUBLE else "'"
    only_straight = carry.straight and carry.last_straight.get(carry.straight, -1) >= number
    begin = at
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        run = text[at : at + _TRIPLE]
        if text[at] in family and len(run) == _TRIPLE:
            straight = run == quote * _TRIPLE
            if straight or (not only_straight and all(other in family for other in run)):
                line.put(text[begin:at])
                line.put(quote * _TRIPLE, None if straight else RepairKind.QUOTES)
                carry.family, carry.straight = frozenset(), ""
                return at + _TRIPLE
        at += 1
    line.put(text[begin:])
    return len(text)


def _straight_string(line: _Line, at: int, quote: str, carry: _Carry) -> int:
    text = line.text
    begin = at
    carry.continued = ""
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == quote:
            line.put(text[begin : at + 1])
            return at + 1
        at += 1
    line.put(text[begin:])
    if at > len(text):
        carry.continued = quote
    else:
        line.unterminated = True
    return len(text)


def _family_string(line: _Line, at: int, family: frozenset[str], quote: str) -> int:
    """A string with curly quotes: it ends at the first quote of its family behind which a value can end."""
    text = line.text
    end = last = -1
    here = at + 1
    while here < len(text):
        if text[here] == "\\":
            here += 2
            continue
        if text[here] in family:
            last = here
            if _can_end(text, here):
                end = here
                break
        here += 1
    end = end if end >= 0 else last
    if end < 0:
        line.put(quote, None if text[at] == quote else RepairKind.QUOTES)
        line.unterminated = True
        return at + 1
    damaged = text[at] != quote or text[end] != quote
    line.put(_quoted(text[at + 1 : end], quote), RepairKind.QUOTES if damaged else None)
    return end + 1


def _quoted(content: str, quote: str) -> str:
    """Put a content between straight quotes that it does not hold itself."""
    if quote in content:
        other = "'" if quote == '"' else '"'
        if other not in content:
            return other + content + other
        return quote + content.replace(quote, "\\" + quote) + quote
    return quote + content + quote


def _can_end(text: str, at: int) -> bool:
    """Whether a value can end with the quote here: behind it comes nothing, a sign of code, or a word of code."""
    rest = at + 1
    while rest < len(text) and (text[rest].isspace() or text[rest] in INVISIBLE):
        rest += 1
    if rest == len(text) or text[rest] in _AFTER or SIGNS.get(text[rest], " ")[0][:1] in _AFTER:
        return True
    if rest == at + 1:
        return False
    if text[rest] in _OPENERS and text[at] not in _OPENERS:
        return True
    found = _LEADING_WORD.match(text, rest)
    return found is not None and found.group() in _AFTER_WORDS
