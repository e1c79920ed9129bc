"""The digest: once a day what is due and what is next, until it is answered or unwanted.

Law: who comes back is no longer counted as silent, whatever they say; a digest that does not fit now changes only when
the next one falls due.
"""

from bot.engine import course_map, days, presses, settling
from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.effects import Effect, Record, Turn
from bot.engine.moment import Moment
from bot.engine.remembering.queue import queue
from bot.engine.reminders import schedule
from bot.engine.reminders.wishes import MOST_UNANSWERED, KeepWishes, Wishes
from bot.engine.replies import Block, Choice, Paragraph
from bot.engine.wording import inline

OFF = "off."
"""The button that turns reminders off; behind the point would stand the slot of a panel."""


def fell_due(moment: Moment) -> Turn:
    """Send the digest, or say when it falls due instead."""
    wishes = moment.known.wishes
    if wishes is None:
        return moment.turn()
    if not schedule.fits(wishes, moment.now):
        return moment.turn(kept(moment, wishes, wishes.last_day))
    told = wishes.with_(last_day=days.day_of(moment.now, wishes.zone).isoformat())
    blocks = _blocks(moment)
    if not blocks:
        return moment.turn(kept(moment, told, wishes.last_day))
    told = told.with_(unanswered=wishes.unanswered + 1)
    words = moment.words
    last = (Paragraph(words.say("digest.last")),) if told.unanswered >= MOST_UNANSWERED else ()
    off = Choice(words.text("button.remind_off"), encode(Op.REMIND, OFF))
    *rest, choices = blocks
    with_off = buttons(*choices.choices, off) if choices.kind == "choices" else buttons(off)
    reminded = moment.changed(reminded=told.unanswered)
    return reminded.turn(kept(moment, told, wishes.last_day), *said(*rest, *last, *with_off))


def blocked(moment: Moment) -> Turn:
    """Remind no more of a learner whom nothing reaches, until they return."""
    wishes = moment.known.wishes
    if wishes is None:
        return moment.turn()
    silent = wishes.with_(unanswered=MOST_UNANSWERED)
    return moment.changed(reminded=MOST_UNANSWERED).turn(kept(moment, silent, wishes.last_day))


def returned(moment: Moment) -> tuple[Moment, tuple[Effect, ...]]:
    """Count a learner who says anything as there again."""
    if not moment.session.reminded:
        return moment, ()
    wishes = moment.known.wishes
    moment = moment.changed(reminded=0)
    if wishes is None:
        return moment, ()
    back = wishes.with_(unanswered=0)
    effect = kept(moment, back, wishes.last_day)
    return moment.knowing(wishes=back), (effect,)


def kept(moment: Moment, wishes: Wishes, known_day: str) -> Record:
    """Give the row that keeps the wishes, with the next digest worked out anew."""
    return Record((KeepWishes(wishes.with_(next_at=schedule.next_at(wishes, moment.now)), known_day),))


def _blocks(moment: Moment) -> tuple[Block, ...]:
    """Say what is due and what is next, and give its buttons last; nothing where there is neither."""
    moment, _ = settling.settled(moment)
    words = moment.words
    remembered = moment.known.remembered
    waiting = len(queue(moment.course, remembered, moment.now).today) if remembered else 0
    cards = (Paragraph(words.say("digest.cards", n=waiting)),) if waiting else ()
    review = Choice(words.text("button.review"), encode(Op.REVIEW)) if waiting else None
    next_up, choice = _next(moment)
    if not cards and not next_up:
        return ()
    return (Paragraph(words.say("digest.hello")), *cards, *next_up, *buttons(review, choice))


def _next(moment: Moment) -> tuple[tuple[Block, ...], Choice | None]:
    """Name the series left in the middle, else the first stop that was not read, of the lesson at hand first."""
    words = moment.words
    series = moment.session.series
    go_on = presses.go_on_with_series(moment)
    if series is not None and go_on is not None:
        named = words.say("digest.series", series=words.say(f"series.{series.kind}"), n=len(series.ahead))
        return (Paragraph(named),), go_on
    here = moment.here()
    lessons = (here, *(lesson for lesson in moment.course.lessons if lesson is not here)) if here else ()
    for lesson in lessons:
        for stop in course_map.stops(lesson):
            if course_map.key(stop) not in moment.session.visited:
                title = course_map.title(moment, lesson, stop)
                named = words.say("digest.lesson", lesson=inline(lesson.title), stop=title)
                return (Paragraph(named),), Choice(words.text("button.go_on_reading"), course_map.go(stop))
    return (), None
