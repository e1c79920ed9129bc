"""The explorer of a lesson: something to play with by buttons or a typed percentage, computed here.

Law: what is shown follows from the formula alone; nothing is measured.
"""

from collections.abc import Sequence

from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.course_map import Part, go
from bot.engine.effects import Turn
from bot.engine.expects import Expects
from bot.engine.figures import percent, plain
from bot.engine.letters import number
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Choice, Heading, Number, Paragraph
from bot.engine.session import Place
from content.schema import Lesson

SHARES = ("50", "80", "90", "95", "99")
"""Percentages offered as buttons."""
_GAINS = (2, 10, 100, 1000)
"""How many times faster the part that can be sped up becomes."""


def amdahl(share: float, gain: float) -> float:
    """Give how many times faster the whole becomes when a share (0 to 1) of it becomes `gain` times faster.

    Source: G. M. Amdahl, AFIPS 1967: 1 / ((1 - p) + p / s).
    """
    return 1 / ((1 - share) + share / gain)


def invitation(moment: Moment) -> tuple[Block, ...]:
    """Say how to play."""
    return (Paragraph(moment.words.say("explorer.how")),)


def settings(moment: Moment, lesson: Lesson) -> tuple[Choice, ...]:
    """Give a button for each share."""
    return tuple(
        Choice(moment.words.text("explorer.share", share=f"{share} %"), encode(Op.EXPLORE, lesson.slug, share))
        for share in SHARES
    )


def shown(moment: Moment, lesson: Lesson, typed: str) -> Turn:
    """Compute for a share as it was typed or pressed, in percent; say what is wrong with any other text."""
    words = moment.words
    share = number(typed)
    moment = moment.changed(expects=Expects.PERCENT.value)
    if share is None or not 0 <= share <= 100:  # noqa: PLR2004 - a percentage
        return moment.turn(*said(Paragraph(words.say("explorer.not_a_share")), *_buttons(moment, lesson)))
    return moment.turn(*said(*_computed(moment, share / 100), *_buttons(moment, lesson)))


def _computed(moment: Moment, share: float) -> Sequence[Block]:
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


def _buttons(moment: Moment, lesson: Lesson) -> tuple[Block, ...]:
    onward = Choice(moment.words.text("button.next"), go(Place(lesson.slug, Part.DOORS)))
    back = Choice(moment.words.text("button.back"), go(Place(lesson.slug, Part.EXPLORER)))
    return buttons(*settings(moment, lesson), onward, back, columns=3)
