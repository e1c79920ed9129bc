"""Myth or fact: a vote, then the experiment on the runner at hand, then the measured verdict beside the votes.

Law: a learner's first vote on a card counts, once; the card can be played again without another.
"""

from typing import cast

from bot.engine import asks, presses, runs, series, verdicts
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.course_map import DONE
from bot.engine.effects import Ask, CloseAsk, Effect, Record, Turn
from bot.engine.expects import Expects
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.remembering import choosing
from bot.engine.replies import Block, Heading, Paragraph
from bot.engine.tries import CastVote
from bot.engine.wording import inline
from content.schema import Lesson, Myth

AGAIN, ONWARD = "_again", "_onward"
"""Options of a card that was voted on before: to run the experiment again, or to go on without."""


def begun(moment: Moment, lesson: Lesson) -> Turn:
    """Show the lesson's first myth card, or the one at which the learner is."""
    counts = moment.known.remembered.misconceptions if moment.known.remembered else {}
    ids = choosing.myths(moment.course, lesson, counts)
    session, before = series.taken_up(moment.session, "myths", lesson.slug, ids)
    moment = moment.at(session)
    under_way = session.series
    myth = asks.find(lesson, "myths", under_way.ahead[0]) if under_way and under_way.ahead else None
    if under_way is None or myth is None:
        return asks.refused(moment, "ask.gone")
    myth = cast("Myth", myth)
    voted = verdicts.vote_of(moment, myth)
    moment, ask, stored = asks.opened(moment, "myth", lesson, myth, (AGAIN, ONWARD) if voted else verdicts.VOTES)
    moment = moment.changed(expects=Expects.NOTHING.value)
    words = moment.words
    step = words.say("myth.step", done=under_way.done + 1, total=series.total(under_way))
    intro = () if before else (Paragraph(words.say("myth.intro", lesson=inline(lesson.title))),)
    label = {AGAIN: "button.myth_again", ONWARD: "button.myth_onward"}
    votes = tuple(presses.answer(words.text(label.get(vote, f"vote.{vote}")), ask.id, vote) for vote in ask.options)
    stands = (Paragraph(words.say("myth.voted_before", vote=words.text(f"vote.{voted}"))),) if voted else ()
    return moment.turn(
        *stored, *said(*intro, Heading(step), *paragraphs(myth.claim), *stands, *buttons(*votes, columns=3))
    )


def answered(moment: Moment, ask: Ask, vote: str) -> Turn:
    """Take the vote, and let the experiment decide."""
    lesson = moment.lesson(ask.lesson)
    under_way = moment.session.series
    if lesson is None or under_way is None or under_way.kind != "myths" or under_way.ahead[:1] != (ask.item,):
        return asks.refused(moment, "ask.gone")
    if vote not in ask.options:
        return asks.refused(moment, "ask.unknown")
    myth = cast("Myth", asks.find(lesson, "myth", ask.item))
    voted = verdicts.vote_of(moment, myth)
    stands = voted or (vote if vote in verdicts.VOTES else "")
    right = stands == myth.truth
    after = series.advanced(under_way, credit=1.0 if right else 0.0)
    moment = moment.changed(series=after)
    if not after.ahead:
        key = f"{lesson.slug}.{DONE}.myths"
        moment = moment.at(series.finished(moment.session, key)).changed(asked=ask.id)
    closing = CloseAsk(ask.id, vote, 1.0 if right else 0.0)
    stored: Effect = Record((closing,) if voted or not stands else (closing, CastVote(myth.id, myth.rev, stands)))
    if vote == ONWARD:
        return _onward(moment, lesson, myth, stands).after(stored)
    return _experiment(moment, lesson, myth, stands).after(stored, *said(*_noted(moment, voted, stands)))


def _noted(moment: Moment, voted: str, stands: str) -> tuple[Block, ...]:
    key = "myth.vote_stands" if voted else "myth.voted"
    return (Paragraph(moment.words.say(key, vote=moment.words.text(f"vote.{stands}"))),) if stands else ()


def _onward(moment: Moment, lesson: Lesson, myth: Myth, vote: str) -> Turn:
    """Give the explanation without the experiment, and the way on."""
    onward = presses.after_myth(moment, lesson)
    return moment.turn(*said(*verdicts.told(moment, myth, vote), *buttons(onward, presses.outline(moment, lesson))))


def _experiment(moment: Moment, lesson: Lesson, myth: Myth, vote: str) -> Turn:
    example = next((example for example in lesson.examples if example.id == myth.experiment), None)
    explained = _onward(moment, lesson, myth, vote).effects
    if example is None:
        return moment.turn(*explained)
    asked = runs.of_example(moment, lesson.slug, example, Purpose(Why.MYTH, myth.id, vote), each=True)
    turn = runs.started(moment, asked, presses.run_example(moment, lesson, example))
    if len(turn.session.running) > len(moment.session.running):
        return turn
    # Without a runner the card is not left unexplained: the lesson's own verdict is given, named as such.
    seen = verdicts.elsewhere(moment, myth, ())
    return turn.then(*(said(*seen) if seen else ()), *explained)
