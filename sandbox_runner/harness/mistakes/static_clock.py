"""Rules on how a source reads the clock itself: no synchronisation, one thread, the wrong summary.

Law: each rule is a pure function of the source; it names what is certain from the text alone.
"""

import ast
from collections.abc import Iterator

from .findings import Finding
from .source import Source, calls, suites
from .times import Times

_NO_WORK = {"", "len", "range", "print", "str", "int", "float", "list", "format", "enumerate", "zip", "open", "sorted"}
_WAITS = {"synchronize", "item", "cpu", "numpy", "tolist", "elapsed_time", "print", "wait", "block_until_ready"}


def no_sync(source: Source) -> Iterator[Finding]:
    """Mistake 1: two readings of the clock around GPU work, and nothing that waits for it between them."""
    if not _on_gpu(source):
        return
    for suite in suites(source.tree):
        begun = -1
        for i, statement in enumerate(suite):
            if not any(source.names.reads_clock(node) for node in ast.walk(statement)):
                continue
            between = [node for inner in suite[begun + 1 : i] for node in ast.walk(inner)]
            if begun >= 0 and _works(source, between) and not _waits(source, between, statement):
                yield Finding("no_sync", statement.lineno)
                return
            begun = i
    for line in _timeit(source):
        yield Finding("no_sync", line)
        return
    timers = _block_timers(source)
    for node in source.everything:
        if isinstance(node, ast.With) and timers & {name for item in node.items for name in _made_of(source, item)}:
            inside = [each for statement in node.body for each in ast.walk(statement)]
            if _works(source, inside) and not _waits(source, inside, node.body[-1]):
                yield Finding("no_sync", node.lineno)
                return


def _block_timers(source: Source) -> set[str]:
    """Name the source's own classes and generators that read the clock around a `with` block, and do not wait in it."""
    found = set()
    for node in source.definitions.values():
        match node:
            case ast.ClassDef(name=name, body=body):
                ends = [each for each in body if isinstance(each, ast.FunctionDef) and each.name == "__exit__"]
            case ast.FunctionDef(name=name) if any(isinstance(each, ast.Yield) for each in ast.walk(node)):
                ends = [node]
            case _:
                continue
        inner = [each for end in ends for each in ast.walk(end)]
        reads = any(source.names.reads_clock(each) for each in inner)
        if reads and not any(_may_wait(source, call) for call in calls(inner)):
            found.add(name)
    return found


def _made_of(source: Source, item: ast.withitem) -> set[str]:
    """Name what a `with` block is given: a class or function of the source that is called, here or before."""
    given = [item.context_expr]
    given += source.bound.get(item.context_expr.id, []) if isinstance(item.context_expr, ast.Name) else []
    return {source.last(each) for each in given}


def _may_wait(source: Source, call: ast.Call) -> bool:
    """Whether a call waits for the GPU, by itself or in a function of the source; to print a time waits for nothing."""
    definition = source.definitions.get(source.last(call))
    inner = [source.last(each) for each in calls(list(ast.walk(definition)))] if definition else []
    return bool({source.last(call), *inner} & (_WAITS - {"print"}))


def _on_gpu(source: Source) -> bool:
    chosen = {id(node) for test in source.everything if isinstance(test, ast.IfExp) for node in ast.walk(test)}
    for node in source.everything:
        literal = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda")
        if (literal and (source.cuda or id(node) not in chosen)) or source.last(node) == "cuda":
            return True
    return False


def _works(source: Source, nodes: list[ast.AST]) -> bool:
    return any(isinstance(node, ast.BinOp) or source.called(node) not in _NO_WORK for node in nodes)


def _timeit(source: Source) -> Iterator[int]:
    """Give the lines at which `timeit` times a function of the source that works and does not wait."""
    for call in calls(source.everything):
        if source.called(call) not in {"timeit.timeit", "timeit.repeat", "timeit.Timer"} or not call.args:
            continue
        given = call.args[0]
        function = source.definitions.get(given.id) if isinstance(given, ast.Name) else given
        if not isinstance(function, ast.Lambda | ast.FunctionDef):
            continue
        inside = list(ast.walk(function))
        if _works(source, inside) and not any(_may_wait(source, each) for each in calls(inside)):
            yield call.lineno


def _waits(source: Source, nodes: list[ast.AST], end: ast.stmt) -> bool:
    """Whether something between two readings waits, by itself or in a function of the source."""
    found = [*nodes, *ast.walk(end)]
    for call in calls(found):
        if any(source.names.reads_clock(inner) for inner in ast.walk(call) if inner is not call):
            continue  # what is given a reading runs after it
        definition = source.definitions.get(source.last(call))
        inner = [source.last(each) for each in calls(list(ast.walk(definition)))] if definition else []
        if {source.last(call), *inner} & _WAITS:
            return True
    return False


def timer_threads(source: Source) -> Iterator[Finding]:
    """Mistake 20: `torch.utils.benchmark.Timer` left at its one thread."""
    for call in calls(source.everything):
        partial = source.called(call) == "functools.partial" and call.args
        full = source.names.full(call.args[0]) if partial else source.called(call)
        timer = full.startswith("torch.utils.benchmark") and full.endswith(".Timer")
        if timer and not {each.arg for each in call.keywords} & {"num_threads", None}:
            yield Finding("timer_threads", call.lineno)
            return


def summary(source: Source) -> Iterator[Finding]:
    """Mistake 38: times taken by the source itself, summed up by their least, mean or last, not their median."""
    if not any(source.names.reads_clock(n) or source.called(n).startswith("timeit.") for n in source.everything):
        return
    times = Times(source)
    if times.is_fair():
        return
    found = sorted((*times.of_collected(), *times.running(), *times.of_one()), key=lambda each: each[0])
    if found:
        yield Finding("own_summary", found[0][0], {"how": found[0][1]})


RULES = (no_sync, timer_threads, summary)
