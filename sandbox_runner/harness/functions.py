"""A variant's body made a function over the set-up's globals, and what may stand in such a body.

Law: the learner's line numbers and file name survive; what means something else in a function than in a cell is
refused with a code and a line. Standard library only; nothing here runs the learner's code.
"""

import ast
import inspect
import types
from dataclasses import dataclass
from typing import NoReturn, TypeGuard

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


class CellError(Exception):
    """A source that cannot be timed as it is: a code, the learner's line, and Python's own kind of sentence."""

    def __init__(self, code: str, line: int | None, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.line = line


def refuse(code: str, line: int | None, text: str) -> NoReturn:
    """Raise `CellError`."""
    raise CellError(code, line, text)


@dataclass(frozen=True)
class Variant:
    """One thing to be timed: its statements, and the names it assigns that are its result when no expression is."""

    name: str
    line: int
    body: tuple[ast.stmt, ...]
    shares: tuple[str, ...] = ()


def compiled(variant: Variant, filename: str, flags: int, names: dict[str, object]) -> types.CodeType:
    """Compile a variant's body as a function; those of its own names that are in `names` become its parameters.

    `flags` are the set-up's `from __future__` flags.

    Raises:
        SyntaxError: the body is no function's body (`nonlocal`, `break` outside a loop, ...).
    """
    bare = _code(variant, filename, flags, ())
    own = dict.fromkeys((*bare.co_varnames, *bare.co_cellvars))
    taken = tuple(name for name in own if name in names)
    return _code(variant, filename, flags, taken) if taken else bare


def _code(variant: Variant, filename: str, flags: int, parameters: tuple[str, ...]) -> types.CodeType:
    body = list(variant.body)
    last = body[-1]
    if _is_result(last):
        body[-1] = ast.copy_location(ast.Return(value=last.value), last)
    elif variant.shares:
        loads: list[ast.expr] = [ast.Name(id=name, ctx=ast.Load()) for name in variant.shares]
        value = loads[0] if len(loads) == 1 else ast.Tuple(elts=loads, ctx=ast.Load())
        end = last.end_lineno or last.lineno
        body.append(ast.Return(value=value, lineno=end, col_offset=0, end_lineno=end, end_col_offset=0))
    module = ast.parse("def variant(): pass")
    function = module.body[0]
    assert isinstance(function, ast.FunctionDef)  # noqa: S101 - narrows the type
    function.args.args = [ast.arg(name) for name in parameters]
    function.body = body
    function.lineno = function.end_lineno = body[0].lineno
    ast.fix_missing_locations(module)
    made = compile(module, filename, "exec", flags=flags, dont_inherit=True)
    code = next(const for const in made.co_consts if isinstance(const, types.CodeType))
    return code.replace(co_name=variant.name)


def result_names(variant: Variant) -> tuple[str, ...]:
    """Name the parts of what the variant returns: ("",) for its last expression, else the shared names, else ()."""
    return ("",) if _is_result(variant.body[-1]) else variant.shares


def _is_result(statement: ast.stmt) -> TypeGuard[ast.Expr]:
    return isinstance(statement, ast.Expr) and not _is_print(statement)


def _is_print(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Name)
        and node.value.func.id == "print"
    )


def checked(variant: Variant) -> list[tuple[str, int]]:
    """Refuse what means something else in a function than in a cell; remark on what is timed though it need not be."""
    remarks = []
    found = _own(variant.body)
    conditional = [part for node in found if isinstance(node, ast.If) for part in _own([*node.body, *node.orelse])]
    for node in found:
        line = getattr(node, "lineno", variant.line)
        match node:
            case ast.Return():
                refuse("cell_return", line, "'return' outside function")
            case ast.Yield() | ast.YieldFrom():
                refuse("cell_yield", line, "'yield' outside function")
            case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
                refuse("cell_await", line, "'await' outside function")
            case ast.comprehension(is_async=1):
                refuse("cell_await", node.target.lineno, "'await' outside function")
            case ast.Global():
                refuse("cell_global", line, "'global' in a variant: assign in the set-up instead")
            case ast.ImportFrom(names=[ast.alias(name="*"), *_]):
                refuse("cell_star_import", line, "import * only allowed at module level")
            case ast.Import() | ast.ImportFrom():
                remarks.append(("import_timed", line))
            case ast.Expr() if _is_print(node) and node not in conditional:
                remarks.append(("print_timed", line))
    return remarks


def _own(body: "tuple[ast.stmt, ...] | list[ast.AST]") -> "list[ast.AST]":
    """List the nodes of a body that belong to its own scope, not to functions and classes defined in it."""
    found: list[ast.AST] = []
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        found.append(node)
        if not isinstance(node, _SCOPES):
            queue.extend(ast.iter_child_nodes(node))
    return sorted(found, key=lambda node: getattr(node, "lineno", 0))


def assigned(body: tuple[ast.stmt, ...]) -> tuple[str, ...]:
    """Name what a body assigns with `=`, `+=` or `:=`, in order; loop variables and names with a `_` first are not."""
    names: dict[str, None] = {}
    for node in _own(body):
        match node:
            case ast.Assign(targets=targets):
                pass
            case (
                ast.AugAssign(target=target)
                | ast.NamedExpr(target=target)
                | ast.AnnAssign(target=target, value=ast.expr())
            ):
                targets = [target]
            case _:
                continue
        found = [part for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        names.update(dict.fromkeys(part.id for part in found if isinstance(part.ctx, ast.Store)))
    return tuple(name for name in names if not name.startswith("_"))


def takes_two(function: types.FunctionType) -> bool:
    """Whether it can be called with two values by place, as `make(rng, n)` is: another `make` is the learner's own."""
    code, defaults = function.__code__, function.__defaults__ or ()
    least = code.co_argcount - len(defaults)
    required = set(code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]) - set(function.__kwdefaults__ or ())
    open_ended = bool(code.co_flags & inspect.CO_VARARGS)
    return least <= 2 and not required and (code.co_argcount >= 2 or open_ended)  # noqa: PLR2004 - `rng` and `n`
