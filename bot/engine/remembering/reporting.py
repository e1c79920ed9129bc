"""A mistake in a card or item, told to the teacher by a button: the reason by one tap, or in the learner's own words.

Law: what is written is kept as it is, cut, and shown back to nobody but the teacher; the same reason twice counts once.
"""

from bot.engine import asks, presses
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.effects import Record, Turn
from bot.engine.expects import Expects
from bot.engine.letters import stripped
from bot.engine.moment import Moment
from bot.engine.remembering import rows
from bot.engine.replies import Choice, Paragraph
from content.schema import Card, Item, Myth

REPORT = "report:"
"""Begins the expectation of a learner's own words on a mistake; the item's id follows."""
OTHER = "_other"
_REASONS = ("_wrong", "_unclear", "_language")
_MOST = 500
"""Characters that are kept of a learner's own words."""


def pressed(moment: Moment, item_id: str, reason: str) -> Turn:
    """Ask for the reason, or keep the one that was pressed."""
    found = _find(moment, item_id)
    if found is None:
        return asks.refused(moment, "button.gone")
    words = moment.words
    if reason in _REASONS:
        return _kept(moment, found, words.text(f"complaint.reason_{reason[1:]}"))
    if reason == OTHER:
        moment = moment.changed(expects=f"{REPORT}{item_id}")
        return moment.turn(*said(Paragraph(words.say("complaint.own_words"))))
    if reason:
        return asks.refused(moment, "button.outdated")
    choices = (
        Choice(words.text(f"complaint.reason_{each[1:]}"), encode(Op.REPORT, item_id, each))
        for each in (*_REASONS, OTHER)
    )
    return moment.turn(*said(Paragraph(words.say("complaint.what")), *buttons(*choices, columns=2)))


def typed(moment: Moment, text: str) -> Turn | None:
    """Keep a learner's own words on a mistake; None when the item is gone or nothing is written."""
    found = _find(moment, moment.session.expects.removeprefix(REPORT))
    own = " ".join(stripped(text).split())[:_MOST]
    if found is None or not own:
        return None
    ask = moment.known.ask
    waits = ask is not None and ask.kind == "item" and not asks.fault(moment, ask)
    open_still = Expects.ANSWER.value if waits else Expects.NOTHING.value
    return _kept(moment.changed(expects=open_still), found, own)


def _kept(moment: Moment, item: Item | Card | Myth, text: str) -> Turn:
    complaint = rows.Complain(moment.dice.identity(), item.id, item.rev, text)
    go_on = presses.go_on_with_series(moment)
    return moment.turn(Record((complaint,)), *said(Paragraph(moment.words.say("complaint.kept")), *buttons(go_on)))


def _find(moment: Moment, item_id: str) -> Item | Card | Myth | None:
    listed = (asks.anywhere(moment.course, kind, item_id) for kind in ("item", "card", "myth"))
    return next((found[1] for found in listed if found), None)
