"""Finds where a source reads the clock itself: the statements between two readings, and what such a number misses.

Law: nothing is changed and nothing refused: a source that times itself runs as it is. Standard library only.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from .mistakes.naming import Names

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
    names = Names(body)
    readings = [call for statement in body for call in _readings(statement, names)]
    if len(readings) < 2:  # noqa: PLR2004 - one reading is no interval
        return OwnTiming((), _settable_timers(body, names)) if _uses_timer(body, names) else None
    regions = []
    begun, name = -1, ""
    for i, statement in enumerate(body):
        if not any(_readings(statement, names)):
            continue
        if begun >= 0 and i > begun + 1 and isinstance(statement, _SIMPLE) and _is_taken_from(name, body[i:]):
            regions.append((begun + 1, i))
        name = _begins(statement, names)
        begun = i if name else -1
    remarks = [("own_wall_clock", call.lineno) for call in readings if names.is_settable(call)][:1]
    for first, end in regions:
        inside = [node for statement in body[first:end] for node in ast.walk(statement)]
        remarks += [("own_module_loop", node.lineno) for node in inside if isinstance(node, ast.For | ast.While)][:1]
    return OwnTiming(tuple(regions), tuple(remarks))


def _uses_timer(body: list[ast.stmt], names: Names) -> bool:
    """Whether a timer of `timeit`, torch or Triton is set to work, and so measures by itself."""
    called = {names.called(node) for statement in body for node in ast.walk(statement)}
    return any(base in _TIMED_BY and name in _TIMERS for base, _, name in (each.rpartition(".") for each in called))


def _settable_timers(body: list[ast.stmt], names: Names) -> tuple[tuple[str, int], ...]:
    """Remark on a timer that is given a clock of the date."""
    given = [each.value for statement in body for node in ast.walk(statement) if isinstance(node, ast.Call)
             for each in node.keywords if each.arg == "timer"]  # fmt: skip
    return tuple(("own_wall_clock", value.lineno) for value in given if names.is_settable_clock(value))[:1]


def _readings(statement: ast.stmt, names: Names) -> Iterator[ast.Call]:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and names.reads_clock(node):
            yield node


def _begins(statement: ast.stmt, names: Names) -> str:
    """Give the name under which a statement keeps a reading and does nothing else, or ""."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return ""
    kept = any(call is statement.value for call in _readings(statement, names))
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
