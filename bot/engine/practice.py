"""Check your understanding: items asked one by one, with hints, a second try, the solution, and a score.

Law: "I don't know" and an answer that cannot be read cost nothing; the same wrong answer counts once; after two
failures the solution is shown and the series goes on.
"""

from dataclasses import dataclass, replace
from typing import assert_never, cast

from bot.engine import asks, feedback, panels, presses, series
from bot.engine.bubbles import paragraphs, said
from bot.engine.course_map import DONE
from bot.engine.effects import Ask, CloseAsk, CountTry, Effect, Record, Turn
from bot.engine.letters import fold
from bot.engine.moment import Moment
from bot.engine.quizzes import items
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.reading import code_shown
from bot.engine.remembering import choosing, placement, placing
from bot.engine.remembering.rows import Answered
from bot.engine.replies import Block, Heading, Paragraph, Text
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
_HELPED = 0.5
"""Credit of a right answer after a hint or a failed try."""
_KEPT = 200
"""Characters of a typed answer that are stored."""
_READ = 2000
"""Characters beyond which a text is no answer."""


def begun(moment: Moment, lesson: Lesson) -> Turn:
    """Begin the lesson's check, or go on with it where it was left."""
    kept = moment.known.remembered
    ids = choosing.items(lesson, kept.misconceptions if kept else {})
    session, before = series.taken_up(moment.session, "check", lesson.slug, ids)
    moment = moment.at(session)
    key = "quiz.go_on" if before else "quiz.intro"
    intro = Paragraph(
        moment.words.say(key, lesson=inline(lesson.title), n=len(session.series.ahead) if session.series else 0)
    )
    return _asked(moment).after(*said(intro))


def begun_with(moment: Moment, lesson: Lesson, item: str) -> Turn:
    """Begin the lesson's check, or go on with it, with one question before all others."""
    session, _ = series.taken_up(moment.session, "check", lesson.slug, [each.id for each in lesson.check])
    under_way = session.series
    if under_way is None or (under_way.ahead[:1] == (item,) and session.asked):
        return begun(moment, lesson)
    others = tuple(each for each in under_way.ahead if each != item)
    return _asked(moment.at(session.unasked().with_(series=replace(under_way, ahead=(item, *others)))))


def placed(moment: Moment) -> Turn:
    """Begin the placement, or go on with it where it was left."""
    session, before = placing.taken_up(moment)
    moment = moment.at(session)
    key = "placement.go_on" if before else "placement.intro"
    return _asked(moment).after(*said(Paragraph(moment.words.say(key, n=placement.MOST))))


@dataclass(frozen=True, slots=True)
class _Open:
    """The item at hand, as it was asked."""

    lesson: Lesson
    item: Item
    ask: Ask


def pressed(moment: Moment, ask: Ask, answer: str, tries: int) -> Turn:
    """Take the press of a button that was shown when so many tries were spent: one try counts for what one saw."""
    at_hand = _at_hand(moment, ask)
    fixed = answer == presses.DONT_KNOW or answer.startswith(presses.HINT) or answer in moment.session.tried
    if at_hand is None or tries == ask.tries or fixed:
        return answered(moment, ask, answer)
    note = Paragraph(moment.words.say("ask.tried_meanwhile"))
    moment, told = panels.asked(moment, at_hand.item, ask, note)
    return moment.turn(*told)


def answered(moment: Moment, ask: Ask, answer: str) -> Turn:
    """Take an answer to an open ask."""
    at_hand = _at_hand(moment, ask)
    if at_hand is None:
        return asks.refused(moment, "ask.gone")
    if answer.startswith(presses.HINT):
        return _hinted(moment, at_hand, presses.marking(answer))
    if answer == presses.DONT_KNOW:
        solved = feedback.solved(moment, at_hand.lesson, at_hand.item)
        blocks = (Paragraph(moment.words.say("quiz.dont_know")), *solved)
        earned = moment.session.earned
        close = CloseAsk(ask.id, answer, earned, learned=_learned(moment, at_hand, first=False))
        return _closed(moment, at_hand, close, blocks, earned=earned)
    if isinstance(at_hand.item, items.Marked):
        return _marked(moment, at_hand, at_hand.item, answer)
    return _tried(moment, at_hand, answer, items.grade(at_hand.item, answer))


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
    if grade.verdict in {Verdict.OTHER_UNIT, Verdict.NOT_FINITE}:
        return _not_counted(moment, at_hand.item, grade)
    if isinstance(at_hand.item, items.Marked):
        moment = moment.changed(marked=tuple(answer.split()))
    return _tried(moment, at_hand, answer, grade)


def _not_counted(moment: Moment, item: Item, grade: Grade) -> Turn:
    """Say why a typed figure is no answer; no try is spent."""
    unit = item.unit if isinstance(item, NumberAnswer) else ""
    key = "quiz.not_finite" if grade.verdict is Verdict.NOT_FINITE else "quiz.other_unit" if unit else "quiz.no_unit"
    return moment.turn(*said(Paragraph(moment.words.say(key, unit=unit))))


def _marked(moment: Moment, at_hand: _Open, item: items.Marked, option: str) -> Turn:
    """Take a press in the panel of marks."""
    before = moment.session.marked
    if option == presses.CONFIRM:
        answer = items.whole(item, before)
        if not answer:
            return moment.turn(*said(Paragraph(moment.words.say(f"quiz.unfinished_{item.kind}"))))
        return _tried(moment, at_hand, answer, items.grade(item, answer))
    after = items.pressed(item, at_hand.ask.options, before, option)
    if after is None:
        return asks.refused(moment, "ask.unknown")
    if after == before:
        return moment.turn()
    moment, shown = panels.marked(moment, item, at_hand.ask, after)
    return moment.turn(shown)


def _tried(moment: Moment, at_hand: _Open, answer: str, grade: Grade) -> Turn:
    """Grade an answer, once."""
    if answer[:_KEPT] in moment.session.tried:
        return moment.turn(*said(Paragraph(moment.words.say("quiz.tried_already"))))
    return _graded(moment, at_hand, answer, grade)


def written(moment: Moment, ask: Ask, answer: str, grade: Grade) -> Turn:
    """Take the grade of code that was run as an answer."""
    at_hand = _at_hand(moment, ask)
    return _tried(moment, at_hand, answer, grade) if at_hand else asks.refused(moment, "ask.gone")


def _at_hand(moment: Moment, ask: Ask) -> _Open | None:
    lesson = moment.lesson(ask.lesson)
    under_way = moment.session.series
    if lesson is None or under_way is None or under_way.kind not in {"check", placing.KIND}:
        return None
    if under_way.lesson not in {ask.lesson, ""}:
        return None
    item = asks.find(lesson, "item", ask.item)
    return _Open(lesson, cast("Item", item), ask) if item and under_way.ahead[:1] == (ask.item,) else None


def _asked(moment: Moment) -> Turn:
    """Ask the item at hand of the check or placement under way."""
    under_way = moment.session.series
    found = asks.anywhere(moment.course, "check", under_way.ahead[0]) if under_way and under_way.ahead else None
    if under_way is None or found is None:
        return moment.turn(*said(Paragraph(moment.words.say("ask.gone"))))
    lesson, item = found[0], cast("Item", found[1])
    options = items.arranged(item, moment.dice.shuffled(items.options(item)))
    moment, ask, stored = asks.opened(moment, "item", lesson, item, options)
    key = "placement.question" if under_way.kind == placing.KIND else "quiz.question"
    step = moment.words.say(key, done=under_way.done + 1, total=series.total(under_way), most=placement.MOST)
    code = code_shown(moment, lesson, item.code) if item.code else ()
    moment, shown = panels.asked(moment, item, ask, Heading(step), *paragraphs(item.question), *code)
    return moment.turn(*stored, *shown)


def _hinted(moment: Moment, at_hand: _Open, meant: tuple[str, int] | None) -> Turn:
    """Show a hint: the one that the press was made for, once more where it was shown before, else the next."""
    item, shown = at_hand.item, moment.session.hinted
    index = min(meant[1], shown) if meant else shown
    if panels.placing(moment) or index >= len(item.hints):
        key = "placement.no_hints" if panels.placing(moment) else "quiz.no_more_hints"
        head: tuple[Block, ...] = (Paragraph(moment.words.say(key)),)
    else:
        moment = moment.changed(hinted=max(shown, index + 1))
        head = _hint(moment, item, index)
    moment, told = panels.asked(moment, item, at_hand.ask, *head)
    return moment.turn(*told)


def _hint(moment: Moment, item: Item, index: int) -> tuple[Block, ...]:
    step = moment.words.say("quiz.hint", done=index + 1, total=len(item.hints))
    return (Paragraph((*step, Text(" "), *inline(item.hints[index]))),)


def _graded(moment: Moment, at_hand: _Open, answer: str, grade: Grade) -> Turn:
    item, ask = at_hand.item, at_hand.ask
    match grade.verdict:
        case Verdict.RIGHT:
            alone = ask.tries == 0 and moment.session.hinted == 0
            credit = 1.0 if alone else max(_HELPED, moment.session.earned)
            close = CloseAsk(ask.id, answer[:_KEPT], credit, learned=_learned(moment, at_hand, first=alone))
            right = feedback.strong(moment.words.text("quiz.right"))
            blocks = (right, *feedback.given(grade), *paragraphs(item.explanation))
            return _closed(moment, at_hand, close, blocks, earned=1.0)
        case Verdict.PARTIAL | Verdict.NEAR | Verdict.WRONG:
            return _failed(moment, at_hand, answer[:_KEPT], grade)
        case Verdict.UNREAD | Verdict.OTHER_UNIT | Verdict.NOT_FINITE:
            return asks.refused(moment, "ask.unknown")
        case never:
            assert_never(never)


def _failed(moment: Moment, at_hand: _Open, answer: str, grade: Grade) -> Turn:
    item, ask = at_hand.item, at_hand.ask
    tried = (*moment.session.tried, answer)
    earned = max(moment.session.earned, grade.credit)
    most = 1 if panels.placing(moment) else _FAILURES
    if ask.tries + 1 >= most or items.exhausted(item, tried):
        close = CloseAsk(ask.id, answer, earned, grade.misconception, _learned(moment, at_hand, first=False))
        # What is right stands in the solution, with its feedback.
        only_wrong = replace(grade, notes=tuple(note for note in grade.notes if not note.right))
        missed = feedback.missed(moment, item, grade, last=True)
        blocks = (*missed, *feedback.given(only_wrong), *feedback.solved(moment, at_hand.lesson, item))
        return _closed(moment, at_hand, close, blocks, earned=earned)
    head = (*feedback.missed(moment, item, grade, last=False), *feedback.given(grade))
    moment = moment.changed(tried=tried, earned=earned)
    if isinstance(item, items.Marked):
        moment = moment.changed(marked=items.left_standing(item, moment.session.marked))
    shown = moment.session.hinted
    if shown < len(item.hints):
        head = (*head, *_hint(moment, item, shown))
        moment = moment.changed(hinted=shown + 1)
    again = Paragraph(moment.words.say("quiz.try_again"))
    moment, told = panels.asked(moment, item, replace(ask, tries=ask.tries + 1), *head, again)
    return moment.turn(Record((CountTry(ask.id, answer, grade.misconception),)), *told)


def _learned(moment: Moment, at_hand: _Open, *, first: bool) -> Answered:
    """Give what the answer shows of the item's topic."""
    item = at_hand.item
    return Answered(item.topic.value, item.id, item.rev, first, moment.now)


def _closed(moment: Moment, at_hand: _Open, close: CloseAsk, blocks: tuple[Block, ...], *, earned: float) -> Turn:
    """Store the answer, say what is to be said of it, and ask the next item or give the score."""
    under_way = moment.session.series
    if under_way is None:
        return asks.refused(moment, "ask.gone")
    lesson = at_hand.lesson
    place = under_way.kind == placing.KIND
    shown = close.misconception or _shown_before(moment, at_hand.item)
    after = series.advanced(under_way, credit=earned)
    after = replace(after, ahead=choosing.next_up(lesson, after.ahead, shown))
    moment = moment.at(moment.session.unasked()).changed(series=after)
    effects: tuple[Effect, ...] = (Record((close,)), *said(*blocks))
    if place:
        moment = placing.gone_on(moment, after, at_hand.item.id)
    if moment.session.series and moment.session.series.ahead:
        return _asked(moment).after(*effects)
    end = placing.result(moment) if place else feedback.score(moment, lesson)
    key = "" if place else f"{lesson.slug}.{DONE}.check"
    return Turn(series.finished(moment.session, key), (*effects, *said(*end)))


def _shown_before(moment: Moment, item: Item) -> str:
    """Give the misconception that an earlier try showed; a right answer after it does not hide it."""
    return next((found for tried in moment.session.tried if (found := items.grade(item, tried).misconception)), "")
