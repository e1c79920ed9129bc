"""Indentation that a paste has shifted or mixed, put right only where one reading alone is possible.

Law: what can be read in two ways is left for the learner, with the parser's error.
"""

from dataclasses import dataclass

from bot.engine.intake.lex import Lexer, Part
from bot.engine.intake.types import RepairKind

_WIDTHS = (2, 4, 8)


@dataclass(frozen=True, slots=True)
class _Row:
    """A line that begins a statement: its place, its white space, and whether the statement before opened a block."""

    at: int
    space: str
    after_colon: bool


def _rows(lines: list[str]) -> list[_Row]:
    rows: list[_Row] = []
    lexer = Lexer()
    colon = False
    for at, line in enumerate(lines):
        fresh = lexer.fresh
        pieces = lexer.feed(line)
        significant = [
            piece for piece in pieces if piece.part is not Part.COMMENT and line[piece.start : piece.end].strip()
        ]
        if not significant:
            continue
        if fresh:
            rows.append(_Row(at, line[: len(line) - len(line.lstrip(" \t"))], colon))
        end = significant[-1]
        colon = end.part is Part.CODE and line[end.start : end.end].rstrip().endswith(":") and lexer.fresh
    return rows


def _depths(rows: list[_Row], width: int, shift: int = 0) -> list[int] | None:
    """Give each row's depth with tabs `width` wide, all rows but the first moved left; None if that is no Python."""
    stack = [0]
    depths: list[int] = []
    for number, row in enumerate(rows):
        column = len(row.space.expandtabs(width)) - (shift if number else 0)
        if row.after_colon:
            if column <= stack[-1]:
                return None
            stack.append(column)
        else:
            while len(stack) > 1 and stack[-1] > column:
                stack.pop()
            if stack[-1] != column:
                return None
        depths.append(len(stack))
    return depths


def repair_indent(lines: list[str]) -> tuple[list[str], dict[int, RepairKind]]:
    """Give the lines with their indentation put right, and which lines (from 0) were changed."""
    rows = _rows(lines)
    if not rows:
        return lines, {}
    if any("\t" in row.space for row in rows):
        return _mixed(lines, rows)
    if _depths(rows, 8) is not None:
        return lines, {}
    return _shifted(lines, rows)


def _mixed(lines: list[str], rows: list[_Row]) -> tuple[list[str], dict[int, RepairKind]]:
    wide, narrow = _depths(rows, 8), _depths(rows, 1)
    if wide is not None and wide == narrow:
        return lines, {}
    readings = {width: depths for width in _WIDTHS if (depths := _depths(rows, width)) is not None}
    if len({tuple(depths) for depths in readings.values()}) != 1:
        return lines, {}
    width = max(readings)
    out = list(lines)
    changed: dict[int, RepairKind] = {}
    for row in rows:
        if "\t" in row.space:
            out[row.at] = row.space.expandtabs(width) + lines[row.at][len(row.space) :]
            changed[row.at] = RepairKind.TABS
    return out, changed


def _shifted(lines: list[str], rows: list[_Row]) -> tuple[list[str], dict[int, RepairKind]]:
    """Undo a shift of the whole, a stray space before the first line, or the loss of the first line's indentation."""
    first = len(rows[0].space)
    least = min(len(row.space) for row in rows)
    rest = min((len(row.space) for row in rows[1:]), default=0)
    if least:
        moved = [_Row(row.at, row.space[least:], row.after_colon) for row in rows]
        return _moved(lines, rows, least, 0) if _depths(moved, 8) is not None else (lines, {})
    if first:
        stray = [_Row(rows[0].at, "", rows[0].after_colon), *rows[1:]]
        if _depths(stray, 8) is not None:
            out = list(lines)
            out[rows[0].at] = lines[rows[0].at].lstrip(" ")
            return out, {rows[0].at: RepairKind.INDENT}
        return lines, {}
    if rest and _depths(rows, 8, shift=rest) is not None:
        return _moved(lines, rows, rest, 1)
    return lines, {}


def _moved(lines: list[str], rows: list[_Row], by: int, skip: int) -> tuple[list[str], dict[int, RepairKind]]:
    """Move statements left, and with them the comments and the lines inside brackets, never a line inside a string."""
    out = list(lines)
    changed: dict[int, RepairKind] = {}
    lexer = Lexer()
    begin = rows[skip].at if skip < len(rows) else len(lines)
    for at, line in enumerate(lines):
        movable = not lexer.in_string
        lexer.feed(line)
        if at >= begin and movable and line.strip():
            lead = len(line) - len(line.lstrip(" "))
            if lead:
                out[at] = line[min(by, lead) :]
                changed[at] = RepairKind.INDENT
    return out, changed
