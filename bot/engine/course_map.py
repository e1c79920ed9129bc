"""The stops of a lesson in the order of reading, and the course map with what was visited.

Law: a stop's key (`<lesson>.<part>` or `<lesson>.section.<id>`) is stored in sessions and never reworded; a button's
payload holds the stop itself, so that an old button still leads there.
"""

from enum import StrEnum

from bot.engine.bubbles import buttons, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.effects import Say
from bot.engine.moment import Moment
from bot.engine.replies import Bullets, Choice, Heading, Paragraph, Spans, Text
from bot.engine.session import Place
from bot.engine.wording import inline
from content.schema import Lesson


class Part(StrEnum):
    """The parts of a lesson; `OUTLINE` shows them all and is no stop itself."""

    OUTLINE = "outline"
    NEEDS = "needs"
    IDEA = "idea"
    WAYS = "ways"
    SECTION = "section"
    STEPS = "steps"
    WORKED = "worked"
    EXPLORER = "explorer"
    DOORS = "doors"


_BEFORE = (Part.NEEDS, Part.IDEA, Part.WAYS)
_AFTER = (Part.STEPS, Part.WORKED, Part.EXPLORER, Part.DOORS)
_SHORT = {Part.SECTION: "s", Part.EXPLORER: "play"}
"""Names in payloads, where a long lesson slug and a long section id leave no room."""

DONE = "done"
"""Ends the key of a series that was finished: `<lesson>.done.check`."""


def stops(lesson: Lesson) -> tuple[Place, ...]:
    """Give every stop of a lesson in order."""
    before = tuple(Place(lesson.slug, part) for part in _BEFORE)
    sections = tuple(Place(lesson.slug, Part.SECTION, section.id) for section in lesson.sections)
    return (*before, *sections, *(Place(lesson.slug, part) for part in _AFTER))


def key(place: Place) -> str:
    """Give the key under which a visit is stored."""
    return ".".join(part for part in (place.lesson, place.part, place.section) if part)


def go(place: Place) -> str:
    """Give the payload that leads to a place."""
    part = Part(place.part)
    return encode(Op.GO, f"{place.lesson}.{_SHORT.get(part, part.value)}", place.section)


def place_of(ref: str, option: str) -> Place | None:
    """Read where a GO payload leads; None when it is not in the grammar."""
    lesson, _, short = ref.partition(".")
    part = next((part for part in Part if _SHORT.get(part, part.value) == short), None)
    return Place(lesson, part, option if part is Part.SECTION else "") if lesson and part else None


def known_place(lesson: Lesson, place: Place) -> bool:
    """Tell whether a lesson has this place."""
    return place.part == Part.OUTLINE or place in stops(lesson)


def title(moment: Moment, lesson: Lesson, place: Place) -> Spans:
    """Give the title of a stop."""
    if place.part == Part.SECTION:
        section = next((section for section in lesson.sections if section.id == place.section), None)
        return inline(section.title) if section else inline(lesson.title)
    return moment.words.say(f"part.{place.part}")


def label(moment: Moment, lesson: Lesson, place: Place) -> str:
    """Give the title of a stop as a button's label."""
    return "".join(span.text for span in title(moment, lesson, place))


def progress(moment: Moment, lesson: Lesson) -> Spans:
    """Word how much of a lesson was visited, as `4 من 12`."""
    listed = stops(lesson)
    visited = sum(key(stop) in moment.session.visited for stop in listed)
    return moment.words.say("progress.of", done=visited, total=len(listed))


def step_of(moment: Moment, lesson: Lesson, place: Place) -> Spans:
    """Word where a stop stands in its lesson, as `4 من 12`; empty for what is no stop."""
    listed = stops(lesson)
    if place not in listed:
        return ()
    return moment.words.say("progress.of", done=listed.index(place) + 1, total=len(listed))


def resume(moment: Moment, lesson: Lesson) -> Place:
    """Give the stop at which reading goes on: where the learner is, else the first that was not visited."""
    place = moment.session.place
    listed = stops(lesson)
    if place and place in listed:
        return place
    return next((stop for stop in listed if key(stop) not in moment.session.visited), listed[0])


def course_map(moment: Moment) -> tuple[Say, ...]:
    """Say every lesson with what was visited of it."""
    words = moment.words
    if not moment.course.lessons:
        return said(Paragraph(words.say("map.empty")))
    items = tuple(
        (*inline(lesson.title), Text(" — "), *progress(moment, lesson), *_finished(moment, lesson))
        for lesson in moment.course.lessons
    )
    choices = tuple(
        Choice("".join(span.text for span in inline(lesson.title)), go(Place(lesson.slug, Part.OUTLINE)))
        for lesson in moment.course.lessons
    )
    return said(
        Heading(words.say("map.title")),
        Bullets(items, numbered=True),
        Paragraph(words.say("map.how")),
        *buttons(*choices),
        *buttons(*(_command(moment, each) for each in (Command.REVIEW, Command.PROGRESS)), columns=2),
    )


def _command(moment: Moment, what: Command) -> Choice:
    return Choice(moment.words.text(f"button.{what}"), encode(Op.COMMAND, what.value))


def _finished(moment: Moment, lesson: Lesson) -> Spans:
    done = f"{lesson.slug}.{DONE}.check" in moment.session.visited
    return (Text(" "), *moment.words.say("map.checked")) if done else ()
