"""A session brought into a course that was reloaded: what vanished gives way to what is nearest, with a sentence.

Law: a session is touched only when the course's hash changed, and loses nothing that the new course still has.
"""

from dataclasses import replace

from bot.engine import asks, course_map
from bot.engine.bubbles import said
from bot.engine.course_map import Part
from bot.engine.effects import Effect
from bot.engine.expects import Expects
from bot.engine.moment import Moment
from bot.engine.replies import Paragraph
from bot.engine.session import Place, Series
from content.schema import Lesson


def settled(moment: Moment) -> tuple[Moment, tuple[Effect, ...]]:
    """Give the moment with a session that fits the course, and what is to be said of it."""
    session = moment.session
    if session.course_hash == moment.course.hash:
        return moment, ()
    if not session.course_hash:
        return moment.changed(course_hash=moment.course.hash), ()
    place = _place(moment, session.place)
    series = _series(moment, session.series)
    aside = tuple(kept for each in session.aside if (kept := _series(moment, each)) is not None)
    waits = session.expects if session.expects != Expects.ANSWER else Expects.NOTHING.value
    settled_moment = moment.at(session.unasked()).changed(
        course_hash=moment.course.hash,
        place=place,
        series=series,
        aside=aside,
        expects=waits,
        graded=None,
    )
    notes: list[Effect] = []
    if session.place and place != session.place:
        notes += said(Paragraph(moment.words.say("settled.moved" if place else "settled.lesson_gone")))
    if session.series and session.series.ahead and (series is None or series.ahead != session.series.ahead):
        notes += said(Paragraph(moment.words.say("settled.series")))
    return settled_moment, tuple(notes)


def _place(moment: Moment, place: Place | None) -> Place | None:
    if place is None:
        return None
    lesson = moment.lesson(place.lesson) or moment.lesson(_heir(moment, place.lesson))
    if lesson is None:
        return None
    there = replace(place, lesson=lesson.slug)
    if course_map.known_place(lesson, there):
        return there
    heir = replace(there, section=_heir(moment, place.section))
    return heir if course_map.known_place(lesson, heir) else _nearest(moment, lesson)


def _nearest(moment: Moment, lesson: Lesson) -> Place:
    """Give the section read last that is still there, else the first: visits are stored in the order of reading."""
    sections = [Place(lesson.slug, Part.SECTION, section.id) for section in lesson.sections]
    read = [place for key in reversed(moment.session.visited) for place in sections if course_map.key(place) == key]
    return (read or sections)[0]


def _series(moment: Moment, series: Series | None) -> Series | None:
    if series is None:
        return None
    lesson = moment.lesson(series.lesson)
    if series.lesson == "":  # reviews and the placement go through all lessons
        kind = "card" if series.kind == "review" else "item"
        ahead = tuple(each for each in series.ahead if asks.anywhere(moment.course, kind, each))
        return replace(series, ahead=ahead) if ahead else None
    if lesson is None:
        return None
    ahead = tuple(each for each in series.ahead if asks.find(lesson, series.kind, each))
    return replace(series, ahead=ahead) if ahead else None


def _heir(moment: Moment, gone: str) -> str:
    return next((each.to or "" for each in moment.course.retired if each.id == gone), "")
