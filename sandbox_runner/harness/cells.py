"""Splits a learner's source into a set-up and variants, each variant a function over the set-up's globals.

Law: the learner's own line numbers and file name survive every step; what cannot be timed fairly is refused with a
code and a line (`CellError`), never guessed at. Standard library only; nothing here runs the learner's code.

Cells are written `# %% name`. The first cell is the set-up, each further one a variant. Without cells the last
statement is timed and all before it is the set-up; `%timeit` and `%%timeit` lines mark what is timed instead, each
with the names as they are at its place. A source that reads the clock itself runs whole, as it is; what stands between
two of its readings is timed after.
"""

import __future__

import ast
import io
import re
import tokenize
import types
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from . import magics, owntiming
from .functions import CellError, Variant, assigned, checked, compiled, refuse

MOST_VARIANTS = 8
MOST_SHARED = 8
LONGEST_NAME = 60
_MARKER = re.compile(r"#\s?%%(.*)", re.DOTALL)
_SETUP_NAMES = {"setup", "set-up", "set up", "إعداد", "الإعداد", "اعداد", "تهيئة", "التهيئة"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


@dataclass(frozen=True)
class Plan:
    """A source taken apart: imports that lead it, the rest of the set-up, the variants, and (code, line) remarks.

    The set-up is in pieces; a piece's flag says that its own time is wanted. `places` gives for each variant the
    number of pieces after which its names are taken, or is empty: after all. `own`: the source times itself.
    """

    filename: str
    imports: types.CodeType
    setup: tuple[tuple[types.CodeType, bool], ...]
    variants: tuple[Variant, ...]
    flags: int
    remarks: tuple[tuple[str, int], ...] = ()
    places: tuple[int, ...] = ()
    own: bool = False


@dataclass
class _Parts:
    """Statements of the set-up, what is timed, and the counts of statements at which the set-up is cut."""

    setup: list[ast.stmt]
    variants: list[Variant]
    cuts: list[int] = field(default_factory=list)
    regions: tuple[tuple[int, int], ...] = ()
    remarks: tuple[tuple[str, int], ...] = ()
    own: bool = False


def task(source: str, filename: str, names: Sequence[str]) -> Plan:
    """Take an exercise's source: all of it is set-up, and `solve(name=name, ...)` is what is timed.

    Raises:
        SyntaxError: Python cannot read it; the line is the learner's.
    """
    body = magics.parse(source.removeprefix("\ufeff"), filename).body
    line = next((s.lineno for s in body if isinstance(s, ast.FunctionDef) and s.name == "solve"), 1)
    call = ast.Call(
        ast.Name("solve", ast.Load()), [], [ast.keyword(name, ast.Name(name, ast.Load())) for name in names]
    )
    solve = ast.Expr(call, lineno=line, col_offset=0, end_lineno=line, end_col_offset=0)
    ast.fix_missing_locations(solve)
    return _checked(filename, _Parts(body, [Variant("solve", line, (solve,))]))


@dataclass(frozen=True)
class _Cell:
    name: str
    line: int
    body: list[ast.stmt] = field(default_factory=list)
    marked: bool = True


def plan(source: str, filename: str) -> Plan:
    """Take `source` apart.

    Raises:
        SyntaxError: Python cannot read it; the line is the learner's.
        CellError: it cannot be timed as it is.
    """
    source = source.removeprefix("\ufeff")
    found = magics.take_out(source, filename)
    tree = found.tree
    cells = _cells(tree.body, found.text, [one.line for one in found.timed])
    if found.timed:
        parts = _with_magics(cells, found.timed)
    elif len(cells) > 1:
        parts = _Parts(cells[0].body, [Variant(cell.name, cell.line, tuple(cell.body)) for cell in cells[1:]])
    else:
        body = cells[0].body if cells else []
        parts = _with_own_clock(body, source) or _last_statement(body, source)
    return _checked(filename, parts)


def _checked(filename: str, parts: _Parts) -> Plan:
    variants = parts.variants
    if len(variants) > MOST_VARIANTS:
        refuse("cells_many", variants[MOST_VARIANTS].line, f"at most {MOST_VARIANTS} variants are timed")
    seen: set[str] = set()
    for variant in variants:
        if variant.name in seen:
            refuse("cell_duplicate", variant.line, f"two variants are named {variant.name!r}")
        seen.add(variant.name)
    remarks = [*parts.remarks, *(remark for variant in variants for remark in checked(variant))]
    names = [assigned(variant.body) for variant in variants]
    shared = [
        tuple(name for name in mine if any(name in other for j, other in enumerate(names) if j != i))[:MOST_SHARED]
        for i, mine in enumerate(names)
    ]
    full = tuple(Variant(v.name, v.line, v.body, s) for v, s in zip(variants, shared, strict=True))
    leading = _leading_imports(parts.setup)
    imports = compile(ast.Module(parts.setup[:leading], []), filename, "exec", dont_inherit=True)
    flags = imports.co_flags & _FUTURES
    edges = sorted({leading, len(parts.setup), *(c for c in parts.cuts if c > leading), *_ends(parts.regions, leading)})
    pieces = tuple(
        (compile(ast.Module(parts.setup[a:b], []), filename, "exec", flags=flags, dont_inherit=True),
         (a, b) in parts.regions)
        for a, b in pairwise(edges)
    )  # fmt: skip
    places = tuple(edges.index(max(cut, leading)) for cut in parts.cuts)
    for variant in full:
        compiled(variant, filename, flags, {})
    return Plan(filename, imports, pieces, full, flags, tuple(remarks), places, parts.own)


def _ends(regions: tuple[tuple[int, int], ...], leading: int) -> list[int]:
    return [end for region in regions for end in region if end > leading]


def _cells(body: list[ast.stmt], text: str, timed: list[int]) -> list[_Cell]:
    cells = [_Cell("", 1, marked=False)]
    marks = _markers(text)
    for statement in body:
        while marks and marks[0][0] < _first_line(statement):
            cells.append(_Cell(marks[0][1], marks[0][0]))
            marks.pop(0)
        if marks and marks[0][0] <= (statement.end_lineno or statement.lineno):
            refuse("cell_inside", marks[0][0], "a cell begins in the middle of a statement")
        cells[-1].body.append(statement)
    cells += [_Cell(name, line) for line, name in marks]
    head, *marked = cells
    bare = all(_is_docstring(statement) for statement in head.body)
    if marked and (bare or marked[0].name.lower() in _SETUP_NAMES):
        marked[0].body[:0] = head.body
    else:
        marked = cells
    return _numbered(marked, timed)


def _numbered(cells: list[_Cell], timed: list[int]) -> list[_Cell]:
    kept: list[_Cell] = []
    for i, cell in enumerate(cells):
        end = cells[i + 1].line if i + 1 < len(cells) else 1 << 60
        if i and not cell.body and not any(cell.line < line < end for line in timed):
            if cell.name:
                refuse("cell_empty", cell.line, f"the cell {cell.name!r} is empty")
            continue
        kept.append(cell if cell.name or not kept else _Cell(str(len(kept)), cell.line, cell.body))
    return kept


def _markers(text: str) -> list[tuple[int, str]]:
    """Find the cell marks: comments at the very start of a line, outside any string."""
    marks = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        match = _MARKER.fullmatch(token.string) if token.type == tokenize.COMMENT and token.start[1] == 0 else None
        if match:
            name = "".join(c for c in match[1] if c.isprintable()).strip()
            marks.append((token.start[0], name[:LONGEST_NAME].rstrip()))
    return marks


def _with_magics(cells: list[_Cell], timed: list[magics.Timed]) -> _Parts:
    """Let `%timeit` lines be the variants: alone in a cell they bear its name, else their own text names them."""
    starts = [cell.line for cell in cells] + [1 << 60]
    setup = list(cells[0].body) if cells else []
    variants: list[Variant] = []
    for i, (begin, end) in enumerate(pairwise(starts)):
        inside = [t for t in timed if (begin <= t.line or i == 0) and t.line < end]
        if i and inside and (len(inside) > 1 or cells[i].body):
            refuse("magic_mixed", inside[0].line, "%timeit beside other statements in a variant's cell")
        if i and not inside:
            variants.append(Variant(cells[i].name, cells[i].line, tuple(cells[i].body)))
        for one in inside:
            setup += one.setup
            name = cells[i].name if i else _told_apart(_title(one.text), variants)
            variants.append(Variant(name, one.line, tuple(one.body)))
    setup.sort(key=_first_line)
    lines = [1 << 60 if len(cells) > 1 else variant.line for variant in variants]
    return _Parts(setup, variants, [sum(_first_line(s) <= line for s in setup) for line in lines])


def _with_own_clock(body: list[ast.stmt], source: str) -> _Parts | None:
    """Let the source run as it is, and take for variants what stands between two readings of the clock."""
    own = owntiming.find(body)
    if own is None:
        return None
    variants: list[Variant] = []
    kept = []
    for first, end in own.regions[:MOST_VARIANTS]:
        name = _told_apart(_title(ast.get_source_segment(source, body[first]) or ""), variants)
        variant = Variant(name, body[first].lineno, tuple(body[first:end]))
        try:
            checked(variant)
        except CellError:
            continue
        variants.append(variant)
        kept.append((first, end))
    return _Parts(body, variants, regions=tuple(kept), remarks=own.remarks, own=True)


def _told_apart(name: str, variants: list[Variant]) -> str:
    """Give a name that no variant has: the same text timed twice is two variants."""
    taken = {variant.name for variant in variants}
    return next(n for n in [name, *(f"{name} ({i})" for i in range(2, len(taken) + 3))] if n not in taken)


def _last_statement(body: list[ast.stmt], source: str) -> _Parts:
    last = body[-1] if body else None
    if last is None or isinstance(last, _DEFINITIONS) or _is_docstring(last):
        line = last.lineno if last is not None else None
        refuse("nothing_to_time", line, "the source ends without anything to be timed")
    name = _title(ast.get_source_segment(source, last) or "")
    return _Parts(body[:-1], [Variant(name, last.lineno, (last,))])


def _title(text: str) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= LONGEST_NAME else line[: LONGEST_NAME - 1] + "…"


def _leading_imports(body: list[ast.stmt]) -> int:
    count = 0
    while count < len(body) and (isinstance(body[count], ast.Import | ast.ImportFrom) or _is_docstring(body[count])):
        count += 1
    return count


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(node.lineno for node in decorators)])
