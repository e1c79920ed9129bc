"""Blocks packed into bubbles that stay readable on a phone.

Law: a bubble holds at most `LIMIT` characters of prose; code and pictures stay with the prose before them, buttons with
the last bubble.
"""

from collections.abc import Iterable

from bot.engine.effects import Say
from bot.engine.replies import Block, Bullets, Choice, Choices, Heading, Paragraph, Reply, Span, Spans, Strong, Text
from bot.engine.wording import plain, prose

LIMIT = 900


def said(*blocks: Block, slot: str = "") -> tuple[Say, ...]:
    """Say the blocks in as few bubbles as hold them; a slot names the last one."""
    packs: list[list[Block]] = [[]]
    weight = 0
    for block in (part for whole in blocks for part in _split(whole)):
        own = weight_of(block)
        if packs[-1] and own and weight + own > LIMIT:
            packs.append([])
            weight = 0
        packs[-1].append(block)
        weight += own
    full = [pack for pack in packs if pack]
    return tuple(Say(Reply(tuple(pack)), slot if pack is full[-1] else "") for pack in full)


def weight_of(block: Block) -> int:
    """Count the characters of prose in a block."""
    if isinstance(block, Heading | Paragraph):
        return len(plain(block.spans))
    if isinstance(block, Bullets):
        return sum(len(plain(item)) for item in block.items)
    return 0


def paragraphs(text: str) -> tuple[Paragraph, ...]:
    """Turn the course's prose into paragraphs."""
    return tuple(Paragraph(spans) for spans in prose(text))


def numbered(items: Iterable[Spans]) -> tuple[Block, ...]:
    """Give a numbered list, as one block where a bubble holds it, else a paragraph an item."""
    listed = Bullets(tuple(items), numbered=True)
    if weight_of(listed) <= LIMIT:
        return (listed,)
    return tuple(Paragraph((Strong(f"{i}."), Text(" "), *item)) for i, item in enumerate(listed.items, 1))


def buttons(*choices: Choice | None, columns: int = 1) -> tuple[Choices, ...]:
    """Give the buttons that are there, or no block."""
    present = tuple(choice for choice in choices if choice is not None)
    return (Choices(present, columns),) if present else ()


def _split(block: Block) -> tuple[Block, ...]:
    if isinstance(block, Paragraph) and weight_of(block) > LIMIT:
        return tuple(Paragraph(spans) for spans in _lines(block.spans))
    if isinstance(block, Bullets) and not block.numbered and weight_of(block) > LIMIT:
        return tuple(Bullets((item,)) for item in block.items)
    return (block,)


def _lines(spans: Spans) -> Iterable[Spans]:
    """Cut an overlong paragraph between spans and sentences."""
    line: list[Span] = []
    room = LIMIT
    for span in (piece for whole in spans for piece in _pieces(whole)):
        if len(span.text) > room and line:
            yield tuple(line)
            line, room = [], LIMIT
        line.append(span)
        room -= len(span.text)
    if line:
        yield tuple(line)


def _pieces(span: Span) -> Iterable[Span]:
    if not isinstance(span, Text) or len(span.text) <= LIMIT // 4:
        yield span
        return
    rest = span.text
    while len(rest) > LIMIT // 4:
        cut = max(rest.rfind(mark, 0, LIMIT // 4) for mark in (". ", "، ", " "))
        cut = cut + 1 if cut > 0 else LIMIT // 4
        yield Text(rest[:cut])
        rest = rest[cut:]
    yield Text(rest)
