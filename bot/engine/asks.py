"""Asked items as stored rows: opened once, answered once, and old buttons refused kindly.

Law: an answer counts only for the ask that is open now, in the course and revision in which it was asked; a refusal
changes nothing.
"""

from typing import Literal

from bot.engine import presses
from bot.engine.bubbles import buttons, said
from bot.engine.commands import Command
from bot.engine.effects import Ask, Effect, OpenAsk, Record, Turn
from bot.engine.moment import Moment
from bot.engine.replies import Paragraph
from content.schema import Card, Course, Item, Lesson, Myth


def find(lesson: Lesson, kind: str, item_id: str) -> Item | Card | Myth | None:
    """Give the item of a lesson that an ask or series names; None when it is gone."""
    listed: tuple[Item | Card | Myth, ...] = {
        "item": lesson.check,
        "check": lesson.check,
        "card": lesson.cards,
        "cards": lesson.cards,
        "myth": lesson.myths,
        "myths": lesson.myths,
    }.get(kind, ())
    return next((item for item in listed if item.id == item_id), None)


def anywhere(course: Course, kind: str, item_id: str) -> tuple[Lesson, Item | Card | Myth] | None:
    """Give an item of the course by its kind and id, with its lesson; ids are unique in the course."""
    found = ((lesson, find(lesson, kind, item_id)) for lesson in course.lessons)
    return next(((lesson, item) for lesson, item in found if item), None)


def opened(
    moment: Moment,
    kind: Literal["item", "card", "myth"],
    lesson: Lesson,
    item: Item | Card | Myth,
    options: tuple[str, ...],
) -> tuple[Moment, Ask, tuple[Effect, ...]]:
    """Give the ask of an item: the one that is still open for it, else a new one with its row to be stored."""
    ask = moment.known.ask
    if ask and not fault(moment, ask) and (ask.kind, ask.lesson, ask.item) == (kind, lesson.slug, item.id):
        return moment, ask, ()
    return anew(moment, kind, lesson, item, options)


def anew(
    moment: Moment,
    kind: Literal["item", "card", "myth"],
    lesson: Lesson,
    item: Item | Card | Myth,
    options: tuple[str, ...],
) -> tuple[Moment, Ask, tuple[Effect, ...]]:
    """Give a new ask of an item, with its row to be stored; it becomes the one that is open."""
    ask = Ask(moment.dice.identity(), kind, lesson.slug, item.id, item.rev, options, moment.course.hash)
    return moment.at(moment.session.unasked()).changed(asked=ask.id), ask, (Record((OpenAsk(ask),)),)


def fault(moment: Moment, ask: Ask | None) -> str:
    """Give the phrase that says why an ask takes no answer now; empty when it does."""
    if ask is None:
        return "ask.unknown"
    if ask.closed:
        return "ask.answered"
    if ask.course_hash != moment.course.hash:
        return "ask.course_changed"
    lesson = moment.lesson(ask.lesson)
    item = find(lesson, ask.kind, ask.item) if lesson else None
    if item is None or item.rev != ask.rev:
        return "ask.gone"
    return "" if ask.id == moment.session.asked else "ask.not_current"


def refused(moment: Moment, key: str) -> Turn:
    """Refuse an old button, with the way to what is under way now."""
    go_on = presses.go_on_with_series(moment) or presses.command(moment, Command.MAP)
    return moment.turn(*said(Paragraph(moment.words.say(key)), *buttons(go_on)))
