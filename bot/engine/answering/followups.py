"""What carries on from an answer: why, an example, more of it, more simply, and running it.

Law: it is read from the section that was told last, else from the run that ended last, else from the section where the
learner is; where there is none of them this is no follow-up, and another reading is tried.
"""

from typing import assert_never

from bot.engine import obeying, presses, reading
from bot.engine.answering import lastrun, replying
from bot.engine.answering.carrying import Followup
from bot.engine.answering.ofruns import Aspect
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.commands import Command
from bot.engine.course_map import Part, go
from bot.engine.effects import Turn
from bot.engine.moment import Moment
from bot.engine.replies import Choice, Heading, Paragraph
from bot.engine.session import Place
from bot.engine.wording import inline
from content.schema import Example, Lesson, Section


def carried_on(moment: Moment, kind: Followup) -> Turn | None:
    """Carry on from the last answer; None when there is nothing to carry on from."""
    if moment.session.ran and moment.session.told is None and kind in {"why", "more", "simple"}:
        of_run = lastrun.carried_on(moment, Aspect.SLOW if kind == "why" else Aspect.WHOLE)
        if of_run:
            return of_run
    place = moment.session.told or moment.session.place
    at = _section(moment, place) if place else None
    if place is None or at is None or (moment.session.told is None and kind in {"example", "run"}):
        return None  # "example" and "run" are commands of their own where nothing was told
    lesson, section = at
    if replying.gives_away(moment, section):
        return replying.withheld(moment)
    moment = moment.changed(told=place)
    match kind:
        case "why":
            return _both_ways(moment, lesson, place, "followup.why", lesson.two_ways.mechanism)
        case "simple":
            return _both_ways(moment, lesson, place, "followup.simple", lesson.two_ways.analogy)
        case "more":
            return _more(moment, lesson, section)
        case "example" | "run":
            return _example(moment, lesson, place, run=kind == "run")
        case never:
            assert_never(never)


def of_what(moment: Moment) -> Turn:
    """Ask what is to be explained, where there is nothing to carry on from."""
    words, place = moment.words, moment.session.place
    ways = Choice(words.text("button.both_ways"), go(Place(place.lesson, Part.WAYS))) if place else None
    return moment.turn(
        *said(
            Paragraph(words.say("followup.of_what")),
            *replying.still_open(moment),
            *buttons(
                replying.hint(moment),
                presses.go_on_with_series(moment),
                None if moment.session.asked else ways,
                presses.command(moment, Command.MAP),
                columns=2,
            ),
        )
    )


def _both_ways(moment: Moment, lesson: Lesson, place: Place, key: str, text: str) -> Turn:
    words = moment.words
    source = words.say("answer.source_lesson", lesson=inline(lesson.title))
    ways = Choice(words.text("button.both_ways"), go(Place(lesson.slug, Part.WAYS)))
    return moment.turn(
        *said(
            Heading(words.say(key)),
            *paragraphs(text),
            Paragraph(source),
            *replying.still_open(moment),
            *buttons(ways, Choice(words.text("button.open_section"), go(place)), presses.go_on_with_series(moment)),
        )
    )


def _more(moment: Moment, lesson: Lesson, section: Section) -> Turn:
    """Show the next section of the topic, else the next of the lesson; at the end the lesson's list."""
    later = lesson.sections[lesson.sections.index(section) + 1 :]
    same = [each for each in later if each.topic is section.topic]
    following = next((each for each in (*same, *later) if not replying.gives_away(moment, each)), None)
    if following is None:
        note = said(Paragraph(moment.words.say("followup.no_more")), *buttons(presses.outline(moment, lesson)))
        return moment.turn(*note)
    return replying.passage(moment, Place(lesson.slug, Part.SECTION, following.id))


def _example(moment: Moment, lesson: Lesson, place: Place, *, run: bool) -> Turn:
    words = moment.words
    examples = reading.examples_at(lesson, place)
    if not examples:
        worked = next((each for each in lesson.examples if each.id == lesson.worked.example), None)
        button = presses.run_example(moment, lesson, worked) if worked else None
        return moment.turn(*said(Paragraph(words.say("followup.no_example")), *buttons(button)))
    if run:
        return obeying.example_run(moment, lesson, examples[0])
    return _shown(moment, lesson, examples[0])


def _shown(moment: Moment, lesson: Lesson, example: Example) -> Turn:
    expect = example.expected.file if example.expected and not example.expected.varies else None
    return moment.turn(
        *said(
            Heading(inline(example.title)),
            *reading.code_shown(moment, lesson, example.file, expect),
            *replying.still_open(moment),
            *buttons(presses.run_example(moment, lesson, example), presses.go_on_with_series(moment)),
        )
    )


def _section(moment: Moment, place: Place) -> tuple[Lesson, Section] | None:
    lesson = moment.lesson(place.lesson)
    section = next((each for each in lesson.sections if each.id == place.section), None) if lesson else None
    return (lesson, section) if lesson and section else None
