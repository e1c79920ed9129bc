"""A lesson read stop by stop: what each stop shows, and the buttons that lead on.

Law: showing a stop makes it the learner's place and counts it as visited; nothing else here changes a session.
"""

from typing import assert_never

from bot.engine import course_map, presses
from bot.engine.bubbles import buttons, numbered, paragraphs, said
from bot.engine.course_map import Part
from bot.engine.effects import Turn
from bot.engine.expects import Expects
from bot.engine.explorers import playing
from bot.engine.moment import Moment
from bot.engine.replies import Block, Bullets, Choice, CodeBlock, Heading, Link, Paragraph, Picture, Spans, Strong, Text
from bot.engine.session import Place
from bot.engine.wording import inline
from content import schema
from content.schema import Lesson, Section


def opened(moment: Moment, place: Place) -> Turn:
    """Show a place; the map where there is no such lesson, the nearest stop where the lesson has no such place."""
    lesson = moment.lesson(place.lesson)
    if lesson is None:
        return moment.turn(*said(Paragraph(moment.words.say("place.no_lesson"))), *course_map.course_map(moment))
    if not course_map.known_place(lesson, place):
        note = said(Paragraph(moment.words.say("place.gone")))
        return opened(moment, course_map.resume(moment, lesson)).after(*note)
    if place.part == Part.OUTLINE:
        return outline(moment, lesson)
    key = course_map.key(place)
    visited = moment.session.visited
    moment = moment.changed(
        place=place,
        visited=visited if key in visited else (*visited, key),
        expects=playing.waiting(lesson) if place.part == Part.EXPLORER else Expects.NOTHING.value,
    )
    return moment.turn(*said(*_stop(moment, lesson, place), *_ways_on(moment, lesson, place)))


def outline(moment: Moment, lesson: Lesson) -> Turn:
    """Show what a lesson holds: its stops, with what was visited, and where to begin or go on."""
    words = moment.words
    moment = moment.changed(
        place=moment.session.place
        if moment.session.place and moment.session.place.lesson == lesson.slug
        else Place(lesson.slug, Part.OUTLINE),
        expects=Expects.NOTHING.value,
    )
    stops = course_map.stops(lesson)
    items = tuple(_listed(moment, lesson, stop) for stop in stops)
    begun = any(course_map.key(stop) in moment.session.visited for stop in stops)
    go_on = Choice(
        words.text("button.go_on_reading" if begun else "button.begin_reading"),
        course_map.go(course_map.resume(moment, lesson)),
    )
    return moment.turn(
        *said(
            Heading(inline(lesson.title)),
            *paragraphs(lesson.summary),
            Paragraph(words.say("outline.minutes", n=lesson.minutes)),
            Bullets(items, numbered=True),
            Paragraph(words.say("outline.how")),
            *buttons(go_on, *presses.doors(moment, lesson), presses.go_on_with_series(moment)),
        )
    )


def jumped(moment: Moment, number: int) -> Turn:
    """Go to the stop with this number in the lesson at hand, or say which numbers there are."""
    lesson = moment.here()
    stops = course_map.stops(lesson) if lesson else ()
    if 1 <= number <= len(stops):
        return opened(moment, stops[number - 1])
    return moment.turn(*said(Paragraph(moment.words.say("place.no_number", number=number, last=len(stops)))))


def moved(moment: Moment, steps: int) -> Turn:
    """Go a number of stops on (or back, below zero) from where the learner is."""
    lesson = moment.here()
    if lesson is None:
        return moment.turn(*course_map.course_map(moment))
    stops = course_map.stops(lesson)
    place = moment.session.place
    if place not in stops:
        return opened(moment, course_map.resume(moment, lesson))
    there = stops.index(place) + steps
    if there < 0:
        return opened(moment, stops[0]).after(*said(Paragraph(moment.words.say("place.first"))))
    if there >= len(stops):
        return _after_the_last(moment, lesson)
    return opened(moment, stops[there])


def _after_the_last(moment: Moment, lesson: Lesson) -> Turn:
    lessons = moment.course.lessons
    following = lessons[lessons.index(lesson) + 1 :]
    if following:
        return outline(moment, following[0]).after(*said(Paragraph(moment.words.say("place.next_lesson"))))
    return opened(moment, course_map.stops(lesson)[-1]).after(*said(Paragraph(moment.words.say("place.last"))))


def _listed(moment: Moment, lesson: Lesson, stop: Place) -> Spans:
    mark = (Text(" ✓"),) if course_map.key(stop) in moment.session.visited else ()
    here = (Text(" "), *moment.words.say("outline.here")) if stop == moment.session.place else ()
    return (*course_map.title(moment, lesson, stop), *mark, *here)


def _stop(moment: Moment, lesson: Lesson, place: Place) -> tuple[Block, ...]:
    words = moment.words
    step = course_map.step_of(moment, lesson, place)
    head = Heading((*course_map.title(moment, lesson, place), Text(" — "), *step))
    match Part(place.part):
        case Part.NEEDS:
            return (
                Heading((*inline(lesson.title), Text(" — "), *step)),
                Paragraph(words.say("needs.intro")),
                _needs(lesson),
            )
        case Part.IDEA:
            return (head, *paragraphs(lesson.core_idea))
        case Part.WAYS:
            ways = lesson.two_ways
            analogy = (Paragraph((Strong(words.text("ways.analogy")),)), *paragraphs(ways.analogy))
            return (head, *analogy, Paragraph((Strong(words.text("ways.mechanism")),)), *paragraphs(ways.mechanism))
        case Part.SECTION:
            section = next(section for section in lesson.sections if section.id == place.section)
            return (head, *passage(moment, lesson, section))
        case Part.STEPS:
            return (head, *numbered(inline(step) for step in lesson.steps))
        case Part.WORKED:
            return (head, *_worked(moment, lesson))
        case Part.EXPLORER:
            return (head, *paragraphs(lesson.explorer.intro), *playing.invitation(moment, lesson))
        case Part.DOORS:
            return (head, Paragraph(words.say("doors.intro")))
        case Part.OUTLINE:
            return ()
        case never:
            assert_never(never)


def _needs(lesson: Lesson) -> Bullets:
    return Bullets(tuple(inline(need) for need in lesson.needs))


def passage(moment: Moment, lesson: Lesson, section: Section) -> tuple[Block, ...]:
    """Show a section's blocks, whole, and where its claims come from."""
    blocks = tuple(shown for block in section.blocks for shown in _block(moment, lesson, block))
    if not section.source:
        return blocks
    source = section.source
    address = source.startswith("https://")
    span: Link | Text = Link(source.removeprefix("https://"), source) if address else Text(source)
    return (*blocks, Paragraph(moment.words.say("section.source", source=span)))


def _block(moment: Moment, lesson: Lesson, block: schema.Block) -> tuple[Block, ...]:
    match block:
        case schema.TextBlock():
            return paragraphs(block.text)
        case schema.CodeBlock():
            return code_shown(moment, lesson, block.file, block.expect)
        case schema.PictureBlock():
            caption = inline(block.caption) if block.caption else ()
            return (Picture(f"{lesson.slug}/{block.file}", block.alt, caption),)
        case schema.ExampleBlock():
            return ()
        case never:
            assert_never(never)


def code_shown(moment: Moment, lesson: Lesson, file: str, expect: str | None = None) -> tuple[Block, ...]:
    """Show a code file of a lesson, and what it prints where the lesson says so."""
    code = CodeBlock(moment.text_of(lesson, file).rstrip("\n"), title=file)
    if expect is None:
        return (code,)
    printed = CodeBlock(moment.text_of(lesson, expect).rstrip("\n"), "text", moment.words.text("code.prints"))
    return (code, printed)


def _worked(moment: Moment, lesson: Lesson) -> tuple[Block, ...]:
    worked = lesson.worked
    steps = numbered(inline(step) for step in worked.steps)
    return (*paragraphs(worked.intro), *code_shown(moment, lesson, worked.file), *steps)


def _ways_on(moment: Moment, lesson: Lesson, place: Place) -> tuple[Block, ...]:
    stops = course_map.stops(lesson)
    at = stops.index(place)
    words = moment.words
    following = Choice(words.text("button.next"), course_map.go(stops[at + 1])) if at + 1 < len(stops) else None
    before = Choice(words.text("button.back"), course_map.go(stops[at - 1])) if at else None
    own = presses.doors(moment, lesson) if place.part == Part.DOORS else ()
    play = playing.settings(moment, lesson) if place.part == Part.EXPLORER else ()
    return (
        *buttons(*(presses.run_example(moment, lesson, example) for example in examples_at(lesson, place)), columns=2),
        *buttons(*own, columns=2),
        *play,
        *buttons(
            following,
            before,
            presses.outline(moment, lesson),
            presses.go_on_with_series(moment),
            columns=2,
        ),
    )


def examples_at(lesson: Lesson, place: Place) -> tuple[schema.Example, ...]:
    """Give the examples that a stop offers."""
    named: tuple[str, ...] = ()
    if place.part == Part.SECTION:
        section = next(section for section in lesson.sections if section.id == place.section)
        named = tuple(block.example for block in section.blocks if isinstance(block, schema.ExampleBlock))
    elif place.part == Part.WORKED:
        named = (lesson.worked.example,)
    return tuple(example for example in lesson.examples if example.id in named)
