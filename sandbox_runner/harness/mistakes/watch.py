"""Watches one call operation by operation, in torch: what kinds go in and out, and how long each takes.

Law: never while anything is timed for the learner. Torch's classes are made only where torch is there.
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

_clock = time.perf_counter_ns
_modules = sys.modules
_MOST_OPS = 20_000


@dataclass(frozen=True)
class Seen:
    """A tensor as an operation saw it."""

    dtype: str
    device: str
    count: int
    dims: int
    place: int
    contiguous: bool
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Op:
    """One operation: its name, its own ns, what went in and out, and the memory format it was asked for.

    `graph`: it is kept for gradients. `entry`: the number of the `autocast` block that it ran in, 0 outside.
    """

    name: str
    ns: int
    ins: tuple[Seen, ...]
    outs: tuple[Seen, ...]
    layout: bool = False
    graph: bool = False
    entry: int = 0


@dataclass
class Watched:
    """What one call did."""

    ops: list[Op] = field(default_factory=list)
    anomaly: bool = False
    profiler: bool = False
    promoted: str = ""
    taken: dict[str, int] = field(default_factory=dict)
    entries: int = 0
    depth: int = 0
    uncached: bool = False
    tunes: bool = False
    idle: int = 0
    extent: int = 0
    value: Any = None
    done: bool = False

    def share(self, names: frozenset[str]) -> float:
        """Give the part of the time of all operations that those of some names take."""
        total = sum(op.ns for op in self.ops)
        return sum(op.ns for op in self.ops if op.name in names) / total if total else 0.0

    def share_of(self, ops: list[Op]) -> float:
        """Give the part of the time of all operations that some take."""
        total = sum(op.ns for op in self.ops)
        return sum(op.ns for op in ops) / total if total else 0.0

    def steady(self, again: "Watched") -> None:
        """Keep the shorter of two times of each operation, where the same were seen again: a busy machine only adds."""
        if [op.name for op in self.ops] == [op.name for op in again.ops]:
            pairs = zip(self.ops, again.ops, strict=True)
            self.ops = [replace(one, ns=min(one.ns, two.ns)) for one, two in pairs]


def _seen(value: Any) -> Seen:  # noqa: ANN401 - a tensor
    strided = str(value.layout) == "torch.strided"
    return Seen(
        dtype=str(value.dtype).removeprefix("torch."),
        device=value.device.type,
        count=value.numel(),
        dims=value.dim(),
        place=value.untyped_storage().data_ptr() if strided else 0,
        contiguous=strided and value.is_contiguous(),
        shape=tuple(value.shape),
    )


def _tensors(value: Any, torch: Any) -> list[Any]:  # noqa: ANN401 - arguments of an operation
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [inner for each in value for inner in _tensors(each, torch)]
    return []


def watch(call: Callable[[], Any], watched: Watched) -> None:
    """Call once with every operation of torch watched; what is compiled runs as it was before compiling."""
    torch: Any = _modules.get("torch")
    if torch is None:
        watched.value = call()
        return
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415 - torch is there only now

    synchronize = torch.cuda.synchronize if torch.cuda.is_initialized() else lambda: None

    class Watch(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, op: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
            synchronize()
            ins = tuple(_seen(each) for each in _tensors(args, torch))
            begin = _clock()
            out = op(*args, **(kwargs or {}))
            synchronize()
            took = _clock() - begin
            if len(watched.ops) < _MOST_OPS:
                outs = tuple(_seen(each) for each in _tensors(out, torch))
                layout = (kwargs or {}).get("memory_format") is not None
                graph = torch.is_grad_enabled() and any(each.requires_grad for each in _tensors(args, torch))
                entry = watched.entries if watched.depth else 0
                watched.tunes = watched.tunes or ("conv" in op.__name__ and torch.backends.cudnn.benchmark)
                watched.ops.append(Op(op.overloadpacket.__name__, took, ins, outs, layout, graph, entry))
            watched.anomaly = watched.anomaly or torch.is_anomaly_enabled()
            watched.profiler = watched.profiler or torch.autograd._profiler_enabled()  # noqa: SLF001
            return out

    stance = torch.compiler.set_stance("force_eager") if "torch._dynamo" in _modules else contextlib.nullcontext()
    with stance, _autocast_watched(torch, watched), Watch():
        watched.value = call()


@contextlib.contextmanager
def _autocast_watched(torch: Any, watched: Watched) -> Iterator[None]:  # noqa: ANN401 - torch may be absent
    """Count how often autocast is entered, however it is spelt: as a block, a decorator, or under another name."""
    kind = torch.amp.autocast_mode.autocast
    enter, leave = kind.__enter__, kind.__exit__

    def entered(self: Any) -> Any:  # noqa: ANN401 - torch's
        if self._enabled:
            watched.entries += not watched.depth
            watched.depth += 1
            watched.uncached = watched.uncached or not self._cache_enabled
        elif self.device != "cpu" and not torch.cuda.is_available():
            watched.idle += 1  # asked for a device that is not there, torch leaves it off
        return enter(self)

    def left(self: Any, *wrong: Any) -> Any:  # noqa: ANN401 - torch's
        watched.depth -= bool(self._enabled)
        return leave(self, *wrong)

    try:
        kind.__enter__, kind.__exit__ = entered, left
        yield
    finally:
        kind.__enter__, kind.__exit__ = enter, leave
