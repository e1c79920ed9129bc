"""`report`: the teacher's report at a terminal, as text, as one JSON document, as tables, as a picture.

Law: what is written is written whole or not at all; nothing of the database is changed.
"""

import json
from pathlib import Path

from bot.adapters.shell.render import plain
from bot.engine.replies import Reply
from bot.engine.teaching import tables, telling
from bot.engine.teaching.figures import Report
from bot.engine.wording import Wording
from content.schema import Course


def as_text(report: Report, course: Course) -> str:
    """Give the report as it is told in chat."""
    return plain(Reply(telling.told(Wording(course.phrases), course, report)))


def as_json(report: Report) -> str:
    """Give one JSON document with every figure."""
    return json.dumps(tables.as_json(report), ensure_ascii=False)


def table_files(path: Path, report: Report) -> dict[Path, bytes]:
    """Give the tables by file: the items' in `path`, each other one beside it with its name behind."""
    kind = path.suffix or ".csv"
    stem = path.with_suffix("")
    return {
        stem.with_name(stem.name + ("" if name == "items.csv" else f"-{name.removesuffix('.csv')}") + kind): (
            text.encode("utf-8-sig")
        )
        for name, text in tables.written(report).items()
    }


def write(path: Path, data: bytes) -> None:
    """Put a file in its place at once.

    Raises:
        OSError: naming the file.
    """
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(data)
    beside.replace(path)
