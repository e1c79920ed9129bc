"""Check your understanding: items asked one by one, with hints, a second try, the solution, and a score.

Law: "I don't know" and an answer that cannot be read cost nothing; the same wrong answer counts once; after two
failures the solution is shown and the series goes on.
"""

from dataclasses import dataclass
from typing import assert_never, cast

from bot.engine import asks, presses, series
from bot.engine.bubbles import buttons, paragraphs, said
from bot.engine.buttons import Op, encode
from bot.engine.commands import Command
from bot.engine.course_map import DONE, Part
from bot.engine.effects import Ask, CloseAsk, CountTry, Effect, Record, Turn
from bot.engine.expects import Expects
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.quizzes import items
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.reading import code_shown
from bot.engine.replies import Block, Choice, Heading, Paragraph, Spans, Strong, Text
from bot.engine.session import Place
from bot.engine.wording import inline
from content.schema import Item, Lesson, NumberAnswer

_MEANT = {
    **dict.fromkeys(map(fold, ("لا أعرف", "لا أدري", "ما أعرف", "ما بعرف", "مش عارف", "معرفش")), presses.DONT_KNOW),
    **dict.fromkeys(map(fold, ("dont know", "don't know", "i don't know", "skip", "تخطي")), presses.DONT_KNOW),
    **dict.fromkeys(map(fold, ("تلميح", "hint", "أعطني تلميحا", "تلميح آخر")), presses.HINT),
}
"""Typed lines that mean one of the buttons under a question."""
_FAILURES = 2
"""Failed tries after which the solution is shown."""
_KEPT = 200
"""Characters of a typed answer that are stored."""
_READ = 2000
"""Characters beyond which a text is no answer."""


def begun(moment: Moment, lesson: Lesson) -> Turn:
    """Begin the lesson's check, or go on with it where it was left."""
    session, before = series.taken_up(moment.session, "check", lesson.slug, [item.id for item in lesson.check])
    moment = moment.at(session)
    key = "quiz.go_on" if before else "quiz.intro"
    intro = Paragraph(
        moment.words.say(key, lesson=inline(lesson.title), n=len(session.series.ahead) if session.series else 0)
    )
    return _asked(moment, lesson).after(*said(intro))


@dataclass(frozen=True, slots=True)
class _Open:
    """The item at hand, as it was asked."""

    lesson: Lesson
    item: Item
    ask: Ask


def answered(moment: Moment, ask: Ask, answer: str) -> Turn:
    """Take the answer of a button to an open ask."""
    at_hand = _at_hand(moment, ask)
    if at_hand is None:
        return asks.refused(moment, "ask.gone")
    if answer == presses.HINT:
        return _hinted(moment, at_hand)
    if answer == presses.DONT_KNOW:
        blocks = (Paragraph(moment.words.say("quiz.dont_know")), *_solution(moment, at_hand.item))
        return _closed(moment, at_hand, CloseAsk(ask.id, answer, 0.0), blocks)
    if answer in moment.session.tried:
        return moment.turn(*said(Paragraph(moment.words.say("quiz.tried_already"))))
    return _graded(moment, at_hand, answer, items.grade(at_hand.item, answer))


def typed(moment: Moment, text: str, *, only_right: bool) -> Turn | None:
    """Take a typed answer; None when it is no answer to the open question, so that another reading is tried.

    `only_right`: the text is code as well, so a wrong answer is rather code.
    """
    ask = moment.known.ask
    if ask is None or asks.fault(moment, ask) or ask.kind != "item" or len(text) > _READ:
        return None
    at_hand = _at_hand(moment, ask)
    if at_hand is None:
        return None
    meant = _MEANT.get(fold(text))
    if meant:
        return answered(moment, ask, meant)
    answer = items.read(at_hand.item, ask.options, text)
    grade = items.grade(at_hand.item, answer) if answer else Grade(Verdict.UNREAD)
    if grade.verdict is Verdict.UNREAD or (only_right and grade.verdict is Verdict.WRONG):
        return None
    if answer[:_KEPT] in moment.session.tried:
        return moment.turn(*said(Paragraph(moment.words.say("quiz.tried_already"))))
    return _graded(moment, at_hand, answer, grade)


def _at_hand(moment: Moment, ask: Ask) -> _Open | None:
    lesson = moment.lesson(ask.lesson)
    under_way = moment.session.series
    if lesson is None or under_way is None or (under_way.kind, under_way.lesson) != ("check", ask.lesson):
        return None
    item = asks.find(lesson, "item", ask.item)
    return _Open(lesson, cast("Item", item), ask) if item and under_way.ahead[:1] == (ask.item,) else None


def _asked(moment: Moment, lesson: Lesson) -> Turn:
    """Ask the item at hand of the check under way."""
    under_way = moment.session.series
    item = asks.find(lesson, "check", under_way.ahead[0]) if under_way and under_way.ahead else None
    if under_way is None or item is None:
        return moment.turn(*said(Paragraph(moment.words.say("ask.gone"))))
    item = cast("Item", item)
    options = moment.dice.shuffled(items.options(item))
    moment, ask, stored = asks.opened(moment, "item", lesson, item, options)
    moment = moment.changed(expects=Expects.ANSWER.value)
    step = moment.words.say("quiz.question", done=under_way.done + 1, total=series.total(under_way))
    code = code_shown(moment, lesson, item.code) if item.code else ()
    blocks = (Heading(step), *paragraphs(item.question), *code, *_answer_ways(moment, item, ask))
    return moment.turn(*stored, *said(*blocks))


def _answer_ways(moment: Moment, item: Item, ask: Ask) -> tuple[Block, ...]:
    """Give how to answer: options, the way to type, hint and "I don't know"."""
    words = moment.words
    listed, choices = items.ask(item, ask.options, ask.id, moment.session.tried)
    how: Spans = () if choices else words.say(f"quiz.how_{item.kind}")
    if isinstance(item, NumberAnswer) and item.unit:
        how = (*how, Text(" "), *words.say("quiz.unit", unit=item.unit))
    more = moment.session.hinted < len(item.hints)
    hint = presses.answer(words.text("button.hint"), ask.id, presses.HINT) if more else None
    skip = presses.answer(words.text("button.dont_know"), ask.id, presses.DONT_KNOW)
    return (*listed, *((Paragraph(how),) if how else ()), *buttons(*choices, hint, skip))


def _hinted(moment: Moment, at_hand: _Open) -> Turn:
    item, shown = at_hand.item, moment.session.hinted
    if shown >= len(item.hints):
        sentence = Paragraph(moment.words.say("quiz.no_more_hints"))
        return moment.turn(*said(sentence, *_answer_ways(moment, item, at_hand.ask)))
    moment = moment.changed(hinted=shown + 1, expects=Expects.ANSWER.value)
    return moment.turn(*said(*_hint(moment, item, shown), *_answer_ways(moment, item, at_hand.ask)))


def _hint(moment: Moment, item: Item, index: int) -> tuple[Block, ...]:
    step = moment.words.say("quiz.hint", done=index + 1, total=len(item.hints))
    return (Paragraph((*step, Text(" "), *inline(item.hints[index]))),)


def _graded(moment: Moment, at_hand: _Open, answer: str, grade: Grade) -> Turn:
    item, ask, words = at_hand.item, at_hand.ask, moment.words
    feedback = paragraphs(grade.feedback) if grade.feedback else ()
    match grade.verdict:
        case Verdict.RIGHT:
            alone = ask.tries == 0 and moment.session.hinted == 0
            close = CloseAsk(ask.id, answer[:_KEPT], 1.0 if alone else 0.5)
            blocks = (_strong(words.text("quiz.right")), *feedback, *paragraphs(item.explanation))
            return _closed(moment, at_hand, close, blocks, right=True)
        case Verdict.NEAR | Verdict.WRONG:
            return _failed(moment, at_hand, answer[:_KEPT], grade)
        case Verdict.UNREAD:
            return asks.refused(moment, "ask.unknown")
        case never:
            assert_never(never)


def _failed(moment: Moment, at_hand: _Open, answer: str, grade: Grade) -> Turn:
    item, ask = at_hand.item, at_hand.ask
    key = "quiz.near" if grade.verdict is Verdict.NEAR else "quiz.wrong"
    head: tuple[Block, ...] = (_strong(moment.words.text(key)),)
    head = (*head, *paragraphs(grade.feedback)) if grade.feedback else head
    left = len(ask.options) - len(moment.session.tried) - 1
    if ask.tries + 1 >= _FAILURES or (ask.options and left <= 1):
        close = CloseAsk(ask.id, answer, 0.0, grade.misconception)
        return _closed(moment, at_hand, close, (*head, *_solution(moment, item)))
    moment = moment.changed(tried=(*moment.session.tried, answer), expects=Expects.ANSWER.value)
    shown = moment.session.hinted
    if shown < len(item.hints):
        head = (*head, *_hint(moment, item, shown))
        moment = moment.changed(hinted=shown + 1)
    again = Paragraph(moment.words.say("quiz.try_again"))
    tried = Record((CountTry(ask.id, answer),))
    return moment.turn(tried, *said(*head, again, *_answer_ways(moment, item, ask)))


def _closed(moment: Moment, at_hand: _Open, close: CloseAsk, blocks: tuple[Block, ...], *, right: bool = False) -> Turn:
    """Store the answer, say what is to be said of it, and ask the next item or give the score."""
    under_way = moment.session.series
    if under_way is None:
        return asks.refused(moment, "ask.gone")
    lesson = at_hand.lesson
    after = series.advanced(under_way, credit=1.0 if right else 0.0)
    moment = moment.changed(series=after, asked="", hinted=0, tried=())
    effects: tuple[Effect, ...] = (Record((close,)), *said(*blocks))
    if after.ahead:
        return _asked(moment, lesson).after(*effects)
    score = _score(moment, lesson)
    return Turn(series.finished(moment.session, f"{lesson.slug}.{DONE}.check"), (*effects, *said(*score)))


def _score(moment: Moment, lesson: Lesson) -> tuple[Block, ...]:
    words = moment.words
    under_way = moment.session.series
    missed = under_way.missed if under_way else ()
    done, right = (under_way.done, round(under_way.credit)) if under_way else (0, 0)
    topics = [item.topic for item in lesson.check if item.id in missed]
    again = [section for section in lesson.sections if section.topic in topics]
    places = [Place(lesson.slug, Part.SECTION, section.id) for section in again]
    advice = words.say("quiz.read_again") if places else words.say("quiz.all_right" if not missed else "quiz.done")
    return (
        Heading(words.say("quiz.score", done=right, total=done)),
        Paragraph(advice),
        *buttons(
            *(presses.to_place(moment, lesson, place) for place in places),
            Choice(words.text("button.quiz_again"), encode(Op.QUIZ, lesson.slug)),
            Choice(words.text("button.cards"), encode(Op.CARDS, lesson.slug)),
            presses.command(moment, Command.MAP),
        ),
    )


def _solution(moment: Moment, item: Item) -> tuple[Block, ...]:
    return (*items.solution(item, moment.words.say("quiz.solution")), *paragraphs(item.explanation))


def _strong(text: str) -> Paragraph:
    return Paragraph((Strong(text),))
