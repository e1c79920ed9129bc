"""Which gradients survive in float16 when the loss is scaled: a fixed sample of magnitudes, really rounded.

Law: an outcome is what rounding the scaled magnitude to float16 gives, computed for each; nothing is measured. The
sample is 1 and 3 times every power of ten from 1e-9 to 1e-1, and 1: nineteen magnitudes, chosen to span float16's range
and not taken from any model.
"""

import math
from collections.abc import Sequence
from enum import StrEnum

from bot.engine.explorers.dials import Dial, Settings
from bot.engine.explorers.floats import FLOAT16, stored
from bot.engine.figures import raised
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Heading, Number, Paragraph, Spans, Text

GRADIENTS = (*(float(f"{factor}e{power}") for power in range(-9, 0) for factor in (1, 3)), 1.0)

DIALS = (
    Dial(
        "scale",
        offers=("1", "256", "4096", "65536", "1048576", "16777216"),
        start=1.0,
        low=1.0,
        high=1e12,
        powers=True,
    ),
)
_FULL_PRECISION = 2.0**-11
"""The largest relative error of rounding a normal number to float16 (half of its last place)."""
_HALF = 0.5
"""The mantissa of a power of two."""


class Fate(StrEnum):
    """What becomes of a scaled gradient in float16."""

    VANISHES = "zero"
    LOSES = "lossy"
    STAYS = "safe"
    OVERFLOWS = "inf"


def fate(gradient: float, scale: float) -> Fate:
    """Give what becomes of a positive gradient times a positive scale in float16."""
    scaled = gradient * scale
    kept = stored(FLOAT16, scaled).value
    if kept == 0:
        return Fate.VANISHES
    if math.isinf(kept):
        return Fate.OVERFLOWS
    return Fate.STAYS if abs(kept - scaled) <= _FULL_PRECISION * scaled else Fate.LOSES


def computed(moment: Moment, settings: Settings) -> Sequence[Block]:
    """Show the sample by what becomes of it at the scale."""
    words = moment.words
    scale = settings.by_name["scale"]
    fates = {gradient: fate(gradient, scale) for gradient in GRADIENTS}
    groups = tuple(_group(moment, each, [g for g in GRADIENTS if fates[g] is each]) for each in Fate)
    found = set(fates.values())
    key = next((each for each in (Fate.OVERFLOWS, Fate.VANISHES, Fate.LOSES) if each in found), Fate.STAYS)
    return (
        Heading(words.say("explorer.scaling_title", scale=Number(_scale(scale)))),
        Bullets(tuple(group for group in groups if group)),
        Paragraph(words.say(f"explorer.scaling_advice_{key}")),
    )


def _scale(scale: float) -> str:
    mantissa, exponent = math.frexp(scale)
    shown = DIALS[0].shown(scale)
    return f"{raised(exponent - 1)} = {shown}" if mantissa == _HALF and exponent > 1 else shown


def _written(gradient: float) -> str:
    factor, _, power = f"{gradient:.0e}".partition("e")
    return f"{factor}e{int(power)}" if int(power) else factor


def _group(moment: Moment, what: Fate, gradients: Sequence[float]) -> Spans:
    if not gradients:
        return ()
    values: list[Text | Number] = []
    for gradient in gradients:
        values += [Text("، "), Number(_written(gradient))]
    key = f"explorer.scaling_{what}"
    return moment.words.say(key, done=len(gradients), total=len(GRADIENTS), values=tuple(values[1:]))
