"""The teacher's report as tables: one CSV a part, and one JSON document of all of it.

Law: a cell never begins a formula: what a learner wrote is text in whatever opens the table.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from bot.engine.teaching.figures import Report

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Lines:
    """Takes what a CSV writer writes."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, text: str) -> int:
        """Keep a line."""
        self.parts.append(text)
        return len(text)


def written(report: Report) -> dict[str, str]:
    """Give each table by the name of its file."""
    return {
        "items.csv": _table(
            (
                "lesson", "item", "rev", "kind", "current", "answered", "difficulty", "credit", "discrimination",
                "skipped", "median_s", "options", "misconceptions", "question",
            ),
            (
                (
                    item.lesson, item.item, item.rev, item.kind, int(item.current), item.answered,
                    _figure(item.difficulty), _figure(item.credit), _figure(item.discrimination), item.skipped,
                    _figure(item.median_s), _counts(item.options), _counts(item.misconceptions), item.question,
                )
                for item in report.items
            ),
        ),
        "stops.csv": _table(
            ("lesson", "stop", "learners", "ended_here"),
            ((stop.lesson, stop.stop, stop.learners, stop.ended_here) for stop in report.stops),
        ),
        "questions.csv": _table(
            ("asked_at", "band", "text", "unmatched", "offered", "learner"),
            (
                (
                    each.asked_at.isoformat(), each.band, each.text, " ".join(each.unmatched),
                    " ".join(each.offered), each.learner,
                )
                for each in report.unanswered
            ),
        ),
        "unmatched.csv": _table(("word", "questions"), report.unmatched),
        "complaints.csv": _table(
            ("made_at", "item", "rev", "text", "learner"),
            (
                (each.made_at.isoformat(), each.item, each.rev, each.text, each.learner)
                for each in report.complaints
            ),
        ),
    }  # fmt: skip


def as_json(report: Report) -> dict[str, Any]:
    """Give the whole report as what JSON can hold."""
    return {name: json_of(value) for name, value in asdict(report).items()}


def json_of(value: Any) -> Any:  # noqa: ANN401 - any part of a report
    """Write times as ISO 8601 and tuples as lists."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): json_of(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [json_of(each) for each in value]
    return value


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = _Lines()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return "".join(lines.parts)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _figure(value: float | None) -> float | str:
    return "" if value is None else round(value, 4)


def _counts(counts: Mapping[str, int]) -> str:
    return json.dumps(counts, ensure_ascii=False)
