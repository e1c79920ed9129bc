"""Which loops between two readings of the clock only repeat a call, and where their mean is given as truth.

Law: only reads the tree. A loop whose own variable is used does work of its own, and is no repetition.
"""

import ast
from collections.abc import Iterable, Iterator

from .source import Source, keyword, suites

_REPEATS = {"range", "itertools.repeat"}


class Repeated:
    """The counts of repetitions of one source: of its own loops, of `timeit`, and of functions that time a loop."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._values: dict[str, list[ast.expr]] = {}
        for target, value in source.assigned():
            if isinstance(target, ast.Name):
                self._values.setdefault(target.id, []).append(value)
        self.counts: set[str] = set()
        for suite in suites(source.tree):
            for count in self._timed(suite):
                self.counts |= self._keys(count)
        self._of_timers()
        self._of_parameters()

    def divides(self, node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Give what a node divides, and what by, where one of them is the number of repetitions; that comes second."""
        match node:
            case (
                ast.BinOp(op=ast.Div() | ast.FloorDiv(), left=one, right=two)
                | ast.AugAssign(op=ast.Div() | ast.FloorDiv(), target=ast.Name() as one, value=two)
            ):
                yield from ((a, b) for a, b in ((one, two), (two, one)) if self._is_count(b))

    def _is_count(self, node: ast.expr) -> bool:
        """Whether a factor of an expression is the number of repetitions."""
        match node:
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                return self._is_count(left) or self._is_count(right)
            case ast.Call(args=[only]) if self._source.called(node) in {"int", "float"}:
                return self._is_count(only)
            case _:
                return bool(self._keys(node) & self.counts)

    def _keys(self, node: ast.expr) -> set[str]:
        """Give what a count may be recognised by: its text, and what it was bound to."""
        keys = {ast.unparse(node)}
        for value in self._values.get(node.id, ()) if isinstance(node, ast.Name) else ():
            if isinstance(value, ast.Constant | ast.Call | ast.BinOp):
                keys.add(ast.unparse(value))
        return {str(int(float(key))) if _is_number(key) else key for key in keys}

    def _timed(self, suite: list[ast.stmt]) -> Iterator[ast.expr]:
        """Give the counts of the repetitions between two readings of the clock that stand in one suite."""
        begun = -1
        for i, statement in enumerate(suite):
            if not any(self._source.names.reads_clock(node) for node in ast.walk(statement)):
                continue
            for inner in suite[begun + 1 : i] if begun >= 0 else ():
                yield from self._repetitions(ast.walk(inner))
            begun = i

    def _repetitions(self, nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
        for node in nodes:
            match node:
                case ast.For(target=target, iter=ast.Call() as over, body=body):
                    yield from self._unused(target, over, body)
                case ast.ListComp(elt=elt, generators=[ast.comprehension(target=target, iter=ast.Call() as over)]):
                    yield from self._unused(target, over, [elt])
                case ast.While(test=ast.Compare(left=ast.Name(id=name) as counter, comparators=[least]), body=body):
                    if sum(name in _loaded(statement) for statement in body) == 0:
                        yield from (counter, least)

    def _unused(self, target: ast.expr, over: ast.Call, body: Iterable[ast.AST]) -> Iterator[ast.expr]:
        named = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
        repeats = self._source.called(over) in _REPEATS and over.args
        if repeats and not any(named & _loaded(part) for part in body):
            yield over.args[-1] if len(over.args) < 3 else over.args[1]  # noqa: PLR2004 - `range(a, b, step)`

    def _of_timers(self) -> None:
        for node in self._source.everything:
            if not isinstance(node, ast.Call) or self._source.last(node) not in {"timeit", "repeat"}:
                continue
            given = keyword(node, "number")
            own = isinstance(node.func, ast.Attribute) and self._source.called(node) != "timeit.timeit"
            given = given or (node.args[0] if own and node.args else None)
            self.counts |= self._keys(given) if given is not None else set()
        for node in self._source.everything:
            match node:
                case ast.Assign(targets=[ast.Tuple(elts=[count, _])], value=value):
                    if self._source.last(value) == "autorange":
                        self.counts |= self._keys(count)

    def _of_parameters(self) -> None:
        """Add what calls give for parameters that are counts."""
        for call in (node for node in self._source.everything if isinstance(node, ast.Call)):
            function = self._source.function(call)
            if function is None:
                continue
            names = [each.arg for each in function.args.args]
            pairs = [*zip(names, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]
            for name, value in pairs:
                if name in self.counts:
                    self.counts |= self._keys(value)


def _is_number(text: str) -> bool:
    try:
        return float(text).is_integer()
    except (ValueError, OverflowError):
        return False


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
