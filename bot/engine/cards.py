"""Flashcards: the front, a flip, a grade by the learner; a card not known comes again at the end of the row."""

from typing import cast

from bot.engine import asks, presses, series
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.course_map import DONE
from bot.engine.effects import Ask, CloseAsk, Edit, Record, Turn
from bot.engine.expects import Expects
from bot.engine.moment import Moment
from bot.engine.replies import Block, Choice, Heading, Paragraph, Reply, Strong
from bot.engine.wording import inline
from content.schema import Card, Lesson


def begun(moment: Moment, lesson: Lesson) -> Turn:
    """Begin the lesson's cards, or go on with them."""
    session, before = series.taken_up(moment.session, "cards", lesson.slug, [card.id for card in lesson.cards])
    moment = moment.at(session)
    key = "cards.go_on" if before else "cards.intro"
    intro = Paragraph(moment.words.say(key, lesson=inline(lesson.title), n=len(lesson.cards)))
    return _shown(moment, lesson).after(*said(intro))


def answered(moment: Moment, ask: Ask, answer: str) -> Turn:
    """Flip a card, or take the learner's own grade."""
    lesson = moment.lesson(ask.lesson)
    under_way = moment.session.series
    if lesson is None or under_way is None or under_way.kind != "cards" or under_way.ahead[:1] != (ask.item,):
        return asks.refused(moment, "ask.gone")
    card = cast("Card", asks.find(lesson, "card", ask.item))
    if answer == presses.FLIP:
        return moment.turn(Edit(_slot(ask), Reply(_flipped(moment, card, ask))))
    if answer not in {presses.KNEW, presses.MISSED}:
        return asks.refused(moment, "ask.unknown")
    knew = answer == presses.KNEW
    after = series.advanced(under_way, credit=1.0) if knew else series.requeued(under_way)
    moment = moment.at(moment.session.unasked()).changed(series=after)
    stored = Record((CloseAsk(ask.id, answer, 1.0 if knew else 0.0),))
    shown = Edit(_slot(ask), Reply(_graded(moment, card, knew=knew)))
    following = _shown(moment, lesson) if after.ahead else _finished(moment, lesson)
    return following.after(stored, shown)


def _slot(ask: Ask) -> str:
    return f"card:{ask.id}"


def _shown(moment: Moment, lesson: Lesson) -> Turn:
    under_way = moment.session.series
    card = asks.find(lesson, "cards", under_way.ahead[0]) if under_way and under_way.ahead else None
    if under_way is None or card is None:
        return moment.turn(*said(Paragraph(moment.words.say("ask.gone"))))
    card = cast("Card", card)
    # Always a new ask: its id names the slot of the reply, and a slot is said once.
    moment, ask, stored = asks.anew(moment, "card", lesson, card, (presses.KNEW, presses.MISSED))
    moment = moment.changed(expects=Expects.NOTHING.value)
    step = moment.words.say("cards.step", done=under_way.done + 1, total=series.total(under_way))
    flip = presses.answer(moment.words.text("button.flip"), ask.id, presses.FLIP)
    return moment.turn(*stored, *said(Heading(step), *paragraphs(card.front), *buttons(flip), slot=_slot(ask)))


def _flipped(moment: Moment, card: Card, ask: Ask) -> tuple[Block, ...]:
    words = moment.words
    knew = presses.answer(words.text("button.knew"), ask.id, presses.KNEW)
    missed = presses.answer(words.text("button.missed"), ask.id, presses.MISSED)
    return (*_both_sides(card), *buttons(knew, missed, columns=2))


def _both_sides(card: Card) -> tuple[Block, ...]:
    front = tuple(Paragraph((Strong("".join(span.text for span in part.spans)),)) for part in paragraphs(card.front))
    return (*front, *paragraphs(card.back))


def _graded(moment: Moment, card: Card, *, knew: bool) -> tuple[Block, ...]:
    return (*_both_sides(card), Paragraph(moment.words.say("cards.knew" if knew else "cards.missed")))


def _finished(moment: Moment, lesson: Lesson) -> Turn:
    words = moment.words
    under_way = moment.session.series
    missed = len(under_way.missed) if under_way else 0
    key = "cards.done_with_missed" if missed else "cards.done"
    choices = buttons(
        Choice(words.text("button.cards_again"), encode(Op.CARDS, lesson.slug)),
        Choice(words.text("button.quiz"), encode(Op.QUIZ, lesson.slug)),
        presses.command(moment, Command.MAP),
    )
    done = under_way.done if under_way else 0
    session = series.finished(moment.session, f"{lesson.slug}.{DONE}.cards")
    return Turn(session, said(Paragraph(words.say(key, n=missed or done)), *choices))
