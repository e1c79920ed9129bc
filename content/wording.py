"""pydantic's errors in words that a teacher understands: what is wrong, and what would be right.

Law: every error gets a path that exists in the file (or the nearest one), and both sentences.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import ErrorDetails

from content.faults import Path

_SHOWN = 60
"""Characters of a value that a sentence repeats."""

_PATTERNS = (
    (r"\.(py|txt|png)", "a file name: small Latin letters, digits and _, ending in .py, .txt or .png"),
    ("{0,23}", "a short name: 1 to 24 small Latin letters, digits and hyphens, a letter first"),
    ("{1,39}", "an id: 2 to 40 small Latin letters, digits and hyphens, a letter first"),
)


def place(error: ErrorDetails, data: Any) -> Path:  # noqa: ANN401  (plain data of any shape)
    """Return the path of an error in the file's own terms, without pydantic's names of alternatives."""
    path: list[str | int] = []
    here, entered = data, False
    for step in error["loc"]:
        if isinstance(here, Mapping):
            if not entered and here.get("kind") == step:
                entered = True  # the name of the alternative that `kind` chose
                continue
            if step not in here and error["type"] != "missing":
                continue
        elif not (isinstance(here, Sequence) and not isinstance(here, str) and isinstance(step, int)):
            continue
        path.append(step)
        here, entered = _inside(here, step), False
    return tuple(path)


def _inside(here: Any, step: str | int) -> Any:  # noqa: ANN401
    try:
        return here[step]
    except (LookupError, TypeError):
        return None


def follows(error: ErrorDetails) -> bool:
    """Say whether a list is called too short only because faulty entries of it were not counted."""
    entries = error["input"]
    return error["type"] == "too_short" and isinstance(entries, list) and len(entries) >= error["ctx"]["min_length"]


def sentences(error: ErrorDetails, siblings: Sequence[str]) -> tuple[str, str]:
    """Return what is wrong and what would be right; `siblings` are the keys allowed beside an unknown one."""
    limits = error.get("ctx", {})
    given = _shown(error["input"])
    match error["type"]:
        case "missing":
            return "this key is missing", "add it"
        case "extra_forbidden":
            near = difflib.get_close_matches(str(error["loc"][-1]), siblings, 1)
            return "this key is not known here", f"did you mean {near[0]}?" if near else _one_of(siblings)
        case "string_too_short":
            return f"the text {given} is too short", f"write at least {limits['min_length']} characters"
        case "string_too_long":
            length = len(str(error["input"]))
            return f"the text has {length} characters", f"shorten it to at most {limits['max_length']}"
        case "string_pattern_mismatch":
            return f"{given} is not allowed here", "write " + _described(str(limits["pattern"]))
        case "enum" | "literal_error":
            known = re.findall(r"'([^']*)'", str(limits["expected"]))
            return f"{given} is not known here", f"write {_alternatives(known)}"
        case "too_short":
            return f"the list has {_entries(limits['actual_length'])}", f"write at least {limits['min_length']}"
        case "too_long":
            return f"the list has {_entries(limits['actual_length'])}", f"keep at most {limits['max_length']}"
        case "union_tag_not_found":
            return "the key kind is missing", "add it; it says what this is"
        case "union_tag_invalid":
            known = re.findall(r"'([^']*)'", str(limits["expected_tags"]))
            return f'the kind "{limits["tag"]}" is not known', f"write {_alternatives(known)}"
        case _:
            return _of_type(error, given)


def _of_type(error: ErrorDetails, given: str) -> tuple[str, str]:
    limits = error.get("ctx", {})
    bounds = {
        "greater_than": ("gt", "a number greater than"),
        "greater_than_equal": ("ge", "a number of at least"),
        "less_than": ("lt", "a number less than"),
        "less_than_equal": ("le", "a number of at most"),
    }
    if error["type"] in bounds:
        key, words = bounds[error["type"]]
        return f"{given} is out of range", f"write {words} {limits[key]}"
    wanted = {
        "string_type": "a text (between double quotes when it looks like a number or is true, false, null)",
        "int_type": "a whole number without quotes",
        "int_from_float": "a whole number",
        "int_parsing": "a whole number without quotes",
        "float_type": "a number without quotes",
        "float_parsing": "a number without quotes",
        "bool_type": "true or false, without quotes",
        "tuple_type": "a list: one entry a line, each after a dash",
        "list_type": "a list: one entry a line, each after a dash",
        "model_type": "keys and values, indented one level deeper",
        "model_attributes_type": "keys and values, indented one level deeper",
        "dict_type": "keys and values, indented one level deeper",
    }.get(error["type"])
    if wanted:
        return ("nothing is written here" if error["input"] is None else f"{given} is not allowed here"), (
            f"write {wanted}"
        )
    return f"{given}: {error['msg']}", "correct the value"


def _entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"


def _alternatives(names: Sequence[str]) -> str:
    return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _described(pattern: str) -> str:
    for sign, words in _PATTERNS:
        if sign in pattern:
            return words
    return f"a text of the form {pattern}"


def _one_of(names: Sequence[str]) -> str:
    return f"remove it; the keys here are {', '.join(names)}" if names else "remove it"


def _shown(value: object) -> str:
    match value:
        case None:
            return "an empty value"
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case str():
            return f'"{value}"' if len(value) <= _SHOWN else f'"{value[:_SHOWN]}…"'
        case Mapping():
            return "a group of keys"
        case Sequence():
            return "a list"
        case _:
            return "this value"
