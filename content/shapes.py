"""Plain data against the closed types: whole values, or as many of their parts as fit."""

import json
import typing
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, ValidationError

from content import wording
from content.faults import Path
from content.strictyaml import Document

Model = TypeVar("Model", bound=BaseModel)


def validated(kind: type[Model], document: Document, at: Path = ()) -> Model | None:
    """Return the document's data (or the value `at` a path in it) as a model; notes faults and returns None else."""
    data = document.data
    for step in at:
        data = data[step]
    if data is None and document.faults:
        return None
    found: Model | None = None
    try:
        # By way of JSON, where strict types still take a list for a tuple and a word for an enumeration.
        found = kind.model_validate_json(json.dumps(data))
    except ValidationError as error:
        told = set(document.spoilt)
        for each in error.errors(include_url=False):
            inner = wording.place(each, data)
            where = (*at, *inner)
            if wording.follows(each) or any(where[: len(spoilt)] == spoilt for spoilt in told):
                continue  # what is already known to be wrong is said once
            document.fault(where, *wording.sentences(each, keys_beside(kind, inner, data)))
            document.spoilt.add(where)
    return None if document.spoilt else found


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, BaseModel]]:  # noqa: ANN401  (any part of a lesson)
    """Yield every model inside a value with its path."""
    if isinstance(value, BaseModel):
        yield path, value
        for name in type(value).model_fields:
            yield from walk(getattr(value, name), (*path, name))
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            yield from walk(each, (*path, index))


def salvaged(kind: type[BaseModel], data: Any) -> Iterator[tuple[Path, BaseModel]]:  # noqa: ANN401  (plain data)
    """Yield the parts of a faulty value that fit the schema by themselves, with their paths."""
    if not isinstance(data, Mapping):
        return
    for name, info in kind.model_fields.items():
        value = data.get(name)
        element = get_args(info.annotation)[0] if get_origin(info.annotation) is tuple else None
        if element is not None and isinstance(value, list):
            each: list[tuple[Path, Any, Any]] = [((name, i), element, item) for i, item in enumerate(value)]
        else:
            each = [((name,), info.annotation, value)]
        for path, wanted, item in each:
            try:
                yield from walk(TypeAdapter(wanted).validate_json(json.dumps(item)), path)
            except ValidationError:
                inner = _of(wanted, item)
                if isinstance(inner, type) and issubclass(inner, BaseModel):
                    yield from ((path + below, part) for below, part in salvaged(inner, item))


def keys_beside(kind: Any, path: Path, data: Any) -> list[str]:  # noqa: ANN401  (types and plain data)
    """Return the keys that the type has at the parent of a path."""
    for step in path[:-1]:
        kind = _of(kind, data)
        if isinstance(step, int):
            kind = get_args(kind)[0] if get_origin(kind) is tuple else None
        elif isinstance(kind, type) and issubclass(kind, BaseModel) and step in kind.model_fields:
            kind = kind.model_fields[step].annotation
        else:
            return []
        try:
            data = data[step]
        except (LookupError, TypeError):
            return []
    kind = _of(kind, data)
    return list(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else []


def _of(kind: Any, data: Any) -> Any:  # noqa: ANN401  (types and plain data)
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, UnionType):
        for each in get_args(kind):
            if isinstance(each, type) and issubclass(each, BaseModel):
                wanted = each.model_fields.get("kind")
                chosen = data.get("kind") if isinstance(data, Mapping) else None
                if wanted is None or chosen in typing.get_args(wanted.annotation):
                    return each
    return kind
