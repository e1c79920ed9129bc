"""Lossless clean-up of code, what should be said about it, and the two candidates made of it.

Law: the first candidate has lost nothing but marks that Python cannot see; every other change is a repair that shows.
"""

import re
import unicodedata

from bot.engine.intake.indent import repair_indent
from bot.engine.intake.lex import INVISIBLE, QUIET, Lexer, Part, without_invisible
from bot.engine.intake.repair import repair_signs
from bot.engine.intake.tables import CYRILLIC_GREEK
from bot.engine.intake.types import Candidate, Notice, NoticeKind, Repair, RepairKind

_NAME = re.compile(r"[^\W\d]\w*")
_MOST = 8
"""Notices of one kind that are worth reading."""


def clean_marks(lines: list[str]) -> tuple[list[str], list[Notice]]:
    """Take marks that nobody sees off the code, leave them in strings and comments, and say so."""
    if all(line.isascii() for line in lines):
        return lines, []
    cleaned: list[str] = []
    removed: list[int] = []
    inside: list[Notice] = []
    lexer = Lexer()
    for number, line in enumerate(lines, 1):
        pieces = lexer.feed(line)
        if line.isascii():
            cleaned.append(line)
            continue
        parts: list[str] = []
        for piece in pieces:
            text = line[piece.start : piece.end]
            if piece.part is Part.CODE:
                text = without_invisible(text)
            elif piece.part is Part.STRING:
                inside.extend(_marks(text, number))
            parts.append(text)
        whole = "".join(parts)
        if whole != line:
            removed.append(number)
        cleaned.append(whole)
    notices = [Notice(NoticeKind.MARKS_REMOVED, removed[0], (("count", str(len(removed))),))] if removed else []
    return cleaned, notices + inside[:_MOST]


def _marks(text: str, line: int) -> list[Notice]:
    seen = sorted({char for char in text if char in INVISIBLE and char not in QUIET})
    return [Notice(NoticeKind.MARKS_IN_STRING, line, _named(char)) for char in seen]


def _named(char: str) -> tuple[tuple[str, str], ...]:
    return ("code", f"U+{ord(char):04X}"), ("name", unicodedata.name(char, "?"))


def homoglyphs(lines: list[str]) -> list[Notice]:
    """Name Cyrillic and Greek letters in names that look Latin; a name that is plainly Greek, like `π`, is not one."""
    if all(line.isascii() for line in lines):
        return []
    notices: list[Notice] = []
    told: set[tuple[str, str]] = set()
    lexer = Lexer()
    for number, line in enumerate(lines, 1):
        for piece in lexer.feed(line):
            if piece.part is not Part.CODE or line.isascii() or len(notices) >= _MOST:
                continue
            for found in _NAME.finditer(line, piece.start, piece.end):
                name = found.group()
                for char in _strange(name):
                    if (name, char) not in told and len(notices) < _MOST:
                        told.add((name, char))
                        notices.append(
                            Notice(NoticeKind.HOMOGLYPH, number, (("word", name), ("letter", char), *_named(char)))
                        )
    return notices


def _strange(name: str) -> list[str]:
    if name.isascii():
        return []
    foreign = sorted({char for char in name if "\u0370" <= char <= "\u052f"})
    if not foreign or not name.translate(CYRILLIC_GREEK).isascii():
        latin = any(char.isascii() and char.isalpha() for char in name)
        return [char for char in foreign if ord(char) in CYRILLIC_GREEK] if latin else []
    return foreign


def has_code(lines: list[str]) -> bool:
    """Whether anything but comments and empty lines is there."""
    lexer = Lexer()
    return any(
        piece.part is not Part.COMMENT and line[piece.start : piece.end].strip()
        for line in lines
        for piece in lexer.feed(line)
    )


def candidates(
    lines: list[str], restored: list[str] | None = None, kind: RepairKind = RepairKind.MARKUP
) -> tuple[Candidate, ...]:
    """Make the candidates: the code as it is, and, when it differs, the code repaired.

    `restored` is the same code line for line with a damage of `kind` undone that does not lie in single signs.
    """
    plain = Candidate("\n".join(lines))
    base = lines if restored is None else restored
    signs = repair_signs(base)
    indented, moved = repair_indent([after for after, _ in signs])
    repairs: list[Repair] = []
    for number, (before, after) in enumerate(zip(lines, indented, strict=True)):
        if before == after:
            continue
        kinds = list(signs[number][1])
        if restored is not None and restored[number] != before:
            kinds.insert(0, kind)
        if number in moved:
            kinds.append(moved[number])
        first, *others = dict.fromkeys(kinds)
        repairs.append(Repair(number + 1, before, after, first, tuple(others)))
    return (plain, Candidate("\n".join(indented), tuple(repairs))) if repairs else (plain,)
