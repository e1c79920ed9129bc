"""Notebook lines that are not Python: shell lines and magics are explained and set aside, never passed to a shell.

Law: `%timeit`, `%%timeit` and `# %%` stay: the harness owns them. A line set aside keeps its number.
"""

import re

from bot.engine.intake.lex import Lexer
from bot.engine.intake.types import Notice, NoticeKind

_TIMEIT = re.compile(r"%%?timeit\b")
_TIME = re.compile(r"%time +(?=\S)")
_MAGIC = re.compile(r"%%?[A-Za-z_]\w*")
_SHELL = re.compile(r"!{1,2}[^=\s]|\$ +[A-Za-z.]|(?:python[\d.]* -m )?pip[\d.]* +(?:un)?install\b|conda +install\b")
_ASSIGNED = re.compile(r"[A-Za-z_][\w, ]*= *(?:![^=]|%[A-Za-z])")
_HELP = re.compile(r"\?{1,2}[A-Za-z_][\w.]*$|[A-Za-z_][\w.]*\?{1,2}$")
_SEPARATOR = re.compile(r"# *%%")
_FOREIGN = frozenset(
    "bash sh script html javascript js latex markdown svg cmd perl ruby writefile file cython cu cuda cpp sql R".split()
)
_SIGNS = re.compile(r"[%!?$]|install")
_LONG = 60


def explain(lines: list[str]) -> tuple[list[str], list[Notice], int]:
    """Set aside what is not Python; give the lines, the notices, and how many `%timeit` lines stay."""
    if not any(_SIGNS.search(line) for line in lines):
        return lines, [], 0
    kept: list[str] = []
    notices: list[Notice] = []
    lexer = Lexer()
    foreign = False
    timed = 0
    for number, line in enumerate(lines, 1):
        shown = line.strip()
        if foreign and not _SEPARATOR.match(shown):
            kept.append(_aside(line, shown))
            continue
        foreign = False
        if not lexer.fresh:
            lexer.feed(line)
            kept.append(line)
            continue
        if _TIMEIT.match(shown):
            timed += 1
            kept.append(line)
            continue
        changed, kind = _one(line, shown)
        foreign = shown.startswith("%%") and shown[2:].partition(" ")[0] in _FOREIGN
        if kind is not None:
            text = shown if len(shown) <= _LONG else shown[: _LONG - 1] + "…"
            notices.append(Notice(kind, number, (("text", text),)))
        lexer.feed(changed)
        kept.append(changed)
    return kept, notices, timed


def _one(line: str, shown: str) -> tuple[str, NoticeKind | None]:
    if _SHELL.match(shown):
        return _aside(line, shown), NoticeKind.SHELL_LINE
    if found := _TIME.match(shown):
        # `%time statement` is the statement; how long it takes is what the runner measures anyway
        indent = line[: len(line) - len(line.lstrip())]
        return indent + shown[found.end() :], NoticeKind.MAGIC_LINE
    if _MAGIC.match(shown) or _HELP.match(shown):
        return _aside(line, shown), NoticeKind.MAGIC_LINE
    if _ASSIGNED.match(shown):
        kind = NoticeKind.SHELL_LINE if "!" in shown.partition("=")[2][:3] else NoticeKind.MAGIC_LINE
        return _aside(line, shown), kind
    return line, None


def _aside(line: str, shown: str) -> str:
    """Turn a line into a comment; in a block into a statement that does nothing, so that the block stays one."""
    if not shown:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    # a comment of `%%` would read as the start of a cell
    text = f"# {shown}" if not shown.startswith("%%") else f"# ({shown})"
    return f"{indent}pass  {text}" if indent else text
