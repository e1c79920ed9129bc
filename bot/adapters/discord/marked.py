"""Prose as Discord's Markdown: escaped, its direction marked, and nothing in it that pings anybody or shows a preview.

Law: a text begins with an Arabic letter or U+061C, for the platform takes the direction of the whole text from its
first strong letter; what reads left to right is isolated outside of code (U+2066 to U+2069), never with U+202A to
U+202E. Inside code nothing is changed but backticks, which are broken with U+200B in the copy that is shown.
"""

import re
from typing import assert_never

from bot.engine import replies
from bot.posting.direction import ARABIC, ARABIC_MARK, END, FIGURE, LTR, URL, isolated_label, opening
from bot.posting.pieces import clean, shown_code

BROKEN = "\u200b"

_BEGINS_ARABIC = re.compile(rf"[*_\s]*(?:\u061c|{ARABIC.pattern})")
_SPECIAL = re.compile(r"([\\`*_~|>#\[\]()<@:-])")
_PLAIN = {"(": "(", ")": ")", ":": ":", "-": "-", "#": "#", ">": ">"}
"""Signs that mean something only at a line's beginning or within a link, which cannot come about here."""
_LINKED = r"[a-zA-Z][a-zA-Z0-9+.-]*://\S+|<[@#:/a][^>\s]*>|@everyone|@here|:[a-zA-Z0-9_~]+:"
_SPOTS = re.compile(rf"(?P<linked>{_LINKED})|(?P<figure>{FIGURE})")


def escaped(text: str) -> str:
    """Keep the platform from reading marks in a text."""
    return _SPECIAL.sub(lambda found: _PLAIN.get(found.group(), f"\\{found.group()}"), text)


def begun(text: str) -> str:
    """Put the mark before a line that would be drawn left to right."""
    return text if _BEGINS_ARABIC.match(text) else ARABIC_MARK + text


def line(spans: replies.Spans, *, strong: bool = False) -> str:
    """Give a line of prose, which begins so that it is drawn right to left."""
    return begun("".join(span(one, strong=strong) for one in spans))


def span(given: replies.Span, *, strong: bool = False) -> str:
    """Give a span; `strong` makes bold of what may be."""
    match given:
        case replies.Text(text=text):
            return prose(text, strong=strong)
        case replies.Strong(text=text):
            return prose(text, strong=True)
        case replies.Code(text=text):
            return code(text)
        case replies.Number(text=text):
            return f"{LTR}{_bold(escaped(clean(text)), strong=strong)}{END}"
        case replies.Link(text=text, url=url):
            shown = escaped(clean(text)) or url
            return f"[{shown}](<{url}>)" if URL.fullmatch(url) else prose(text, strong=strong)
    assert_never(given)


def code(text: str) -> str:
    """Give inline code; what a learner wrote may be prose, and takes its own direction."""
    shown = clean(text).replace("\n", " ").replace("`", "`" + BROKEN)
    if not shown.strip():
        return ""
    fence = "``" if "`" in shown else "`"
    room = " " if "`" in shown else ""
    return f"{opening(shown)}{fence}{room}{shown}{room}{fence}{END}"


def prose(text: str, *, strong: bool = False) -> str:
    """Give plain prose, with its figures isolated and what would ping or preview as code."""
    shown, parts, end = clean(text), [], 0
    for found in _SPOTS.finditer(shown):
        parts.append(_bold(escaped(shown[end : found.start()]), strong=strong))
        if found.lastgroup == "linked":
            parts.append(code(found.group()))
        else:
            parts.append(f"{LTR}{_bold(escaped(found.group()), strong=strong)}{END}")
        end = found.end()
    parts.append(_bold(escaped(shown[end:]), strong=strong))
    return "".join(parts)


def _bold(text: str, *, strong: bool) -> str:
    """Make bold, with the spaces outside: the platform reads no mark beside a space."""
    inner = text.strip()
    if not strong or not inner:
        return text
    head, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{head}**{inner}**{tail}"


def label(text: str, limit: int) -> str:
    """Give a button's plain text, with what reads left to right isolated."""
    shown = " ".join(clean(text).split())
    shown = shown if len(shown) <= limit - 8 else shown[: limit - 9] + "…"
    marked = isolated_label(shown)
    return marked if len(marked) <= limit else shown[:limit]


def block(text: str, language: str = "") -> str:
    """Give a block of code or output; only what would end the block is broken."""
    return f"```{language}\n{shown_code(text).replace('```', f'`{BROKEN}`{BROKEN}`')}\n```"
