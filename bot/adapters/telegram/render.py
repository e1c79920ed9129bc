"""A reply as calls of the Bot API, pure: blocks are packed into as few texts as hold them, then written as HTML.

Law: limits are kept by packing whole blocks, never by cutting written HTML; buttons stand under the last part; what is
too long for a chat goes out as a file, with its head and its end in the chat.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from bot.adapters.telegram import rich, tables
from bot.adapters.telegram.drafts import (
    BUTTON_LIMIT,
    BYTE_LIMIT,
    CAPTION_LIMIT,
    ENTITY_LIMIT,
    ROW_LIMIT,
    TEXT_LIMIT,
    Draft,
    FileDraft,
    PhotoDraft,
    TextDraft,
)
from bot.adapters.telegram.rich import Rich
from bot.engine import replies
from bot.posting import direction, pieces
from bot.posting.looks import Look
from bot.posting.pieces import Button, Keyboard

WORDS = frozenset(
    {
        "telegram.choose",
        "telegram.code_in_file",
        "telegram.interval",
        "telegram.lost",
        "telegram.lost_again",
        "telegram.not_yours",
        "telegram.table",
        "web.against",
    }
)
"""The phrases that this adapter needs."""

CODE_LIMIT = 3000
"""Characters of a block of code shown in the chat; what is longer goes out as a file."""
_HEAD, _TAIL = 500, 1500
_GAP = "\n\n"
_SHORT = {2: 18, 3: 12, 4: 8}
"""Characters of a label, by how many stand in a row."""
_PNG = b"\x89PNG\r\n\x1a\n"
_SIDES, _RATIO, _PIXELS = 10_000, 20, 25_000_000
_PHOTO_BYTES = 10_000_000


def drafts(reply: replies.Reply, look: Look) -> tuple[Draft, ...]:
    """Give a reply's calls, in order."""
    packing = _Packing(look)
    late: list[Draft] = []
    buttons: list[tuple[Button, ...]] = []
    for block in reply.blocks:
        match block:
            case replies.Choices():
                buttons += keyboard(block)
            case replies.Picture():
                packing.put_picture(block)
            case replies.Attachment():
                late.append(_attachment(block))
            case replies.File():
                late.append(FileDraft(pieces.safe_name(block.name), b"", ref=block.ref))
            case replies.Timings():
                packing.put(*tables.timings(block, look.words))
                late += [_bars(block)] if block.rows else []
            case replies.CodeBlock():
                late += _put_code(packing, block, look)
            case _:
                packing.put(*_written(block))
    made = [*packing.ended(), *late]
    if not buttons:
        return tuple(made)
    if not made:
        made = [TextDraft(_prose(look.words.get("telegram.choose", "⋯")).html)]
    return (*made[:-1], replace(made[-1], keyboard=tuple(buttons)[:BUTTON_LIMIT]))


def offer(number: int, look: Look) -> Draft:
    """Give the note that a reply may not have arrived, with a button that brings it again."""
    button = Button(rich.label(look.words.get("telegram.lost_again", "")), pieces.resend(number))
    return TextDraft(rich.prose(look.words.get("telegram.lost", "")).html, ((button,),))


def keyboard(block: replies.Choices) -> Keyboard:
    """Lay out buttons: the first of a row stands at its right end, for rows are not mirrored."""
    texts = [Button(rich.label(choice.label), choice.payload) for choice in block.choices]
    laid = pieces.rows(texts, min(max(block.columns, 1), ROW_LIMIT), _fits)
    return tuple(tuple(reversed(row)) for row in laid)


def _fits(row: Sequence[Button], columns: int) -> bool:
    return all(len(pieces.clean(button.text)) <= _SHORT.get(columns, 5) for button in row)


class _Packing:
    """Texts filled up to their limits, pictures between them."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._made: list[Draft] = []
        self._now = Rich()

    def put(self, *pieces: Rich) -> None:
        for piece in pieces:
            both = self._now + rich.raw(_GAP) + piece if self._now.size else piece
            if self._now.size and not fits(both):
                self._flush()
                both = piece
            self._now = both

    def put_picture(self, block: replies.Picture) -> None:
        """Put a picture behind the text; a short one stands in its caption, where both are read together."""
        data = self._look.pictures.get(block.key)
        if data is None or not is_photo(data):  # the course changed since: its words still help
            self.put(_prose(block.alt), *([rich.line(block.caption)] if block.caption else []))
            return
        words = [_prose(block.alt), *([rich.line(block.caption)] if block.caption else [])]
        whole = rich.joined([*([self._now] if self._now.size else []), rich.joined(words, "\n")], _GAP)
        if fits(whole, CAPTION_LIMIT):
            self._now = Rich()
            self._made.append(PhotoDraft(data, whole.html))
            return
        self._flush()
        self._made.append(PhotoDraft(data, _caption(block.alt, block.caption)))

    def ended(self) -> list[Draft]:
        self._flush()
        return self._made

    def _flush(self) -> None:
        if self._now.size:
            self._made.append(TextDraft(self._now.html))
        self._now = Rich()


def fits(piece: Rich, size: int = TEXT_LIMIT) -> bool:
    """Tell whether a text keeps every limit."""
    small = piece.size <= size and piece.entities <= ENTITY_LIMIT
    return small and len(piece.html.encode()) <= BYTE_LIMIT


def _written(
    block: replies.Heading | replies.Paragraph | replies.Bullets | replies.Bits | replies.Bars | replies.Steps,
) -> tuple[Rich, ...]:
    match block:
        case replies.Heading(spans=spans):
            return _cut(spans, strong=True)
        case replies.Paragraph(spans=spans):
            return _cut(spans)
        case replies.Bullets():
            return _bullets(block)
        case replies.Bits():
            return tables.bits(block)
        case replies.Bars():
            return (_prose(block.alt), *_bullets(block.in_words()))
        case replies.Steps(steps=steps):
            return (rich.joined([_step(step) for step in steps], "\n"),)
    assert_never(block)


def _cut(spans: replies.Spans, *, strong: bool = False) -> tuple[Rich, ...]:
    """Write a line, or several where one would break a limit."""
    whole = rich.line(spans, strong=strong)
    if fits(whole):
        return (whole,)
    made: list[Rich] = []
    now = Rich()
    for piece in (part for one in spans for part in pieces.chunks(one)):
        whole = now + rich.span(piece, strong=strong)
        if now.size and not fits(whole):
            made.append(now)
            whole = rich.line((piece,), strong=strong)
        elif not now.size:
            whole = rich.line((piece,), strong=strong)
        now = whole
    return (*made, now)


def _bullets(block: replies.Bullets) -> tuple[Rich, ...]:
    items: list[Rich] = []
    for at, spans in enumerate(block.items, 1):
        first, *rest = _cut(spans)
        mark = rich.raw(direction.ARABIC_MARK + (f"{at}. " if block.numbered else "• "))
        items += [mark + first, *rest]
    made: list[Rich] = []
    for item in items:
        both = made[-1] + rich.raw("\n") + item if made else item
        if made and fits(both, TEXT_LIMIT // 2):
            made[-1] = both
        else:
            made.append(item)
    return tuple(made)


def _step(step: replies.Step) -> Rich:
    count = f" {min(max(step.done, 0), step.total)}/{step.total}" if step.total > 0 else ""
    label = rich.prose(step.label, strong=step.state == "now")
    shown = rich.raw(f"{direction.LTR}{count.strip()}{direction.END}") if count else Rich()
    return (
        rich.raw(f"{direction.ARABIC_MARK}{pieces.STEP_MARKS[step.state]} ")
        + label
        + rich.raw(" " if count else "")
        + shown
    )


def _put_code(packing: _Packing, block: replies.CodeBlock, look: Look) -> list[Draft]:
    language = pieces.LANGUAGES.get(block.language, "")
    title = (_title(block.title),) if block.title else ()
    whole = rich.block(block.code, language)
    if whole.size <= CODE_LIMIT and fits(whole):
        packing.put(*_together(*title, whole))
        return []
    head, tail = pieces.ends(block.code, _HEAD, _TAIL)
    note = _prose(look.words.get("telegram.code_in_file", ""))
    packing.put(*_together(*title, rich.block(head, language)), note, rich.block(tail, language))
    name = pieces.file_of(block)
    return [FileDraft(name, block.code.encode("utf-8", "replace"), _caption(block.title))]


def _title(text: str) -> Rich:
    return rich.begun(rich.prose(text, strong=True))


def _prose(text: str) -> Rich:
    return rich.begun(rich.prose(text))


def _together(*pieces: Rich) -> tuple[Rich, ...]:
    """Keep a title with its block."""
    return (rich.joined(pieces, "\n"),)


def _caption(text: str, spans: replies.Spans = ()) -> str:
    lines = [_prose(text)] if text.strip() else []
    lines += [rich.line(spans)] if spans else []
    while lines and not fits(rich.joined(lines, "\n"), CAPTION_LIMIT):
        if len(lines) == 1:
            return _prose(text[: CAPTION_LIMIT // 2].rsplit(" ", 1)[0] + " …").html
        lines.pop()
    return rich.joined(lines, "\n").html


def _bars(block: replies.Timings) -> Draft:
    under = tables.caption(block)
    return PhotoDraft(block, under.html if fits(under, CAPTION_LIMIT) else _caption(block.alt))


def _attachment(block: replies.Attachment) -> Draft:
    data = pieces.attached(block)
    name = pieces.safe_name(block.name)
    caption = rich.begun(rich.code(name)).html
    if block.media == "image/png" and is_photo(data):
        return PhotoDraft(data, caption)
    return FileDraft(name, data or b"\n", caption)


def is_photo(data: bytes) -> bool:
    """Tell whether the platform takes these bytes as a picture; a small file may unfold to gigabytes."""
    if len(data) < 24 or len(data) > _PHOTO_BYTES or not data.startswith(_PNG):  # noqa: PLR2004 - the length of a PNG's head
        return False
    if data[8:16] != b"\x00\x00\x00\rIHDR":
        return False
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if not width or not height or width + height > _SIDES or width * height > _PIXELS:
        return False
    return max(width, height) <= _RATIO * min(width, height)
