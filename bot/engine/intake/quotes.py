"""Strings whose quotes are curly, mixed or half curly: where they begin and end, and how they are written straight.

Law: the content of a string is never changed, and a quote is looked at a bounded number of times.
"""

import re
from dataclasses import dataclass, field

from bot.engine.intake.lex import DOUBLES, INVISIBLE, SINGLES
from bot.engine.intake.tables import SIGNS
from bot.engine.intake.types import RepairKind

DOUBLE, SINGLE = frozenset(DOUBLES), frozenset(SINGLES)
_AFTER = frozenset(",)]}:;+*/%<>=!.&|^#[-@\\")
_AFTER_WORDS = frozenset("if else for in and or not is as".split())
_EXPECTS = frozenset("([{,=+-*/%<>:;!&|^~@،؛")
_OPENERS = frozenset("“„‟〝❝‘‚‛❛")
_LEADING_WORD = re.compile(r"[A-Za-z]+")
_TRIPLE = 3


@dataclass(slots=True)
class Carry:
    """What goes on from line to line: the triple quote under way, as its family and how it must end."""

    family: frozenset[str] = frozenset()
    straight: str = ""
    continued: str = ""
    last_straight: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Line:
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


def quoted_string(line: Line, at: int, number: int, carry: Carry) -> int:
    """Take the string, or the opening of a triple-quoted one, that begins at `at`; give the place behind it."""
    text = line.text
    char = text[at]
    family = DOUBLE if char in DOUBLE else SINGLE
    quote = '"' if family is DOUBLE else "'"
    run = text[at : at + _TRIPLE]
    if len(run) == _TRIPLE and all(other in family for other in run):
        carry.family = family
        carry.straight = quote * _TRIPLE if run == quote * _TRIPLE else ""
        line.put(quote * _TRIPLE, None if carry.straight else RepairKind.QUOTES)
        return close_triple(line, at + _TRIPLE, number, carry)
    if char == "‚" and line.before and line.before not in _EXPECTS:
        line.put(",", RepairKind.OPERATOR)
        return at + 1
    if char == quote and not line.loose:
        line.put(quote)
        return straight_string(line, at + 1, quote, carry)
    return _family_string(line, at, family, quote)


def close_triple(line: Line, at: int, number: int, carry: Carry) -> int:
    """Go on inside a triple-quoted string. Straight quotes end with straight ones as long as there are any."""
    text = line.text
    family = carry.family
    quote = '"' if family is DOUBLE else "'"
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


def straight_string(line: Line, at: int, quote: str, carry: Carry) -> int:
    """Go on inside a string of straight quotes from `at`; give the place behind it."""
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


def _family_string(line: Line, at: int, family: frozenset[str], quote: str) -> int:
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
    straight = _quoted(text[at + 1 : end], quote)
    line.put(straight, None if straight == text[at : end + 1] else RepairKind.QUOTES)
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


def guillemet_string(line: Line, at: int) -> int:
    """Take `«text»` for a string where a value is expected; 0 when it is a shift."""
    if line.no_guillemet or (line.before and line.before not in _EXPECTS):
        return 0
    end = line.text.find("»", at)
    if end < 0:
        line.no_guillemet = True
        return 0
    line.put(_quoted(line.text[at + 1 : end], '"'), RepairKind.QUOTES)
    return end + 1
