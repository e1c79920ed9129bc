"""After how many calls compiling pays: its cost once, against what each compiled call saves.

Law: arithmetic on the learner's own figures, exact in the decimals that were typed; nothing is measured.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from bot.engine.explorers.dials import Dial, Settings, values_of
from bot.engine.figures import duration, plain
from bot.engine.moment import Moment
from bot.engine.replies import Block, Heading, Number, Paragraph

DIALS = (
    Dial("c", offers=("5", "15", "40", "90"), start=40, low=0, high=1e6, unit="s"),
    Dial("e", offers=("1", "10", "30", "100"), start=30, low=1e-6, high=1e9, unit="ms"),
    Dial("t", offers=("0.5", "5", "20", "60"), start=20, low=1e-6, high=1e9, unit="ms"),
)
_LATER = 10
"""How many times the break-even a longer look goes."""


def calls(compile_s: float, eager_ms: float, compiled_ms: float) -> int | None:
    """Give the least number of calls after which compiling took no longer than not compiling; None when never."""
    cost, eager, compiled = (Fraction(repr(value)) for value in (compile_s * 1.0, eager_ms * 1.0, compiled_ms * 1.0))
    if cost == 0 and eager >= compiled:
        return 0
    return math.ceil(cost * 1000 / (eager - compiled)) if eager > compiled else None


def computed(moment: Moment, settings: Settings) -> Sequence[Block]:
    """Show after how many calls the compile is paid for, or that it never is."""
    words = moment.words
    cost, eager, compiled = values_of(settings, ("c", "e", "t"))
    needed = calls(cost, eager, compiled)
    head = Heading(words.say("explorer.break_even_title"))
    note = Paragraph(words.say("explorer.break_even_note"))
    each = {"eager": Number(duration(eager * 1e6)), "compiled": Number(duration(compiled * 1e6))}
    if needed is None:
        return (head, Paragraph(words.say("explorer.break_even_never", **each)), note)
    if eager == compiled:
        return (head, Paragraph(words.say("explorer.break_even_same", **each)), note)
    gain = Paragraph(
        words.say(
            "explorer.break_even_gain",
            saved=Number(duration((eager - compiled) * 1e6)),
            ratio=Number(f"{plain(eager / compiled)}×"),
        )
    )
    paid = Paragraph(words.say("explorer.break_even_calls", n=needed))
    if not needed:
        return (head, paid, gain, note)
    later = needed * _LATER
    spent = Number(duration((cost * 1e3 + needed * compiled) * 1e6))
    saved = Number(duration((later * (eager - compiled) - cost * 1e3) * 1e6))
    outlook = Paragraph(words.say("explorer.break_even_outlook", spent=spent, times=_LATER, saved=saved))
    return (head, paid, gain, outlook, note)
