"""The review of due cards: its queue, its daily cap, cards held back, and the cap that a learner wishes.

Law: a review is begun anew from what is due now, and loses no card that waits for its second try; after a break nothing
is said of how much has piled up.
"""

from dataclasses import replace
from datetime import datetime
from typing import cast

from bot.engine import asks, cards, presses, series
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.days import day_of
from bot.engine.effects import Record, Turn
from bot.engine.letters import count
from bot.engine.moment import Moment
from bot.engine.remembering import rows
from bot.engine.remembering.kept import Remembered
from bot.engine.remembering.queue import Queue, queue
from bot.engine.replies import Block, Bullets, Choice, Code, Heading, Paragraph
from bot.engine.session import Session
from bot.engine.wording import inline, plain
from content.schema import Card

MOST_CAP = 200
"""Cards a day beyond which no wish is taken."""
_LISTED = 20
"""Cards held back that are listed at once."""
_SHOWN = 60
"""Characters of a card's front that are shown in a list."""


def pressed(moment: Moment, what: str, option: str) -> Turn:
    """Answer a button of the reviews."""
    match what:
        case "":
            return begun(moment)
        case "more":
            return begun(moment, more=True)
        case "undo":
            return cards.undone(moment, option)
        case "hold" | "resume":
            return _held(moment, option, suspended=what == "hold")
        case "held":
            return _listed(moment)
        case _:
            return asks.refused(moment, "button.outdated")


def begun(moment: Moment, *, more: bool = False) -> Turn:
    """Begin the review of what is due, with what waited for its second try behind it; `more` goes past the cap."""
    kept = moment.known.remembered or Remembered()
    now = queue(moment.course, kept, moment.now)
    moved = (Record(now.moves),) if now.moves else ()
    ids = _ids(moment, now, kept, more=more)
    if not ids:
        return _nothing(moment, kept, now).after(*moved)
    again = tuple(card for card in _second_tries(moment) if card in ids)
    session, _ = series.taken_up(moment.at(_without_reviews(moment)).session, "review", "", ids)
    if session.series:
        session = session.with_(series=replace(session.series, missed=again))
    intro = Paragraph(moment.words.say("review.intro", n=len(ids)))
    return cards.shown(moment.at(session)).after(*moved, *said(intro))


def capped(moment: Moment, argument: str) -> Turn:
    """Keep how many due cards a day the learner wishes; without a number, say what it is."""
    words = moment.words
    if not argument.strip():
        kept = moment.known.remembered or Remembered()
        return moment.turn(*said(Paragraph(words.say("cap.now", n=kept.cap)), Paragraph(words.say("cap.how"))))
    cap = count(argument)
    if cap is None or not 1 <= cap <= MOST_CAP:
        wrong = words.say("cap.wrong", given=Code(argument.strip()[:_SHOWN]), most=MOST_CAP)
        return moment.turn(*said(Paragraph(wrong)))
    told = said(Paragraph(words.say("cap.set", n=cap)), *buttons(presses.command(moment, Command.REVIEW)))
    return moment.turn(Record((rows.SetCap(cap),)), *told)


def _ids(moment: Moment, now: Queue, kept: Remembered, *, more: bool) -> tuple[str, ...]:
    again = tuple(card for card in _second_tries(moment) if card not in now.held)
    due = tuple(card for card in now.due if card not in again)
    return (*due[: kept.cap if more else now.left], *again)


def _second_tries(moment: Moment) -> tuple[str, ...]:
    """Give the cards of a review left in the middle that were not known and wait to come again."""
    session = moment.session
    reviews = (each for each in (*session.aside, *((session.series,) if session.series else ())))
    return tuple(card for each in reviews if each.kind == "review" for card in each.ahead if card in each.missed)


def _without_reviews(moment: Moment) -> Session:
    session = moment.session
    aside = tuple(each for each in session.aside if each.kind != "review")
    present = session.series if session.series and session.series.kind != "review" else None
    dropped = present is None and session.series is not None
    return (session.unasked() if dropped else session).with_(series=present, aside=aside)


def _nothing(moment: Moment, kept: Remembered, now: Queue) -> Turn:
    words = moment.words
    held = Choice(words.text("button.held"), encode(Op.REVIEW, "held")) if now.held else None
    onward = buttons(held, presses.command(moment, Command.PROGRESS), presses.command(moment, Command.MAP))
    if now.due:
        more = Choice(words.text("button.review_more"), encode(Op.REVIEW, "more"))
        return moment.turn(*said(Paragraph(words.say("review.cap_reached", n=kept.cap)), *buttons(more), *onward))
    if not kept.cards:
        lesson = moment.here()
        begin = Choice(words.text("button.cards"), encode(Op.CARDS, lesson.slug)) if lesson else None
        return moment.turn(*said(Paragraph(words.say("review.empty")), *buttons(begin), *onward))
    told = [Paragraph(words.say("review.nothing_due"))]
    if now.next_due:
        told.append(Paragraph(words.say("review.next_due", after=_until(moment, now.next_due, kept.zone))))
    return moment.turn(*said(*told, *onward))


def _until(moment: Moment, due: datetime, zone: str) -> str:
    left = max((day_of(due, zone) - day_of(moment.now, zone)).days, 0)
    return moment.words.text("grade.after", n=left)


def _held(moment: Moment, card_id: str, *, suspended: bool) -> Turn:
    found = asks.anywhere(moment.course, "card", card_id)
    if found is None:
        return asks.refused(moment, "button.gone")
    card = cast("Card", found[1])
    stored = Record((rows.SuspendCard(card.id, card.rev, suspended, moment.now),))
    words = moment.words
    if not suspended:
        return moment.turn(stored, *said(Paragraph(words.say("review.resumed", card=_front(card)))))
    resume = Choice(words.text("button.resume"), encode(Op.REVIEW, "resume", card.id))
    told: tuple[Block, ...] = (Paragraph(words.say("review.held", card=_front(card))), *buttons(resume))
    return cards.left_out(moment, card.id, *told).after(stored)


def _listed(moment: Moment) -> Turn:
    kept = moment.known.remembered or Remembered()
    held = queue(moment.course, kept, moment.now).held[:_LISTED]
    words = moment.words
    found = [cast("Card", pair[1]) for each in held if (pair := asks.anywhere(moment.course, "card", each))]
    if not found:
        return moment.turn(*said(Paragraph(words.say("review.none_held"))))
    listed = Bullets(tuple(inline(card.front) for card in found), numbered=True)
    choices = (
        Choice(words.text("button.resume_nth", number=at), encode(Op.REVIEW, "resume", card.id))
        for at, card in enumerate(found, 1)
    )
    return moment.turn(*said(Heading(words.say("review.held_title")), listed, *buttons(*choices, columns=2)))


def _front(card: Card) -> str:
    text = plain(inline(card.front))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"
