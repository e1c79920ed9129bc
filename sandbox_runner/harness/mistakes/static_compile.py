"""Rules on `torch.compile`: compiled anew where it is timed, and work that the compiler deletes.

Law: each rule is a pure function of the source; it names what is certain from the text alone.
"""

import ast
from collections.abc import Iterator

from .findings import Finding
from .source import Source

_MODES = {"max-autotune": "autotune", "max-autotune-no-cudagraphs": "autotune", "reduce-overhead": "reduce_overhead"}
_ACTS = ("manual_seed", "set_", "save", "compile", "use_", "_", "enable_", "inference_mode", "no_grad")
_LONGEST = 60


def compile_inside(source: Source) -> Iterator[Finding]:
    """Mistake 27: `torch.compile` is called in what is timed, or in a loop that reads the clock."""
    for variant in range(len(source.bodies)):
        for node in source.nodes(variant):
            if _compiles(source, node):
                yield Finding("compile_inside", getattr(node, "lineno", None), variant=variant)
                break
    for loop in source.everything:
        if isinstance(loop, ast.For | ast.While) and any(source.names.reads_clock(node) for node in ast.walk(loop)):
            for node in ast.walk(loop):
                if _compiles(source, node):
                    yield Finding("compile_inside", getattr(node, "lineno", None))
                    return


def _compiles(source: Source, node: ast.AST) -> bool:
    """Whether a node compiles: by a call, or a function in it by a bare decorator."""
    decorators = getattr(node, "decorator_list", [])
    return source.is_compile(node) or any(source.names.full(each) == "torch.compile" for each in decorators)


def dead_code(source: Source) -> Iterator[Finding]:
    """Mistake 5: a compiled function computes what it never uses; the compiler leaves it out."""
    for function in _compiled(source):
        used = _used(source, function)
        for node in _statements(function):
            match node:
                case ast.Assign(targets=[target], value=value) if _dead(source, target, value, used):
                    yield Finding(
                        "dead_code",
                        node.lineno,
                        {"what": _dead(source, target, value, used)[:60]},
                        _timed_by(source, function),
                    )
                    break
                case ast.Expr(value=ast.BinOp() | ast.Call() as value) if _is_pure(source, value):
                    what = ast.unparse(value)
                    what = what if len(what) <= _LONGEST else what[: _LONGEST - 1] + "…"
                    yield Finding("dead_code", node.lineno, {"what": what}, _timed_by(source, function))
                    break


def _dead(source: Source, target: ast.expr, value: ast.expr, used: set[str]) -> str:
    """Name what an assignment computes for nobody, or "" where all of it is used."""
    names = _names(target)
    if isinstance(value, ast.Tuple) and len(value.elts) == len(names):
        pairs = [([name], part) for name, part in zip(names, value.elts, strict=True)]
    else:
        pairs = [(names, value)]
    for bound, part in pairs:
        if bound and not used & set(bound) and _computes(source, part) and not _changes(source, part):
            return bound[0]
    return ""


def _statements(function: ast.FunctionDef) -> list[ast.AST]:
    return [node for statement in function.body for node in ast.walk(statement)]


def _names(target: ast.expr) -> list[str]:
    """Name what an assignment binds, where it binds names alone."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return [part.id for part in parts if isinstance(part, ast.Name)] if all(
        isinstance(part, ast.Name) for part in parts
    ) else []  # fmt: skip


def _used(source: Source, function: ast.FunctionDef) -> set[str]:
    """Name what a function gives away or decides by, and what that was computed from, wherever it was.

    What only feeds itself (`y = sin(y)` in a loop, with `y` given to nobody) is not used.
    """
    feeds: list[tuple[str, set[str]]] = []
    used: set[str] = set()
    for node in ast.walk(function):
        match node:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
            ) if _names(target) and not _changes(source, value):
                feeds += _fed(target, value)
            case ast.Expr(value=value) if _is_pure(source, value):
                continue
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


def _fed(target: ast.expr, value: ast.expr) -> list[tuple[str, set[str]]]:
    names = _names(target)
    if isinstance(value, ast.Tuple) and len(value.elts) == len(names) > 1:
        return [(name, _loaded(part)) for name, part in zip(names, value.elts, strict=True)]
    return [(name, _loaded(value)) for name in names]


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}


def _changes(source: Source, value: ast.expr) -> bool:
    """Whether an expression may change something beside its value: `add_()`, `out=`, or a walrus."""
    return any(
        isinstance(node, ast.NamedExpr)
        or (
            isinstance(node, ast.Call)
            and (source.last(node).endswith("_") or any(each.arg == "out" for each in node.keywords))
        )
        for node in ast.walk(value)
    )


def _is_pure(source: Source, value: ast.expr) -> bool:
    """Whether an expression computes with torch alone, and changes nothing."""
    if isinstance(value, ast.BinOp):
        return not _changes(source, value) and any(_is_pure(source, n) for n in ast.walk(value) if n is not value
                                                   and isinstance(n, ast.Call))  # fmt: skip
    if not isinstance(value, ast.Call) or _changes(source, value):
        return False
    base, _, name = source.called(value).rpartition(".")
    return base in {"torch", "torch.nn.functional", "torch.linalg", "torch.special"} and not name.startswith(_ACTS)


def _compiled(source: Source) -> list[ast.FunctionDef]:
    """List the functions that are compiled, and the methods `forward` of compiled modules."""
    named: set[str] = set()
    for node in source.everything:
        if isinstance(node, ast.Call) and source.is_compile(node):
            given = node.args[:1] or ([node.func.value] if isinstance(node.func, ast.Attribute) else [])
            named |= {name for each in given for name in _instances(source, each)}
    found = []
    for node in source.definitions.values():
        match node:
            case ast.FunctionDef(decorator_list=decorators):
                if node.name in named or any(_is_compile(source, each) for each in decorators):
                    found.append(node)
            case ast.ClassDef(body=body):
                methods = [each for each in body if isinstance(each, ast.FunctionDef)]
                chosen = {"forward", "__call__"} if node.name in named else set()
                found += [each for each in methods if each.name in chosen and each not in found]
    return found


def _is_compile(source: Source, decorator: ast.expr) -> bool:
    return source.is_compile(decorator) or source.names.full(decorator) == "torch.compile"


def _instances(source: Source, given: ast.expr) -> set[str]:
    """Name what is compiled: a function, or the class of an instance, also where it has a name of its own."""
    match given:
        case ast.Name(id=name):
            made = [value for value in source.bound.get(name, ()) if isinstance(value, ast.Call)]
            return {name, *(each for value in made for each in _instances(source, value))}
        case ast.Call(func=ast.Name(id=name)):
            return {name}
        case ast.Call(func=ast.Attribute(value=inner)):
            return _instances(source, inner)
        case _:
            return set()


def _computes(source: Source, value: ast.expr) -> bool:
    """Whether an expression works on its operands; a bare call by name may do what it does for another reason."""
    return any(isinstance(node, ast.BinOp) or "." in source.called(node) for node in ast.walk(value))


def _timed_by(source: Source, function: ast.FunctionDef) -> int:
    first = function.body[-1]
    reached = (i for i in range(len(source.bodies)) if any(node is first for node in source.nodes(i)))
    return next(reached, -1)


def modes(source: Source) -> Iterator[Finding]:
    """Not yet a mistake: modes of compiling that pay only for many calls, for mistakes 28 and 29."""
    for node in source.everything:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _MODES:
            yield Finding(f"uses_{_MODES[node.value]}", node.lineno)


def loader(source: Source) -> Iterator[Finding]:
    """Not yet a mistake: a variant that waits for a `DataLoader`, for mistake 44."""
    for variant in range(len(source.bodies)):
        bound = [node for value in source.reached(variant).values for node in ast.walk(value)]
        if any(source.last(node) == "DataLoader" for node in [*source.nodes(variant), *bound]):
            yield Finding("uses_loader", variant=variant)


RULES = (compile_inside, dead_code, modes, loader)
