"""Light colouring of Python for reading, tracebacks and differences: code to escaped HTML.

Law: linear in the length of the code, whatever it is; it is a reader's help and never claims to parse.
"""

import keyword
import re

from markupsafe import Markup

_LIMIT = 40_000
"""Characters beyond which code is shown plain: colouring it would only cost."""

# Every alternative begins differently or is tried once a position, and none repeats a repetition: no backtracking
# beyond one token. A string that is not closed ends with its line (or, in three quotes, with the code).
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[rbfuRBFU]{0,2}(?:'{3}(?:[^'\\]|\\.|'(?!''))*(?:'{3}|\Z)|"{3}(?:[^"\\]|\\.|"(?!""))*(?:"{3}|\Z)
        |'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?))
    |(?P<number>\b(?:0[xXbBoO][0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?j?))
    |(?P<word>[^\W\d]\w*)
    |(?P<at>@[\w.]+)""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS = frozenset({"None", "True", "False"})
_WORDS = frozenset(keyword.kwlist) - _CONSTANTS


# What turns text around unseen: code that reads otherwise than it runs (CVE-2021-42574). None of it occurs in markup.
_HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def coloured(code: str, language: str) -> Markup:
    """Give the code as HTML, with `<span class="c-…">` about what stands out and unseen marks made visible."""
    html = _coloured(code, language)
    if _HIDDEN.search(html) is None:
        return html
    pieces = (Markup("{}").format(piece) if _HIDDEN.match(piece) is None else _mark(piece) for piece in _cut(html))
    return Markup("").join(pieces)


def _cut(html: Markup) -> list[Markup]:
    """Cut at the unseen marks, each a piece of its own; cutting keeps `Markup`, for what is cut is escaped already."""
    pieces: list[Markup] = []
    end = 0
    for found in _HIDDEN.finditer(html):
        pieces += [html[end : found.start()], html[found.start() : found.end()]]
        end = found.end()
    return [*pieces, html[end:]]


def _mark(piece: str) -> Markup:
    return Markup('<span class="c-mark" data-mark="U+{:04X}"></span>').format(ord(piece))


def _coloured(code: str, language: str) -> Markup:
    if len(code) > _LIMIT:
        return Markup("{}").format(code)
    match language:
        case "python":
            return _python(code)
        case "diff":
            return Markup("\n").join(_changed(line) for line in code.split("\n"))
        case "pytb":
            return _last_line(code)
        case _:
            return Markup("{}").format(code)


def _python(code: str) -> Markup:
    parts: list[Markup] = []
    end = 0
    for found in _TOKEN.finditer(code):
        name = _class(found)
        if name is None:
            continue
        parts.append(Markup('{}<span class="c-{}">{}</span>').format(code[end : found.start()], name, found.group()))
        end = found.end()
    parts.append(Markup("{}").format(code[end:]))
    return Markup("").join(parts)


def _class(found: re.Match[str]) -> str | None:
    kind = found.lastgroup
    if kind != "word":
        return kind
    word = found.group()
    if word in _CONSTANTS:
        return "number"
    return "keyword" if word in _WORDS else None


def _changed(line: str) -> Markup:
    if line.startswith(("+++", "---", "@@")):
        return Markup('<span class="c-place">{}</span>').format(line)
    if line.startswith("+"):
        return Markup("<ins>{}</ins>").format(line)
    if line.startswith("-"):
        return Markup("<del>{}</del>").format(line)
    return Markup("{}").format(line)


def _last_line(code: str) -> Markup:
    head, newline, last = code.rstrip("\n").rpartition("\n")
    return Markup('{}{}<span class="c-error">{}</span>').format(head, newline, last)
