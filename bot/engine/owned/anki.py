"""The course's flashcards as a text file that Anki imports: comma-separated, with the headers that it reads.

Law: every field is quoted and every text escaped; marks of our prose become HTML, which the headers announce.
Source of the headers: Anki's manual, "Text Files" (separator, html, tags column, columns), read since Anki 2.1.54.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from bot.engine.remembering.kept import CardRow
from bot.engine.remembering.queue import cards
from bot.engine.replies import Code, Link, Number, Span, Spans, Strong, Text
from bot.engine.wording import prose
from content.schema import Course

MEDIA = "text/csv"
_HEADERS = (
    "#separator:Comma",
    "#html:true",
    "#notetype:Basic",
    "#columns:Front,Back,Tags,Due,Suspended",
    "#tags column:3",
)
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def table(course: Course, kept: Mapping[str, CardRow]) -> str:
    """Give every card of the course, with when it is due for the learner who has met it."""
    rows = [
        (
            _html(card.front),
            _html(card.back),
            f"tasree {lesson.slug} {card.topic.value}",
            _due(kept[card.id].due) if card.id in kept else "",
            "1" if card.id in kept and kept[card.id].suspended else "",
        )
        for lesson, card in cards(course)
    ]
    lines = (*_HEADERS, *(",".join(map(_quoted, row)) for row in rows))
    return "".join(f"{line}\n" for line in lines)


def _html(text: str) -> str:
    inside = "<br><br>".join(_spans(spans) for spans in prose(text))
    return f'<div dir="rtl">{inside}</div>'


def _spans(spans: Spans) -> str:
    return "".join(_span(span) for span in spans)


def _span(span: Span) -> str:
    match span:
        case Code(text):
            return f'<code dir="ltr">{text.translate(_ESCAPED)}</code>'
        case Number(text):
            return f'<bdi dir="ltr">{text.translate(_ESCAPED)}</bdi>'
        case Strong(text):
            return f"<b>{text.translate(_ESCAPED)}</b>"
        case Link(text, url):
            return f'<a href="{url.translate(_ESCAPED)}">{text.translate(_ESCAPED)}</a>'
        case Text(text):
            return text.translate(_ESCAPED)
        case _:
            assert_never(span)


def _due(at: datetime) -> str:
    return at.date().isoformat()


def _quoted(field: str) -> str:
    return '"' + field.replace('"', '""').replace("\r", "").replace("\n", "<br>") + '"'
