"""A learner's source as the static rules see it: what is timed, and the definitions that it reaches.

Law: only reads the tree; nothing of the learner's runs, and no name is resolved beyond the source itself.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

CLOCKS = frozenset(
    {
        *("perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic", "monotonic_ns"),
        *("process_time", "thread_time", "default_timer"),
    }
)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MOST_REACHED = 200


@dataclass(frozen=True)
class Source:
    """A parsed source: `bodies` are the timed statements by variant; `cuda` tells that it runs on a GPU's host."""

    tree: ast.Module
    bodies: tuple[tuple[ast.stmt, ...], ...]
    cuda: bool = False
    definitions: dict[str, ast.AST] = field(default_factory=dict)
    bound: dict[str, ast.expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
                self.definitions.setdefault(node.name, node)
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                self.bound[statement.targets[0].id] = statement.value

    def nodes(self, variant: int) -> list[ast.AST]:
        """List the nodes of what a variant times: its statements and the functions of the source that they name."""
        found = [node for statement in self.bodies[variant] for node in ast.walk(statement)]
        for name in self._names(found):
            match self.definitions.get(name):
                case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body) | ast.ClassDef(body=body):
                    found += [node for statement in body for node in ast.walk(statement)]
                case _ if isinstance(value := self.bound.get(name), ast.Lambda):
                    found += ast.walk(value)
        return found

    def values(self, variant: int) -> list[ast.expr]:
        """List what is bound, before it is timed, to the names that a variant reaches."""
        names = self._names([node for statement in self.bodies[variant] for node in ast.walk(statement)])
        return [self.bound[name] for name in names if name in self.bound]

    def given(self, nodes: list[ast.AST]) -> dict[str, str]:
        """Map the parameters of the source's functions to the names that calls among `nodes` give for them."""
        found: dict[str, str] = {}
        for call in calls(nodes):
            function = self.definitions.get(last(call))
            if not isinstance(function, ast.FunctionDef):
                continue
            pairs = [*zip((each.arg for each in function.args.args), call.args, strict=False)]
            pairs += [(each.arg, each.value) for each in call.keywords if each.arg]
            found |= {name: value.id for name, value in pairs if isinstance(value, ast.Name) and value.id != name}
        return {name: _followed(found, name) for name in found}

    def _names(self, start: list[ast.AST]) -> list[str]:
        """Name what is reached from some nodes, through definitions and through what names are bound to."""
        seen: dict[str, None] = {}
        queue = [node.id for node in start if isinstance(node, ast.Name)]
        while queue and len(seen) < _MOST_REACHED:
            name = queue.pop()
            if name in seen:
                continue
            seen[name] = None
            for inner in (self.definitions.get(name), self.bound.get(name)):
                queue += [node.id for node in ast.walk(inner) if isinstance(node, ast.Name)] if inner else []
        return list(seen)


def _followed(given: dict[str, str], name: str) -> str:
    seen = {name}
    while given.get(name, name) not in seen:
        name = given[name]
        seen.add(name)
    return name


def dotted(node: ast.AST) -> str:
    """Give a chain of attributes as text (`torch.cuda.synchronize`); a call or subscript inside it is left out."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    parts.append(node.id if isinstance(node, ast.Name) else "")
    return ".".join(reversed(parts))


def last(node: ast.AST) -> str:
    """Give the last name of what is called, "" where nothing is."""
    return dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def calls(nodes: "Iterator[ast.AST] | list[ast.AST]") -> list[ast.Call]:
    """Give the calls among some nodes, in the order of their lines."""
    return sorted((node for node in nodes if isinstance(node, ast.Call)), key=lambda call: call.lineno)


def reads_clock(node: ast.AST) -> bool:
    """Whether a node is a reading of a clock."""
    if not isinstance(node, ast.Call) or last(node) not in CLOCKS:
        return False
    base = dotted(node.func).rpartition(".")[0]
    return base in {"time", "timeit", ""}


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Give the value of a call's keyword."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def is_compile(node: ast.AST) -> bool:
    """Whether a node is a call of `torch.compile`."""
    return isinstance(node, ast.Call) and dotted(node.func) == "torch.compile"


def suites(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Give every list of statements of a tree."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            found = getattr(node, name, None)
            if isinstance(found, list) and found and isinstance(found[0], ast.stmt):
                yield found
