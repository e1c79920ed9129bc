"""Flashcards: the front, a flip, the learner's own grade with the interval it leads to; a card not known comes again.

Law: a card is graded once an ask, and its last grade can be taken back. Grades follow correctness: not known is Again,
known only now or at the second try is Hard, known is Good, and Easy is offered only for what was flipped at once.
"""

from dataclasses import replace
from datetime import timedelta
from typing import cast

from bot.engine import asks, presses, series
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.course_map import DONE
from bot.engine.effects import Ask, CloseAsk, Edit, Record, Turn
from bot.engine.expects import Expects
from bot.engine.moment import Moment
from bot.engine.remembering import memory, rows
from bot.engine.remembering.memory import Grade, Memory
from bot.engine.replies import Block, Choice, Heading, Paragraph, Reply, Strong
from bot.engine.session import Graded, Series
from bot.engine.wording import inline
from content.schema import Card, Lesson

SERIES = frozenset({"cards", "review"})
"""Kinds of series that show cards: a lesson's, and those that are due."""
QUICK = timedelta(seconds=12)
"""From the front to the flip: so quick an answer may be an easy one."""
_GRADES = {
    presses.MISSED: Grade.FORGOT,
    presses.HARD: Grade.HARD,
    presses.KNEW: Grade.KNEW,
    presses.EASY: Grade.EASY,
}


def begun(moment: Moment, lesson: Lesson) -> Turn:
    """Begin the lesson's cards, or go on with them; those held back are left out."""
    kept = moment.known.remembered
    held = {row.card for row in kept.cards if row.suspended} if kept else set()
    ids = [card.id for card in lesson.cards if card.id not in held] or [card.id for card in lesson.cards]
    session, before = series.taken_up(moment.session, "cards", lesson.slug, ids)
    moment = moment.at(session)
    key = "cards.go_on" if before else "cards.intro"
    intro = Paragraph(moment.words.say(key, lesson=inline(lesson.title), n=len(ids)))
    return shown(moment).after(*said(intro))


def answered(moment: Moment, ask: Ask, answer: str) -> Turn:
    """Flip a card, or take the learner's own grade."""
    under_way = moment.session.series
    if under_way is None or under_way.kind not in SERIES or under_way.ahead[:1] != (ask.item,):
        return asks.refused(moment, "ask.gone")
    found = asks.anywhere(moment.course, "card", ask.item)
    if found is None:
        return asks.refused(moment, "ask.gone")
    card = cast("Card", found[1])
    if answer == presses.FLIP:
        quick = ask.asked_at is not None and timedelta(0) <= moment.now - ask.asked_at <= QUICK
        moment = moment.changed(quick=quick or moment.session.quick)
        return moment.turn(Edit(slot(ask), Reply(_flipped(moment, card, ask, under_way))))
    if answer not in _GRADES:
        return asks.refused(moment, "ask.unknown")
    return _graded(moment, card, ask, answer)


def undone(moment: Moment, ask_id: str) -> Turn:
    """Take the last grade back: the card is at hand again, as it was before."""
    last, ask = moment.session.graded, moment.known.ask
    found = asks.anywhere(moment.course, "card", ask.item) if ask else None
    if last is None or ask is None or found is None or last.ask != ask_id or not ask.closed:
        return asks.refused(moment, "review.undo_late")
    present = moment.session.series
    same = (
        present is None or not present.ahead or (present.kind, present.lesson) == (last.series.kind, last.series.lesson)
    )
    aside = moment.session.aside if same or present is None else (*moment.session.aside, present)
    session = moment.session.unasked().with_(series=last.series, aside=aside, graded=None)
    note = Paragraph(moment.words.say("review.undone"))
    told = Edit(slot(ask), Reply((*_both_sides(cast("Card", found[1])), note)))
    return shown(moment.at(session)).after(Record((rows.UndoReview(last.review, ask.id),)), told)


def left_out(moment: Moment, card_id: str, *also: Block) -> Turn:
    """Go on without a card: with the next one where it was at hand."""
    under_way = moment.session.series
    if under_way is None or under_way.kind not in SERIES or card_id not in under_way.ahead:
        return moment.turn(*said(*also))
    ahead = tuple(each for each in under_way.ahead if each != card_id)
    at_hand = under_way.ahead[0] == card_id
    moment = moment.changed(series=replace(under_way, ahead=ahead))
    if not at_hand:
        return moment.turn(*said(*also))
    moment = moment.at(moment.session.unasked())
    return (shown(moment) if ahead else _finished(moment)).after(*said(*also))


def slot(ask: Ask) -> str:
    """Give the slot of a card's reply."""
    return f"card:{ask.id}"


def shown(moment: Moment) -> Turn:
    """Show the card at hand of the series under way."""
    under_way = moment.session.series
    found = asks.anywhere(moment.course, "card", under_way.ahead[0]) if under_way and under_way.ahead else None
    if under_way is None or found is None:
        return moment.turn(*said(Paragraph(moment.words.say("ask.gone"))))
    lesson, card = found[0], cast("Card", found[1])
    # Always a new ask: its id names the slot of the reply, and a slot is said once.
    moment, ask, stored = asks.anew(moment, "card", lesson, card, (presses.KNEW, presses.MISSED))
    moment = moment.changed(expects=Expects.NOTHING.value)
    step = moment.words.say("cards.step", done=under_way.done + 1, total=series.total(under_way))
    return moment.turn(
        *stored, *said(Heading(step), *paragraphs(card.front), *buttons(_flip(moment, ask)), slot=slot(ask))
    )


def _flip(moment: Moment, ask: Ask) -> Choice:
    return presses.answer(moment.words.text("button.flip"), ask.id, presses.FLIP)


def _flipped(moment: Moment, card: Card, ask: Ask, under_way: Series) -> tuple[Block, ...]:
    before = _memory(moment)
    easy = (presses.EASY,) if moment.session.quick else ()
    second = card.id in under_way.missed
    offered = (presses.KNEW, presses.MISSED) if second else (*easy, presses.KNEW, presses.HARD, presses.MISSED)

    def grade(option: str) -> Choice:
        given = _mapped(moment, card, under_way, _GRADES[option])
        after = _after(moment, memory.graded(before, given, card.rev, moment.now))
        name = moment.words.text(f"button.{option.removeprefix('_')}")
        return presses.answer(moment.words.text("grade.label", grade=name, after=after), ask.id, option)

    hold = Choice(moment.words.text("button.hold"), encode(Op.REVIEW, "hold", card.id))
    return (
        *_both_sides(card),
        *buttons(*(grade(option) for option in offered), columns=2),
        *buttons(hold, presses.report(moment, card.id), columns=2),
    )


def _mapped(moment: Moment, card: Card, under_way: Series, grade: Grade) -> Grade:
    """Give the grade that counts: known at the second try is Hard, and Easy needs a quick flip."""
    if grade is Grade.FORGOT or grade is Grade.HARD:
        return grade
    if card.id in under_way.missed:
        return Grade.HARD
    return Grade.KNEW if grade is Grade.EASY and not moment.session.quick else grade


def _graded(moment: Moment, card: Card, ask: Ask, answer: str) -> Turn:
    under_way = cast("Series", moment.session.series)
    grade = _mapped(moment, card, under_way, _GRADES[answer])
    knew = grade is not Grade.FORGOT
    review = moment.dice.identity()
    reviewed = rows.Reviewed(review, card.id, card.rev, grade, moment.now)
    after = memory.graded(_memory(moment), grade, card.rev, moment.now)
    stored = Record((CloseAsk(ask.id, answer, 1.0 if knew else 0.0, learned=reviewed),))
    key = "cards.knew" if knew else "cards.missed"
    undo = Choice(moment.words.text("button.undo"), encode(Op.REVIEW, "undo", ask.id))
    told = Paragraph(moment.words.say(key, after=_after(moment, after)))
    shown_again = Edit(slot(ask), Reply((*_both_sides(card), told, *buttons(undo))))
    ahead = series.advanced(under_way, credit=1.0) if knew else series.requeued(under_way)
    moment = moment.at(moment.session.unasked()).changed(series=ahead, graded=Graded(ask.id, review, under_way))
    following = shown(moment) if ahead.ahead else _finished(moment)
    return following.after(stored, shown_again)


def _memory(moment: Moment) -> Memory | None:
    return moment.known.card.memory if moment.known.card else None


def _after(moment: Moment, after: Memory) -> str:
    return moment.words.text("grade.after", n=after.days)


def _both_sides(card: Card) -> tuple[Block, ...]:
    front = tuple(Paragraph((Strong("".join(span.text for span in part.spans)),)) for part in paragraphs(card.front))
    return (*front, *paragraphs(card.back))


def _finished(moment: Moment) -> Turn:
    words = moment.words
    under_way = moment.session.series
    missed = len(under_way.missed) if under_way else 0
    done = under_way.done if under_way else 0
    review = under_way is not None and under_way.kind == "review"
    key = "review.done" if review else "cards.done"
    if missed:
        key = "cards.done_with_missed"
    again = Choice(words.text("button.cards_again"), encode(Op.CARDS, under_way.lesson)) if under_way else None
    quiz = Choice(words.text("button.quiz"), encode(Op.QUIZ, under_way.lesson)) if under_way else None
    choices = buttons(
        *((presses.command(moment, Command.REVIEW),) if review else (again, quiz)),
        presses.command(moment, Command.PROGRESS) if review else None,
        presses.command(moment, Command.MAP),
    )
    session = series.finished(moment.session, f"{under_way.lesson}.{DONE}.cards" if under_way and not review else "")
    return Turn(session, said(Paragraph(words.say(key, n=missed or done)), *choices))
