"""Which code of a source runs when some of its statements do: through functions, methods, closures and decorators.

Law: only reads the tree. What ran before, to make what a name is bound to, does not run again: of `data = load()` the
body of `load` is not reached, of `fast = torch.compile(f)` the body of `f` is.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAKERS = {"__init__", "__new__", "__post_init__", "__init_subclass__"}
_ALWAYS = {"forward"}
_MOST_NODES = 20_000


@dataclass
class Reach:
    """What is reached: `nodes` that run, `names` on the way, `values` bound to them, and `decorators` around them."""

    definitions: Mapping[str, ast.AST]
    bound: Mapping[str, list[ast.expr]]
    nodes: list[ast.AST] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)
    values: list[ast.expr] = field(default_factory=list)
    decorators: list[ast.expr] = field(default_factory=list)
    _classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    _taken: set[int] = field(default_factory=set)
    _asked: set[str] = field(default_factory=set)
    _waiting: dict[str, list[ast.FunctionDef]] = field(default_factory=dict)
    _queue: list[ast.AST] = field(default_factory=list)

    def follow(self, statements: Iterable[ast.AST]) -> "Reach":
        """Follow what some statements name until nothing new is found."""
        self._run(statements)
        while self._queue and len(self.nodes) < _MOST_NODES:
            node = self._queue.pop()
            match node:
                case ast.Name(id=name):
                    self._name(name)
                case ast.Attribute(attr=attr):
                    self._asked.add(attr)
                    for method in self._waiting.pop(attr, ()):
                        self._method(method)
                    self._name(f".{attr}")
                case ast.Call(func=ast.Name(id=name)) if name in self._classes:
                    for method in _methods(self._classes[name]):
                        if method.name in _MAKERS:
                            self._method(method)
        return self

    def _run(self, statements: Iterable[ast.AST]) -> None:
        for statement in statements:
            if id(statement) not in self._taken:
                self._taken.add(id(statement))
                found = list(ast.walk(statement))
                self.nodes += found
                # Names first: whether a call makes an instance is known once its class is.
                calls = [node for node in found if isinstance(node, ast.Call)]
                self._queue += [*calls, *(node for node in found if isinstance(node, ast.Name | ast.Attribute))]

    def _name(self, name: str) -> None:
        if name in self.names:
            return
        self.names[name] = None
        match self.definitions.get(name):
            case ast.FunctionDef() | ast.AsyncFunctionDef() as function:
                self._function(function)
            case ast.ClassDef() as known:
                self._know(known)
        for value in self.bound.get(name, ()):
            self.values.append(value)
            self._later(value)

    def _function(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._run(function.body)
        for decorator in function.decorator_list:
            self.decorators.append(decorator)
            self._later(decorator, called=True)

    def _know(self, known: ast.ClassDef) -> None:
        """Follow the methods of a class that are asked for, now or later; special ones are called without a name."""
        if known.name in self._classes:
            return
        self._classes[known.name] = known
        for method in _methods(known):
            special = method.name.startswith("__") and method.name not in _MAKERS
            if special or method.name in self._asked | _ALWAYS:
                self._method(method)
            else:
                self._waiting.setdefault(method.name, []).append(method)

    def _method(self, method: ast.FunctionDef) -> None:
        self._run(method.body)
        if id(method) not in self._taken:
            self._taken.add(id(method))
            self.decorators += method.decorator_list

    def _later(self, value: ast.AST, *, called: bool = False) -> None:
        """Follow what an expression that has run may leave to be run: not what it called, but what it was given.

        `called`: it is a decorator, and so is called itself.
        """
        match value:
            case ast.Name(id=name) if called:
                self._made_by(name)
            case ast.Name(id=name):
                self._name(name)
            case ast.Attribute(attr=attr, value=inner):
                self._name(f".{attr}")
                self._later(inner)
            case ast.Lambda(body=body):
                self._run([body])
            case ast.Call(func=func):
                if isinstance(func, ast.Name):
                    self._made_by(func.id)
                else:
                    self._later(func)
                for given in (*value.args, *(each.value for each in value.keywords)):
                    self._later(given)
            case _:
                for part in ast.iter_child_nodes(value):
                    self._later(part)

    def _made_by(self, name: str) -> None:
        """Follow what a call of the source's own function or class gives: closures, or an instance."""
        match self.definitions.get(name):
            case ast.ClassDef() as known:
                self._know(known)
            case None:
                self._name(name)
            case ast.FunctionDef(body=body):
                for node in (inner for statement in body for inner in ast.walk(statement)):
                    match node:
                        case ast.FunctionDef(body=closure):
                            self._run(closure)
                        case ast.Lambda(body=closed):
                            self._run([closed])


def _methods(known: ast.ClassDef) -> list[ast.FunctionDef]:
    return [inner for inner in known.body if isinstance(inner, ast.FunctionDef)]


def bound(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """Map names outside functions, and attributes (`.x` of `self.x`) anywhere, to what is assigned to them."""
    found: dict[str, list[ast.expr]] = {}
    for node in _outside(tree.body):
        for target, value in assigned(node):
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(value)
    for node in ast.walk(tree):
        for target, value in assigned(node):
            if isinstance(target, ast.Attribute):
                found.setdefault(f".{target.attr}", []).append(value)
        for statement in node.body if isinstance(node, ast.ClassDef) else ():
            for target, value in assigned(statement):
                if isinstance(target, ast.Name):
                    found.setdefault(f".{target.id}", []).append(value)
    return found


def _outside(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    queue = list(reversed(list(body)))
    while queue:
        node = queue.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            queue += reversed(list(ast.iter_child_nodes(node)))


def assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Give each target that a node binds, with what it is given; parts of a tuple by themselves."""
    pairs: list[tuple[ast.expr, ast.expr]]
    match node:
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            pairs = [(target, value)]
        case ast.With(items=items):
            pairs = [(item.optional_vars, item.context_expr) for item in items if item.optional_vars]
        case _:
            return
    for bound_to, given in pairs:
        match bound_to, given:
            case ast.Tuple(elts=names), ast.Tuple(elts=values) if len(names) == len(values):
                yield from zip(names, values, strict=True)
            case ast.Tuple(elts=names), _:
                yield from ((name, given) for name in names)
            case _:
                yield bound_to, given
