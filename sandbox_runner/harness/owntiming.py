"""Finds where a source reads the clock itself: the statements between two readings, and what such a number misses.

Law: nothing is changed and nothing refused: a source that times itself runs as it is. Standard library only.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .mistakes.source import dotted

_CLOCKS = {
    *("perf_counter", "perf_counter_ns", "time", "time_ns", "monotonic", "monotonic_ns"),
    *("process_time", "process_time_ns", "thread_time", "default_timer"),
}
_MODULES = {"time", "timeit"}
_TIMED_BY = frozenset({"timeit", "torch.utils.benchmark", "triton.testing"})
_TIMERS = {"timeit", "repeat", "Timer", "do_bench", "do_bench_cudagraph"}
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)


@dataclass(frozen=True)
class OwnTiming:
    """What was found: (first, end) of the statements of each region, and remarks with their lines."""

    regions: tuple[tuple[int, int], ...]
    remarks: tuple[tuple[str, int], ...]


def find(body: list[ast.stmt]) -> OwnTiming | None:
    """Look for clock readings; None where a source reads the clock less than twice, and no timer does it for it."""
    modules, names = _aliases(body)
    readings = [call for statement in body for call in _readings(statement, modules, names)]
    if len(readings) < 2:  # noqa: PLR2004 - one reading is no interval
        return OwnTiming((), ()) if _uses_timer(body) else None
    regions = []
    begun, name = -1, ""
    for i, statement in enumerate(body):
        if not any(_readings(statement, modules, names)):
            continue
        if begun >= 0 and i > begun + 1 and isinstance(statement, _SIMPLE) and _is_taken_from(name, body[i:]):
            regions.append((begun + 1, i))
        name = _begins(statement, modules, names)
        begun = i if name else -1
    remarks = [("own_wall_clock", call.lineno) for call in readings if _steps(call)][:1]
    for first, end in regions:
        inside = [node for statement in body[first:end] for node in ast.walk(statement)]
        remarks += [("own_module_loop", node.lineno) for node in inside if isinstance(node, ast.For | ast.While)][:1]
    return OwnTiming(tuple(regions), tuple(remarks))


def _aliases(body: list[ast.stmt]) -> tuple[set[str], set[str]]:
    """Name what stands for the modules of clocks, and what for a clock."""
    modules, names = set(), set()
    for node in (node for statement in body for node in ast.walk(statement)):
        match node:
            case ast.Import(names=aliases):
                modules |= {alias.asname or alias.name for alias in aliases if alias.name in _MODULES}
            case ast.ImportFrom(module=str(module), names=aliases) if module in _MODULES:
                names |= {alias.asname or alias.name for alias in aliases if alias.name in _CLOCKS}
    return modules, names


def _uses_timer(body: list[ast.stmt]) -> bool:
    """Whether a timer of `timeit`, torch or Triton is set to work, and so measures by itself."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    bases, names = set(_TIMED_BY), set[str]()
    for node in nodes:
        match node:
            case ast.Import(names=aliases):
                bases |= {alias.asname for alias in aliases if alias.name in _TIMED_BY and alias.asname}
            case ast.ImportFrom(module=str(module), names=aliases):
                known = [(alias.asname or alias.name, alias.name) for alias in aliases]
                bases |= {called for called, name in known if f"{module}.{name}" in _TIMED_BY}
                names |= {called for called, name in known if module in _TIMED_BY and name in _TIMERS}
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in names:
                return True
            case ast.Call(func=ast.Attribute(value=base, attr=attr)) if attr in _TIMERS and dotted(base) in bases:
                return True
    return False


def _readings(statement: ast.stmt, modules: set[str], names: set[str]) -> Iterator[ast.Call]:
    for node in ast.walk(statement):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=base), attr=attr)) if base in modules:
                if attr in _CLOCKS:
                    yield node
            case ast.Call(func=ast.Name(id=name)) if name in names:
                yield node


def _begins(statement: ast.stmt, modules: set[str], names: set[str]) -> str:
    """Give the name under which a statement keeps a reading and does nothing else, or ""."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return ""
    kept = any(call is statement.value for call in _readings(statement, modules, names))
    return statement.targets[0].id if kept else ""


def _is_taken_from(name: str, body: list[ast.stmt]) -> bool:
    """Whether a reading is subtracted from another before its name is given away."""
    for statement in body:
        for node in ast.walk(statement):
            match node:
                case ast.BinOp(op=ast.Sub(), right=ast.Name(id=other)) if other == name:
                    return True
        if isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == name for target in statement.targets
        ):
            return False
    return False


def _steps(call: ast.Call) -> bool:
    """Whether a reading is of the wall clock, which is set while it runs."""
    match call.func:
        case ast.Attribute(attr=attr):
            return attr in {"time", "time_ns"}
        case ast.Name(id=name):
            return name in {"time", "time_ns"}
        case _:
            return False
