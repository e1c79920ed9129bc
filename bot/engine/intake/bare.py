"""Code that was pasted without a mark, told from the talk around it, and tracebacks told from both.

Law: a line inside a string is never set aside; lines of code keep their numbers among themselves.
"""

import re
from dataclasses import dataclass, field

from bot.engine.intake.lex import Lexer, without_invisible
from bot.engine.intake.lines import Look, adjacent, arabic, computes, latin_start, look, mask
from bot.engine.intake.types import Notice, NoticeKind

_FRAME = re.compile(r"\s*File \"[^\"]*\", line \d+")
_ERROR = re.compile(
    r"(?:[A-Za-z_][\w.]*(?:Error|Exception|Warning|Interrupt|Exit|Iteration|Group)|[\w.]+\.[A-Z]\w+)\b(?::|$)"
)
_NAMED = re.compile(r"[A-Z]\w*: ")
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
_SHOWN = 60
_HEADER = "Traceback (most recent call last)"
_RUN = re.compile(
    r"(?:/run\b|شغل(?!ت|نا)|تشغل|تشغيل|نفذ(?!ت)|تنفذ|تنفيذ|جرب(?!ت)|تجرب|احسب|قيس|قس\b|run\b|execute\b|exec\b|time\b)"
)
_TASHKEEL = re.compile(r"[\u064b-\u0652\u0670\u0640]")


@dataclass(slots=True)
class Bare:
    """Bare lines told apart: the code (empty when there is none), the last line of a traceback, what was set aside."""

    code: list[str] = field(default_factory=list)
    last_line: str | None = None
    notices: list[Notice] = field(default_factory=list)


def asks_to_run(prose: str) -> bool:
    """Whether prose asks to have something run, in Arabic of any dialect or in English."""
    folded = _TASHKEEL.sub("", without_invisible(prose)).replace("أ", "ا").replace("إ", "ا").lower()
    return any(_RUN.match(word) for word in re.split(r"[\s،,.:؛!؟?()]+", folded))


def set_tracebacks_aside(lines: list[str]) -> tuple[list[str], str | None, int]:
    """Blank the lines of tracebacks; give the lines, the last traceback's last line, and how many lines were blanked.

    A traceback quoted inside a string of the code stays.
    """
    if not any(_HEADER in line or _FRAME.match(line) for line in lines):
        return lines, None, 0
    kept: list[str] = []
    last: str | None = None
    blanked = 0
    lexer = Lexer()
    at = 0
    while at < len(lines):
        line = lines[at]
        if not lexer.in_string and _begins_traceback(lines, at):
            end, last_line = _traceback_end(lines, at)
            last = last_line or last or ""
            kept.extend([""] * (end - at))
            blanked += end - at
            at = end
            lexer = Lexer()
            continue
        if look(line) is not Look.PROSE:
            lexer.feed(line)
        kept.append(line)
        at += 1
    return kept, last, blanked


def _begins_traceback(lines: list[str], start: int) -> bool:
    shown = without_invisible(lines[start]).strip()
    at = shown.find(_HEADER)
    if at == 0 or (at > 0 and shown[:at].strip().isidentifier()) or _FRAME.match(lines[start]):
        return True
    # a notebook draws a line above its tracebacks
    ruled = bool(shown) and not shown.strip("-")
    return ruled and start + 1 < len(lines) and _HEADER in lines[start + 1]


def _traceback_end(lines: list[str], start: int) -> tuple[int, str]:
    """Give the place behind the traceback, and its last line (empty when it was cut off)."""
    last = ""
    at = start
    framed = False
    while at < len(lines):
        line = without_invisible(lines[at])
        if (_ERROR.match(line) or (framed and _NAMED.match(line))) and _HEADER not in line:
            last = line.strip()
            at += 1
            beyond = at
            while beyond < len(lines) and not lines[beyond].strip():
                beyond += 1
            if beyond < len(lines) and (lines[beyond].startswith(_CHAINED) or _begins_traceback(lines, beyond)):
                at = beyond + 1
                continue
            return at, last
        framed = framed or _FRAME.match(line) is not None
        if framed and line.strip() and not line[0].isspace() and arabic(line):
            return at, last
        at += 1
    return at, last


def part(lines: list[str]) -> Bare:
    """Tell code from talk. Talk before and behind the code is cut off, talk amid it becomes an empty line."""
    bare = Bare()
    lines, bare.last_line, blanked = set_tracebacks_aside(lines)
    if blanked:
        bare.notices.append(Notice(NoticeKind.TRACEBACK_SET_ASIDE))
    looks = _looks(lines)
    strong = [at for at, seen in enumerate(looks) if seen is Look.CODE] or _reckoning(lines, looks)
    if not strong:
        return bare
    first, last = _bounds(lines, looks, strong)
    lead = _lead(lines, first)
    if lead:
        first -= 1
    head, tail = lines[:first], lines[last:]
    bare.code = [*head] if not any(line.strip() for line in head) else []
    if lead or any(line.strip() for line in [*head, *tail]):
        bare.notices.append(Notice(NoticeKind.PROSE_SET_ASIDE))
    for at in range(first, last):
        if lead and at == first:
            bare.code.append(lead)
        elif looks[at] is Look.PROSE:
            bare.code.append("")
            text = lines[at].strip()[:_SHOWN]
            bare.notices.append(Notice(NoticeKind.PROSE_AMID, len(bare.code), (("text", text),)))
        else:
            bare.code.append(lines[at])
    return bare


def _reckoning(lines: list[str], looks: list[Look]) -> list[int]:
    """Give the lines of arithmetic of a text of several lines without talk: a single line may well be an answer."""
    if len(lines) < 2 or any(seen in {Look.PROSE, Look.COMMENT} for seen in looks):  # noqa: PLR2004 - several
        return []
    found = [at for at, seen in enumerate(looks) if seen is Look.PERHAPS]
    return found if any(computes(lines[at]) for at in found) else []


def _looks(lines: list[str]) -> list[Look]:
    looks: list[Look] = []
    lexer = Lexer(loose=True)
    for line in lines:
        if lexer.in_string:
            seen = Look.PERHAPS
            lexer.feed(line)
        else:
            seen = look(line)
            indented = line[:1] in {" ", "\t", "\u00a0"}
            if seen is Look.PROSE and (lexer.depth or indented) and not _surely_talk(line):
                seen = Look.PERHAPS
            if seen is not Look.PROSE:
                lexer.feed(line)
        looks.append(seen)
    return looks


def _surely_talk(line: str) -> bool:
    """Whether even an indented line, or one inside brackets, is talk: Arabic words side by side, no string."""
    plain = mask(line.strip())
    return arabic(plain) and adjacent(plain) and '""' not in plain


def _bounds(lines: list[str], looks: list[Look], strong: list[int]) -> tuple[int, int]:
    """Widen the stretch of sure code by what may belong to it: comments, brackets, indented lines."""
    first, last = strong[0], strong[-1] + 1
    while first and looks[first - 1] in {Look.BLANK, Look.COMMENT, Look.PERHAPS}:
        if looks[first - 1] is Look.PERHAPS and not _belongs_above(lines[first - 1]):
            break
        first -= 1
    while first < strong[0] and looks[first] is Look.BLANK:
        first += 1
    while last < len(lines) and looks[last] in {Look.BLANK, Look.COMMENT, Look.PERHAPS}:
        last += 1
    while last > first and looks[last - 1] is Look.BLANK:
        last -= 1
    return first, last


def _belongs_above(line: str) -> bool:
    plain = mask(line.strip())
    return not arabic(plain) and not adjacent(plain) and not plain.endswith((":", "?", "!", "."))


def _lead(lines: list[str], first: int) -> str:
    """Give the code that begins on the line of the command before it: `شغل: import numpy`."""
    return _behind_command(lines[first - 1]) if first else ""


def behind_command(lines: list[str]) -> str:
    """Give the code of a single line that follows a command to run it on the same line; empty when there is none."""
    filled = [line for line in lines if line.strip()]
    return _behind_command(filled[0]) if len(filled) == 1 else ""


def _behind_command(line: str) -> str:
    shown = without_invisible(line)
    at = len("/run") if shown.lstrip().startswith("/run") else latin_start(shown)
    head, tail = shown[:at], shown[at:].strip()
    if tail and asks_to_run(head) and look(tail) is Look.CODE:
        plain = mask(tail)
        if not (arabic(plain) or adjacent(plain)):
            return tail
    return ""
