"""Rules on how a source reads the clock itself: no synchronisation, one thread, the wrong summary.

Law: each rule is a pure function of the source; it names what is certain from the text alone.
"""

import ast
from collections.abc import Iterator

from .findings import Finding
from .source import Source, calls, dotted, keyword, last, reads_clock, suites

_WAITS = {"synchronize", "item", "cpu", "numpy", "tolist", "elapsed_time", "print", "wait", "block_until_ready"}
_SUMMARIES = {"min": "min", "amin": "min", "mean": "mean", "fmean": "mean", "average": "mean", "sum": "mean"}
_REPEATS = {"timeit.repeat", "repeat"}
_FAIR = {"median", "quantile", "quantiles", "percentile"}


def no_sync(source: Source) -> Iterator[Finding]:
    """Mistake 1: two readings of the clock around GPU work, and nothing that waits for it between them."""
    if not _on_gpu(source):
        return
    for suite in suites(source.tree):
        begun = -1
        for i, statement in enumerate(suite):
            if not any(reads_clock(node) for node in ast.walk(statement)):
                continue
            between = [node for inner in suite[begun + 1 : i] for node in ast.walk(inner)]
            if begun >= 0 and _works(between) and not _waits(source, between, statement):
                yield Finding("no_sync", statement.lineno)
                return
            begun = i


def _on_gpu(source: Source) -> bool:
    chosen = {id(node) for test in ast.walk(source.tree) if isinstance(test, ast.IfExp) for node in ast.walk(test)}
    for node in ast.walk(source.tree):
        literal = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("cuda")
        if (literal and (source.cuda or id(node) not in chosen)) or last(node) == "cuda":
            return True
    return False


def _works(nodes: list[ast.AST]) -> bool:
    return any(isinstance(node, ast.Call | ast.BinOp) for node in nodes)


def _waits(source: Source, nodes: list[ast.AST], end: ast.stmt) -> bool:
    """Whether something between two readings waits, by itself or in a function of the source."""
    found = [*nodes, *ast.walk(end)]
    for call in calls(found):
        definition = source.definitions.get(last(call))
        inner = [last(each) for each in calls(list(ast.walk(definition)))] if definition else []
        if {last(call), *inner} & _WAITS:
            return True
    return False


def timer_threads(source: Source) -> Iterator[Finding]:
    """Mistake 20: `torch.utils.benchmark.Timer` left at its one thread."""
    known = any(
        (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch.utils"))
        or (isinstance(node, ast.Import) and any(alias.name == "torch.utils.benchmark" for alias in node.names))
        for node in ast.walk(source.tree)
    )
    for call in calls(list(ast.walk(source.tree))) if known else ():
        if last(call) == "Timer" and keyword(call, "num_threads") is None:
            yield Finding("timer_threads", call.lineno)
            return


def summary(source: Source) -> Iterator[Finding]:
    """Mistake 38: times collected by the source itself, summed up by their least, mean or last, not their median."""
    collected = _collected(source.tree)
    everything = calls(list(ast.walk(source.tree)))
    if not collected or any(last(call) in _FAIR and _names(call) & collected for call in everything):
        return
    for node in ast.walk(source.tree):
        match node:
            case ast.Call(args=[ast.Name(id=name), *_]) if name in collected and last(node) in _SUMMARIES:
                yield Finding("own_summary", node.lineno, {"how": _SUMMARIES[last(node)]})
                return
            case ast.Subscript(value=ast.Name(id=name), slice=ast.UnaryOp(op=ast.USub())) if name in collected:
                yield Finding("own_summary", node.lineno, {"how": "last"})
                return


def _collected(tree: ast.Module) -> set[str]:
    """Name the lists to which something is appended where the clock is read."""
    found = set()
    for suite in suites(tree):
        if not any(reads_clock(node) for statement in suite for node in ast.walk(statement)):
            continue
        for call in calls([node for statement in suite for node in ast.walk(statement)]):
            if last(call) == "append" and isinstance(call.func, ast.Attribute):
                found.add(dotted(call.func.value))
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if dotted(call.func) in _REPEATS:
                found.add(name)
    return found


def _names(call: ast.Call) -> set[str]:
    return {node.id for node in ast.walk(call) if isinstance(node, ast.Name)}


RULES = (no_sync, timer_threads, summary)
