"""The table of lessons and their parts, as the README shows it: counted from the course, written by a command.

Law: the table stands between two marks, and nothing else of the file is touched.
"""

from collections.abc import Sequence
from pathlib import Path

from content import schema

OPENS, CLOSES = "<!-- lessons: made by `python -m content table --into README.md` -->", "<!-- end of lessons -->"

HEAD = (
    "lesson", "sections", "questions", "examples: CPU", "GPU", "pictures", "steps", "worked", "explorer", "myths",
    "exercises", "cards", "items", "kinds", "terms",
)  # fmt: skip


class NoPlaceError(Exception):
    """The file has no place for the table: what would be right."""


def table(course: schema.Course) -> str:
    """Return the table as Markdown: one row a lesson, and the sums of what can be added below."""
    rows = [counted(lesson, course) for lesson in course.lessons]
    sums = [str(sum(column)) for column in zip(*rows, strict=True)]
    sums[HEAD.index("kinds") - 1] = str(len({item.kind for lesson in course.lessons for item in lesson.check}))
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    for lesson, row in zip(course.lessons, rows, strict=True):
        lines.append(_line([f"`{lesson.slug}` {lesson.title.replace('`', '')}", *map(str, row)]))
    return "\n".join([*lines, _line(["**together**", *sums])]) + "\n"


def counted(lesson: schema.Lesson, course: schema.Course) -> list[int]:
    """Count a lesson's parts, in the order of the table's head."""
    blocks = [block for section in lesson.sections for block in section.blocks]
    return [
        len(lesson.sections),
        sum(len(section.questions) for section in lesson.sections),
        sum("cpu" in example.devices for example in lesson.examples),
        sum("cuda" in example.devices for example in lesson.examples),
        sum(isinstance(block, schema.PictureBlock) for block in blocks),
        len(lesson.steps),
        1,  # the schema has one worked example a lesson
        1,  # and one explorer
        len(lesson.myths),
        len(lesson.exercises),
        len(lesson.cards),
        len(lesson.check),
        len({item.kind for item in lesson.check}),
        sum(term.lesson == lesson.slug for term in course.glossary),
    ]


def put(text: str, rows: str) -> str:
    """Return a file's text with the table between its marks; raises NoPlaceError when they are not there."""
    start, end = text.find(OPENS), text.find(CLOSES)
    if start < 0 or end < start:
        wrong = f"the file has no place for the table; write these two lines where it belongs:\n{OPENS}\n{CLOSES}"
        raise NoPlaceError(wrong)
    return f"{text[: start + len(OPENS)]}\n\n{rows}\n{text[end:]}"


def write(file: Path, course: schema.Course) -> bool:
    """Write the table into a file; says whether that changed anything."""
    before = file.read_text(encoding="utf-8")
    after = put(before, table(course))
    if after != before:
        file.write_text(after, encoding="utf-8")
    return after != before


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
