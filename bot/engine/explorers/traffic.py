"""Bytes that cross the memory for a chain of point-wise operations, one by one and fused into one pass.

Law: a count, not a measurement: every operation has one input and one output of the whole array, the array is larger
than the caches, and the bandwidth is an assumption that is shown as one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.engine.explorers.dials import Dial, Settings, values_of
from bot.engine.figures import amount, duration, plain
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Heading, Number, Paragraph

DIALS = (
    Dial("k", offers=("2", "4", "8", "16"), start=4, low=1, high=1000, whole=True),
    Dial("n", offers=("1e5", "1e6", "1e7", "1e9"), start=1e7, low=1, high=1e12, whole=True),
    Dial("b", offers=("8", "4", "2", "1"), start=4, low=1, high=16, whole=True),
    Dial("bw", offers=("20", "100", "900", "4000"), start=100, low=0.01, high=1e6, unit="GB/s"),
)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes read and written, apart and fused."""

    apart: float
    fused: float


def moved(operations: float, elements: float, width: float) -> Traffic:
    """Count the bytes: apart, each operation reads the array and writes its result; fused, one read and one write."""
    once = 2 * elements * width
    return Traffic(operations * once, once)


def seconds(count: float, bandwidth: float) -> float:
    """Give the time in seconds to move bytes at a bandwidth in 10⁹ bytes a second."""
    return count / (bandwidth * 1e9)


def computed(moment: Moment, settings: Settings) -> Sequence[Block]:
    """Show the bytes both ways, their ratio, and the time at the assumed bandwidth."""
    words = moment.words
    operations, elements, width, bandwidth = values_of(settings, ("k", "n", "b", "bw"))
    found = moved(operations, elements, width)
    ratio = found.apart / found.fused
    apart, fused = (duration(seconds(count, bandwidth) * 1e9) for count in (found.apart, found.fused))
    return (
        Heading(words.say("explorer.traffic_title")),
        Bullets(
            (
                words.say("explorer.traffic_apart", bytes=Number(amount(found.apart))),
                words.say("explorer.traffic_fused", bytes=Number(amount(found.fused))),
            )
        ),
        Paragraph(
            words.say("explorer.traffic_ratio", ratio=Number(f"{plain(ratio)}×"))
            if ratio > 1
            else words.say("explorer.traffic_alone")
        ),
        Paragraph(
            words.say(
                "explorer.traffic_time",
                bandwidth=Number(settings.dials[3].shown(bandwidth)),
                apart=Number(apart),
                fused=Number(fused),
            )
        ),
        Paragraph(words.say("explorer.traffic_note")),
    )
