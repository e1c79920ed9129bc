"""What a platform has marked in a text by entities, and inline code: turned into blocks, spans and lost signs.

Law: offsets are untrusted; whatever they are, a stretch of the text comes out.
"""

from bot.engine.events import Entity
from bot.engine.intake.bare import asks_to_run, part
from bot.engine.intake.fences import Block, Marked, Tongue, inline, located, tongue
from bot.engine.intake.lex import INVISIBLE
from bot.engine.intake.lines import Look, look
from bot.engine.intake.prompts import is_session
from bot.engine.letters import whole

_PRE, _CODE = frozenset({"pre"}), frozenset({"code"})
_MARKERS = {"bold": "**", "italic": "__", "strikethrough": "~~", "spoiler": "||"}


def newlines(text: str) -> str:
    """Give the text without a byte-order mark, with a newline for every end of line."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\n" not in plain:
        # some web pages and PDFs know no other end of line
        for end in "\u2028\u2029\u0085":
            plain = plain.replace(end, "\n")
    return whole(plain)


def entity_blocks(text: str, entities: tuple[Entity, ...]) -> tuple[list[Block], list[str]]:
    """Give what the platform has marked as blocks of code, and the text outside of them."""
    marked = _apart(located(text, entities, _PRE))
    if marked:
        blocks = [
            Block(
                newlines(text[found.start : found.end]).strip("\n"),
                tongue(found.entity.language),
                found.entity.language,
            )
            for found in marked
        ]
        return blocks, [_without(text, [(found.start, found.end) for found in marked])]
    places = [(start, end) for start, end in _merged(text, located(text, entities, _CODE)) if "\n" in text[start:end]]
    blocks = [Block(newlines(text[start:end]).strip("\n"), Tongue.UNSAID) for start, end in places]
    blocks = [block for block in blocks if is_session(block.text.split("\n")) or part(block.text.split("\n")).code]
    return blocks, [_without(text, places)]


def _apart(marked: list[Marked]) -> list[Marked]:
    """Give the marks that begin behind the one before: marks that overlap would multiply a text."""
    apart: list[Marked] = []
    for found in marked:
        if not apart or found.start >= apart[-1].end:
            apart.append(found)
    return apart


def inline_code(text: str, entities: tuple[Entity, ...]) -> list[str]:
    """Give the lines of inline code that is more than a name: sent alone, or with the wish to have it run."""
    marked = _merged(text, located(text, entities, _CODE))
    if marked:
        spans = [text[start:end] for start, end in marked]
        outside = _without(text, marked)
    else:
        spans, outside = inline(text)
    alone = not outside.strip().strip("".join(INVISIBLE))
    if not spans or not (alone or asks_to_run(outside)):
        return []
    lines = [line for span in spans for line in newlines(span).split("\n")]
    looks = [look(line) for line in lines]
    if Look.CODE in looks:
        return lines
    computed = not alone and any(
        seen is Look.PERHAPS and any(sign in line for sign in "+-*/%(") for seen, line in zip(looks, lines, strict=True)
    )
    return lines if computed else []


def _merged(text: str, marked: list[Marked]) -> list[tuple[int, int]]:
    """Give the places of the marks, those on consecutive lines as one."""
    places: list[tuple[int, int]] = []
    for found in marked:
        if places:
            gap = text[places[-1][1] : found.start]
            if not gap.strip() and "\n" in gap and found.start >= places[-1][1]:
                places[-1] = places[-1][0], max(found.end, places[-1][1])
                continue
            if found.start < places[-1][1]:
                continue
        places.append((found.start, found.end))
    return places


def _without(text: str, places: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for start, end in places:
        kept.append(text[at : max(start, at)])
        at = max(end, at)
    return " ".join([*kept, text[at:]])


def with_signs(text: str, entities: tuple[Entity, ...]) -> str | None:
    """Put back the signs that a client took for formatting (`**`, `__`); None when there are none."""
    marked = located(text, entities, frozenset(_MARKERS))
    if not marked:
        return None
    # at one place what ends comes before what begins
    cuts = [(found.end, 0, found.entity.kind) for found in marked] + [
        (found.start, 1, found.entity.kind) for found in marked
    ]
    parts: list[str] = []
    at = 0
    for place, _, kind in sorted(cuts):
        parts += [text[at:place], _MARKERS[kind]]
        at = place
    return newlines("".join([*parts, text[at:]]))
