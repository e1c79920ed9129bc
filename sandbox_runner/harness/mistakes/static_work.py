"""Rules on what a variant does: a generator that nobody consumes, a view, a loop over elements, printing.

Law: each rule is a pure function of the source; what needs the values' types is only pointed at, and is looked at when
they are there.
"""

import ast
from collections.abc import Iterator, Sequence

from .findings import Finding
from .naming import dotted
from .source import Source, calls

_LAZY = {"map", "filter", "zip", "range", "enumerate", "reversed", "iter", "keys", "values", "items"}
_SLOW = {"vectorize", "apply_along_axis", "apply_over_axes", "frompyfunc"}
_SLOW_TENSORS = {"apply_", "map_", "map2_"}
_VIEWS = {
    *("transpose", "swapaxes", "reshape", "view", "permute", "expand", "expand_as", "squeeze", "unsqueeze", "t"),
    *("ravel", "broadcast_to", "moveaxis", "diagonal", "narrow", "select", "unfold", "movedim", "as_strided", "detach"),
    *("flip", "fliplr", "flipud", "rot90", "expand_dims", "rollaxis", "atleast_1d", "atleast_2d", "atleast_3d"),
    *("split", "array_split", "hsplit", "vsplit", "chunk", "unbind", "tensor_split", "asarray", "from_numpy", "numpy"),
    *("as_tensor", "view_as", "reshape_as", "flatten", "unflatten", "swapdims", "adjoint", "contiguous", "mT"),
    "sliding_window_view",
}
"""Some of them copy, or are a copy now and then: only what lies in an input's memory is told of."""
_SURE_VIEWS = {
    *("transpose", "swapaxes", "view", "permute", "expand", "expand_as", "squeeze", "unsqueeze", "t", "broadcast_to"),
    *("moveaxis", "movedim", "diagonal", "narrow", "select", "unfold", "as_strided", "sliding_window_view", "view_as"),
    *("expand_dims", "rollaxis", "swapdims", "adjoint", "split", "array_split", "chunk", "unbind", "tensor_split"),
}
_VIEW_ATTRIBUTES = {"T", "mT", "H", "mH", "real", "data"}
_LOGS = {"debug", "info", "warning", "error", "critical", "exception", "log"}
_WRITES = {
    *("print", "builtins.print", "sys.stdout.write", "sys.stderr.write", "sys.__stdout__.write", "pprint.pprint"),
    *("os.write", "sys.stdout.writelines", "sys.stderr.writelines", "traceback.print_exc", "traceback.print_stack"),
    *("pprint.pp", "warnings.warn", "rich.print", "IPython.display.display", "display", "tqdm", "trange"),
}
_MAYBE_LOGS = {"debug", "info", "log"}
_LOGGERS = {"logging.getLogger", "loguru.logger", "structlog.get_logger"}
_MOST_DEPTH = 4
_LAYOUTS = {
    "ascontiguousarray",
    "asfortranarray",
    "require",
    "copy",
    "clone",
    "print",
    "array",
    "to",
    "asarray",
    "tensor",
    "as_tensor",
}
_SLEEPS = {
    *("time.sleep", "urllib.request.urlopen", "requests.get", "requests.post", "httpx.get", "socket.create_connection"),
    *("subprocess.run", "subprocess.check_output", "asyncio.sleep", "asyncio.run"),
}
_DEBUGS = {
    *("cProfile.Profile", "cProfile.run", "cProfile.runctx", "profile.Profile", "profile.run", "trace.Trace"),
    *("torch.profiler.profile", "torch.autograd.profiler.profile", "torch.autograd.profiler.emit_nvtx"),
    *("sys.settrace", "sys.setprofile", "threading.settrace", "tracemalloc.start"),
}


def generator(source: Source) -> Iterator[Finding]:
    """Mistake 30: a variant's result is a generator or another lazy thing, whether it gets a name or not."""
    for variant, body in enumerate(source.bodies):
        match _result(body):
            case ast.GeneratorExp() as value:
                yield Finding("generator", value.lineno, {"kind": "generator"}, variant)
            case ast.Call() as value if _is_lazy(source, value):
                yield Finding("generator", value.lineno, {"kind": source.last(value)}, variant)


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


def _is_lazy(source: Source, call: ast.Call) -> bool:
    base, _, name = source.called(call).rpartition(".")
    if base == "itertools":
        return name != "tee"
    if name not in _LAZY or name in source.definitions:
        return False
    return not call.args if name in {"keys", "values", "items"} else base in {"", "builtins"}


def views(source: Source) -> Iterator[Finding]:
    """Point at variants that do nothing but take views, for mistake 31."""
    for variant, body in enumerate(source.bodies):
        if _only_views(source, body):
            yield Finding("only_views", body[-1].lineno, variant=variant)
            if isinstance(body[-1], ast.Assign) and all(_never_copies(source, each) for each in _values(body)):
                yield Finding("view_only", body[-1].lineno, variant=variant)  # nothing comes back to be looked at


def _values(body: Sequence[ast.stmt]) -> list[ast.expr]:
    return [each.value for each in body if isinstance(each, ast.Assign | ast.Expr)]


def _never_copies(source: Source, value: ast.expr) -> bool:
    """Whether all that an expression calls gives a view whatever it is given, and it calls or takes something."""
    named = [source.last(node) for node in ast.walk(value) if isinstance(node, ast.Call)]
    taken = any(isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in _VIEW_ATTRIBUTES)
                for node in ast.walk(value))  # fmt: skip
    return (taken or bool(named)) and set(named) <= _SURE_VIEWS


def _only_views(source: Source, body: Sequence[ast.stmt], depth: int = 0) -> bool:
    """Whether some statements, or the body of a function, take views and nothing else."""
    rest = [each for each in body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    values = [each.value for each in rest if isinstance(each, ast.Assign | ast.Expr | ast.Return)]
    return bool(values) and len(values) == len(rest) and all(
        value is not None and _is_view(source, value, depth) for value in values
    )  # fmt: skip


def _is_view(source: Source, node: ast.AST, depth: int) -> bool:
    match node:
        case ast.Name():
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(_is_view(source, each, depth) for each in parts)
        case ast.Attribute(attr=attr, value=value) if attr in _VIEW_ATTRIBUTES:
            return _is_view(source, value, depth)
        case ast.Attribute(value=ast.Name()):
            return True
        case ast.Subscript(value=value, slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            plain = (ast.Slice, ast.Constant)
            return _is_view(source, value, depth) and any(isinstance(p, ast.Slice) for p in parts) and all(
                isinstance(part, plain) for part in parts
            )  # fmt: skip
        case ast.Call(func=ast.Attribute(attr=attr, value=value)) if attr in _VIEWS:
            given = source.names.full(value) in {"numpy", "torch", "numpy.lib.stride_tricks"} and node.args
            return _is_view(source, node.args[0] if given else value, depth)
        case ast.Call(args=[first, *_]) if source.called(node).partition(".")[0] in {"numpy", "torch"}:
            return source.last(node) in _VIEWS and _is_view(source, first, depth)
        case ast.Call() if (function := source.function(node)) is not None and depth < _MOST_DEPTH:
            body = [ast.Expr(function.body)] if isinstance(function, ast.Lambda) else function.body
            return all(_is_view(source, each, depth) for each in node.args) and _only_views(source, body, depth + 1)
        case _:
            return False


def vectorize(source: Source) -> Iterator[Finding]:
    """Mistake 32: `np.vectorize` and its like, which are loops in Python."""
    torch = source.names.knows("torch")
    for variant in range(len(source.bodies)):
        reached = source.reached(variant)
        around = [node for each in (*reached.values, *reached.decorators) for node in ast.walk(each)]
        for node in sorted((n for n in (*reached.nodes, *around) if isinstance(n, ast.expr)), key=lambda n: n.lineno):
            base, _, name = source.names.full(node).rpartition(".")
            slow = (base == "numpy" and name in _SLOW) or (torch and base and name in _SLOW_TENSORS)
            if isinstance(node, ast.Name | ast.Attribute) and slow:
                yield Finding("np_vectorize", node.lineno, {"what": name}, variant)
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
    loggers = {dotted(target) for target, value in source.assigned() if source.called(value) in _LOGGERS}
    for variant in range(len(source.bodies)):
        nodes = source.nodes(variant)
        maybe = _may_not_run(source, nodes)
        for call in calls(nodes):
            base, _, name = source.called(call).rpartition(".")
            made = isinstance(call.func, ast.Attribute) and source.called(call.func.value) in _LOGGERS
            logs = name in _LOGS and (made or base in {"logging", *loggers})
            if logs or source.called(call) in _WRITES or base.partition(".")[0] == "tqdm":
                # Whether a level or a condition lets it write is seen when it is called.
                sure = name not in _MAYBE_LOGS and id(call) not in maybe
                yield Finding("print_timed" if sure else "may_print", call.lineno, {"what": name}, variant)
                if sure:
                    break


def _may_not_run(source: Source, nodes: list[ast.AST]) -> set[int]:
    """Give the ids of nodes that run only if something is so, in functions too that are called only there."""
    maybe = {id(inner) for node in nodes for part in _conditional(node) for inner in ast.walk(part)}
    for _ in range(_MOST_DEPTH):
        always = {source.last(call) for call in calls(nodes) if id(call) not in maybe}
        rarely = {source.last(call) for call in calls(nodes) if id(call) in maybe} - always
        inner = [
            source.definitions[name] for name in rarely if isinstance(source.definitions.get(name), ast.FunctionDef)
        ]
        more = {id(node) for function in inner for node in ast.walk(function)} - maybe
        if not more:
            break
        maybe |= more
    return maybe


def _conditional(node: ast.AST) -> list[ast.AST]:
    """List the parts of a node that run only if something is so."""
    match node:
        case ast.If(body=body, orelse=orelse):
            return [*body, *orelse]
        case ast.IfExp(body=one, orelse=other):
            return [one, other]
        case ast.BoolOp(values=[_, *rest]):
            return [*rest]
        case ast.ExceptHandler(body=body) | ast.match_case(body=body):
            return [*body]
        case _:
            return []


def debugs(source: Source) -> Iterator[Finding]:
    """Mistake 39: a profiler or tracer is started in what is timed."""
    for variant in range(len(source.bodies)):
        for call in calls(source.nodes(variant)):
            if source.called(call) in _DEBUGS:
                yield Finding("debug_mode", call.lineno, {"what": source.last(call)}, variant)
                break


def works(source: Source) -> Iterator[Finding]:
    """Not yet a mistake: variants that do more than lay data out anew, for mistake 42, or wait, for mistake 19."""
    for variant in range(len(source.bodies)):
        nodes = source.nodes(variant)
        if any(isinstance(node, ast.BinOp | ast.AugAssign) or _is_work(source, node) for node in nodes):
            yield Finding("works", variant=variant)
        if any(source.called(node) in _SLEEPS for node in nodes):
            yield Finding("waits", variant=variant)


def _is_work(source: Source, node: ast.AST) -> bool:
    last = source.last(node)
    return (
        bool(last)
        and last not in _LAYOUTS | _VIEWS
        and last not in source.definitions
        and source.function(node) is None
    )


def empty_cache(source: Source) -> Iterator[Finding]:
    """Mistake 23: `empty_cache()` in what is timed."""
    for variant in range(len(source.bodies)):
        for call in calls(source.nodes(variant)):
            if source.last(call) == "empty_cache":
                yield Finding("empty_cache", call.lineno, variant=variant)
                break


RULES = (generator, views, vectorize, loops, prints, debugs, works, empty_cache)
