"""How much faster the whole becomes when a part of it does, by Amdahl's law.

Law: what is shown follows from the formula alone; nothing is measured.
"""

from collections.abc import Sequence

from bot.engine.figures import percent, plain
from bot.engine.letters import number
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Heading, Number, Paragraph

SHARES = ("50", "80", "90", "95", "99")
"""Percentages offered as buttons."""
_GAINS = (2, 10, 100, 1000)
"""How many times faster the part that can be sped up becomes."""


def amdahl(share: float, gain: float) -> float:
    """Give how many times faster the whole becomes when a share (0 to 1) of it becomes `gain` times faster.

    Source: G. M. Amdahl, AFIPS 1967: 1 / ((1 - p) + p / s).
    """
    return 1 / ((1 - share) + share / gain)


def computed(moment: Moment, typed: str) -> Sequence[Block]:
    """Compute for a share as it was typed or pressed, in percent; say what is wrong with any other text."""
    share = number(typed)
    if share is None or not 0 <= share <= 100:  # noqa: PLR2004 - a percentage
        return (Paragraph(moment.words.say("explorer.not_a_share")),)
    return _of_share(moment, share / 100)


def _of_share(moment: Moment, share: float) -> Sequence[Block]:
    words = moment.words
    rows = tuple(
        words.say("explorer.row", gain=gain, whole=Number(f"{plain(amdahl(share, gain))}×")) for gain in _GAINS
    )
    bound = (
        words.say("explorer.bound", rest=Number(percent(1 - share)), bound=Number(f"{plain(1 / (1 - share))}×"))
        if share < 1
        else words.say("explorer.no_bound")
    )
    return (Heading(words.say("explorer.title", share=Number(percent(share)))), Bullets(rows), Paragraph(bound))
