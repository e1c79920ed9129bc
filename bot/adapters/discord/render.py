"""A reply as calls of Discord's interface, pure: blocks are packed into as few texts as hold them.

Law: limits are kept by packing whole blocks, never by cutting written Markdown; buttons stand under the last part; what
is too long for a chat goes out as a file, with its head and its end in the chat.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from bot.adapters.discord import marked, tables
from bot.adapters.discord.drafts import (
    FILE_LIMIT,
    LABEL_LIMIT,
    ROW_LIMIT,
    ROWS,
    TEXT_LIMIT,
    Draft,
    FileDraft,
    TextDraft,
)
from bot.engine import replies
from bot.posting import direction, pieces
from bot.posting.looks import Look
from bot.posting.pieces import Button

WORDS = frozenset(
    {
        *("discord.choose", "discord.code_in_file", "discord.interval", "discord.lost", "discord.lost_again"),
        *("discord.no_files", "discord.table", "discord.more", "discord.not_yours", "web.against"),
    }
)
"""The phrases that this adapter needs."""

CODE_LIMIT = 1500
"""Characters of a block of code shown in the chat; what is longer goes out as a file."""
_HEAD, _TAIL = 400, 900
_GAP = "\n\n"
_PHONE, _FRAME, _LETTER = 290, 40, 7
"""The width of a row on a telephone, of the frame of a button and of a letter; the end of a wider row goes below."""


def drafts(reply: replies.Reply, look: Look) -> tuple[Draft, ...]:
    """Give a reply's calls, in order."""
    packing = _Packing()
    late: list[Draft] = []
    buttons: list[tuple[Button, ...]] = []
    for block in reply.blocks:
        match block:
            case replies.Choices():
                buttons += keyboard(block)
            case replies.Picture():
                packing.put_draft(_picture(block, look))
            case replies.Attachment():
                late.append(_attachment(block))
            case replies.File():
                late.append(FileDraft(pieces.safe_name(block.name), b"", ref=block.ref))
            case replies.Timings():
                packing.put(*tables.timings(block, look.words))
                late += [FileDraft("timings.png", block, tables.caption(block))] if block.rows else []
            case replies.CodeBlock():
                late += _put_code(packing, block, look)
            case _:
                packing.put(*_written(block))
    return _with_buttons([*packing.ended(), *late], buttons, look)


def offer(number: int, look: Look) -> Draft:
    """Give the note that a reply may not have arrived, with a button that brings it again."""
    button = Button(marked.label(look.words.get("discord.lost_again", ""), LABEL_LIMIT), pieces.resend(number))
    return TextDraft(_prose(look.words.get("discord.lost", "")), ((button,),))


def keyboard(block: replies.Choices) -> list[tuple[Button, ...]]:
    """Lay out buttons in rows, in reading order."""
    texts = [Button(marked.label(choice.label, LABEL_LIMIT), choice.payload) for choice in block.choices]
    return pieces.rows(texts, min(max(block.columns, 1), ROW_LIMIT), lambda row, _: _width(row) <= _PHONE)


def _with_buttons(made: list[Draft], rows: list[tuple[Button, ...]], look: Look) -> tuple[Draft, ...]:
    """Put buttons under the last part; those that find no room there stand under notes of their own."""
    buttons = [_laid(row) for row in _fitted(_once(rows))]
    if not buttons:
        return tuple(made)
    if not made:
        made = [TextDraft(_prose(look.words.get("discord.choose", "⋯")))]
    panels = [tuple(buttons[at : at + ROWS]) for at in range(0, len(buttons), ROWS)]
    more = _prose(look.words.get("discord.more", "⋯"))
    return (*made[:-1], replace(made[-1], keyboard=panels[0]), *(TextDraft(more, panel) for panel in panels[1:]))


def _once(rows: list[tuple[Button, ...]]) -> list[tuple[Button, ...]]:
    """Leave out a button that leads where an earlier one leads: the platform takes each payload once under a text."""
    seen: set[str] = set()
    kept: list[tuple[Button, ...]] = []
    for row in rows:
        fresh = tuple({one.payload: one for one in row if one.payload not in seen}.values())
        seen |= {one.payload for one in fresh}
        kept += [fresh] if fresh else []
    return kept


def _fitted(rows: list[tuple[Button, ...]]) -> list[tuple[Button, ...]]:
    """Join neighbouring rows, the shortest first, until there are no more of them than the platform takes."""
    rows = list(rows)
    while len(rows) > ROWS:
        pairs = [(_width(rows[at] + rows[at + 1]), at) for at in range(len(rows) - 1)]
        fit = [pair for pair in pairs if len(rows[pair[1]] + rows[pair[1] + 1]) <= ROW_LIMIT]
        if not fit:
            flat = [button for row in rows for button in row]
            return [tuple(flat[at : at + ROW_LIMIT]) for at in range(0, len(flat), ROW_LIMIT)]
        at = min(fit)[1]
        rows[at : at + 2] = [rows[at] + rows[at + 1]]
    return rows


def _width(row: Sequence[Button]) -> int:
    return sum(len(pieces.clean(button.text)) * _LETTER + _FRAME for button in row)


def _laid(row: tuple[Button, ...]) -> tuple[Button, ...]:
    """Have a row's first button at its right end, for rows are not mirrored; a row that breaks keeps its order."""
    return tuple(reversed(row)) if _width(row) <= _PHONE else row


class _Packing:
    """Texts filled up to their limit, files between them."""

    def __init__(self) -> None:
        self._made: list[Draft] = []
        self._now = ""

    def put(self, *pieces: str) -> None:
        for piece in pieces:
            both = f"{self._now}{_GAP}{piece}" if self._now else piece
            if self._now and len(both) > TEXT_LIMIT:
                self._flush()
                both = piece
            self._now = both

    def put_draft(self, draft: Draft) -> None:
        self._flush()
        self._made.append(draft)

    def ended(self) -> list[Draft]:
        self._flush()
        return self._made

    def _flush(self) -> None:
        if self._now.strip():
            self._made.append(
                TextDraft(self._now if direction.ARABIC_MARK in self._now[:1] else marked.begun(self._now))
            )
        self._now = ""


def _written(
    block: replies.Heading | replies.Paragraph | replies.Bullets | replies.Bits | replies.Bars | replies.Steps,
) -> tuple[str, ...]:
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
            return ("\n".join(_step(step) for step in steps),)
    assert_never(block)


def _cut(spans: replies.Spans, *, strong: bool = False) -> tuple[str, ...]:
    """Write a line, or several where one would break the limit."""
    whole = marked.line(spans, strong=strong)
    if len(whole) <= TEXT_LIMIT:
        return (whole,)
    made, now = [], ""
    for piece in (part for one in spans for part in pieces.chunks(one)):
        written = marked.span(piece, strong=strong)
        if now and len(now) + len(written) > TEXT_LIMIT:
            made.append(now)
            now = ""
        now = now + written if now else marked.line((piece,), strong=strong)
    return (*made, now)


def _bullets(block: replies.Bullets) -> tuple[str, ...]:
    items: list[str] = []
    for at, spans in enumerate(block.items, 1):
        first, *rest = _cut(spans)
        items += [f"{direction.ARABIC_MARK}{f'{at}. ' if block.numbered else '• '}{first}", *rest]
    made: list[str] = []
    for item in items:
        both = f"{made[-1]}\n{item}" if made else item
        if made and len(both) <= TEXT_LIMIT // 2:
            made[-1] = both
        else:
            made.append(item)
    return tuple(made)


def _step(step: replies.Step) -> str:
    count = (
        f" {direction.LTR}{min(max(step.done, 0), step.total)}/{step.total}{direction.END}" if step.total > 0 else ""
    )
    label = marked.prose(step.label, strong=step.state == "now")
    return f"{direction.ARABIC_MARK}{pieces.STEP_MARKS[step.state]} {label}{count}"


def _put_code(packing: _Packing, block: replies.CodeBlock, look: Look) -> list[Draft]:
    language = pieces.LANGUAGES.get(block.language, "")
    title = f"{marked.begun(marked.prose(block.title, strong=True))}\n" if block.title else ""
    whole = marked.block(block.code, language)
    if len(whole) <= CODE_LIMIT:
        packing.put(title + whole)
        return []
    head, tail = pieces.ends(block.code, _HEAD, _TAIL)
    note = _prose(look.words.get("discord.code_in_file", ""))
    packing.put(title + marked.block(head, language), note, marked.block(tail, language))
    return [FileDraft(pieces.file_of(block), block.code.encode("utf-8", "replace")[:FILE_LIMIT])]


def _prose(text: str) -> str:
    return marked.begun(marked.prose(text))


def _caption(text: str) -> str:
    return _prose(text[: pieces.CHUNK]) if text.strip() else ""


def _picture(block: replies.Picture, look: Look) -> Draft:
    data = look.pictures.get(block.key)
    caption = f"\n{marked.line(block.caption)}" if block.caption else ""
    if data is None:  # the course changed since: its words still help
        return TextDraft(_prose(block.alt) + caption)
    return FileDraft(pieces.safe_name(block.key), data, _caption(block.alt) + caption)


def _attachment(block: replies.Attachment) -> Draft:
    data = pieces.attached(block)
    name = pieces.safe_name(block.name)
    return FileDraft(name, data or b"\n", marked.begun(marked.code(name)))
