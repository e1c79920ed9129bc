"""Phrases and prose turned into spans: inline marks, places for figures, and the plural forms of Arabic.

Law: no sentence lives in Python, and a turn never fails for a phrase: a missing phrase shows its key, a missing figure
its place. What a learner wrote reaches a phrase as a span of its own and is never read for marks.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from babel import Locale

from bot.engine.replies import Code, Link, Number, Span, Spans, Strong, Text
from content.schema import Phrase, Plural

Figure = str | int | float | Text | Code | Number | Strong | Link | Spans
"""What may stand in a place of a phrase: a plain word, a number, one span, or several."""

_MARKS = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*|\{([a-z_]+)\}", re.DOTALL)
_PLACES = re.compile(r"\{([a-z_]+)\}")
_PARAGRAPHS = re.compile(r"\n\s*\n")
_SPANS = Text | Code | Number | Strong | Link
_form_of = Locale.parse("ar").plural_form
"""The CLDR rule of Arabic: a count to the name of its form."""


class Wording:
    """The course's phrases, by key."""

    def __init__(self, phrases: Mapping[str, Phrase]) -> None:
        self._phrases = phrases

    def has(self, key: str) -> bool:
        """Tell whether there is such a phrase."""
        return key in self._phrases

    def say(self, key: str, **figures: Figure) -> Spans:
        """Word a phrase. A phrase with forms chooses by the figure `n`, a whole number or one already rounded."""
        return _filled(_template(self._phrases.get(key, key), figures.get("n", 0)), figures)

    def text(self, key: str, **figures: Figure) -> str:
        """Word a phrase as a plain label, without marks."""
        return plain(self.say(key, **figures))


def plain(spans: Spans) -> str:
    """Give the text of spans."""
    return "".join(span.text for span in spans)


@lru_cache(maxsize=4096)
def prose(text: str) -> tuple[Spans, ...]:
    """Turn the course's prose into paragraphs of spans; braces in it are only braces."""
    paragraphs = (" ".join(part.split()) for part in _PARAGRAPHS.split(text))
    return tuple(_marked(part) for part in paragraphs if part)


def inline(text: str) -> Spans:
    """Turn prose into the spans of one line, its paragraphs joined."""
    return _joined([span for part in prose(text) for span in (Text(" "), *part)][1:])


def _template(phrase: Phrase, count: Figure) -> str:
    if isinstance(phrase, str):
        return phrase
    return _form(phrase, count)


def _form(plural: Plural, count: Figure) -> str:
    shown = count.text if isinstance(count, _SPANS) else count
    if isinstance(shown, str):
        # A rounded figure such as 2.0 keeps its digits: only a whole number may become a dual.
        digits = shown.replace(",", "")
        shown = int(digits) if digits.isdigit() else 0.5
    if isinstance(shown, int) or (isinstance(shown, float) and shown.is_integer()):
        return str(getattr(plural, _form_of(int(shown))))
    return plural.other


def _filled(template: str, figures: Mapping[str, Figure]) -> Spans:
    spans: list[Span] = []
    for mark, inner in _pieces(template):
        match mark:
            case "text":
                spans.append(Text(inner))
            case "code":
                spans.append(Code(_substituted(inner, figures)))
            case "strong":
                spans.append(Strong(_substituted(inner, figures)))
            case _:
                spans.extend(_figure(figures[inner]) if inner in figures else (Text("{" + inner + "}"),))
    return _joined(spans)


def _marked(text: str) -> Spans:
    spans: list[Span] = []
    for mark, inner in _pieces(text):
        match mark:
            case "text":
                spans.append(Text(inner))
            case "code":
                spans.append(Code(inner))
            case "strong":
                spans.append(Strong(inner))
            case _:
                spans.append(Text("{" + inner + "}"))
    return _joined(spans)


@lru_cache(maxsize=4096)
def _pieces(template: str) -> tuple[tuple[str, str], ...]:
    pieces: list[tuple[str, str]] = []
    end = 0
    for found in _MARKS.finditer(template):
        if found.start() > end:
            pieces.append(("text", template[end : found.start()]))
        end = found.end()
        code, strong, place = found.groups()
        if code is not None:
            pieces.append(("code", code))
        elif strong is not None:
            pieces.append(("strong", strong.replace("`", "")))
        else:
            pieces.append(("place", place))
    if end < len(template):
        pieces.append(("text", template[end:]))
    return tuple(pieces)


def _substituted(inner: str, figures: Mapping[str, Figure]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found.group(1)
        return plain(_figure(figures[name])) if name in figures else found.group(0)

    return _PLACES.sub(value, inner)


def _figure(value: Figure) -> Spans:
    if isinstance(value, str):
        return (Text(value),)
    if isinstance(value, int):
        return (Number(f"{value:,}"),)
    if isinstance(value, float):
        return (Number(f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"),)  # noqa: PLR2004 - digits that are read
    if isinstance(value, tuple):
        return value
    return (value,)


def _joined(spans: list[Span]) -> Spans:
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if isinstance(span, Text) and isinstance(last, Text):
            joined[-1] = Text(last.text + span.text)
        elif span.text:
            joined.append(span)
    return tuple(joined)
