"""Turns what a variant returned into a header and raw bytes: a closed list of exact types, never a pickle.

Law: no method of a learner's class is called. A value of any other type crosses as its type's name alone.
Numbers are little-endian and C-contiguous; `bfloat16` crosses as the `uint16` of its bits.
"""

import hashlib
import struct
import sys
from typing import Any

CHUNK_ELEMENTS = 1 << 13
DTYPES = frozenset(
    {
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128", "bfloat16"),
    }
)
_SIZES = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "float16": 2,
    "float32": 4,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
    "bfloat16": 2,
}
_COARSE = ("bfloat16", "float16", "float32", "float64")
_LONGEST_INT = 4000
_LONGEST_TEXT = 1 << 20

_pack = struct.pack
_digest = hashlib.blake2b
_modules = sys.modules

Piece = tuple[str, tuple[int, ...], bytes]
"""A dtype (or `text`, `int`, `none`, `other:TYPE`), a shape, and the bytes."""


def piece(value: object, share: float, most: int) -> Piece:
    """Encode one value; of an array over `most` elements every s-th from a start that `share` (0 to 1) picks."""
    kind = type(value)
    if value is None:
        return "none", (), b""
    if kind is str and len(value) <= _LONGEST_TEXT:  # type: ignore[arg-type]
        return "text", (), str(value).encode("utf-8", "surrogatepass")
    if kind in {bool, int, float, complex}:
        return _scalar(value)
    numpy, torch = _modules.get("numpy"), _modules.get("torch")
    if torch is not None and kind in {torch.Tensor, torch.nn.Parameter}:
        return _tensor(value, torch, share, most) or _other(kind)
    if numpy is not None and kind is numpy.ndarray:
        return _array(value, share, most) or _other(kind)
    if numpy is not None and isinstance(value, numpy.generic) and kind.__module__ == "numpy":
        return _array(numpy.asarray(value), share, most) or _other(kind)
    if kind in {list, tuple}:
        return _sequence(value, share, most) or _other(kind)
    return _other(kind)


def _other(kind: type) -> Piece:
    return f"other:{type.__getattribute__(kind, '__name__')}"[:80], (), b""


def _scalar(value: Any) -> Piece:  # noqa: ANN401 - one of the four number types
    match value:
        case bool():
            return "bool", (), _pack("<?", value)
        case int() if -(1 << 63) <= value < 1 << 63:
            return "int64", (), _pack("<q", value)
        case int():
            fits = value.bit_length() < 3 * _LONGEST_INT
            return ("int", (), b"%d" % value) if fits else ("other:int", (), b"")
        case float():
            return "float64", (), _pack("<d", value)
        case _:
            return "complex128", (), _pack("<dd", value.real, value.imag)


def _sequence(value: Any, share: float, most: int) -> Piece | None:  # noqa: ANN401 - a list or tuple
    flat = list(value)
    if not flat or {type(item) for item in flat} <= {bool, int, float}:
        whole = all(type(item) is not float for item in flat)
        if whole and not all(-(1 << 63) <= item < 1 << 63 for item in flat):
            return None
        step, start = _stride(len(flat), share, most)
        taken = flat[start::step]
        return ("int64" if whole else "float64"), (len(flat),), _pack(f"<{len(taken)}{'q' if whole else 'd'}", *taken)
    numpy = _modules.get("numpy")
    if numpy is not None and {type(item) for item in flat} <= {list, tuple, numpy.ndarray, numpy.float64}:
        try:
            made = numpy.array(flat)
        except ValueError:
            return None
        return _array(made, share, most)
    return None


def _array(value: Any, share: float, most: int) -> Piece | None:  # noqa: ANN401 - a numpy array, numpy may be absent
    name = value.dtype.name
    if name not in DTYPES or value.dtype.fields is not None:
        return None
    flat = value.reshape(-1)
    step, start = _stride(flat.size, share, most)
    taken = flat[start::step].astype(value.dtype.newbyteorder("<"), copy=False)
    return name, tuple(value.shape), taken.tobytes()


def _tensor(value: Any, torch: Any, share: float, most: int) -> Piece | None:  # noqa: ANN401 - torch may be absent
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES or value.layout is not torch.strided or value.is_quantized or value.is_meta:
        return None
    flat = value.detach().resolve_conj().resolve_neg().reshape(-1)
    step, start = _stride(flat.numel(), share, most)
    taken = flat[start::step].contiguous().cpu()
    if not taken.numel():
        return name, tuple(value.shape), b""
    return name, tuple(value.shape), taken.view(torch.uint8).numpy().tobytes()


def _stride(size: int, share: float, most: int) -> tuple[int, int]:
    step = max(1, -(-size // most))
    return step, min(step - 1, int(share * step))


def marks(found: list[Piece]) -> list[list[str]]:
    """Give the digest of every chunk of every part: what was there when it was asked cannot be changed after."""
    return [[_digest(chunk, digest_size=16).hexdigest() for chunk in _chunks(one)] for one in found]


def pieces_of(found: list[Piece], chunks: list[list[int]]) -> bytes:
    """Give the bytes of the chunks named, part by part."""
    cut = [_chunks(one) for one in found]
    return b"".join(cut[i][j] for i, wanted in enumerate(chunks) for j in wanted if j < len(cut[i]))


def _chunks(found: Piece) -> list[bytes]:
    kind, _, raw = found
    size = CHUNK_ELEMENTS * _SIZES[kind] if kind in _SIZES else max(len(raw), 1)
    return [raw[i : i + size] for i in range(0, len(raw), size)]


def widened(made: dict[str, object]) -> tuple[dict[str, object], str]:
    """Give inputs with every array of floating point as float64, and the name of the coarsest type that they had."""
    numpy, torch = _modules.get("numpy"), _modules.get("torch")
    wide: dict[str, object] = {}
    names = set()
    for key, value in made.items():
        kind = type(value)
        if numpy is not None and kind is numpy.ndarray and value.dtype.kind == "f":  # type: ignore[attr-defined]
            names.add(value.dtype.name)  # type: ignore[attr-defined]
            wide[key] = value.astype(numpy.float64)  # type: ignore[attr-defined]
        elif torch is not None and kind is torch.Tensor and value.is_floating_point():  # type: ignore[attr-defined]
            names.add(str(value.dtype).removeprefix("torch."))  # type: ignore[attr-defined]
            wide[key] = value.detach().double()  # type: ignore[attr-defined]
        else:
            wide[key] = value
    return wide, next((name for name in _COARSE if name in names), "")
