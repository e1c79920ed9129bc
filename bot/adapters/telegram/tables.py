"""Figures as text of one width: measured times, and the bits of a number.

Law: in a block of code a line is drawn in the direction of its first strong letter, so figures stand before names that
may be Arabic, and sentences stand outside.
"""

from collections.abc import Mapping

from bot.adapters.telegram import rich
from bot.adapters.telegram.rich import Rich
from bot.engine import replies
from bot.posting import bars, direction, pieces


def timings(block: replies.Timings, words: Mapping[str, str]) -> tuple[Rich, ...]:
    """Give what each variant took, how they compare, and on which machine."""
    lines = pieces.timing_lines(block)
    made: list[Rich] = []
    if lines:
        what = words.get("telegram.table", "") if any(row.first_call for row in block.rows) else ""
        said = [rich.begun(rich.prose(what))] if what else []
        made.append(rich.joined([*said, rich.block("\n".join(lines))], "\n"))
    if block.ratios:
        made.append(rich.joined([_ratio(ratio, words) for ratio in block.ratios], "\n"))
    if block.machine:
        made.append(rich.line(block.machine))
    return tuple(made)


def caption(block: replies.Timings) -> Rich:
    """Give what stands under a picture of bars: a line a variant, with its time."""
    return rich.joined(
        [
            rich.begun(rich.code(row.name[:60]) + rich.raw(": ") + rich.span(replies.Number(row.shown)))
            for row in block.rows[: bars.MOST_ROWS]
        ],
        "\n",
    )


def _ratio(ratio: replies.RatioRow, words: Mapping[str, str]) -> Rich:
    against = rich.raw(f" {words.get('web.against', '')} ")
    pair = rich.code(ratio.name[:60]) + against + rich.code(ratio.against[:60])
    shown = rich.raw(": ") + rich.span(replies.Number(ratio.shown))
    interval = Rich()
    if ratio.interval:
        named = rich.prose(words.get("telegram.interval", ""))
        interval = rich.raw(" (") + named + rich.raw(" ") + rich.span(replies.Number(ratio.interval)) + rich.raw(")")
    return rich.raw(f"{direction.ARABIC_MARK}• ") + pair + shown + interval


def bits(block: replies.Bits) -> tuple[Rich, ...]:
    """Give the bits of a number: a row a format, in three groups, and the value behind."""
    fields = " · ".join(block.fields)
    return (
        rich.begun(rich.prose(block.alt)),
        rich.joined([rich.begun(rich.prose(fields)), rich.block("\n".join(pieces.bits_lines(block)))], "\n"),
    )
