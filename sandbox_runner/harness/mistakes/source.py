"""A learner's source as the static rules see it: what is timed, and the definitions that it reaches.

Law: only reads the tree; nothing of the learner's runs, and no name is resolved beyond the source itself.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .naming import Names
from .reach import FUNCTIONS, Reach, assigned, bound

_COMPILES = {"backend", "mode", "dynamic", "fullgraph", "options", "disable"}


@dataclass(frozen=True)
class Source:
    """A parsed source: `bodies` are the timed statements by variant; `cuda` tells that it runs on a GPU's host."""

    tree: ast.Module
    bodies: tuple[tuple[ast.stmt, ...], ...]
    cuda: bool = False
    definitions: dict[str, ast.AST] = field(default_factory=dict)
    bound: dict[str, list[ast.expr]] = field(default_factory=dict)
    names: Names = field(init=False)
    everything: tuple[ast.AST, ...] = field(init=False)
    _reached: dict[int, Reach] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "everything", tuple(ast.walk(self.tree)))
        object.__setattr__(self, "names", Names(self.tree.body))
        for node in self.everything:
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                self.definitions.setdefault(node.name, node)
        self.bound.update(bound(self.tree))

    def reached(self, variant: int) -> Reach:
        """Give what runs when a variant does."""
        if variant not in self._reached:
            self._reached[variant] = Reach(self.definitions, self.bound).follow(self.bodies[variant])
        return self._reached[variant]

    def nodes(self, variant: int) -> list[ast.AST]:
        """List the nodes of what a variant times: its statements and the functions of the source that they reach."""
        return self.reached(variant).nodes

    def given(self, nodes: list[ast.AST]) -> dict[str, str]:
        """Map the parameters of the source's functions to the names that calls among `nodes` give for them."""
        found: dict[str, str] = {}
        for call in calls(nodes):
            function = self.definitions.get(self.last(call))
            if not isinstance(function, ast.FunctionDef):
                continue
            pairs = [*zip((each.arg for each in function.args.args), call.args, strict=False)]
            pairs += [(each.arg, each.value) for each in call.keywords if each.arg]
            found |= {name: value.id for name, value in pairs if isinstance(value, ast.Name) and value.id != name}
        return {name: _followed(found, name) for name in found}

    def assigned(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """Give every target of an assignment, with what it is given."""
        for node in self.everything:
            yield from assigned(node)

    def called(self, node: ast.AST) -> str:
        """Name what a call calls as it was imported (`numpy.sort` for `xp.sort`), "" where a node is no call."""
        return self.names.called(node)

    def last(self, node: ast.AST) -> str:
        """Give the last name of what is called, "" where nothing is."""
        return self.names.last(node)

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.Lambda | None:
        """Give the source's own function that a call by name calls, or its method."""
        if not isinstance(node, ast.Call):
            return None
        if isinstance(node.func, ast.Attribute):
            method = self.definitions.get(node.func.attr)
            owned = isinstance(method, ast.FunctionDef) and [each.arg for each in method.args.args][:1] == ["self"]
            return method if owned and isinstance(method, ast.FunctionDef) else None
        if not isinstance(node.func, ast.Name):
            return None
        known = self.definitions.get(node.func.id)
        lambdas = [value for value in self.bound.get(node.func.id, ()) if isinstance(value, ast.Lambda)]
        return known if isinstance(known, ast.FunctionDef) else lambdas[0] if lambdas else None

    def _compiles(self, value: ast.expr) -> bool:
        """Whether what a name is bound to is `torch.compile` with some of its arguments given."""
        partial = self.called(value) == "functools.partial"
        return partial and self.is_compile(value)

    def is_compile(self, node: ast.AST) -> bool:
        """Whether a node is a call of `torch.compile`, also through `functools.partial`, or of a module's `compile`."""
        if not isinstance(node, ast.Call):
            return False
        called = self.called(node)
        if called == "functools.partial":
            return bool(node.args) and self.names.full(node.args[0]) == "torch.compile"
        if isinstance(node.func, ast.Name) and any(self._compiles(each) for each in self.bound.get(node.func.id, ())):
            return True
        own = isinstance(node.func, ast.Attribute) and self.last(node) == "compile" and not node.args
        own = own and {each.arg for each in node.keywords} <= _COMPILES and self.names.knows("torch")
        return called in {"torch.compile", "torch._dynamo.optimize"} or own


def _followed(given: dict[str, str], name: str) -> str:
    seen = {name}
    while given.get(name, name) not in seen:
        name = given[name]
        seen.add(name)
    return name


def calls(nodes: Iterable[ast.AST]) -> list[ast.Call]:
    """Give the calls among some nodes, in the order of their lines."""
    return sorted((node for node in nodes if isinstance(node, ast.Call)), key=lambda call: call.lineno)


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """Give the value of a call's keyword."""
    return next((each.value for each in call.keywords if each.arg == name), None)


def suites(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Give every list of statements of a tree."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            found = getattr(node, name, None)
            if isinstance(found, list) and found and isinstance(found[0], ast.stmt):
                yield found
