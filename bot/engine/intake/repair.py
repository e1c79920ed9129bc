"""The one repair pass: what clients and keyboards did to code outside strings and comments, undone line by line.

Law: linear; the content of a string is never changed; a line stays a line. What is proposed is shown, not assumed.
"""

import keyword
import re
import unicodedata

from bot.engine.intake.lex import INVISIBLE
from bot.engine.intake.quotes import (
    DOUBLE,
    SINGLE,
    Carry,
    Line,
    close_triple,
    guillemet_string,
    quoted_string,
    straight_string,
)
from bot.engine.intake.tables import CYRILLIC_GREEK, ENTITIES, ESCAPED, SIGNS
from bot.engine.intake.types import RepairKind

_PLAIN = re.compile(r"[^\W\d]\w*|[ \t]+|\d[\d_.]*", re.ASCII)
_NEEDS_A_LOOK = re.compile(r"[\"'\\&#]")
_THOUSAND = 3


def repair_signs(lines: list[str]) -> list[tuple[str, tuple[RepairKind, ...]]]:
    """Repair each line; give the line after, and the kinds of damage found in it."""
    carry = Carry()
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


def _line(text: str, number: int, carry: Carry, *, loose: bool) -> Line:
    line = Line(text, loose)
    at = 0
    if carry.family:
        at = close_triple(line, 0, number, carry)
    elif carry.continued:
        at = straight_string(line, 0, carry.continued, carry)
    while at < len(text):
        char = text[at]
        if char == "#":
            line.out.append(text[at:])
            break
        if char in DOUBLE or char in SINGLE:
            at = quoted_string(line, at, number, carry)
        elif char.isascii():
            at = _ascii(line, at)
        else:
            at = _beyond_ascii(line, at)
    return line


def _ascii(line: Line, at: int) -> int:
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


def _backslash(line: Line, at: int) -> int:
    text = line.text
    if text[at + 1] in ESCAPED:
        line.kinds.append(RepairKind.MARKUP)
        return at + 1
    if not text[at + 1 :].strip():
        line.put("\\", RepairKind.SPACE)
        return len(text)
    line.put("\\")
    return at + 1


def _entity(line: Line, at: int, entity: str, sign: str) -> int:
    begin = at + len(entity)
    line.put(sign, RepairKind.MARKUP)
    if sign in {'"', "'"}:
        end = line.text.find(entity, begin)
        if end >= 0:
            line.put(line.text[begin:end] + sign)
            return end + len(entity)
    return begin


def _beyond_ascii(line: Line, at: int) -> int:
    text = line.text
    char = text[at]
    if char == "«" and (closing := guillemet_string(line, at)):
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


def _word(line: Line, at: int) -> int:
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


def _separator(line: Line, at: int) -> int:
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
