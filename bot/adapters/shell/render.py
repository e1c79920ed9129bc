"""A reply as plain text for a terminal or a log: logical order, no direction marks, buttons numbered."""

import json
from typing import assert_never

from bot.engine.replies import (
    Attachment,
    Bars,
    Bits,
    Block,
    Bullets,
    Choices,
    Code,
    CodeBlock,
    File,
    Heading,
    Link,
    Number,
    Paragraph,
    Picture,
    Reply,
    Span,
    Spans,
    Steps,
    Strong,
    Text,
    Timings,
    to_json,
)
from bot.ports import Shown

_MARKS = {"past": "✓", "now": "…", "ahead": "·"}


def plain(reply: Reply) -> str:
    """Render the whole reply."""
    number = 0
    parts: list[str] = []
    for block in reply.blocks:
        parts.append(_block(block, number))
        if isinstance(block, Choices):
            number += len(block.choices)
    return "\n\n".join(part for part in parts if part)


def spans_text(spans: Spans) -> str:
    """Render prose with its two marks."""
    return "".join(_span(span) for span in spans)


def _block(block: Block, number: int) -> str:
    match block:
        case Heading(spans):
            return f"# {spans_text(spans)}"
        case Paragraph(spans):
            return spans_text(spans)
        case Bullets(items, numbered):
            return "\n".join(
                f"{f'{i}.' if numbered else '-'} {spans_text(item)}" for i, item in enumerate(items, start=1)
            )
        case CodeBlock(code, language, title):
            head = f"{title}\n" if title else ""
            return f"{head}```{language}\n{code.rstrip()}\n```"
        case Picture(key, alt, caption):
            tail = f"\n{spans_text(caption)}" if caption else ""
            return f"[{key}] {alt}{tail}"
        case Attachment(name, media) | File(_, name, media):
            size = block.size if isinstance(block, File) else len(block.data) * 3 // 4
            return f"[{name}] {media}, {size} bytes"
        case Timings():
            return _timings(block)
        case Bits():
            return _bits(block)
        case Bars():
            return _block(block.in_words(), number)
        case Steps(steps):
            return "\n".join(
                f"{_MARKS[step.state]} {step.label}{f' {step.done}/{step.total}' if step.total else ''}"
                for step in steps
            )
        case Choices(choices):
            return "\n".join(f"[{number + i}] {choice.label}" for i, choice in enumerate(choices, start=1))
        case _:
            assert_never(block)


def _timings(block: Timings) -> str:
    lines = [f"{row.name}: {row.shown}{f' ({row.first_call})' if row.first_call else ''}" for row in block.rows]
    lines += [
        f"{ratio.name} / {ratio.against}: {ratio.shown} {ratio.interval} — {spans_text(ratio.verdict)}"
        for ratio in block.ratios
    ]
    return "\n".join([*lines, spans_text(block.machine)])


def _bits(block: Bits) -> str:
    width = max((len(row.name) for row in block.rows), default=0)
    lines = [f"{row.name:<{width}}  {row.sign} {row.exponent} {row.fraction}  = {row.shown}" for row in block.rows]
    return "\n".join([block.alt, *lines])


def _span(span: Span) -> str:
    match span:
        case Text(text) | Number(text):
            return text
        case Code(text):
            return f"`{text}`"
        case Strong(text):
            return f"**{text}**"
        case Link(text, url):
            return f"{text} ({url})"
        case _:
            assert_never(span)


def as_text(said: str, shown: tuple[Shown, ...]) -> str:
    """Render what was said and the replies to it, divided by lines."""
    rule = "─" * 40
    parts = [f"» {said}"] if said else []
    return f"\n{rule}\n".join([*parts, *(plain(one.reply) for one in shown)]) + "\n"


def as_json(said: str, shown: tuple[Shown, ...]) -> str:
    """Give one JSON document: what was said, and each reply's number, slot and neutral blocks."""
    answers = [
        {"number": one.number, "slot": one.slot, "blocks": json.loads(to_json(one.reply))["blocks"]} for one in shown
    ]
    return json.dumps({"said": said, "replies": answers}, ensure_ascii=False)
