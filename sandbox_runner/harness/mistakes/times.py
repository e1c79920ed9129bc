"""Which names of a source stand for times that it took itself, and by what it sums them up.

Law: only reads the tree.
"""

import ast
from collections.abc import Iterator

from .naming import dotted
from .repeated import Repeated
from .source import Source, suites

_SUMMARIES = {"min": "min", "amin": "min", "nanmin": "min", "mean": "mean", "fmean": "mean", "average": "mean"}
_SUMMARIES |= {"nanmean": "mean", "sum": "mean", "fsum": "mean", "max": "max", "amax": "max", "nanmax": "max"}
_FAIR = {"median", "nanmedian", "quantile", "nanquantile", "quantiles", "percentile", "median_low", "median_high"}
_KEEPS = {"array", "asarray", "sorted", "list", "tuple", "tensor", "Series", "as_tensor", "sort", "map"}
_LISTS = {"append", "extend"}
_UNITS = {1e3, 1e6, 1e9}


class Times:
    """The times that a source collects: `names` of lists, and of single differences of two readings."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._clocked_functions: dict[int, bool] = {}
        self._clocks = {id(node) for node in source.everything if self._is_reading(node)}
        self._read = {
            target.id
            for target, value in (source.assigned() if self._clocks else ())
            if isinstance(target, ast.Name) and any(id(node) in self._clocks for node in ast.walk(value))
        }
        self._single = self._differences()
        self._subtracted = {
            node.left.id
            for node in source.everything
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.left, ast.Name)
        }
        self._sorted = self._in_order()
        self.names = self._collected()
        self._grow()

    def is_fair(self) -> bool:
        """Whether a median or quantile is taken of what was collected, or its middle."""
        for node in self._source.everything:
            match node:
                case ast.Call() if self._source.last(node) in _FAIR and self._mentions(node):
                    return True
                case ast.Subscript(value=value, slice=ast.BinOp(op=ast.FloorDiv())) if self._mentions(value):
                    return True
                case ast.Subscript(value=value, slice=ast.Constant(value=int(place))) if place > 0:
                    if self._is_sorted(value):
                        return True
        return False

    def of_collected(self) -> Iterator[tuple[int, str]]:
        """Give (line, how) of each summary of what was collected."""
        for node in self._source.everything:
            match node:
                case ast.Call(args=[first, *_]) if self._source.last(node) in _SUMMARIES and self._is_list(first):
                    yield node.lineno, _SUMMARIES[self._source.last(node)]
                case ast.Call(func=ast.Attribute(attr=attr, value=value)) if attr in _SUMMARIES and self._is_list(
                    value
                ):
                    yield node.lineno, _SUMMARIES[attr]
                case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub())) if self._is_list(value):
                    yield node.lineno, "last"
                case ast.Subscript(value=value, slice=ast.Constant(value=0)) if self._is_sorted(value):
                    yield node.lineno, "min"

    def running(self) -> Iterator[tuple[int, str]]:
        """Give (line, how) of a least time kept, or a sum of times divided, while the clock is read."""
        summed = set()
        for suite in self._clocked():
            for node in (inner for statement in suite for inner in ast.walk(statement)):
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                        if self._source.last(call) == "min" and name in _loaded(call) and self._is_time(call):
                            yield node.lineno, "min"
                    case ast.If(test=ast.Compare(ops=[ast.Lt() | ast.LtE()]), body=[ast.Assign(targets=[target])]):
                        if self._is_time(node.body[0]) and _loaded(node.test) & {dotted(target)}:
                            yield node.lineno, "min"
                    case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value) if self._is_time(value):
                        summed.add(name)
        summed |= set(self._summed_up())
        for node in self._source.everything:
            match node:
                case (
                    ast.BinOp(op=ast.Div(), left=ast.Name(id=name))
                    | ast.AugAssign(op=ast.Div(), target=ast.Name(id=name))
                ) if name in summed:
                    yield node.lineno, "mean"

    def _summed_up(self) -> Iterator[str]:
        """Name the sums over the times that were collected, made by a loop."""
        for loop in self._source.everything:
            match loop:
                case ast.For(target=ast.Name(id=each), iter=over, body=body) if self._is_list(over):
                    for statement in body:
                        match statement:
                            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.Name(id=added)):
                                yield from [name] if added == each else []

    def of_one(self) -> Iterator[tuple[int, str]]:
        """Give (line, how) of what is told of one timing: a loop's time by its count, or the last time of a loop."""
        repeated = Repeated(self._source)
        for node in self._source.everything:
            for took, by in repeated.divides(node):
                if self._is_elapsed(took) and not self._converts(by):
                    yield getattr(node, "lineno", 1), "mean"
        for loop in self._source.everything:
            if isinstance(loop, ast.For | ast.While) and any(self._reads(node) for node in ast.walk(loop)):
                yield from self._lasts(loop)

    def _lasts(self, loop: ast.For | ast.While) -> Iterator[tuple[int, str]]:
        """Find times that each turn of a loop takes and forgets, and that are looked at when it is over."""
        inside = list(ast.walk(loop))
        within = {id(node) for node in inside}
        bound = {name for node in inside for name in self._kept_by(node)}
        for name in bound - {each for statement in loop.body for each in _used(statement)}:
            for node in self._source.everything:
                if isinstance(node, ast.Name) and node.id == name and id(node) not in within and _is_load(node):
                    yield node.lineno, "last"

    def _kept_by(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if name in self._single or (name in self._subtracted and self._reads(value)):
                    yield name

    def _converts(self, by: ast.AST) -> bool:
        """Whether a divisor makes microseconds, milliseconds or seconds of nanoseconds, though it be a count too."""
        in_ns = any(self._source.called(node).endswith("_ns") for node in self._source.everything)
        return in_ns and isinstance(by, ast.Constant) and by.value in _UNITS

    def _is_elapsed(self, node: ast.AST) -> bool:
        kept = isinstance(node, ast.Name) and node.id in self._single
        return kept or self._is_time(node) or any(self._is_timer_s(each, "timeit") for each in ast.walk(node))

    def _clocked(self) -> Iterator[list[ast.stmt]]:
        """Give the bodies of loops in which the clock is read, or a function that reads it is called."""
        for loop in self._source.everything:
            if isinstance(loop, ast.For | ast.While) and any(self._reads(node) for node in ast.walk(loop)):
                yield loop.body

    def _is_reading(self, node: ast.AST) -> bool:
        """Whether a node reads the clock, or calls a function of the source that does."""
        if not isinstance(node, ast.Call):
            return False
        if (function := self._source.function(node)) is None:
            return self._source.names.reads_clock(node)
        if id(function) not in self._clocked_functions:
            reads = any(self._source.names.reads_clock(each) for each in ast.walk(function))
            self._clocked_functions[id(function)] = reads
        return self._clocked_functions[id(function)]

    def _reads(self, node: ast.AST) -> bool:
        return id(node) in self._clocks

    def _differences(self) -> set[str]:
        found = set()
        for node in self._source.everything:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if self._is_difference(value) or self._is_taken(value) or self._is_timer_s(value, "timeit"):
                        found.add(name)
                case ast.Assign(targets=[ast.Tuple(elts=[_, ast.Name(id=name)])], value=value):
                    if self._source.last(value) == "autorange":
                        found.add(name)
        return found

    def _is_taken(self, value: ast.AST) -> bool:
        """Whether an expression calls a function of the source that takes a time, and gives it."""
        function = self._source.function(value)
        return function is not None and self._is_reading(value) and any(
            isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) for node in ast.walk(function)
        )  # fmt: skip

    def _is_difference(self, value: ast.AST) -> bool:
        subtracts = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) for node in ast.walk(value))
        return subtracts and (bool(_loaded(value) & self._read) or any(self._reads(node) for node in ast.walk(value)))

    def _is_time(self, value: ast.AST) -> bool:
        timed = any(self._reads(node) for node in ast.walk(value))
        return timed or bool(_loaded(value) & self._single) or self._is_difference(value)

    def _collected(self) -> set[str]:
        """Name the lists to which something is added where the clock is read, and what `timeit` repeats."""
        found = set()
        for suite in suites(self._source.tree):
            inside = [node for statement in suite for node in ast.walk(statement)]
            if not any(self._reads(node) for node in inside):
                continue
            for node in inside:
                match node:
                    case ast.Call(func=ast.Attribute(attr=attr, value=value)) if attr in _LISTS:
                        found.add(dotted(value))
                    case ast.AugAssign(target=target, value=ast.List()):
                        found.add(dotted(target))
                    case ast.For(target=index, iter=ast.Call() as over, body=body) if self._counts(over):
                        found |= self._filled(index, body)
        return found - {""}

    def _counts(self, over: ast.Call) -> bool:
        return self._source.called(over) in {"range", "enumerate"}

    def _filled(self, index: ast.expr, body: list[ast.stmt]) -> set[str]:
        """Name the arrays whose places are filled with times, one in each turn of a loop that counts."""
        counters = {node.id for node in ast.walk(index) if isinstance(node, ast.Name)}
        found = set()
        for node in (inner for statement in body for inner in ast.walk(statement)):
            match node:
                case ast.Assign(targets=[ast.Subscript(value=value, slice=ast.Name(id=place))], value=given):
                    if place in counters and self._is_time(given):
                        found.add(dotted(value))
        return found

    def _grow(self) -> None:
        """Add the names to which what was collected is given on."""
        for _ in range(3):
            for node in self._source.everything:
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._is_list(value):
                        self.names.add(name)

    def _is_list(self, node: ast.AST) -> bool:
        """Whether an expression is a list of times."""
        match node:
            case ast.Name() | ast.Attribute():
                return dotted(node) in self.names
            case ast.BinOp(op=ast.Div() | ast.Mult(), left=left, right=right):
                return self._is_list(left) or self._is_list(right)
            case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt):
                times = any(self._reads(inner) for inner in ast.walk(elt))
                return times or any(self._is_list(each.iter) for each in node.generators)
            case ast.Call(args=args):
                repeats = self._is_timer_s(node, "repeat")
                return repeats or (self._source.last(node) in _KEEPS and any(self._is_list(each) for each in args))
            case _:
                return False

    def _is_timer_s(self, node: ast.AST, name: str) -> bool:
        """Whether a node is a call of `timeit`'s `timeit` or `repeat`, or of such a method of a `timeit.Timer`."""
        if self._source.called(node) == f"timeit.{name}":
            return True
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != name:
            return False
        timer = node.func.value
        values = [timer, *(self._source.bound.get(timer.id, ()) if isinstance(timer, ast.Name) else ())]
        return any(self._source.called(value) == "timeit.Timer" for value in values)

    def _is_sorted(self, node: ast.expr) -> bool:
        """Whether an expression is a list of times in order: one that is sorted here, or was before."""
        if self._source.last(node) == "sorted":
            return self._is_list(node)
        return isinstance(node, ast.Name) and node.id in self._sorted and self._is_list(node)

    def _in_order(self) -> set[str]:
        found = set()
        for node in self._source.everything:
            match node:
                case ast.Call(func=ast.Attribute(attr="sort", value=ast.Name(id=name))):
                    found.add(name)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if self._source.last(value) == "sorted":
                    found.add(name)
        return found

    def _mentions(self, node: ast.AST) -> bool:
        return any(self._is_list(inner) for inner in ast.walk(node) if isinstance(inner, ast.expr))


def _loaded(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}


def _is_load(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _used(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
