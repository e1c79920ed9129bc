"""Passes over a variant's inputs: constants, denormals, changes made in place, data that fits in the caches.

Law: what an array held is put back, whatever happens. Ratios come of calls in turn, so that a busy machine hits both.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

from . import subject as of
from .changing import matters
from .findings import Finding
from .subject import Subject
from .things import walk

_modules = sys.modules
_LEAST_COUNT = 1024
_CONSTANT_TIMES, _CONSTANT_TIMES_CUDA = 1.3, 1.03
_DENORMAL_SHARE = 0.01
_TINIEST = {"float32": 1.1754943508222875e-38, "float64": 2.2250738585072014e-308}
_CACHE_TIMES = 1.3
_LEAST_CACHED = 2 << 20
_MOST_CACHE = 64 << 20
"""What a host says of its caches may be of all its sockets together: no more than this is believed."""
_SC_LEVEL3_CACHE_SIZE = 194
"""glibc's number for it; Python knows no name."""
_BYTES_A_NS, _MOST_BYTES_A_NS = 1.0, 500.0
_LONG_NS = 5e7
_KEPT_BYTES_CUDA = 1 << 30
_FEW_NS, _FEW_NS_CUDA = 2e6, 1.2e8
"""A GPU's clock follows the power that it draws within tenths of a second, not at once."""


def constants(subject: Subject, call_ns: float) -> Iterator[Finding]:
    """Mistake 3: every input is constant, and other values take another time."""
    arrays = [a for a in subject.arrays().values() if of.count_of(a) >= _LEAST_COUNT]
    arrays = [array for array in arrays if not getattr(array, "requires_grad", False)]
    if not arrays or call_ns > _LONG_NS * 4 or not all(_is_constant(array) for array in arrays):
        return
    cuda = any(of.is_tensor(array) and array.is_cuda for array in arrays)
    if sum(of.size_of(array) for array in arrays) > (_KEPT_BYTES_CUDA if cuda else of.KEPT_BYTES):
        return
    plain = [of.copy_of(array) for array in arrays]
    mixed = [_random_like(array) for array in arrays]

    def with_values(values: list[Any]) -> Any:  # noqa: ANN401 - a function
        def call() -> Any:  # noqa: ANN401 - the learner's result
            return subject.function()

        def filled() -> float:
            for array, value in zip(arrays, values, strict=True):
                of.put(array, value)
            return subject.time(of.many(call, max(1, int((_FEW_NS_CUDA if cuda else _FEW_NS) / call_ns))))

        return filled

    with of.kept(arrays):
        constant, other = with_values(plain), with_values(mixed)
        constant()
        other()
        ratios = sorted(other() / constant() for _ in range(7))
    times = ratios[len(ratios) // 2]
    least = _CONSTANT_TIMES_CUDA if cuda else _CONSTANT_TIMES
    if ratios[1] >= least or ratios[-2] <= 1 / least:  # all but one say so
        yield Finding("constant_inputs", subject.line, {"times": max(times, 1 / times)}, subject.index)


def _is_constant(array: Any) -> bool:  # noqa: ANN401 - an array of either kind
    return bool((array == array.reshape(-1)[0]).all())


def _random_like(array: Any) -> Any:  # noqa: ANN401 - an array of either kind
    if of.is_tensor(array):
        torch = _modules["torch"]
        return torch.randn_like(array) if of.is_float(array) else torch.randint_like(array, *_range(of.dtype_of(array)))
    rng = _modules["numpy"].random.default_rng(0)
    if of.is_float(array):
        return rng.standard_normal(array.shape).astype(array.dtype)
    return rng.integers(*_range(of.dtype_of(array)), array.shape).astype(array.dtype)


def _range(dtype: str) -> tuple[int, int]:
    """Give bounds of whole numbers that fit into a type."""
    return (0, 2) if dtype == "bool" else (0, 100) if dtype.endswith("int8") else (0, 10_000)


def denormals(subject: Subject, value: Any, call_ns: float) -> Iterator[Finding]:  # noqa: ANN401 - a result
    """Mistake 18: inputs or the result are full of numbers too small to be normal."""
    found = [*subject.arrays().values(), *([value] if of.is_array(value) else [])]
    share = max((_denormal(array) for array in found if of.dtype_of(array) in _TINIEST), default=0.0)
    if share < _DENORMAL_SHARE:
        return
    values: dict[str, str | int | float] = {"part": share}
    torch = _modules.get("torch")
    if torch is not None and call_ns < _LONG_NS and torch.set_flush_denormal(True):
        torch.set_flush_denormal(False)
        calls = of.many(subject.function, max(1, int(_FEW_NS / call_ns)))

        def flushed() -> None:
            torch.set_flush_denormal(True)
            calls()
            torch.set_flush_denormal(False)

        times = of.paired(calls, flushed, subject)
        if times > 1.1:  # noqa: PLR2004 - below that it is noise
            values["share"] = 1 - 1 / times
    yield Finding("denormals", subject.line, values, subject.index)


def _denormal(array: Any) -> float:  # noqa: ANN401 - an array of either kind
    if not of.count_of(array) or not of.is_float(array):
        return 0.0
    least = _TINIEST[of.dtype_of(array)]
    flat = array.detach() if of.is_tensor(array) else array
    size = abs(flat)
    return float(((size > 0) & (size < least)).sum()) / of.count_of(array)


def remember(names: dict[str, Any]) -> dict[str, Any]:
    """Keep copies of the arrays among some names, while there is room."""
    room = of.KEPT_BYTES
    found: dict[str, Any] = {}
    for thing in walk(names, [name for name in names if not name.startswith("__")]):
        value = thing.value
        if of.is_array(value) and of.size_of(value) <= room and not getattr(value, "requires_grad", False):
            found[thing.path] = of.copy_of(value)
            room -= of.size_of(value)
    return found


def changes(subject: Subject, remembered: dict[str, Any]) -> Iterator[Finding]:
    """Mistake 34: an input is not what it was before the calls, and the result depends on it."""
    for name, array in subject.arrays().items():
        before = remembered.get(name)
        if before is None or before.shape != array.shape or of.same(before, array):
            continue
        if matters(subject.function, array, before):
            yield Finding("input_changed", subject.line, {"what": name[:60]}, subject.index)
            return


def cached(subject: Subject, call_ns: float) -> Iterator[Finding]:
    """Mistake 4: the data fits in the caches, and from memory the same call takes much longer."""
    numpy = _modules.get("numpy")
    arrays = list(subject.arrays().values())
    size = sum(of.size_of(array) for array in arrays)
    cuda = any(of.is_tensor(array) and array.is_cuda for array in arrays)
    cache = _cache_bytes(cuda=cuda)
    if numpy is None or not _LEAST_CACHED <= size <= cache or size / call_ns < _BYTES_A_NS or call_ns > _LONG_NS:
        return
    if not cuda and size / call_ns > _MOST_BYTES_A_NS:  # it does not look at most of its data
        return
    flush = _flusher(2 * cache, cuda=cuda)
    hot, cold = [], []
    for _ in range(9):
        flush()
        cold.append(subject.time())
        subject.function()
        hot.append(subject.time())
    times = min(cold) / min(hot)  # a busy machine only adds, to both
    if times >= _CACHE_TIMES:
        yield Finding("in_cache", subject.line, {"times": times, "bytes": size}, subject.index)


def _cache_bytes(*, cuda: bool) -> int:
    if cuda:
        found = _modules["torch"].cuda.get_device_properties(0)
        return int(getattr(found, "L2_cache_size", 0))
    try:
        with open("/sys/devices/system/cpu/cpu0/cache/index3/size", encoding="ascii") as file:
            return min(int(file.read().strip().removesuffix("K")) << 10, _MOST_CACHE)
    except (OSError, ValueError):
        pass
    try:
        return min(max(os.sysconf(_SC_LEVEL3_CACHE_SIZE), 0), _MOST_CACHE)
    except (OSError, ValueError):
        return 0


def _flusher(size: int, *, cuda: bool) -> Any:  # noqa: ANN401 - a function
    if cuda:
        buffer = _modules["torch"].empty(size, dtype=_modules["torch"].uint8, device="cuda")
        return buffer.zero_
    flat = _modules["numpy"].empty(size, "uint8")
    return lambda: flat.fill(1)
