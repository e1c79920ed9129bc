"""Rules on `torch.compile`: compiled anew where it is timed, and work that the compiler deletes.

Law: each rule is a pure function of the source; it names what is certain from the text alone.
"""

import ast
from collections.abc import Iterator

from .findings import Finding
from .source import Source, dotted, is_compile, last, reads_clock

_MODES = {"max-autotune": "autotune", "max-autotune-no-cudagraphs": "autotune", "reduce-overhead": "reduce_overhead"}


def compile_inside(source: Source) -> Iterator[Finding]:
    """Mistake 27: `torch.compile` is called in what is timed, or in a loop that reads the clock."""
    for variant in range(len(source.bodies)):
        for node in source.nodes(variant):
            if is_compile(node):
                yield Finding("compile_inside", getattr(node, "lineno", None), variant=variant)
                break
    for loop in ast.walk(source.tree):
        if isinstance(loop, ast.For | ast.While) and any(reads_clock(node) for node in ast.walk(loop)):
            for node in ast.walk(loop):
                if is_compile(node):
                    yield Finding("compile_inside", getattr(node, "lineno", None))
                    return


def dead_code(source: Source) -> Iterator[Finding]:
    """Mistake 5: a compiled function computes what it never uses; the compiler leaves it out."""
    for function in _compiled(source):
        used = _used(function)
        for node in ast.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in used and _computes(value):
                    yield Finding("dead_code", node.lineno, {"what": name[:60]}, _timed_by(source, function))
                    return


def _used(function: ast.FunctionDef) -> set[str]:
    """Name what a function gives away or decides by, and what that was computed from, wherever it was.

    What only feeds itself (`y = sin(y)` in a loop, with `y` given to nobody) is not used.
    """
    feeds: list[tuple[str, set[str]]] = []
    used: set[str] = set()
    for node in ast.walk(function):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ) if not _changes(value):
                feeds.append((name, _loaded(value)))
            case ast.stmt():
                used |= {
                    name for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr) for name in _loaded(part)
                }
                used |= (
                    {node.target.id} if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) else set()
                )
            case ast.withitem() | ast.match_case():
                used |= _loaded(node)
            case ast.Lambda() | ast.comprehension():
                used |= _loaded(node)
    while found := {each for name, inside in feeds if name in used for each in inside - used}:
        used |= found
    return used


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}


def _changes(value: ast.expr) -> bool:
    """Whether an expression may change something beside its value: `add_()`, `out=`, or a walrus."""
    return any(
        isinstance(node, ast.NamedExpr)
        or (
            isinstance(node, ast.Call)
            and (last(node).endswith("_") or any(each.arg == "out" for each in node.keywords))
        )
        for node in ast.walk(value)
    )


def _compiled(source: Source) -> list[ast.FunctionDef]:
    found = {id(node): node for node in source.definitions.values() if isinstance(node, ast.FunctionDef)}
    named = {
        node.args[0].id
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and is_compile(node) and node.args and isinstance(node.args[0], ast.Name)
    }
    return [
        node
        for node in found.values()
        if node.name in named
        or any(dotted(each.func if isinstance(each, ast.Call) else each) == "torch.compile"
               for each in node.decorator_list)
    ]  # fmt: skip


def _computes(value: ast.expr) -> bool:
    """Whether an expression works on its operands; a bare call by name may do what it does for another reason."""
    return any(isinstance(node, ast.BinOp) or "." in (dotted(node.func) if isinstance(node, ast.Call) else "")
               for node in ast.walk(value))  # fmt: skip


def _timed_by(source: Source, function: ast.FunctionDef) -> int:
    first = function.body[0]
    reached = (i for i in range(len(source.bodies)) if any(node is first for node in source.nodes(i)))
    return next(reached, -1)


def modes(source: Source) -> Iterator[Finding]:
    """Not yet a mistake: modes of compiling that pay only for many calls, for mistakes 28 and 29."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _MODES:
            yield Finding(f"uses_{_MODES[node.value]}", node.lineno)


def loader(source: Source) -> Iterator[Finding]:
    """Not yet a mistake: a variant that waits for a `DataLoader`, for mistake 44."""
    for variant in range(len(source.bodies)):
        bound = [node for value in source.values(variant) for node in ast.walk(value)]
        if any(last(node) == "DataLoader" for node in [*source.nodes(variant), *bound]):
            yield Finding("uses_loader", variant=variant)


RULES = (compile_inside, dead_code, modes, loader)
