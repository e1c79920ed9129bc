"""Drawn calls as HTML that lays them out as Discord's clients do: one column, a direction a text, rows of buttons.

Law: the Markdown is read as the platform reads it, not as we meant it, and a whole text takes the direction of its
first strong letter; what looks wrong here looks wrong there.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from bot.adapters.discord.drafts import Draft, FileDraft
from bot.posting.showing import drawn, keys, photo

_BLOCK = re.compile(r"```(?:([a-zA-Z0-9_+.#-]+)\n)?\n*([^\n].*?)\n*```", re.DOTALL)
_LINE = re.compile(r"(?P<head>#{1,3}) +(?P<title>.+)|(?P<sub>-#) +(?P<small>.+)|(?:[-*]) +(?P<item>.+)|> (?P<quote>.+)")
_INLINE = re.compile(
    r"\\(?P<escaped>[^0-9A-Za-z\s])"
    r"|(?P<ticks>`+)(?P<code>[^`](?:.*?[^`])??)(?P=ticks)(?!`)"
    r"|\[(?P<words>[^\]\n]+)\]\(<?(?P<url>https?://[^\s)>]+)>?\)"
    r"|\*\*(?P<bold>.+?)\*\*(?!\*)"
    r"|__(?P<under>.+?)__(?!_)"
    r"|~~(?P<struck>.+?)~~"
    r"|\|\|(?P<hidden>.+?)\|\|"
    r"|\*(?=\S)(?P<italic>(?:[^*])+?)(?<=\S)\*(?!\*)"
    r"|\b_(?P<slanted>[^_]+?)_\b"
    r"|(?P<ping><(?:@[!&]?|\#)[0-9]+>|@everyone|@here)"
    r"|(?P<bare>https?://\S+)",
    re.DOTALL,
)
_TAGS = {"bold": "strong", "under": "u", "struck": "s", "hidden": "del", "italic": "em", "slanted": "em"}
_STRONG = {"L": "ltr", "R": "rtl", "AL": "rtl"}


def laid_out(drafts: Sequence[Draft]) -> Markup:
    """Give the texts of a reply, one under the other."""
    return Markup('<div class="dc">{}</div>').format(Markup("").join(map(_text_of, drafts)))


def direction(text: str) -> str:
    """Give the direction that the client takes for a whole text: that of its first strong letter."""
    kinds = (unicodedata.bidirectional(letter) for letter in text)
    return next((_STRONG[kind] for kind in kinds if kind in _STRONG), "ltr")


def _text_of(draft: Draft) -> Markup:
    shown = Markup('<div class="dc-text" style="direction:{}">{}</div>').format(direction(draft.text), read(draft.text))
    parts = [shown if draft.text else Markup("")]
    if isinstance(draft, FileDraft):
        parts.append(_file(draft))
    return Markup('<div class="dc-message">{}{}</div>').format(Markup("").join(parts), keys(draft.keyboard, "dc"))


def _file(draft: FileDraft) -> Markup:
    data = drawn(draft.content)
    if draft.name.endswith(".png") and data:
        return photo(data, "dc")
    return Markup('<div class="dc-file" dir="ltr">{}</div>').format(draft.name)


def read(text: str) -> Markup:
    """Read the platform's Markdown as its clients do, and give it as HTML."""
    return Markup("").join(_blocks(text))


def _blocks(text: str) -> Iterator[Markup]:
    end = 0
    for found in _BLOCK.finditer(text):
        yield _lines(text[end : found.start()])
        yield Markup("<pre><code>{}</code></pre>").format(found[2])
        end = found.end()
    yield _lines(text[end:])


def _lines(text: str) -> Markup:
    # A block of code ends its line by itself: one of the line ends around it would stand as an empty line.
    lines = text.removeprefix("\n").removesuffix("\n").split("\n") if text.strip("\n") else []
    return Markup("\n").join(_line(line) for line in lines)


def _line(line: str) -> Markup:
    found = _LINE.fullmatch(line)
    if found is None:
        return _inline(line)
    if found["title"]:
        return Markup('<b class="dc-head">{}</b>').format(_inline(found["title"]))
    if found["small"]:
        return Markup("<small>{}</small>").format(_inline(found["small"]))
    return Markup('<span class="dc-{}">{}</span>').format(
        *(("item", _inline(found["item"])) if found["item"] else ("quote", _inline(found["quote"])))
    )


def _inline(text: str) -> Markup:
    parts, end = [], 0
    for found in _INLINE.finditer(text):
        parts += [escape(text[end : found.start()]), _span(found)]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _span(found: re.Match[str]) -> Markup:
    kind = found.lastgroup or ""
    if kind == "escaped":
        return escape(found["escaped"])
    if kind in _TAGS:
        return Markup("<{0}>{1}</{0}>").format(_TAGS[kind], _inline(found[kind]))
    if kind == "code":
        return Markup("<code>{}</code>").format(found["code"].strip(" ") or found["code"])
    if kind == "url":
        return Markup('<a href="{}">{}</a>').format(found["url"], _inline(found["words"]))
    return Markup('<mark class="dc-{}">{}</mark>').format(kind, found.group())
