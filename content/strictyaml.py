"""Bytes of a YAML file -> plain data with the line of every value, by a stricter reading than PyYAML's.

Law: no byte string raises. What cannot be read becomes faults, all of them at once where the syntax allows, and
scalars follow YAML 1.2: only `true`, `false`, `null` and numbers in their usual spelling are not text.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.events import AliasEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from content.faults import Fault, Path, spelled

SIZE_LIMIT = 512 << 10
"""Bytes of one YAML file; a lesson is a tenth of it."""

DEPTH_LIMIT = 24
"""Levels of nesting; a lesson needs eight."""

VALUE_LIMIT = 20_000
"""Keys and values of one file; a lesson has some 2,000."""

_SHOWN = 60
"""Characters of the file's own words that a fault repeats."""

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|(?:0|[1-9][0-9]*)(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,4})?", re.ASCII)
_OTHER_NUMBER = re.compile(r"[-+]?(?:0[0-9_][0-9_.]*(?:[eE][-+]?[0-9]+)?|0[xXoObB][0-9a-fA-F_]+|[0-9]{19,})", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|nan)", re.IGNORECASE)
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "": None}
_SURROGATE = re.compile("[\ud800-\udfff]")
_OTHER_BREAK = re.compile("[\x85\u2028\u2029]|\r(?!\n)")

_SYNTAX = (
    ("mapping values are not allowed", "a second `key: value` stands inside a value",
     "put a text with a colon between double quotes; indent a key exactly like the keys beside it"),
    ("could not find expected ':'", "a key without its colon",
     "write `key: value`, and indent the further lines of a text deeper than its key"),
    ("found unexpected end of stream", "a quotation mark is opened and never closed", "close the quotation mark"),
    ("expected <block end>", "this line does not fit the lines above it",
     "indent it exactly as the other keys or dashes of the same list, with spaces"),
    ("expected ',' or", "a list in [ ] or { } is not closed or lacks a comma", "write one entry a line, with dashes"),
    ("found unknown escape character", "a backslash stands in a text between double quotes",
     "use single quotes, or begin the text with | on the line of its key"),
    ("expected alphabetic or numeric character", "a text cannot begin with * or &",
     "put the whole text between double quotes"),
    ("found undefined", "a text cannot begin with * or !", "put the whole text between double quotes"),
    ("found a tab", "a tab is used to indent", "indent with spaces"),
    ("but found another document", "a second document begins here", "keep one document a file: remove the line ---"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: its line from 1, and whether each of its lines is a line of the file (`|`)."""

    line: int
    literal: bool = False


@dataclass(slots=True)
class Document:
    """What one file says: plain data, where each value stands, and what is wrong with it."""

    file: str
    data: Any = None
    places: dict[Path, Place] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    spoilt: set[Path] = field(default_factory=set)
    """Values that have a fault already, so that nothing else is said about them."""

    def line(self, path: Path, offset: int = 0) -> int:
        """Return the line of a value, or of the nearest one around it; `offset` counts lines inside a `|` text."""
        while path and path not in self.places:
            path = path[:-1]
        place = self.places.get(path, Place(1))
        return place.line + 1 + offset if place.literal else place.line

    def fault(self, path: Path, wrong: str, right: str, offset: int = 0) -> None:
        """Note a mistake at a value."""
        self.faults.append(Fault(self.file, self.line(path, offset), spelled(path), wrong, right))


class _GivenUp(Exception):  # noqa: N818  (ends the reading of one file, is no error of ours)
    def __init__(self, line: int, wrong: str, right: str) -> None:
        self.fault = (line, "", wrong, right)


class _Composer(yaml.SafeLoader):
    """PyYAML's reader without anchors, aliases and tags; every plain scalar stays text until we judge it."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  (PyYAML looks it up on the class)

    def __init__(self, text: str, document: Document) -> None:
        super().__init__(text)
        self.document = document
        self.level = 0
        self.count = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:  # noqa: ANN401  (PyYAML's signature)
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        line = event.start_mark.line + 1
        if isinstance(event, AliasEvent):
            self.get_event()  # type: ignore[no-untyped-call]
            self._refuse(
                line, f"*{_short(str(event.anchor))} repeats another place of the file", "write the value out here"
            )
            marks: Any = (event.start_mark, event.end_mark)
            return ScalarNode("tag:yaml.org,2002:str", "", marks[0], marks[1], "*")
        if event.anchor is not None:
            self._refuse(line, f"&{_short(str(event.anchor))} names a place to be repeated", "remove the mark")
            event.anchor = None
        if getattr(event, "tag", None) is not None:
            self._refuse(line, f"{_short(event.tag)} is a type mark", "remove it; types are known from the key")
            event.tag = None
            if hasattr(event, "implicit"):
                event.implicit = (True, True) if isinstance(event, yaml.ScalarEvent) else True
        self.level += 1
        if self.level > DEPTH_LIMIT:
            raise _GivenUp(line, f"more than {DEPTH_LIMIT} levels are nested", "indent less, or close the brackets")
        self.count += 1
        if self.count > VALUE_LIMIT:
            raise _GivenUp(line, f"the file has more than {VALUE_LIMIT} keys and values", "divide it")
        try:
            return super().compose_node(parent, index)
        finally:
            self.level -= 1

    def _refuse(self, line: int, wrong: str, right: str) -> None:
        self.document.faults.append(Fault(self.document.file, line, "", wrong, right))


def read(raw: bytes, file: str) -> Document:
    """Read one YAML file; `file` is its name in faults. Raises nothing."""
    document = Document(file)
    text = _decoded(raw, document)
    if text is None:
        return document
    try:
        node = _Composer(text, document).get_single_node()
    except _GivenUp as given_up:
        document.faults.append(Fault(file, *given_up.fault))
        return document
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        wrong = f"the invisible character U+{error.character:04X}"
        document.faults.append(Fault(file, line, "", wrong, "delete it"))
        return document
    except yaml.MarkedYAMLError as error:
        document.faults.append(_syntax_fault(error, file))
        return document
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        document.faults.append(Fault(file, 1, "", f"this is not YAML ({error})", "write keys and values"))
        return document
    if node is None:
        document.faults.append(Fault(file, 1, "", "the file is empty", "write keys and values"))
        return document
    document.data = _built(node, (), document)
    return document


def _decoded(raw: bytes, document: Document) -> str | None:
    def fault(line: int, wrong: str, right: str) -> None:
        document.faults.append(Fault(document.file, line, "", wrong, right))

    if len(raw) > SIZE_LIMIT:
        fault(1, f"the file has {len(raw)} bytes", f"keep it under {SIZE_LIMIT}; divide the lesson")
        return None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        fault(line, f"the byte 0x{raw[error.start]:02x} is not UTF-8", "save the file with the encoding UTF-8")
        return None
    text = text.removeprefix("\ufeff")
    other = _OTHER_BREAK.search(text)
    if other:
        line = text.count("\n", 0, other.start()) + 1
        fault(line, f"the line break U+{ord(other[0]):04X} that editors do not show", "replace it by a new line")
        return None
    return text


def _syntax_fault(error: yaml.MarkedYAMLError, file: str) -> Fault:
    problem = error.problem or str(error)
    mark = error.problem_mark or error.context_mark
    if error.context_mark and ("end of stream" in problem or "could not find expected ':'" in problem):
        mark = error.context_mark  # where the quotation or the key began says more than where the reader gave up
    line = mark.line + 1 if mark else 1
    if "'\\t'" in problem:
        return Fault(file, line, "", "a tab is used to indent", "indent with spaces")
    begins = re.search(r"found character '(.+)' that cannot start any token", problem)
    if begins:
        right = "put the whole text between double quotes"
        return Fault(file, line, "", f"a text cannot begin with {begins[1]}", right)
    for sign, wrong, right in _SYNTAX:
        if sign in problem or sign in (error.context or ""):
            return Fault(file, line, "", wrong, right)
    return Fault(file, line, "", f"this cannot be read as YAML ({problem})", "compare it with the lines above")


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def _built(node: Node, path: Path, document: Document) -> Any:  # noqa: ANN401  (plain data of any shape)
    if path not in document.places:  # a key's line was noted before
        document.places[path] = Place(node.start_mark.line + 1)
    match node:
        case MappingNode():
            return _mapping(node, path, document)
        case SequenceNode():
            return [_built(each, (*path, index), document) for index, each in enumerate(node.value)]
        case ScalarNode():
            document.places[path] = Place(node.start_mark.line + 1, literal=node.style == "|")
            return _scalar(node, path, document)
        case _:  # PyYAML has no other node
            return None


def _mapping(node: MappingNode, path: Path, document: Document) -> dict[str, Any]:
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, ScalarNode) or key_node.value == "":
            wrong = "a key is a list, a group or nothing"
            document.faults.append(Fault(document.file, line, spelled(path), wrong, "write `key: value`"))
            continue
        key = str(key_node.value)
        where = (*path, key)
        if key in lines:
            wrong = f"the key is written twice, on lines {lines[key]} and {line}"
            document.faults.append(Fault(document.file, line, spelled(where), wrong, "keep one of the two"))
            continue
        lines[key] = line
        document.places[where] = Place(line)
        if _SURROGATE.search(key):
            document.fault(path, "half a character (U+D800 to U+DFFF) in a key", "delete it")
            continue
        data[key] = _built(value_node, where, document)
    return data


def _scalar(node: ScalarNode, path: Path, document: Document) -> str | int | float | bool | None:
    text = str(node.value)
    wrong, right = "", ""
    if _SURROGATE.search(text):
        wrong, right = "half a character (U+D800 to U+DFFF) is written by its number", "write the character itself"
    elif node.style is not None:  # quoted, or | or >: always text
        if node.style == "*":
            document.spoilt.add(path)
        return text
    elif text in _WORDS:
        return _WORDS[text]
    elif _OTHER_NUMBER.fullmatch(text):
        wrong = f"{_short(text)} is a number in a spelling that programs read differently"
        right = "write it in at most 18 digits without leading zeros and letters, or between quotes when it is a text"
    elif _INT.fullmatch(text):
        return int(text)
    elif _FLOAT.fullmatch(text):
        value = float(text)
        if abs(value) != float("inf"):
            return value
        wrong, right = f"{_short(text)} is too large for a number", "write a smaller number, or a text between quotes"
    elif _NOT_FINITE.fullmatch(text):
        wrong, right = f"{text} is no number to compare with", "write a number, or a text between quotes"
    else:
        return text
    document.fault(path, wrong, right)
    document.spoilt.add(path)
    return ""
