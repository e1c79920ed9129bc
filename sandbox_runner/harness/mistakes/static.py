"""Runs the static rules over a source; a rule that fails on a strange source finds nothing there.

Law: runs before any of the learner's code, inside the walls, because what the learner wrote may crash whoever reads it.
"""

import ast
from collections.abc import Sequence

from . import static_clock, static_compile, static_precision, static_work
from .findings import Finding
from .source import Source

RULES = (*static_clock.RULES, *static_compile.RULES, *static_precision.RULES, *static_work.RULES)
_MOST = 64


def look(tree: ast.Module, bodies: Sequence[tuple[ast.stmt, ...]], *, cuda: bool = False) -> list[Finding]:
    """Give what the rules find in a parsed source, of which `bodies` are timed."""
    try:
        source = Source(tree, tuple(bodies), cuda)
    except (RecursionError, MemoryError):
        return []
    found: list[Finding] = []
    for rule in RULES:
        try:
            found += rule(source)
        except (RecursionError, MemoryError, AttributeError, TypeError, ValueError):
            continue
    return found[:_MOST]
