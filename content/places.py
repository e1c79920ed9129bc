"""Which places the bot fills in each phrase, read from the sources: `{houur}` where `hour` is given is found here.

Law: sources are read as text and never imported. A key that stands in a call has exactly the figures of its calls; of
one that is computed it can only be said that the name of a place is written somewhere.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from content import schema, strictyaml
from content.faults import Fault

_HOME = Path(__file__).resolve().parent.parent
SOURCES = (_HOME / "bot", _HOME / "sandbox_runner")
_SAYING = ("say", "text")
_FEW = 8
"""Names that a hint lists."""
_NAME = re.compile(r"[a-z_]{1,24}")
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(slots=True)
class Given:
    """What is given: by key where it stands in a call alone, and the names of all figures."""

    by_key: dict[str, set[str]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """Keys that are said in a way that does not show all their figures."""
    names: set[str] = field(default_factory=set)


def given(roots: Sequence[Path] = SOURCES) -> Given | None:
    """Read the sources below some folders; None where there are none, as where the lessons stand alone."""
    paths = [path for root in roots for path in sorted(root.rglob("*.py"))]
    found = Given()
    for path in paths:
        _read(ast.parse(path.read_text("utf-8"), str(path)), found)
    return found if paths else None


def unfilled(file: Path, phrases: Mapping[str, schema.Phrase], what: Given) -> Iterator[Fault]:
    """Give the places in phrases that nothing fills."""
    document = strictyaml.read(file.read_bytes(), file.name)
    for key, phrase in phrases.items():
        texts = (phrase,) if isinstance(phrase, str) else tuple(phrase.model_dump().values())
        wanted = {place for text in texts for place in _PLACE.findall(text)}
        strict = key in what.by_key and key not in what.open
        allowed = what.by_key[key] if strict else what.names
        for place in sorted(wanted - allowed):
            wrong = f"nothing fills the place {{{place}}}"
            yield Fault(file.name, document.line((key,)), key, wrong, _hint(place, allowed))


def _hint(place: str, allowed: Iterable[str]) -> str:
    names = sorted(allowed)
    near = get_close_matches(place, names, 1)
    if near:
        return f"write {{{near[0]}}}"
    return f"it gets {', '.join(names) or 'no figure'}" if len(names) <= _FEW else "take it out, or have it filled"


def _read(tree: ast.AST, found: Given) -> None:
    in_calls: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            names = {one.arg for one in node.keywords if one.arg is not None}
            found.names |= names
            for constant in _said(node):
                in_calls.add(id(constant))
                found.by_key.setdefault(str(constant.value), set()).update(names)
                if len(names) < len(node.keywords):
                    found.open.add(str(constant.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in in_calls:
            found.open.add(node.value)
            found.names |= {node.value} if _NAME.fullmatch(node.value) else set()


def _said(call: ast.Call) -> Sequence[ast.Constant]:
    says = isinstance(call.func, ast.Attribute) and call.func.attr in _SAYING
    return _keys(call.args[0]) if says and call.args else ()


def _keys(node: ast.expr) -> Sequence[ast.Constant]:
    """Give the keys that an expression may be, as far as they are written out."""
    match node:
        case ast.Constant(value=str()):
            return (node,)
        case ast.IfExp(body=body, orelse=orelse):
            return (*_keys(body), *_keys(orelse))
        case _:
            return ()
