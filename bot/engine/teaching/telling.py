"""The teacher's report in chat: asked for by admins alone, made by the shell, told with its picture and its tables.

Law: whoever is no admin learns nothing of what others did, not even that there is anything; learners appear as hashes.
"""

from collections import Counter

from bot.engine.bubbles import said
from bot.engine.course_map import Part
from bot.engine.effects import Edit, MakeReport, Turn
from bot.engine.events import ReportMade
from bot.engine.figures import digits, percent
from bot.engine.moment import Moment
from bot.engine.replies import Attachment, Block, Bullets, Code, Heading, Number, Paragraph, Reply, Spans, Text
from bot.engine.teaching.figures import ItemFigures, Report, StopFigures
from bot.engine.wording import Wording, inline, plain
from content.schema import Course

MOST = 8
"""Lines of each part that are told; the tables hold the rest."""
_WEAK = 0.1
"""Discrimination below which an item tells good learners from others hardly at all."""
_SHOWN = 80
"""Characters of a learner's or the course's text that are shown."""
_HASH = 8


def asked(moment: Moment) -> Turn:
    """Ask the shell for a report; it knows who the admins are."""
    slot = f"report:{moment.dice.identity()}"
    wait = said(Paragraph(moment.words.say("teacher.making")), slot=slot)
    return moment.turn(*wait, MakeReport(slot))


def made(moment: Moment, event: ReportMade) -> Turn:
    """Tell a report in the place of the reply that promised it, or say why there is none."""
    if event.report is None:
        key = "teacher.failed" if event.allowed else "teacher.admins_only"
        return moment.turn(Edit(event.slot, Reply((Paragraph(moment.words.say(key)),))))
    files = tuple(Attachment(name, media, data) for name, media, data in event.files)
    first, *more = said(*told(moment.words, moment.course, event.report), *files)
    return moment.turn(Edit(event.slot, first.reply), *more)


def told(words: Wording, course: Course, report: Report) -> tuple[Block, ...]:
    """Give a report as blocks: of each part the lines that ask for something to be done."""
    return (
        Heading(words.say("teacher.title")),
        Paragraph(
            words.say(
                "teacher.counts",
                learners=report.learners,
                answers=sum(item.answered for item in report.items),
                questions=sum(report.bands.values()),
            )
        ),
        *_items(words, report),
        *_misconceptions(words, report),
        *_stops(words, course, report),
        *_questions(words, report),
        *_complaints(words, report),
    )


def _items(words: Wording, report: Report) -> tuple[Block, ...]:
    current = [item for item in report.items if item.current]
    if not current:
        return (Paragraph(words.say("teacher.no_answers")),)
    hardest = sorted(current, key=lambda item: (-item.difficulty, item.item))[:MOST]
    weak = [item for item in current if item.discrimination is not None and item.discrimination < _WEAK]
    weak = sorted(weak, key=lambda item: item.discrimination or 0.0)[:MOST]
    lines = (Heading(words.say("teacher.hardest")), Bullets(tuple(_item(words, item) for item in hardest)))
    if not weak:
        return lines
    return (*lines, Heading(words.say("teacher.weak")), Bullets(tuple(_item(words, item) for item in weak)))


def _item(words: Wording, item: ItemFigures) -> Spans:
    tells: Spans = words.say("teacher.too_few")
    if item.discrimination is not None:
        tells = (Number(digits(item.discrimination, 2)),)
    seconds: Spans = words.say("teacher.no_time") if item.median_s is None else (Number(f"{item.median_s:.0f} s"),)
    return words.say(
        "teacher.item",
        item=Code(item.item),
        question=Text(plain(inline(item.question))[:_SHOWN]),
        difficulty=Number(percent(round(item.difficulty, 3))),
        discrimination=tells,
        answered=item.answered,
        skipped=item.skipped,
        time=seconds,
    )


def _misconceptions(words: Wording, report: Report) -> tuple[Block, ...]:
    counts: Counter[str] = Counter()
    for item in report.items:
        counts.update(item.misconceptions)
    if not counts:
        return ()
    lines = tuple(
        words.say("teacher.misconception", name=Code(name), count=count) for name, count in counts.most_common(MOST)
    )
    return (Heading(words.say("teacher.misconceptions")), Bullets(lines))


def _stops(words: Wording, course: Course, report: Report) -> tuple[Block, ...]:
    left = [stop for stop in report.stops if stop.ended_here]
    worst = sorted(left, key=lambda stop: (-stop.ended_here / max(stop.learners, 1), stop.stop))[:MOST]
    if not worst:
        return ()
    return (Heading(words.say("teacher.left")), Bullets(tuple(_stop(words, course, stop) for stop in worst)))


def _stop(words: Wording, course: Course, stop: StopFigures) -> Spans:
    return words.say(
        "teacher.stop",
        stop=Text(stop_title(words, course, stop)[:_SHOWN]),
        learners=stop.learners,
        ended=stop.ended_here,
        share=Number(percent(round(stop.ended_here / max(stop.learners, 1), 3))),
    )


def stop_title(words: Wording, course: Course, stop: StopFigures) -> str:
    """Give a stop's name as a reader of the lesson knows it."""
    lesson = next(each for each in course.lessons if each.slug == stop.lesson)
    part, _, name = stop.stop.removeprefix(f"{stop.lesson}.").partition(".")
    section = next((each for each in lesson.sections if part == Part.SECTION and each.id == name), None)
    shown = plain(inline(section.title)) if section else words.text(f"part.{part}")
    return f"{plain(inline(lesson.title))} › {shown}"


def _questions(words: Wording, report: Report) -> tuple[Block, ...]:
    if not report.bands:
        return ()
    counts = words.say(
        "teacher.bands",
        answered=report.bands.get("answer", 0),
        offered=report.bands.get("offer", 0),
        refused=report.bands.get("refuse", 0),
        astray=report.led_astray,
    )
    lines = tuple(
        words.say("teacher.unanswered", text=Code(each.text[:_SHOWN]), learner=Code(each.learner[:_HASH]))
        for each in report.unanswered[:MOST]
    )
    unmatched = tuple(
        span
        for word, count in report.unmatched[: 2 * MOST]
        for span in (Text("، "), Code(word), Text(" "), Number(f"×{count}"))
    )[1:]
    return (
        Heading(words.say("teacher.questions")),
        Paragraph(counts),
        *((Bullets(lines),) if lines else ()),
        *((Paragraph(words.say("teacher.unmatched", words=unmatched)),) if unmatched else ()),
    )


def _complaints(words: Wording, report: Report) -> tuple[Block, ...]:
    if not report.complaints:
        return ()
    lines = tuple(
        words.say(
            "teacher.complaint",
            item=Code(each.item),
            text=Code(" ".join(each.text.split())[:_SHOWN] or "—"),
            learner=Code(each.learner[:_HASH]),
        )
        for each in report.complaints[:MOST]
    )
    return (Heading(words.say("teacher.complaints")), Bullets(lines))
