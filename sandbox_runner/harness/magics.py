"""Takes IPython's `%timeit` and `%%timeit` out of a source, so that Python can read the rest.

Law: a source that Python reads as it is has no magics (a line may begin with a modulo sign). Lines keep their
numbers. Options (`-n`, `-r`, ...) are read and let go: how often to run is decided outside.
"""

import ast
import re
import textwrap
from dataclasses import dataclass, field
from typing import NoReturn

_MAGIC = re.compile(r"^(\s*)(%{1,2}|!)(\w*)(.*)$")
_OPTION = re.compile(r"^\s*-(?:[nrp]\s*\d+|[tcqov]\b)")


class MagicError(SyntaxError):
    """A magic that is not `%timeit`, or one where none can be."""


@dataclass(frozen=True)
class Timed:
    """What one magic times: its statements, the statements to run once before, its own text and line."""

    line: int
    text: str
    body: list[ast.stmt]
    setup: list[ast.stmt] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """The rest of a source, as text of the same lines and as a tree, and what its magics time."""

    text: str
    tree: ast.Module
    timed: list[Timed]


def take_out(source: str, filename: str) -> Found:
    """Parse `source`, with its magics taken out where Python cannot read it otherwise.

    Raises:
        SyntaxError: Python cannot read it, or a magic (`MagicError`) cannot be timed; the line is the learner's.
    """
    try:
        return Found(source, parse(source, filename), [])
    except SyntaxError:
        lines = source.splitlines()
        if not any(_MAGIC.match(line) for line in lines):
            raise
    timed: list[Timed] = []
    rest = list(lines)
    taken = 0
    for i, line in enumerate(lines):
        match = _MAGIC.match(line)
        if match is None or i < taken:
            continue
        indent, sign, name, tail = match.groups()
        if name != "timeit" or sign == "!" or indent:
            code = "a magic inside a block" if indent else f"{sign}{name} is not understood, only %timeit"
            _refuse(code, filename, i + 1, line)
        while option := _OPTION.match(tail):
            tail = tail[option.end() :]
        taken = i + 1 if sign == "%" else _end_of_cell(lines, i + 1)
        rest[i:taken] = [""] * (taken - i)
        timed.append(_one(lines, i, taken, tail.strip(), filename))
    return Found("\n".join(rest), parse("\n".join(rest), filename), timed)


def _one(lines: list[str], start: int, end: int, tail: str, filename: str) -> Timed:
    whole_cell = end > start + 1 or lines[start].startswith("%%")
    text = "\n".join(lines[start + 1 : end]) if whole_cell else tail
    body = _at_line(text, start + 1 + whole_cell, filename)
    if not body:
        _refuse("%timeit has nothing to time", filename, start + 1, lines[start])
    setup = _at_line(tail, start + 1, filename) if whole_cell and tail else []
    return Timed(start + 1, textwrap.dedent(text), body, setup)


def _end_of_cell(lines: list[str], start: int) -> int:
    """Find where a `%%timeit` body ends: at the next cell mark or cell magic, else with the source."""
    for i in range(start, len(lines)):
        if re.match(r"#\s?%%|%%", lines[i]):
            return i
    return len(lines)


def _at_line(text: str, line: int, filename: str) -> list[ast.stmt]:
    return parse("\n" * (line - 1) + text, filename).body


def parse(source: str, filename: str) -> ast.Module:
    """Parse, with every way in which Python refuses a text made one.

    Raises:
        SyntaxError: it does.
    """
    try:
        return ast.parse(source, filename)
    except (ValueError, RecursionError, MemoryError) as refused:
        if isinstance(refused, SyntaxError):
            raise
        text = "too deeply nested" if not isinstance(refused, ValueError) else str(refused)
        raise SyntaxError(text, (filename, None, None, None)) from None


def _refuse(text: str, filename: str, line: int, content: str) -> NoReturn:
    raise MagicError(text, (filename, line, 1, content))
