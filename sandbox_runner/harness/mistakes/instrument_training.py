"""Passes over a step of training: gradients that pile up, steps that a scaler skips.

Law: a step more is taken on the learner's own state, after everything was timed.
"""

import math
import sys
from collections.abc import Iterator
from typing import Any

from .findings import Finding
from .subject import Subject
from .watch import Watched

_modules = sys.modules
_EMPTIES = {"zero_", "_foreach_zero_", "fill_"}


def gradients(subject: Subject, watched: Watched, line: int | None) -> Iterator[Finding]:
    """Mistake 17: gradients of the step before are still there, and this step adds to them."""
    leaves = _leaves(subject)
    before = [(leaf.grad, leaf.grad._version) for leaf in leaves if leaf.grad is not None]  # noqa: SLF001 - torch's own count
    places = {grad.untyped_storage().data_ptr() for grad, _ in before}
    emptied = any(op.name in _EMPTIES and any(each.place in places for each in op.ins) for op in watched.ops)
    if not before or emptied:
        return
    subject.function()
    grown = [grad for grad, version in before if grad._version > version]  # noqa: SLF001 - torch's own count
    if grown and all(any(leaf.grad is grad for leaf in leaves) for grad in grown):
        yield Finding("grads_grow", line, {}, subject.index)


def _leaves(subject: Subject) -> list[Any]:
    torch = _modules.get("torch")
    if torch is None:
        return []
    values = [thing.value for thing in subject.things()]
    found = [value for value in values if isinstance(value, torch.Tensor) and value.is_leaf]
    found += [each for module in subject.modules() for each in module.parameters()]
    return [leaf for leaf in found if leaf.requires_grad]


def scalers(subject: Subject, *, own: bool) -> Iterator[Finding]:
    """Mistake 15: a scaler's steps are skipped while they are timed; `own`: the source timed its first steps itself."""
    for value in (thing.value for thing in subject.things()):
        if type(value).__name__ != "GradScaler" or not value.is_enabled():
            continue
        before, start = float(value.get_scale()), float(value._init_scale)  # noqa: SLF001 - no public name for it
        subject.function()
        after, factor = float(value.get_scale()), float(value.get_backoff_factor())
        low = before if after < before else start
        fell = after < before or before < start * factor**20 or (own and before < start)
        if fell and 0 < factor < 1:
            skipped = round(math.log(max(after, 1e-300) / low) / math.log(factor)) if after < low else 1
            yield Finding("scaler_skipped", subject.line, {"count": max(1, min(skipped, 1000))}, subject.index)
            return
