"""Rules on what a variant does: a generator that nobody consumes, a view, a loop over elements, printing.

Law: each rule is a pure function of the source; what needs the values' types is only pointed at, and is looked at when
they are there.
"""

import ast
from collections.abc import Iterator

from .findings import Finding
from .source import Source, calls, dotted, last

_LAZY = {"map", "filter", "zip", "range", "enumerate", "reversed", "iter", "keys", "values", "items"}
_SLOW = {"vectorize", "apply_along_axis", "apply_over_axes", "frompyfunc", "fromiter"}
_VIEWS = {
    *("transpose", "swapaxes", "reshape", "view", "permute", "expand", "expand_as", "squeeze", "unsqueeze", "t"),
    *("ravel", "broadcast_to", "moveaxis", "diagonal", "narrow", "select", "unfold", "movedim", "as_strided", "detach"),
}
_VIEW_ATTRIBUTES = {"T", "mT", "H", "mH", "real", "data"}
_LOGS = {"debug", "info", "warning", "error", "log", "tqdm", "trange", "print"}
_LOGGERS = {"logging", "logger", "log", "tqdm", "", "_log", "LOG", "LOGGER", "builtins"}


def generator(source: Source) -> Iterator[Finding]:
    """Mistake 30: a variant's result is a generator or another lazy thing, whether it gets a name or not."""
    for variant, body in enumerate(source.bodies):
        match _result(body):
            case ast.GeneratorExp() as value:
                yield Finding("generator", value.lineno, {"kind": "generator"}, variant)
            case ast.Call() as value if last(value) in _LAZY and _is_lazy(value):
                yield Finding("generator", value.lineno, {"kind": last(value)}, variant)


def _result(body: tuple[ast.stmt, ...]) -> ast.expr | None:
    """Give what a variant's last statement computes; a bare name stands for what it was last bound to."""
    bound: dict[str, ast.expr] = {}
    for statement in body[:-1]:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            bound[statement.targets[0].id] = statement.value
    match body[-1] if body else None:
        case ast.Expr(value=ast.Name(id=name)):
            return bound.get(name)
        case ast.Expr(value=value) | ast.Assign(targets=[ast.Name()], value=value):
            return value
        case _:
            return None


def _is_lazy(call: ast.Call) -> bool:
    base = dotted(call.func).rpartition(".")[0]
    return not call.args if last(call) in {"keys", "values", "items"} else not base


def views(source: Source) -> Iterator[Finding]:
    """Point at variants that do nothing but take views, for mistake 31."""
    for variant, body in enumerate(source.bodies):
        values = [each.value for each in body if isinstance(each, ast.Assign | ast.Expr)]
        if len(values) == len(body) and values and all(_is_view(value) for value in values):
            yield Finding("only_views", body[-1].lineno, variant=variant)


def _is_view(node: ast.AST) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Attribute(attr=attr, value=value) if attr in _VIEW_ATTRIBUTES:
            return _is_view(value)
        case ast.Subscript(value=value, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            plain = (ast.Slice, ast.Constant)
            return _is_view(value) and any(isinstance(p, ast.Slice) for p in parts) and all(
                isinstance(part, plain) for part in parts
            )  # fmt: skip
        case ast.Call(func=ast.Attribute(attr=attr, value=value)) if attr in _VIEWS:
            inner = node.args[0] if dotted(value) in {"np", "numpy", "torch"} and node.args else value
            return _is_view(inner)
        case _:
            return False


def vectorize(source: Source) -> Iterator[Finding]:
    """Mistake 32: `np.vectorize` and its like, which are loops in Python."""
    for variant in range(len(source.bodies)):
        bound = [node for value in source.values(variant) for node in ast.walk(value)]
        for call in calls([*source.nodes(variant), *bound]):
            if last(call) in _SLOW and dotted(call.func).partition(".")[0] in {"np", "numpy", last(call)}:
                yield Finding("np_vectorize", call.lineno, {"what": last(call)}, variant)
                break


def loops(source: Source) -> Iterator[Finding]:
    """Point at loops over the elements of a name, for mistake 33; a parameter stands for what is given for it."""
    for variant in range(len(source.bodies)):
        nodes = source.nodes(variant)
        given = source.given(nodes)
        for node in nodes:
            for target, iterated, inside in _iterations(node):
                if name := _looped(target, iterated, inside):
                    line = getattr(iterated, "lineno", None)
                    yield Finding("loops_over", line, {"what": given.get(name, name)[:60]}, variant)


def _iterations(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr, list[ast.AST]]]:
    match node:
        case ast.For(target=target, iter=iterated, body=body):
            yield target, iterated, [inner for statement in body for inner in ast.walk(statement)]
        case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt) | ast.SetComp(elt=elt):
            for part in node.generators:
                yield part.target, part.iter, list(ast.walk(elt))


def _looped(target: ast.expr, iterated: ast.expr, inside: list[ast.AST]) -> str:
    """Name what is looped over by element: itself, through enumerate or zip, or by an index over its length."""
    match iterated:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="enumerate" | "zip"), args=[ast.Name(id=name), *_]):
            return name
        case ast.Call(func=ast.Name(id="range")) if isinstance(target, ast.Name):
            for node in inside:
                match node:
                    case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)) if index == target.id:
                        return name
    return ""


def prints(source: Source) -> Iterator[Finding]:
    """Mistake 36: printing, logging and progress bars in what is timed, also in functions that it calls."""
    for variant in range(len(source.bodies)):
        for call in calls(source.nodes(variant)):
            base = dotted(call.func).rpartition(".")[0].partition(".")[0]
            if last(call) in _LOGS and base in _LOGGERS and (base or last(call) in {"print", "tqdm", "trange"}):
                yield Finding("print_timed", call.lineno, {"what": last(call)}, variant)
                break


def empty_cache(source: Source) -> Iterator[Finding]:
    """Mistake 23: `empty_cache()` in what is timed."""
    for variant in range(len(source.bodies)):
        for call in calls(source.nodes(variant)):
            if last(call) == "empty_cache":
                yield Finding("empty_cache", call.lineno, variant=variant)
                break


RULES = (generator, views, vectorize, loops, prints, empty_cache)
