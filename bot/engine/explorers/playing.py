"""The explorer of a lesson: how to play, the buttons, and the answer to each press or typed figure.

Law: what is shown is computed for what was chosen; a text that is no setting is left to other readings.
"""

from collections.abc import Callable, Sequence

from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.course_map import Part, go
from bot.engine.effects import Turn
from bot.engine.expects import PLAY
from bot.engine.explorers import amdahl, break_even, dials, formats, loss_scaling, traffic
from bot.engine.explorers.dials import Dial, Settings
from bot.engine.letters import number
from bot.engine.moment import Moment
from bot.engine.replies import Block, Choice, Choices, Paragraph
from bot.engine.session import Place
from content.schema import Lesson

_SINGLE: dict[str, Callable[[Moment, str], Sequence[Block]]] = {
    "amdahl": amdahl.computed,
    "formats": formats.computed,
}
"""Explorers of one number, which nothing keeps."""
_DIALLED: dict[str, tuple[tuple[Dial, ...], Callable[[Moment, Settings], Sequence[Block]]]] = {
    "loss_scaling": (loss_scaling.DIALS, loss_scaling.computed),
    "traffic": (traffic.DIALS, traffic.computed),
    "break_even": (break_even.DIALS, break_even.computed),
}
"""Explorers whose settings are kept in the session."""


def waiting(lesson: Lesson) -> str:
    """Give the expectation of a figure for a lesson's explorer."""
    return PLAY + lesson.slug


def invitation(moment: Moment, lesson: Lesson) -> tuple[Block, ...]:
    """Say how to play."""
    kind = lesson.explorer.kind
    how = Paragraph(moment.words.say(f"explorer.how_{kind}"))
    if kind not in _DIALLED:
        return (how,)
    settings = dials.standing(moment, lesson, _DIALLED[kind][0])
    return (how, *dials.told(moment, settings))


def settings(moment: Moment, lesson: Lesson) -> tuple[Choices, ...]:
    """Give the buttons that play."""
    kind = lesson.explorer.kind
    if kind in _DIALLED:
        standing = dials.standing(moment, lesson, _DIALLED[kind][0])
        offers, others = dials.offers(lesson, standing), dials.others(moment, lesson, standing)
        return (*buttons(*offers, columns=2), *buttons(*others, columns=2))
    return buttons(*_offers(moment, lesson), columns=3)


def typed(moment: Moment, lesson: Lesson, text: str) -> Turn | None:
    """Take a typed text as a setting; None when it is none."""
    match lesson.explorer.kind:
        case "amdahl":
            meant = number(text) is not None
        case "formats":
            meant = formats.read(text) is not None
        case kind:
            meant = dials.read(dials.standing(moment, lesson, _DIALLED[kind][0]), text) is not None
    return shown(moment, lesson, text) if meant else None


def shown(moment: Moment, lesson: Lesson, option: str) -> Turn:
    """Compute for a setting that was pressed or typed; say what is wrong with any other text."""
    moment = moment.changed(expects=waiting(lesson))
    kind = lesson.explorer.kind
    if kind in _SINGLE:
        blocks = _SINGLE[kind](moment, option)
        offered = buttons(*_offers(moment, lesson), columns=3)
        return moment.turn(*said(*blocks, *offered, *buttons(*_ways_on(moment, lesson), columns=2)))
    its_dials, computed = _DIALLED[kind]
    before = dials.standing(moment, lesson, its_dials)
    after = dials.turned(moment, before, option)
    if isinstance(after, Settings):
        moment = dials.kept(moment, lesson, after)
        blocks = (*computed(moment, after), *dials.told(moment, after))
    else:
        blocks, after = (Paragraph(after),), before
    return moment.turn(
        *said(
            *blocks,
            *buttons(*dials.offers(lesson, after), columns=2),
            *buttons(*dials.others(moment, lesson, after), columns=2),
            *buttons(*_ways_on(moment, lesson), columns=2),
        )
    )


def _offers(moment: Moment, lesson: Lesson) -> tuple[Choice, ...]:
    if lesson.explorer.kind == "formats":
        return tuple(Choice(each, encode(Op.EXPLORE, lesson.slug, each)) for each in formats.OFFERED)
    return tuple(
        Choice(moment.words.text("explorer.share", share=f"{share}%"), encode(Op.EXPLORE, lesson.slug, share))
        for share in amdahl.SHARES
    )


def _ways_on(moment: Moment, lesson: Lesson) -> tuple[Choice, ...]:
    onward = Choice(moment.words.text("button.next"), go(Place(lesson.slug, Part.DOORS)))
    back = Choice(moment.words.text("button.back"), go(Place(lesson.slug, Part.EXPLORER)))
    return onward, back
