"""Myth or fact: a vote, then the experiment on the runner at hand, then the measured verdict beside the votes."""

from typing import cast

from bot.engine import asks, presses, runs, series, verdicts
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.course_map import DONE
from bot.engine.effects import Ask, CloseAsk, Effect, Record, Turn
from bot.engine.expects import Expects
from bot.engine.moment import Moment
from bot.engine.purposes import Purpose, Why
from bot.engine.replies import Heading, Paragraph
from bot.engine.wording import inline
from content.schema import Lesson, Myth


def begun(moment: Moment, lesson: Lesson) -> Turn:
    """Show the lesson's first myth card, or the one at which the learner is."""
    session, before = series.taken_up(moment.session, "myths", lesson.slug, [myth.id for myth in lesson.myths])
    moment = moment.at(session)
    under_way = session.series
    myth = asks.find(lesson, "myths", under_way.ahead[0]) if under_way and under_way.ahead else None
    if under_way is None or myth is None:
        return asks.refused(moment, "ask.gone")
    myth = cast("Myth", myth)
    moment, ask, stored = asks.opened(moment, "myth", lesson, myth, verdicts.VOTES)
    moment = moment.changed(expects=Expects.NOTHING.value)
    words = moment.words
    step = words.say("myth.step", done=under_way.done + 1, total=series.total(under_way))
    votes = tuple(presses.answer(words.text(f"vote.{vote}"), ask.id, vote) for vote in ask.options)
    intro = () if before else (Paragraph(words.say("myth.intro", lesson=inline(lesson.title))),)
    return moment.turn(*stored, *said(*intro, Heading(step), *paragraphs(myth.claim), *buttons(*votes, columns=3)))


def answered(moment: Moment, ask: Ask, vote: str) -> Turn:
    """Take the vote, and let the experiment decide."""
    lesson = moment.lesson(ask.lesson)
    under_way = moment.session.series
    if lesson is None or under_way is None or under_way.kind != "myths" or under_way.ahead[:1] != (ask.item,):
        return asks.refused(moment, "ask.gone")
    if vote not in verdicts.VOTES:
        return asks.refused(moment, "ask.unknown")
    myth = cast("Myth", asks.find(lesson, "myth", ask.item))
    right = vote == myth.truth
    after = series.advanced(under_way, credit=1.0 if right else 0.0)
    moment = moment.changed(series=after)
    if not after.ahead:
        key = f"{lesson.slug}.{DONE}.myths"
        moment = moment.at(series.finished(moment.session, key)).changed(asked=ask.id)
    stored: Effect = Record((CloseAsk(ask.id, vote, 1.0 if right else 0.0),))
    noted = Paragraph(moment.words.say("myth.voted", vote=moment.words.text(f"vote.{vote}")))
    return _experiment(moment, lesson, myth, vote).after(stored, *said(noted))


def _experiment(moment: Moment, lesson: Lesson, myth: Myth, vote: str) -> Turn:
    example = next((example for example in lesson.examples if example.id == myth.experiment), None)
    onward = presses.after_myth(moment, lesson)
    explained = said(*verdicts.told(moment, myth, vote), *buttons(onward, presses.outline(moment, lesson)))
    if example is None:
        return moment.turn(*explained)
    asked = runs.of_example(moment, lesson.slug, example, Purpose(Why.MYTH, myth.id, vote))
    turn = runs.started(moment, asked, presses.run_example(moment, lesson, example))
    # Without a runner the card is not left unexplained: the lesson's own verdict is given, named as such.
    return turn if len(turn.session.running) > len(moment.session.running) else turn.then(*explained)
