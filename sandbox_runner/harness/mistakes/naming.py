"""What a name in a source stands for: imports under any alias, and names that are bound to what was imported.

Law: only reads the tree. A name that is bound to different things stands for the first that is known. The clocks are
named here and nowhere else.
"""

import ast
import builtins
from collections.abc import Iterable

CLOCKS = frozenset(
    {
        *("time.perf_counter", "time.perf_counter_ns", "time.time", "time.time_ns", "time.monotonic"),
        *("time.monotonic_ns", "time.process_time", "time.process_time_ns", "time.thread_time", "time.thread_time_ns"),
        *("time.clock_gettime", "time.clock_gettime_ns", "timeit.default_timer", "os.times"),
    }
)
_DATES = frozenset({f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")})
"""They tell the date too: only one that is subtracted from another measures."""
_SETTABLE = _DATES | {"time.time", "time.time_ns"}
_SEEDED = frozenset(
    {"seed", "manual_seed", "default_rng", "Random", "RandomState", "ctime", "localtime", "gmtime", "str"}
)
"""What makes of a reading a seed or a text, not a time that was taken."""
_BUILTINS = frozenset({"print", "map", "filter", "zip", "range", "enumerate", "reversed", "iter", "sum", "min", "max"})


class Names:
    """The names of one source."""

    def __init__(self, body: Iterable[ast.AST]) -> None:
        nodes = [node for statement in body for node in ast.walk(statement)]
        self._stands: dict[str, str] = {}
        self._star = ""
        for node in nodes:
            self._import(node)
        self._defined = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
        self._defined |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        known = {full.partition(".")[0] for full in self._stands.values()}
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value):
                    full = self.full(value)
                    if full.partition(".")[0] in known or full in _BUILTINS:
                        self._stands.setdefault(name, full)
        self._no_times = {id(each) for node in nodes for each in self._given_away(node)}
        dates = {target.id for node in nodes if isinstance(node, ast.Assign) and self.called(node.value) in _DATES
                 for target in node.targets if isinstance(target, ast.Name)}  # fmt: skip
        self._dates = any(
            (isinstance(side, ast.Name) and side.id in dates) or self.called(side) in _DATES
            for node in nodes
            for side in _taken_apart(node)
        )

    def _import(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    root = alias.name.partition(".")[0]
                    self._stands.setdefault(alias.asname or root, alias.name if alias.asname else root)
            case ast.ImportFrom(module=str(module), names=[ast.alias(name="*")]):
                self._star = module
            case ast.ImportFrom(module=str(module), names=aliases):
                for alias in aliases:
                    self._stands.setdefault(alias.asname or alias.name, f"{module}.{alias.name}")

    def _given_away(self, node: ast.AST) -> list[ast.AST]:
        """List what a node makes a seed or a text of."""
        match node:
            case ast.FormattedValue(value=ast.Call() as value):
                return [value]
            case ast.Call(args=args) if self.last(node) in _SEEDED:
                return [inner for each in args for inner in ast.walk(each)]
            case _:
                return []

    def full(self, node: ast.AST) -> str:
        """Give a chain of attributes as text, with what its first name stands for: `xp.sort` is `numpy.sort`."""
        first, dot, rest = dotted(node).partition(".")
        if first in self._stands:
            return self._stands[first] + dot + rest
        starred = self._star and first and first not in self._defined and not hasattr(builtins, first)
        return f"{self._star}.{first}{dot}{rest}" if starred else first + dot + rest

    def knows(self, module: str) -> bool:
        """Whether anything of a module was imported."""
        return any(full.partition(".")[0] == module for full in (*self._stands.values(), self._star))

    def called(self, node: ast.AST) -> str:
        """Name what a call calls, "" where a node is none."""
        return self.full(node.func) if isinstance(node, ast.Call) else ""

    def last(self, node: ast.AST) -> str:
        """Give the last name of what is called, "" where nothing is."""
        return self.called(node).rpartition(".")[2]

    def reads_clock(self, node: ast.AST) -> bool:
        """Whether a node is a reading of a clock."""
        called = "" if id(node) in self._no_times else self.called(node)
        return called in CLOCKS or (called in _DATES and self._dates)

    def is_settable_clock(self, node: ast.AST) -> bool:
        """Whether a node names a clock that is set while it runs."""
        return self.full(node) in _SETTABLE

    def is_settable(self, node: ast.AST) -> bool:
        """Whether a reading is of a clock that is set while it runs."""
        real = isinstance(node, ast.Call) and any(self.full(each) == "time.CLOCK_REALTIME" for each in node.args)
        return real or self.called(node) in _SETTABLE


def _taken_apart(node: ast.AST) -> tuple[ast.expr, ...]:
    return (node.left, node.right) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) else ()


def dotted(node: ast.AST) -> str:
    """Give a chain of attributes as text (`torch.cuda.synchronize`); a call or subscript inside it is left out."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))
