"""Rules on mixed precision: a scaler where none is needed, gradients clipped while scaled, autocast entered often.

Law: each rule is a pure function of the source; it names what is certain from the text alone.
"""

import ast
from collections.abc import Iterator

from .findings import Finding
from .naming import dotted
from .source import Source, calls, keyword

_CLIPS = {"clip_grad_norm_", "clip_grad_value_"}
_MANY_ENTRIES = 3
_ZEROES = {"zero_", "fill_", "mul_", "copy_", "_foreach_zero_"}


def scaler(source: Source) -> Iterator[Finding]:
    """Mistake 16: a `GradScaler` beside bfloat16, or gradients clipped before `unscale_`."""
    names = {dotted(target) for target, value in source.assigned() if _scales(source, value)}
    for variant in range(len(source.bodies)):
        found = calls(source.nodes(variant))
        scaled = [c for c in found if source.last(c) == "scale" and dotted(c.func).rpartition(".")[0] in names]
        if not scaled:
            continue
        yield Finding("uses_scaler", scaled[0].lineno, variant=variant)
        if any(_enters(source, call) and "bfloat16" in ast.dump(call) for call in found):
            yield Finding("scaler_bf16", scaled[0].lineno, variant=variant)
        clips = [call for call in found if source.last(call) in _CLIPS]
        if clips and not any(source.last(call) == "unscale_" for call in found):
            yield Finding("clip_scaled", clips[0].lineno, variant=variant)


def _scales(source: Source, value: ast.expr) -> bool:
    """Whether an expression makes a `GradScaler` that is switched on, as far as the text tells."""
    if not isinstance(value, ast.Call) or source.last(value) != "GradScaler":
        return False
    enabled = keyword(value, "enabled")
    known = source.bound.get(enabled.id, [enabled])[-1] if isinstance(enabled, ast.Name) else enabled
    match known:
        case None:
            return True
        case ast.Constant(value=on):
            return bool(on)
        case _:
            return source.cuda and "float16" not in ast.unparse(known)


def reentered(source: Source) -> Iterator[Finding]:
    """Mistake 12: autocast without its cache of weights, inside itself, or once for each operation."""
    for variant in range(len(source.bodies)):
        line = _reentered(source, source.nodes(variant), source.bodies[variant])
        if line:
            yield Finding("autocast_reentered", line, variant=variant)


def _reentered(source: Source, nodes: list[ast.AST], body: tuple[ast.stmt, ...]) -> int:
    for call in calls(nodes):
        cache = keyword(call, "cache_enabled")
        if _enters(source, call) and isinstance(cache, ast.Constant) and cache.value is False:
            return call.lineno
    for node in nodes:
        inner = [each for each in ast.walk(node) if each is not node and _is_entry(source, each)]
        if _is_entry(source, node) and inner:
            return int(getattr(inner[0], "lineno", 0))
    suites = [getattr(node, "body", None) for node in nodes] + [list(body)]
    for suite in (each for each in suites if isinstance(each, list)):
        entries = [statement for statement in suite if _is_entry(source, statement)]
        if len(entries) >= _MANY_ENTRIES:
            return int(entries[1].lineno)
    return 0


def _is_entry(source: Source, node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(_enters(source, item.context_expr) for item in node.items)


def _enters(source: Source, node: ast.AST) -> bool:
    """Whether a node is a call of autocast that is not switched off."""
    if not isinstance(node, ast.Call) or source.last(node) != "autocast":
        return False
    enabled = keyword(node, "enabled")
    return not (isinstance(enabled, ast.Constant) and enabled.value is False)


def autocast(source: Source) -> Iterator[Finding]:
    """Not yet a mistake: which variants enter autocast, for mistakes 10, 11 and 13."""
    for variant in range(len(source.bodies)):
        entry = next((call for call in calls(source.nodes(variant)) if _enters(source, call)), None)
        if entry is not None:
            yield Finding("uses_autocast", entry.lineno, variant=variant)


def trains(source: Source) -> Iterator[Finding]:
    """Mistake 17: `backward()` adds to gradients that nothing ever empties. Also tells which variants train."""
    for variant in range(len(source.bodies)):
        nodes = source.nodes(variant)
        back = next((call for call in calls(nodes) if source.last(call) in {"backward", "grad"}), None)
        if back is None:
            continue
        yield Finding("uses_backward", back.lineno, variant=variant)
        empties = _empties(source, nodes)
        if source.last(back) == "backward" and not empties:
            yield Finding("never_empties", back.lineno, variant=variant)
        elif (line := _steps_on(source, nodes)) is not None:
            yield Finding("grads_grow", line, variant=variant)


def _steps_on(source: Source, nodes: list[ast.AST]) -> int | None:
    """Give the line of a `backward()` in a loop that steps by an optimizer each time and empties nothing between."""
    optimizers = {dotted(target) for target, value in source.assigned() if _optimizes(source.called(value))}
    for loop in (node for node in nodes if isinstance(node, ast.For | ast.While)):
        reached = _with_called(source, [node for statement in loop.body for node in ast.walk(statement)])
        steps = any(isinstance(node.func, ast.Attribute) and node.func.attr == "step"
                    and dotted(node.func.value) in optimizers for node in calls(reached))  # fmt: skip
        back = next((call for call in calls(reached) if source.last(call) == "backward"), None)
        if steps and back is not None and not _empties(source, reached):
            return back.lineno
    return None


def _with_called(source: Source, nodes: list[ast.AST]) -> list[ast.AST]:
    """Give some nodes, and those of the source's functions and methods that calls among them name, and so on."""
    found, seen, queue = list(nodes), set[str](), calls(nodes)
    while queue:
        name = source.last(queue.pop())
        definition = source.definitions.get(name)
        if name not in seen and isinstance(definition, ast.FunctionDef):
            inner = [node for statement in definition.body for node in ast.walk(statement)]
            found += inner
            queue += calls(inner)
        seen.add(name)
    return found


def _optimizes(called: str) -> bool:
    return called.startswith("torch.optim.") and not called.startswith(("torch.optim.lr_scheduler", "torch.optim.swa"))


def _empties(source: Source, nodes: list[ast.AST]) -> bool:
    """Whether gradients are emptied: by `zero_grad`, or by hand."""
    return any(source.last(node) == "zero_grad" or _zeroes(source, node) for node in nodes) or any(
        isinstance(node, ast.Attribute) and node.attr == "grad" and not isinstance(node.ctx, ast.Load) for node in nodes
    )


def _zeroes(source: Source, node: ast.AST) -> bool:
    """Whether a call puts zeros where gradients are: `w.grad.zero_()`."""
    return source.last(node) in _ZEROES and any(
        isinstance(inner, ast.Attribute) and inner.attr == "grad" for inner in ast.walk(node)
    )


RULES = (scaler, reentered, autocast, trains)
