"""What a lesson's code files must keep: they parse, fit a phone, and hold the cells and functions promised of them.

Law: code is only parsed here, never run; `# %% name` cells are split as the runner splits them.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

LINE_LIMIT = 60
"""Characters of a code line, so that it needs little scrolling at 360 px."""

_CELL = re.compile(r"^# %%(?:[ \t]+(?P<name>.*?))?[ \t]*$", re.MULTILINE)
_CELL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_ .()@*+-]{0,23}")
_FIRST_STRONG = re.compile("[A-Za-z\u0590-\u08ff]")
_INVISIBLE = re.compile("[\u00a0\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a code file: its line from 1, what is wrong, and what would be right."""

    line: int
    wrong: str
    right: str


def cells(source: str) -> list[tuple[str, int]]:
    """Return the names of the cells with their lines from 1, the set-up first; without a mark there is none."""
    return [
        ((found["name"] or "").strip(), source.count("\n", 0, found.start()) + 1) for found in _CELL.finditer(source)
    ]


def variants(source: str) -> list[str]:
    """Return the names of the cells that are timed: all but the first, which is the set-up."""
    return [name for name, _ in cells(source)[1:]]


def mistakes(source: str) -> Iterator[Mistake]:
    """Yield what is wrong with any code file that a learner sees."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error)
        yield Mistake(getattr(error, "lineno", None) or 1, f"Python cannot read this ({reason})", "mend the code")
    for number, line in enumerate(source.split("\n"), 1):
        if len(line) > LINE_LIMIT:
            wrong = f"the line has {len(line)} characters"
            yield Mistake(number, wrong, f"break it: at most {LINE_LIMIT} fit a phone")
        if "\t" in line:
            yield Mistake(number, "a tab", "use spaces")
        if found := _INVISIBLE.search(line):
            yield Mistake(number, f"the invisible character U+{ord(found[0]):04X}", "delete it")
        strong = _FIRST_STRONG.search(line)
        if strong and strong[0] > "z":
            wrong = "the first letter of the line is Arabic, so chats draw the line from right to left"
            yield Mistake(number, wrong, "put the comment behind code, or write it in English")
    if not source.endswith("\n"):
        yield Mistake(source.count("\n") + 1, "the last line has no end", "end the file with a new line")


def timing_mistakes(source: str) -> Iterator[Mistake]:
    """Yield what keeps a file from being timed: a set-up cell and two variants with different names are needed."""
    found = cells(source)
    if len(found) < 3:  # noqa: PLR2004  (the set-up and two variants)
        right = "write a set-up cell and at least two variants, each after a line `# %% name`"
        yield Mistake(1, f"a timed example has {len(found)} cells", right)
    before = source[: _CELL.search(source).start()] if found else ""  # type: ignore[union-attr]
    if found and before.strip():
        yield Mistake(1, "code stands before the first `# %% name`", "put it into the set-up cell")
    seen: dict[str, int] = {}
    for name, line in found:
        if not _CELL_NAME.fullmatch(name):
            right = "name it with 1 to 24 Latin letters, digits and signs"
            yield Mistake(line, f"the cell's name is {name!r}", right)
        elif name in seen:
            yield Mistake(line, f"the cell {name} exists already on line {seen[name]}", "give it another name")
        seen.setdefault(name, line)


def exercise_mistakes(source: str) -> Iterator[Mistake]:
    """Yield which of `make(rng, n)` and `solve(...)` an exercise's file lacks, or defines otherwise."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # said by `mistakes` already
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for name, example in (("make", "def make(rng, n):"), ("solve", "def solve(x):")):
        if name not in functions:
            yield Mistake(1, f"the file defines no {name}", f"define it at the top level: `{example}`")
    if "make" in functions and [each.arg for each in functions["make"].args.args] != ["rng", "n"]:
        line = functions["make"].lineno
        yield Mistake(line, "make takes other arguments than rng and n", "write `def make(rng, n):`")
