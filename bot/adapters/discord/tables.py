"""Figures as text of one width: measured times, and the bits of a number.

Law: a whole text has one direction, and a block of code is drawn left to right inside it; sentences stand outside.
"""

from collections.abc import Mapping

from bot.adapters.discord import marked
from bot.engine import replies
from bot.posting import bars, direction, pieces


def timings(block: replies.Timings, words: Mapping[str, str]) -> tuple[str, ...]:
    """Give what each variant took, how they compare, and on which machine."""
    lines = pieces.timing_lines(block)
    made: list[str] = []
    if lines:
        firsts = any(row.first_call for row in block.rows)
        said = f"{marked.begun(marked.prose(words.get('discord.table', '')))}\n" if firsts else ""
        made.append(said + marked.block("\n".join(lines)))
    if block.ratios:
        made.append("\n".join(_ratio(ratio, words) for ratio in block.ratios))
    if block.machine:
        made.append(marked.line(block.machine))
    return tuple(made)


def caption(block: replies.Timings) -> str:
    """Give what stands above a picture of bars: a line a variant, with its time."""
    return "\n".join(
        marked.begun(f"{marked.code(row.name[:60])}: {marked.span(replies.Number(row.shown))}")
        for row in block.rows[: bars.MOST_ROWS]
    )


def _ratio(ratio: replies.RatioRow, words: Mapping[str, str]) -> str:
    against = marked.prose(words.get("web.against", ""))
    pair = f"{marked.code(ratio.name[:60])} {against} {marked.code(ratio.against[:60])}"
    interval = ""
    if ratio.interval:
        named = marked.prose(words.get("discord.interval", ""))
        interval = f" ({named} {marked.span(replies.Number(ratio.interval))})"
    return f"{direction.ARABIC_MARK}• {pair}: {marked.span(replies.Number(ratio.shown))}{interval}"


def bits(block: replies.Bits) -> tuple[str, ...]:
    """Give the bits of a number: a row a format, in three groups, and the value behind."""
    fields = " · ".join(block.fields)
    return (
        marked.begun(marked.prose(block.alt)),
        f"{marked.begun(marked.prose(fields))}\n{marked.block(chr(10).join(pieces.bits_lines(block)))}",
    )
