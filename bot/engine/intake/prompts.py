"""Prompts of interactive sessions, quote marks and line numbers in front of the code, taken off.

Law: what stands behind a prompt is kept as it is; the output of a session is dropped, never run.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from bot.engine.intake.lex import Lexer

# a chat client may have turned `>>` into a guillemet and `...` into one sign
_PRIMARY = re.compile(r"[ \t\u00a0]*(?:>>>|»>|>»|›››|&gt;&gt;&gt;)(?:[ \u00a0]|$|(?=[^>=]))")
_SECONDARY = re.compile(r"[ \t\u00a0]*(?:\.\.\.|…)(?:[ \u00a0]|$)")
_CELL = re.compile(r"[ \t]*In ?\[ ?\d* ?\]: ?")
_CELL_MORE = re.compile(r"[ \t]+\.{3,}: ?")
_CELL_OUT = re.compile(r"[ \t]*Out ?\[ ?\d* ?\]: ?")
_NUMBER = re.compile(r"[ \t]*(\d{1,5})(?:[.:|)]?)(?=[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Unprompted:
    """The code of a session; `dropped` counts the lines of output."""

    lines: list[str]
    dropped: int


def is_session(lines: list[str]) -> bool:
    """Whether a session was pasted: a prompt stands at the beginning of a line and outside a string."""
    return first_prompt(lines) < len(lines)


def first_prompt(lines: list[str]) -> int:
    """Give the place of the first prompt that stands outside a string, or the number of lines."""
    lexer = Lexer()
    for at, line in enumerate(lines):
        if not lexer.in_string and (_PRIMARY.match(line) or _CELL.match(line)):
            return at
        lexer.feed(line)
    return len(lines)


def without_prompts(lines: list[str]) -> Unprompted:
    """Take the prompts off. An output line that repeats the text of the code above it is output, prompt or not."""
    code: list[str] = []
    dropped = 0
    in_code = False
    above: list[str] = []
    open_cell = False
    for line in lines:
        found = _PRIMARY.match(line) or _CELL.match(line)
        if found and not _printed(line, above):
            in_code = True
            rest = line[found.end() :]
            above = [rest]
            # a notebook's page shows `In [1]:` on a line of its own, and the whole cell below it
            open_cell = _CELL.match(line) is not None and not rest.strip()
            if not open_cell:
                code.append(rest)
            continue
        if open_cell and not _CELL_OUT.match(line):
            code.append(line)
            continue
        open_cell = False
        more = (_SECONDARY.match(line) or _CELL_MORE.match(line)) if in_code else None
        if more and not _CELL_OUT.match(line):
            rest = line[more.end() :]
            above.append(rest)
            code.append(rest)
            continue
        in_code = False
        dropped += bool(line.strip())
    return Unprompted(code, dropped)


def _printed(line: str, above: list[str]) -> bool:
    """Whether the statement above holds this whole line in quotes: then it printed it."""
    shown = line.strip()
    return bool(above) and any(f"{quote}{shown}{quote}" in above[-1] for quote in "\"'")


def without_quote_marks(lines: list[str]) -> list[str] | None:
    """Take `> ` off when every line has it; None when it is not so."""
    filled = [line for line in lines if line.strip()]
    if len(filled) < 2 or not all(line.startswith(">") and not line.startswith(">>") for line in filled):  # noqa: PLR2004
        return None
    return [line[2:] if line.startswith("> ") else line[1:] for line in lines]


def without_line_numbers(lines: list[str]) -> list[str] | None:
    """Take line numbers off that count up by one from line to line; None when there are none."""
    found = [(line, _NUMBER.match(line)) for line in lines]
    filled = [(line, match) for line, match in found if line.strip()]
    if len(filled) < 2 or any(match is None for _, match in filled):  # noqa: PLR2004
        return None
    numbered = [(line, match) for line, match in filled if match is not None]
    numbers = [int(match.group(1)) for _, match in numbered]
    if any(after != before + 1 for before, after in pairwise(numbers)):
        return None
    column = max(match.end() for _, match in numbered)
    gaps = [
        len(line) - match.end() - len(line[match.end() :].lstrip(" \t"))
        for line, match in numbered
        if _has(line, match)
    ]
    aligned = all(not line[match.end() : column].strip() for line, match in numbered)
    gap = min(gaps, default=0)
    bare: list[str] = []
    for line, match in found:
        if match is None or not line.strip():
            bare.append("")
        elif aligned:
            bare.append(line[column:])
        else:
            bare.append(line[match.end() + gap :])
    return _common(bare) if aligned else bare


def _has(line: str, match: re.Match[str]) -> bool:
    return bool(line[match.end() :].strip())


def _common(lines: list[str]) -> list[str]:
    gaps = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    gap = min(gaps, default=0)
    return [line[gap:] for line in lines]
