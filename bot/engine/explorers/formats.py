"""A number as float32, float16 and bfloat16 keep it: bits, what it becomes, the error, the gaps around it.

Law: every figure comes out of `floats.py`, for the very number that was typed.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from bot.engine.explorers import floats
from bot.engine.explorers.floats import Stored
from bot.engine.figures import digits, power_of_two
from bot.engine.letters import figure, fold, plain_digits, stripped
from bot.engine.moment import Moment
from bot.engine.replies import Bits, BitsRow, Block, Bullets, Code, Heading, Number, Paragraph, Spans

OFFERED = ("0.1", "1000.3", "2049", "65504", "70000", "1e-8", "inf", "nan")
"""Numbers offered as buttons."""
_SHORT = 9
"""Significant digits up to which a number is written exactly."""
_HALF = 0.5
"""The mantissa of a power of two."""
_NAMED = {"inf": math.inf, "infinity": math.inf, "∞": math.inf, "nan": math.nan}


def read(text: str) -> float | None:
    """Read a number as it is typed, `inf` and `nan` among them; None when it is none."""
    plain = plain_digits(stripped(text)).strip().casefold()
    named = _NAMED.get(plain.lstrip("+-"))
    if named is None:
        return figure(text)
    return -named if plain.startswith("-") else named


def computed(moment: Moment, typed: str) -> Sequence[Block]:
    """Show how a number is kept; say what is wrong with any other text."""
    words = moment.words
    value = read(typed)
    if value is None:
        return (Paragraph(words.say("explorer.not_a_number", given=Code(typed[:40]))),)
    name = Number(exact(value) or shortest(value))
    kept = tuple(floats.stored(form, value) for form in floats.FORMATS)
    rows = tuple(BitsRow(each.format.name, *each.fields, _shown(each)) for each in kept)
    fields = (words.text("bits.sign"), words.text("bits.exponent"), words.text("bits.fraction"))
    return (
        Heading(words.say("explorer.formats_title", number=name)),
        *_beyond(moment, typed, value),
        Bits(rows, fields, words.text("explorer.formats_alt", number=name)),
        Bullets(tuple(_told(moment, each, value) for each in kept)),
    )


def exact(value: float) -> str:
    """Write a number exactly where that is short, or as a power of two; empty where neither is."""
    if not math.isfinite(value) or value == 0:
        return digits(value, _SHORT)
    written = len(Decimal(value).normalize().as_tuple().digits)
    if written <= _SHORT:
        return digits(value, written)
    return f"{'-' * (value < 0)}{power_of_two(abs(value))}" if abs(math.frexp(value)[0]) == _HALF else ""


def shortest(value: float) -> str:
    """Write a number with as few digits as tell it from every other one of Python."""
    if not math.isfinite(value):
        return digits(value, _SHORT)
    return digits(value, len(Decimal(repr(value)).normalize().as_tuple().digits))


def _beyond(moment: Moment, typed: str, value: float) -> tuple[Block, ...]:
    """Say that a number is out of the range of what Python itself reads."""
    written = fold(typed).replace(" ", "")
    if math.isinf(value) and any(each.isdigit() for each in written):
        return (Paragraph(moment.words.say("explorer.formats_too_large")),)
    if value == 0 and any(each in "123456789" for each in written.partition("e")[0]):
        return (Paragraph(moment.words.say("explorer.formats_too_small")),)
    return ()


def _shown(kept: Stored) -> str:
    return exact(kept.value) or f"≈ {digits(kept.value, kept.format.digits)}"


def _told(moment: Moment, kept: Stored, value: float) -> Spans:
    words, form = moment.words, kept.format
    name, shown = Code(form.name), Number(_shown(kept))
    if math.isnan(value):
        return words.say("explorer.formats_nan", format=name)
    if math.isinf(value):
        return words.say("explorer.formats_infinite", format=name, stored=shown)
    if math.isinf(kept.value):
        largest = Number(digits(form.largest, form.digits))
        return words.say("explorer.formats_overflow", format=name, stored=shown, largest=largest)
    if kept.value == 0 and value:
        smallest = Number(digits(form.smallest, 3))
        return words.say("explorer.formats_underflow", format=name, stored=shown, smallest=smallest)
    return (*_rounding(moment, kept, value), *_gaps(moment, kept), *_subnormal(moment, kept))


def _rounding(moment: Moment, kept: Stored, value: float) -> Spans:
    error = floats.error_of(kept, value)
    name = Code(kept.format.name)
    if error == 0:
        return moment.words.say("explorer.formats_exact", format=name)
    share = digits(float(abs(error / Fraction(value))) * 100, 2)
    return moment.words.say(
        "explorer.formats_rounded",
        format=name,
        stored=Number(_shown(kept)),
        error=Number(digits(float(error), 3)),
        relative=Number(f"{share}%"),
    )


def _gaps(moment: Moment, kept: Stored) -> Spans:
    words = moment.words
    above, below = (Number(power_of_two(gap)) if gap else None for gap in (kept.above, kept.below))
    if above and below and kept.above != kept.below:
        return words.say("explorer.formats_gaps", above=above, below=below)
    if above:
        return words.say("explorer.formats_gap", gap=above)
    return words.say("explorer.formats_gap_below", below=below) if below else ()


def _subnormal(moment: Moment, kept: Stored) -> Spans:
    return moment.words.say("explorer.formats_subnormal") if kept.subnormal else ()
