"""A reply as an HTML fragment, right to left, made on the server so that the page's script only puts it in place.

Law: every text is escaped by `Markup.format`; no text of a learner, a run or a lesson ever reaches HTML another way.
Prose is right to left; code, numbers and names of code are isolated left to right (the marks of other platforms are
elements here). No inline style and no inline script: the page's policy forbids both.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import assert_never

from markupsafe import Markup

from bot.adapters.web import bars, bits, files, isolates, timings
from bot.adapters.web.colour import coloured
from bot.engine import replies
from bot.ports import Shown

WORDS = frozenset(
    {"web.against", "web.code", "web.download", "web.first_call", "web.interval", "web.time", "web.variant"}
)
"""The phrases that fragments need."""

_COLUMNS = 4
_URL = re.compile(r"(?:https?://|mailto:)[^\s\"'<>]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Look:
    """What a fragment needs beside the reply: the few words, and where pictures lie.

    `sizes` holds width and height in pixels of every picture of the course, by its key.
    """

    words: Mapping[str, str] = field(default_factory=dict)
    pictures: str = ""
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def article(shown: Shown, look: Look) -> Markup:
    """Give the whole reply; its id is how an edit finds it."""
    return Markup(
        '<article class="reply" id="r{}" data-number="{}" data-change="{}" tabindex="-1">{}</article>'
    ).format(shown.number, shown.number, shown.change, reply(shown.reply, look))


def reply(said: replies.Reply, look: Look) -> Markup:
    """Give the blocks of a reply."""
    return _joined(_block(block, look) for block in said.blocks)


def _block(block: replies.Block, look: Look) -> Markup:
    match block:
        case replies.Heading(spans=spans):
            return Markup("<h2>{}</h2>").format(_spans(spans))
        case replies.Paragraph(spans=spans):
            return Markup("<p>{}</p>").format(_spans(spans))
        case replies.Bullets(items=items, numbered=numbered):
            inside = _joined(Markup("<li>{}</li>").format(_spans(item)) for item in items)
            return (Markup("<ol>{}</ol>") if numbered else Markup("<ul>{}</ul>")).format(inside)
        case replies.CodeBlock():
            return _code_block(block, look)
        case replies.Picture():
            return _picture(block, look)
        case replies.Attachment() | replies.File():
            return files.attachment(block, look.words.get("web.download", ""))
        case replies.Timings():
            return timings.figure(block, look.words, _spans)
        case replies.Bits():
            return bits.figure(block)
        case replies.Bars():
            return bars.figure(block)
        case replies.Steps(steps=steps):
            return Markup('<ol class="steps">{}</ol>').format(_joined(_step(step) for step in steps))
        case replies.Choices():
            return _choices(block)
    assert_never(block)


def _spans(spans: replies.Spans) -> Markup:
    return _joined(_span(span) for span in spans)


@lru_cache(maxsize=4096)
def _span(span: replies.Span) -> Markup:
    match span:
        case replies.Text(text=text):
            return isolates.prose(text)
        case replies.Code(text=text):
            return isolates.code(text)
        case replies.Number(text=text):
            return Markup('<bdi dir="ltr" class="number">{}</bdi>').format(isolates.unmarked(text))
        case replies.Strong(text=text):
            return Markup("<strong>{}</strong>").format(isolates.unmarked(text))
        case replies.Link(text=text, url=url):
            if _URL.fullmatch(url) is None:
                return Markup("{}").format(text)
            link = Markup('<a href="{}" target="_blank" rel="noopener noreferrer">{}</a>')
            return link.format(url, isolates.label(text))
    assert_never(span)


def _code_block(block: replies.CodeBlock, look: Look) -> Markup:
    title = isolates.label(block.title) if block.title else Markup("{}").format(look.words.get("web.code", ""))
    return Markup(
        '<figure class="code" data-language="{}"><figcaption><span class="title">{}</span></figcaption>'
        '<pre dir="ltr" tabindex="0" role="region" aria-label="{}"><code>{}</code></pre></figure>'
    ).format(
        block.language,
        title,
        block.title or look.words.get("web.code", ""),
        coloured(block.code.rstrip("\n"), block.language),
    )


def _picture(picture: replies.Picture, look: Look) -> Markup:
    caption = Markup("<figcaption>{}</figcaption>").format(_spans(picture.caption)) if picture.caption else Markup()
    size = look.sizes.get(picture.key)
    if size is None:  # the course changed since: its words still help
        return Markup('<figure class="picture"><p>{}</p>{}</figure>').format(picture.alt, caption)
    dark_key = picture.key.removesuffix(".png") + "_dark.png"
    dark = Markup()
    if dark_key in look.sizes:
        dark = Markup('<source media="(prefers-color-scheme: dark)" srcset="{}{}">').format(look.pictures, dark_key)
    return Markup(
        '<figure class="picture"><picture>{}<img src="{}{}" alt="{}" width="{}" height="{}" decoding="async"></picture>'
        "{}</figure>"
    ).format(dark, look.pictures, picture.key, picture.alt, *size, caption)


def _step(step: replies.Step) -> Markup:
    count = Markup()
    if step.total > 0:
        done = min(max(step.done, 0), step.total)
        count = Markup(
            '<bdi dir="ltr" class="count">{}/{}</bdi><progress max="{}" value="{}" aria-hidden="true"></progress>'
        ).format(done, step.total, step.total, done)
    current = Markup(' aria-current="step"') if step.state == "now" else Markup()
    return Markup('<li class="{}"{}><span class="label">{}</span>{}</li>').format(
        step.state, current, isolates.label(step.label), count
    )


def _choices(block: replies.Choices) -> Markup:
    columns = min(max(block.columns, 1), _COLUMNS)
    buttons = (
        Markup('<button type="button" data-press="{}">{}</button>').format(choice.payload, isolates.label(choice.label))
        for choice in block.choices
    )
    return Markup('<div class="choices columns-{}" role="group">{}</div>').format(columns, _joined(buttons))


def _joined(parts: Iterable[Markup]) -> Markup:
    return Markup().join(parts)
