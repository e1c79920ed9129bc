"""Passes over one call of torch, operation by operation: copies, casts, promotion, autocast, creation, layouts, modes.

Law: each pass is a function of what was watched; shares are of the operations' own time.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from . import subject as of
from .findings import Finding
from .subject import Subject
from .watch import Op, Seen, Watched

_modules = sys.modules
MATMULS = frozenset(
    {
        *("mm", "addmm", "bmm", "baddbmm", "convolution", "conv2d", "linear", "matmul", "mv", "dot", "mkldnn_linear"),
        *("_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention", "_convolution"),
        *("_scaled_dot_product_flash_attention_for_cpu", "cudnn_convolution", "mkldnn_convolution"),
    }
)
_CREATIONS = frozenset(
    {
        *("randn", "rand", "randint", "randperm", "normal_", "uniform_", "normal", "rand_like", "randn_like"),
        *("random_", "exponential_", "multinomial", "arange", "linspace", "normal_functional", "randint_like"),
    }
)
_PLAIN_PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "linear"}
_HALVES = {"float16", "bfloat16"}
_FLOATS = {"float16", "bfloat16", "float32", "float64"}
_COPIES = frozenset({"_to_copy", "to", "copy_"})
"""In inference mode an operation is seen whole (`to`, `linear`), elsewhere by its parts (`_to_copy`, `addmm`)."""
LEAST_SHARE = 0.15
_CAST_SHARE = 0.3
_LEAST_SIZE = 256
_MANY_READS, _MANY_SHAPES, _MANY_LINKS = 3, 3, 2
_FEW_HEAVY, _OUTSIDE_SHARE = 2, 0.2


def copies_to_gpu(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 6: data is copied to the GPU in what is timed."""
    found = [op for op in watched.ops if op.name in _COPIES and _crosses(op)]
    share = watched.share_of(found)
    if share >= LEAST_SHARE:
        yield Finding("h2d_copy", subject.line, {"share": share}, subject.index)


def _crosses(op: Op) -> bool:
    sources = [each.device for each in (op.ins[1:] if op.name == "copy_" else op.ins)]
    return "cpu" in sources and any(each.device == "cuda" for each in op.outs)


def promotes(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 7: float32 meets float64 and becomes it, in torch or (found before) in numpy."""
    name = watched.promoted or next((op.name for op in watched.ops if _widens(op)), "")
    if name:
        yield Finding("promoted", subject.line, {"what": name[:60]}, subject.index)


def _widens(op: Op) -> bool:
    kinds = {each.dtype for each in op.ins if each.dims and each.count >= _LEAST_SIZE} | {
        each.dtype for each in op.ins if each.dims and each.dtype == "float64"
    }
    mixed = "float64" in kinds and len(kinds & _FLOATS) > 1
    return mixed and op.name not in _COPIES and any(each.dtype == "float64" for each in op.outs)


def work_of(watched: Watched) -> tuple[int, int]:
    """Give the most elements that one operation was given, and the multiplications in products of matrices."""
    most = max((each.count for op in watched.ops for each in op.ins), default=0)
    return max(most, watched.extent), sum(_multiplications(op) for op in watched.ops)


def _multiplications(op: Op) -> int:
    matrices = [each for each in op.ins if each.dims > 1]
    if op.name not in _PLAIN_PRODUCTS or len(matrices) < 2 or not op.outs:  # noqa: PLR2004 - two factors
        return 0
    return op.outs[0].count * matrices[-2].shape[-1]


def reads_back(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 9: values are read back from the GPU again and again, and it stands still each time."""
    count = sum(op.name == "_local_scalar_dense" and any(e.device == "cuda" for e in op.ins) for op in watched.ops)
    if count >= _MANY_READS:
        yield Finding("item_sync", subject.line, {"count": count}, subject.index)


def outside_autocast(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 10: autocast is entered, and matrix work is in float32 all the same: all of it, or what is outside.

    What a block with `enabled=False` inside another one does is meant so.
    """
    heavy = [op for op in watched.ops if op.name in MATMULS]
    halves = [op for op in heavy if any(each.dtype in _HALVES for each in op.outs)]
    if not heavy or not (watched.entries or watched.idle):
        return
    if halves:
        total = sum(op.ns for op in heavy)
        heavy = [op for op in heavy if not op.entry and all(each.dtype == "float32" for each in op.outs)]
        if sum(op.ns for op in heavy) < _OUTSIDE_SHARE * total:
            return
    yield Finding("not_autocast", subject.line, {"what": heavy[0].name}, subject.index)


def casts(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistakes 11 and 12: under autocast, casts take a large part of the time, or it is entered again and again.

    Weights are cast once a block. They are cast again where autocast keeps no copies, or where one block works on what
    the last one made; blocks on data of their own, one a batch, are as they should be. Blocks that follow upon each
    other, each around an operation or two, are entered for the operation where they should be for the whole.
    """
    found = [op for op in watched.ops if op.name in {"_to_copy", "to"} and _is_cast(op)]
    share = watched.share_of(found)
    weights = _weights(subject)
    again = Counter((op.ins[0].place, op.outs[0].dtype) for op in found if op.ins[0].place in weights)
    repeated = max(again.values(), default=0)
    links = _links(watched, weights)
    heavy = sum(op.name in MATMULS and op.entry > 0 for op in watched.ops)
    by_operation = links >= _MANY_LINKS and watched.entries <= heavy <= _FEW_HEAVY * watched.entries
    if by_operation or (repeated > 1 and (watched.uncached or links)):
        count = repeated if repeated > 1 else watched.entries
        yield Finding("autocast_reentered", subject.line, {"count": count, "share": share}, subject.index)
    elif watched.entries and share >= _CAST_SHARE:
        yield Finding("casts_cost", subject.line, {"share": share}, subject.index)


def _weights(subject: Subject) -> set[int]:
    """Give the places of what is trained: parameters of modules, and tensors with gradients of their own."""
    found = [each for module in subject.modules() for each in module.parameters()]
    found += [thing.value for thing in subject.things() if of.is_tensor(thing.value)]
    return {each.untyped_storage().data_ptr() for each in found if each.requires_grad and each.is_leaf}


def _links(watched: Watched, weights: set[int]) -> int:
    """Count the autocast blocks that work on what came of one before; what changes weights is not followed."""
    made: dict[int, int] = {}
    linked: set[int] = set()
    for op in watched.ops:
        ins = {each.place for each in op.ins} - weights
        came = {made[place] for place in ins if place in made} - {0}
        if op.entry and came - {op.entry}:
            linked.add(op.entry)
        for place in {each.place for each in op.outs} - weights - {0}:
            made[place] = op.entry or max(came, default=0)
    return len(linked)


def graphs(subject: Subject, watched: Watched, *, trains: bool) -> Iterator[Finding]:
    """Mistake 46: a module runs forward only, and what it did is kept for gradients all the same."""
    if trains or not any(each.requires_grad for module in subject.modules() for each in module.parameters()):
        return
    if any(op.graph and op.name not in _COPIES for op in watched.ops):  # autocast copies weights with gradients on
        yield Finding("grad_kept", subject.line, {}, subject.index)


def scaled_bfloat16(subject: Subject, watched: Watched, line: int | None) -> Iterator[Finding]:
    """Mistake 16: a step whose loss a `GradScaler` scales multiplies in bfloat16, which needs no scaling."""
    scales = [each.value for each in subject.things() if type(each.value).__name__ == "GradScaler"]
    if scales and not any(each.is_enabled() for each in scales):
        return
    kinds = {each.dtype for op in watched.ops if op.name in MATMULS for each in op.outs}
    if "bfloat16" in kinds and "float16" not in kinds:
        yield Finding("scaler_bf16", line, {}, subject.index)


def takes_elements(subject: Subject, watched: Watched) -> dict[str, int]:
    """Count the single elements that were taken of each tensor."""
    places = {value.untyped_storage().data_ptr(): path for path, value in subject.arrays().items()
              if of.is_tensor(value)}  # fmt: skip
    found: dict[str, int] = {}
    for op in watched.ops:
        if op.name in {"select", "unbind"} and op.ins and (path := places.get(op.ins[0].place)):
            found[path] = found.get(path, 0) + sum(not each.dims for each in op.outs)
    return found


def _is_cast(op: Op) -> bool:
    kinds = {each.dtype for each in (*op.ins, *op.outs)}
    return len(kinds) > 1 and kinds <= _FLOATS and {e.device for e in op.ins} == {e.device for e in op.outs}


def creates(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 35: values are made in what is timed."""
    share = watched.share(_CREATIONS)
    if share >= LEAST_SHARE and any(op.name not in _CREATIONS for op in watched.ops if _computes(op)):
        yield Finding("creation_timed", subject.line, {"share": share}, subject.index)


def _computes(op: Op) -> bool:
    return op.name not in {"empty", "zeros", "ones", "view", "detach", "alias", "empty_like"}


def converts_layout(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 42: a layout is converted in what is timed, beside other work."""
    found = [op for op in watched.ops if _relays(op)]
    share = watched.share_of(found)
    if share >= LEAST_SHARE and any(_works(op) for op in watched.ops):
        yield Finding("layout_copy", subject.line, {"share": share}, subject.index)


def _works(op: Op) -> bool:
    """Whether an operation computes: it is no copy, and what comes out lies elsewhere than what went in."""
    places = {each.place for each in op.ins}
    return op.name not in _COPIES | {"clone", "contiguous", "empty"} and any(e.place not in places for e in op.outs)


def _relays(op: Op) -> bool:
    if (
        op.name not in {"clone", "_to_copy", "to", "contiguous"}
        or (op.name != "contiguous" and not op.layout)
        or not (op.ins and op.outs)
    ):
        return False
    return op.ins[0].contiguous != op.outs[0].contiguous and op.ins[0].count >= _LEAST_SIZE


def modes(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 39: anomaly detection or a profiler is at work in what is timed."""
    what = "detect_anomaly" if watched.anomaly else "profiler" if watched.profiler else ""
    if what:
        yield Finding("debug_mode", subject.line, {"what": what}, subject.index)


def tf32(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Facts for mistake 14: float32 products on the GPU in full precision, convolutions in TF32, products in half."""
    torch = _modules.get("torch")
    heavy = [op for op in watched.ops if op.name in MATMULS and any(e.device == "cuda" for e in op.outs)]
    if torch is None or not heavy:
        return
    single = [op for op in heavy if op.outs[0].dtype == "float32"]
    convolved = [op for op in single if "conv" in op.name]
    if convolved and _conv_is_tf32(torch):
        yield Finding("uses_tf32_conv", subject.line, variant=subject.index)
    if len(single) > len(convolved) and _precision(torch) == "ieee":
        yield Finding("uses_full_fp32", subject.line, variant=subject.index)
    if any(op.outs[0].dtype in _HALVES for op in heavy):
        yield Finding("uses_half", subject.line, variant=subject.index)


def _precision(torch: Any) -> str:  # noqa: ANN401 - torch may be absent
    try:
        found = str(torch.backends.cuda.matmul.fp32_precision)
    except (AttributeError, RuntimeError):
        found = "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"
    return "ieee" if found in {"ieee", "none"} else found


def _conv_is_tf32(torch: Any) -> bool:  # noqa: ANN401 - torch may be absent
    try:
        return str(torch.backends.cudnn.conv.fp32_precision) == "tf32"
    except (AttributeError, RuntimeError):
        return bool(torch.backends.cudnn.allow_tf32)


def tunes(subject: Subject, watched: Watched) -> Iterator[Finding]:
    """Mistake 22: `cudnn.benchmark` is on where a convolution runs, and the shapes vary."""
    shapes = {op.ins[0].shape for op in watched.ops if "conv" in op.name and op.ins and _on_gpu(op.ins[0])}
    if watched.tunes and len(shapes) >= _MANY_SHAPES:
        yield Finding("cudnn_tunes", subject.line, {"count": len(shapes)}, subject.index)


def _on_gpu(seen: Seen) -> bool:
    return seen.device == "cuda"


RULES = (*(copies_to_gpu, promotes, reads_back, outside_autocast, casts, creates, converts_layout, modes, tf32, tunes),)
"""The passes that need to know nothing but what was watched."""
