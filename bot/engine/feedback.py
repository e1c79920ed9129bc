"""What is said of an answer: how far it is off, the course's own words on it, the solution, and a check's score."""

from bot.engine import presses
from bot.engine.bubbles import buttons, paragraphs
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.course_map import Part
from bot.engine.figures import plain
from bot.engine.moment import Moment
from bot.engine.quizzes import items
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.reading import code_shown
from bot.engine.remembering import choosing
from bot.engine.replies import Block, Bullets, Choice, Heading, Number, Paragraph, Strong, Text
from bot.engine.session import Place
from bot.engine.wording import inline
from content.schema import Item, Lesson, OrderSteps, WriteCode


def missed(moment: Moment, item: Item, grade: Grade, *, last: bool) -> tuple[Block, ...]:
    """Say how far an answer is off."""
    words = moment.words
    wrong = strong(words.text("quiz.wrong_last" if last else "quiz.wrong"))
    match grade.verdict:
        case Verdict.PARTIAL:
            return (Paragraph(words.say("quiz.partial", done=grade.points, total=grade.of)),)
        case Verdict.NEAR:
            return (strong(words.text("quiz.near")),)
        case _ if isinstance(item, OrderSteps):
            return (wrong, Paragraph(words.say("quiz.order_until", n=grade.points)))
        case _:
            return (wrong,)


def given(grade: Grade) -> tuple[Block, ...]:
    """Give the course's own words on an answer and its parts."""
    notes = tuple(
        (Text("✓ " if note.right else "✗ "), *inline(note.part), Text(" — "), *inline(note.feedback))
        for note in grade.notes
    )
    return (*(paragraphs(grade.feedback) if grade.feedback else ()), *((Bullets(notes),) if notes else ()))


def score(moment: Moment, lesson: Lesson) -> tuple[Block, ...]:
    """Give the score of a check, and what to do about what was missed."""
    words = moment.words
    under_way = moment.session.series
    missed = under_way.missed if under_way else ()
    done, credit = (under_way.done, round(under_way.credit, 2)) if under_way else (0, 0.0)
    topics = [item.topic for item in lesson.check if item.id in missed]
    again = [section for section in lesson.sections if section.topic in topics]
    myth = choosing.myth_for(lesson, topics)
    places = [Place(lesson.slug, Part.SECTION, section.id) for section in again]
    advice = words.say("quiz.read_again") if places else words.say("quiz.all_right" if not missed else "quiz.done")
    return (
        Heading(words.say("quiz.score", done=Number(plain(credit)), total=done)),
        Paragraph(advice),
        *buttons(
            *(presses.to_place(moment, lesson, place) for place in places),
            Choice(words.text("button.myths"), encode(Op.MYTHS, lesson.slug)) if myth else None,
            Choice(words.text("button.quiz_again"), encode(Op.QUIZ, lesson.slug)),
            Choice(words.text("button.cards"), encode(Op.CARDS, lesson.slug)),
            presses.command(moment, Command.MAP),
        ),
    )


def solved(moment: Moment, lesson: Lesson, item: Item) -> tuple[Block, ...]:
    """Give the right answer and why it is right, and the way to tell the teacher that it is not."""
    return (*_solution(moment, lesson, item), *buttons(presses.report(moment, item.id)))


def _solution(moment: Moment, lesson: Lesson, item: Item) -> tuple[Block, ...]:
    if isinstance(item, WriteCode):
        lead = Paragraph(moment.words.say("quiz.solution"))
        return (lead, *code_shown(moment, lesson, item.reference), *paragraphs(item.explanation))
    return (*items.solution(item, moment.words.say("quiz.solution"), moment.words), *paragraphs(item.explanation))


def strong(text: str) -> Paragraph:
    """Give a short verdict with weight."""
    return Paragraph((Strong(text),))
