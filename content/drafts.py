"""One lesson's folder as it was read, right or wrong: the ground on which the rules stand.

Law: a draft is never served. It holds as much as could be understood, so that all faults can be told at once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as Folder
from typing import Any, TypeVar

from pydantic import BaseModel

from content import schema, strictyaml
from content.faults import Fault, Path
from content.folders import UnreadableError, files_under, read_inside, refuse_link, text_of
from content.shapes import salvaged, validated, walk

LESSON_FILE = "lesson.yaml"
CODE_LIMIT = 32 << 10
"""Bytes of one code or text file."""

PICTURE_LIMIT = 150_000
"""Bytes of one picture, so that it opens at once on a phone."""

_PNG = b"\x89PNG\r\n\x1a\n"
Model = TypeVar("Model", bound=BaseModel)


@dataclass(slots=True)
class Draft:
    """A lesson as read. `parts` are its values that fit the schema, with their paths, also when others do not."""

    slug: str
    document: strictyaml.Document
    lesson: schema.Lesson | None = None
    parts: list[tuple[Path, BaseModel]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    pictures: dict[str, bytes] = field(default_factory=dict)
    present: list[str] = field(default_factory=list)
    """Every file of the folder, by its name in it."""

    @property
    def faults(self) -> list[Fault]:
        """The faults so far; rules add theirs."""
        return self.document.faults

    def each(self, kind: type[Model]) -> Iterator[tuple[Path, Model]]:
        """Yield every understood value of one type, with its path, in the file's order."""
        return ((path, part) for path, part in self.parts if isinstance(part, kind))

    def fault(self, path: Path, wrong: str, right: str, offset: int = 0) -> None:
        """Note a mistake at a value of the lesson's file."""
        self.document.fault(path, wrong, right, offset)

    def fault_in(self, name: str, line: int, wrong: str, right: str) -> None:
        """Note a mistake in a file beside the lesson."""
        self.faults.append(Fault(f"lessons/{self.slug}/{name}", line, "", wrong, right))


def read_draft(folder: Folder, slug: str) -> Draft:
    """Read one lesson's folder; never raises for what is in it."""
    file = f"lessons/{slug}/{LESSON_FILE}"
    try:
        refuse_link(folder)
        document = strictyaml.read(read_inside(folder, LESSON_FILE, strictyaml.SIZE_LIMIT), file)
    except UnreadableError as error:
        document = strictyaml.Document(file)
        document.fault((), error.wrong, error.right)
        return Draft(slug, document)
    draft = Draft(slug, document, present=files_under(folder))
    draft.lesson = validated(schema.Lesson, document)
    draft.parts = list(walk(draft.lesson) if draft.lesson else salvaged(schema.Lesson, document.data))
    for path, name in named_files(draft):
        _take(draft, folder, path, name)
    return draft


def named_files(draft: Draft) -> Iterator[tuple[Path, str]]:
    """Yield every file that the lesson names, with the path of the naming."""
    for path, part in draft.parts:
        for name in ("file", "expect", "code", "starter", "reference", "check"):
            value = getattr(part, name, None)
            if isinstance(value, str):
                yield (*path, name), value


def dark(name: str) -> str:
    """Return the name of a picture's copy for dark screens."""
    return name.removesuffix(".png") + "_dark.png"


def _take(draft: Draft, folder: Folder, path: Path, name: str) -> None:
    for each in (name, dark(name)) if name.endswith(".png") else (name,):
        if each in draft.files or each in draft.pictures:
            continue
        try:
            if name.endswith(".png"):
                draft.pictures[each] = _picture(folder, each)
            else:
                draft.files[each] = text_of(read_inside(folder, each, CODE_LIMIT), each)
        except UnreadableError as error:
            draft.fault(path, error.wrong, error.right)


def _picture(folder: Folder, name: str) -> bytes:
    raw = read_inside(folder, name, PICTURE_LIMIT)
    if not raw.startswith(_PNG):
        wrong = f"{name} is no PNG picture"
        raise UnreadableError(wrong, "draw it with `python -m content draw`")
    return raw


def strings(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:  # noqa: ANN401  (plain data of any shape)
    """Yield every text of plain data with its path."""
    match value:
        case str():
            yield path, value
        case Mapping():
            for key, each in value.items():
                yield from strings(each, (*path, key))
        case list():
            for index, each in enumerate(value):
                yield from strings(each, (*path, index))
        case _:
            return
