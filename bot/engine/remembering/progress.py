"""What a learner knows, in words and as a picture; what to do next, and why.

Law: every chance and status comes from `mastery.seen`, every due card from `queue`: what is shown is what is acted on.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from bot.engine import course_map, presses
from bot.engine.bubbles import buttons, said
from bot.engine.commands import Command
from bot.engine.course_map import Part
from bot.engine.days import day_of
from bot.engine.effects import Turn
from bot.engine.moment import Moment
from bot.engine.remembering import choosing, mastery, streaks
from bot.engine.remembering.kept import Remembered
from bot.engine.remembering.mastery import Seen, Status
from bot.engine.remembering.queue import queue
from bot.engine.replies import Bar, Bars, Block, Choice, Heading, Number, Paragraph, Spans, Strong, Text
from bot.engine.session import Place
from bot.engine.wording import inline
from content.schema import Course, Lesson, Topic

_STREAK = 2
"""Days in a row from which they are mentioned."""
_ADVICE = 3
"""Things to do next that are named."""


@dataclass(frozen=True, slots=True)
class Known:
    """A topic of the course with what is seen of it, and the first place that teaches it."""

    topic: Topic
    seen: Seen
    place: Place


def known(course: Course, kept: Remembered) -> tuple[Known, ...]:
    """Give every topic of the course in the order in which it is taught."""
    items = items_of(course)
    found: dict[Topic, Known] = {}
    for lesson in course.lessons:
        for section in lesson.sections:
            if section.topic in found:
                continue
            hard = mastery.typical(kept.difficulties, items.get(section.topic, ()))
            seen = mastery.seen(kept.topics.get(section.topic), hard)
            found[section.topic] = Known(section.topic, seen, Place(lesson.slug, Part.SECTION, section.id))
    return tuple(found.values())


def items_of(course: Course) -> Mapping[Topic, tuple[str, ...]]:
    """Give the ids of the items of each topic."""
    found: dict[Topic, tuple[str, ...]] = {}
    for lesson in course.lessons:
        for item in lesson.check:
            found[item.topic] = (*found.get(item.topic, ()), item.id)
    return found


def shown(moment: Moment) -> Turn:
    """Show what is known, what was read, and what to do next."""
    kept = moment.known.remembered or Remembered()
    words = moment.words
    topics = known(moment.course, kept)
    if not topics:
        return moment.turn(*said(Paragraph(words.say("map.empty"))))
    mastered = sum(each.seen.status is Status.MASTERED for each in topics)
    summary = words.say("progress.summary", done=mastered, total=len(topics))
    title = Heading(words.say("progress.title"))
    drawn = _map(moment, topics, mastered)
    return moment.turn(*said(title, Paragraph(summary), *drawn), *said(*_next(moment, kept, topics)))


def _map(moment: Moment, topics: tuple[Known, ...], mastered: int) -> tuple[Block, ...]:
    """Draw the topics that were begun, and name the others."""
    words = moment.words
    begun = tuple(each for each in topics if each.seen.status is not Status.NEW)
    others = [words.say(f"topic.{each.topic}") for each in topics if each not in begun]
    listed: Spans = tuple(span for at, each in enumerate(others) for span in (*((Text("، "),) if at else ()), *each))
    named = (Paragraph(words.say("progress.not_begun", topics=listed)),) if others else ()
    if not begun:
        return (Paragraph(words.say("progress.nothing_yet")), *named)
    alt = words.text("progress.alt", done=mastered, total=len(topics))
    bars = Bars(tuple(_bar(moment, each) for each in begun), alt)
    return (bars, Paragraph(words.say("progress.rule")), *named)


def _bar(moment: Moment, each: Known) -> Bar:
    words = moment.words
    seen = each.seen
    says = words.text(f"mastery.{seen.status}")
    return Bar(words.text(f"topic.{each.topic}"), seen.chance, _percent(seen), seen.status.value, says)


def _percent(seen: Seen) -> str:
    """Show a chance in whole percent, rounded down: 80% is shown only from where mastery begins."""
    return f"{int(seen.chance * 100)}%"


def _next(moment: Moment, kept: Remembered, topics: tuple[Known, ...]) -> tuple[Block, ...]:
    words = moment.words
    advice = [*_review(moment, kept), *_weakest(moment, kept, topics), *_reading(moment)][:_ADVICE]
    lines = [Paragraph((Strong(f"{at}."), Text(" "), *why)) for at, (why, _) in enumerate(advice, 1)]
    none_yet = all(each.seen.status is Status.NEW for each in topics)
    placement = presses.command(moment, Command.PLACEMENT) if none_yet else None
    title: tuple[Block, ...] = (Heading(words.say("progress.next")),)
    done: tuple[Block, ...] = (Paragraph(words.say("progress.all_done")),)
    return (
        *_streak(moment, kept),
        *((*title, *lines) if lines else done),
        *buttons(*(choice for _, choice in advice), placement, presses.command(moment, Command.MAP)),
    )


def _streak(moment: Moment, kept: Remembered) -> tuple[Block, ...]:
    days = streaks.shown(kept.streak, day_of(moment.now, kept.zone), kept.off)
    return (Paragraph(moment.words.say("progress.streak", n=days)),) if days >= _STREAK else ()


def _review(moment: Moment, kept: Remembered) -> tuple[tuple[Spans, Choice], ...]:
    today = queue(moment.course, kept, moment.now).today
    if not today:
        return ()
    return ((moment.words.say("next.review", n=len(today)), presses.command(moment, Command.REVIEW)),)


def _weakest(moment: Moment, kept: Remembered, topics: tuple[Known, ...]) -> tuple[tuple[Spans, Choice], ...]:
    growing = [each for each in topics if each.seen.status is Status.GROWING]
    if not growing:
        return ()
    errors = choosing.by_topic(moment.course, kept.misconceptions)
    weak = min(growing, key=lambda each: (round(each.seen.chance, 2), -errors.get(each.topic, 0)))
    lesson = moment.lesson(weak.place.lesson)
    if lesson is None:
        return ()
    words = moment.words
    section = course_map.title(moment, lesson, weak.place)
    topic = words.say(f"topic.{weak.topic}")
    chance = Number(_percent(weak.seen))
    why = words.say("next.weakest", topic=topic, chance=chance, section=section, lesson=inline(lesson.title))
    return ((why, presses.to_place(moment, lesson, weak.place)),)


def _reading(moment: Moment) -> tuple[tuple[Spans, Choice], ...]:
    here = moment.here()
    others = (lesson for lesson in moment.course.lessons if lesson is not here)
    lesson = next((each for each in (here, *others) if each and not _read(moment, each)), None)
    if lesson is None:
        return ()
    words = moment.words
    place = course_map.resume(moment, lesson)
    begun = course_map.key(place) in moment.session.visited or place != course_map.stops(lesson)[0]
    why = words.say("next.go_on" if begun else "next.lesson", lesson=inline(lesson.title))
    choice = Choice(words.text("button.go_on_reading" if begun else "button.begin_reading"), course_map.go(place))
    return ((why, choice),)


def _read(moment: Moment, lesson: Lesson) -> bool:
    return all(course_map.key(stop) in moment.session.visited for stop in course_map.stops(lesson))
