"""Frozen dataclasses to plain JSON values and strictly back, standard library only.

Law: decoding refuses what it does not know. Unknown keys, missing keys, wrong types, non-finite numbers and
unknown codes raise `WireError` with the path of the value; nothing is coerced.
"""

import dataclasses
import math
import types
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from sandbox_runner.errors import WireError

Json = Any
"""What `json` reads and writes: None, bool, int, float, str, and lists and objects of them."""

T = TypeVar("T")

_MOST_FLOAT = float.fromhex("0x1.fffffffffffffp+1023")
"""The largest float: a whole number beyond it is none. Not from `sys`, which the engine may not reach."""


def encode(value: object) -> Json:
    """Turn a dataclass, enum, tuple, mapping or scalar into plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    message = f"cannot encode {type(value).__name__}"
    raise TypeError(message)


def decode(kind: type[T], value: object, path: str = "$") -> T:
    """Build `kind` from plain JSON values.

    Raises:
        WireError: naming the path of the first value that does not fit.
    """
    return cast("T", _decode(kind, value, path))


def _decode(kind: Any, value: object, path: str) -> object:  # noqa: ANN401 - a type form has no better type
    origin = get_origin(kind)
    if origin in {Union, types.UnionType}:
        return _decode_optional(kind, value, path)
    if origin is tuple:
        return _decode_tuple(kind, value, path)
    if origin is dict:
        _, item = get_args(kind)
        return {key: _decode(item, inner, f"{path}.{key}") for key, inner in _object(value, path).items()}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _decode_code(kind, value, path)
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(cast("type", kind), value, path)
    return _decode_scalar(kind, value, path)


def _decode_optional(kind: Any, value: object, path: str) -> object:  # noqa: ANN401 - a type form
    arms = get_args(kind)
    if value is None and type(None) in arms:
        return None
    rest = [arm for arm in arms if arm is not type(None)]
    if len(rest) == 1:
        return _decode(rest[0], value, path)
    for arm in rest:
        if isinstance(arm, type) and type(value) is arm:
            return value
    message = f"{path}: {_show(value)} fits none of {', '.join(str(arm) for arm in rest)}"
    raise WireError(message)


def _decode_tuple(kind: Any, value: object, path: str) -> object:  # noqa: ANN401 - a type form
    if not isinstance(value, list):
        message = f"{path}: a list was expected, not {_show(value)}"
        raise WireError(message)
    arms = get_args(kind)
    if len(arms) == 2 and arms[1] is Ellipsis:  # noqa: PLR2004 - tuple[X, ...] has two arguments
        return tuple(_decode(arms[0], item, f"{path}[{i}]") for i, item in enumerate(value))
    if len(arms) != len(value):
        message = f"{path}: {len(arms)} values were expected, not {len(value)}"
        raise WireError(message)
    return tuple(_decode(arm, item, f"{path}[{i}]") for i, (arm, item) in enumerate(zip(arms, value, strict=True)))


def _decode_code(kind: type[StrEnum], value: object, path: str) -> StrEnum:
    try:
        return kind(cast("str", value))
    except ValueError:
        message = f"{path}: {_show(value)} is not a {kind.__name__}"
        raise WireError(message) from None


def _decode_dataclass(kind: type, value: object, path: str) -> object:
    given = _object(value, path)
    hints = _hints(kind)
    unknown = sorted(set(given) - set(hints))
    if unknown:
        message = f"{path}: unknown key {unknown[0]!r}"
        raise WireError(message)
    built: dict[str, object] = {}
    for field in dataclasses.fields(kind):
        if field.name in given:
            built[field.name] = _decode(hints[field.name], given[field.name], f"{path}.{field.name}")
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            message = f"{path}: key {field.name!r} is missing"
            raise WireError(message)
    return kind(**built)


def _decode_scalar(kind: Any, value: object, path: str) -> object:  # noqa: ANN401 - a type form
    if kind is float and type(value) is int and abs(value) <= _MOST_FLOAT:
        return float(value)
    if kind in {bool, int, float, str} and type(value) is kind:
        if kind is float and not math.isfinite(cast("float", value)):
            message = f"{path}: {value} is not a finite number"
            raise WireError(message)
        return value
    message = f"{path}: {getattr(kind, '__name__', kind)} was expected, not {_show(value)}"
    raise WireError(message)


def _object(value: object, path: str) -> dict[str, object]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        message = f"{path}: an object was expected, not {_show(value)}"
        raise WireError(message)
    return cast("dict[str, object]", value)


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."  # noqa: PLR2004 - a line of a log


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
