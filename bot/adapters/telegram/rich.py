"""Prose as Telegram's HTML: escaped, its direction marked, and nothing in it that the platform would make a link of.

Law: a prose line begins with an Arabic letter or U+061C; what reads left to right is isolated outside of code entities
(U+2066 to U+2069), never with U+202A to U+202E; inside code stands no mark. Identifiers, paths, mentions, tags and
commands in prose become code, for the platform would link them to strangers.
"""

import html
import re
from dataclasses import dataclass
from typing import assert_never

from bot.engine import replies
from bot.posting.direction import ARABIC, ARABIC_MARK, END, FIGURE, LTR, URL, isolated_label, opening
from bot.posting.pieces import clean, shown_code

_BEGINS_ARABIC = re.compile(rf"(?:<[a-z]+>)*\s*(?:\u061c|{ARABIC.pattern})")

# What the platform would make a link, a mention, a tag or a card number of; as wide as its own rules, or wider.
_LINKED = (
    r"[a-zA-Z][a-zA-Z0-9+.-]*://\S+"
    r"|[\w%+-]*@[\w.-]+"
    r"|[#$][\w·]+"
    r"|(?<![\w/])/[a-zA-Z][\w@/.-]*"
    r"|(?:[A-Za-z0-9_-]+/)*[^\W_][\w-]*(?:\.[\w-]*[^\W\d_][\w-]*)+(?:[:/?#][^\s<>]+)?(?:\([^()\s]*\))?"
    r"|\d{1,3}(?:\.\d{1,3}){3}"
    r"|\d(?:[ -]?\d){12,}"
)
_SPOTS = re.compile(rf"(?P<linked>{_LINKED})|(?P<figure>{FIGURE})")


@dataclass(frozen=True, slots=True)
class Rich:
    """A stretch: its HTML, its length in code points as shown, and how many entities it makes."""

    html: str = ""
    size: int = 0
    entities: int = 0

    def __add__(self, other: "Rich") -> "Rich":
        return Rich(self.html + other.html, self.size + other.size, self.entities + other.entities)


def escaped(text: str) -> str:
    """Escape for the platform, which knows four entities and no more."""
    return html.escape(text, quote=False)


def raw(text: str) -> Rich:
    """Give a stretch that needs no care but escaping."""
    return Rich(escaped(text), len(text))


def tagged(tag: str, text: str) -> Rich:
    """Give a stretch within an element."""
    return Rich(f"<{tag}>{escaped(text)}</{tag}>", len(text), 1) if text.strip() else raw(text)


def joined(parts: "list[Rich] | tuple[Rich, ...]", between: str = "") -> Rich:
    """Join stretches."""
    made = Rich()
    for at, part in enumerate(parts):
        made = made + (raw(between) if at and between else Rich()) + part
    return made


def line(spans: replies.Spans, *, strong: bool = False) -> Rich:
    """Give a line of prose, which begins so that it is drawn right to left."""
    return begun(joined([span(one, strong=strong) for one in spans]))


def begun(rich: Rich) -> Rich:
    """Put the mark before a line that would be drawn left to right."""
    return rich if _BEGINS_ARABIC.match(rich.html) else raw(ARABIC_MARK) + rich


def span(given: replies.Span, *, strong: bool = False) -> Rich:
    """Give a span; `strong` makes bold of what may be."""
    match given:
        case replies.Text(text=text):
            return prose(text, strong=strong)
        case replies.Strong(text=text):
            return prose(text, strong=True)
        case replies.Code(text=text):
            return code(text)
        case replies.Number(text=text):
            shown = clean(text)
            return raw(LTR) + (tagged("b", shown) if strong else raw(shown)) + raw(END)
        case replies.Link(text=text, url=url):
            shown = clean(text) or url
            if URL.fullmatch(url) is None:
                return prose(text, strong=strong)
            return Rich(f'<a href="{html.escape(url)}">{escaped(shown)}</a>', len(shown), 1)
    assert_never(given)


def code(text: str) -> Rich:
    """Give inline code; what a learner wrote may be prose, and takes its own direction."""
    shown = clean(text).replace("\n", " ")
    if not shown.strip():
        return Rich()
    return raw(opening(shown)) + tagged("code", shown) + raw(END)


def prose(text: str, *, strong: bool = False) -> Rich:
    """Give plain prose, with its figures isolated and its identifiers as code."""
    shown = clean(text)
    parts: list[Rich] = []
    end = 0

    def plain(stretch: str) -> Rich:
        return tagged("b", stretch) if strong else raw(stretch)

    for found in _SPOTS.finditer(shown):
        parts.append(plain(shown[end : found.start()]))
        if found.lastgroup == "linked":
            parts.append(code(found.group()))
        else:
            parts.append(raw(LTR) + plain(found.group()) + raw(END))
        end = found.end()
    parts.append(plain(shown[end:]))
    return joined(parts)


def label(text: str, limit: int = 100) -> str:
    """Give a button's plain text, with what reads left to right isolated."""
    shown = " ".join(clean(text).split())
    shown = shown if len(shown) <= limit else shown[: limit - 1] + "…"
    return isolated_label(shown)


def block(text: str, language: str = "") -> Rich:
    """Give a block of code or output, with nothing in it changed but what cannot be shown."""
    shown = shown_code(text)
    inside = f'<code class="language-{language}">{escaped(shown)}</code>' if language else escaped(shown)
    return Rich(f"<pre>{inside}</pre>", len(shown), 1)
