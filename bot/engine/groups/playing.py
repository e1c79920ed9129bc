"""A quiz in a group: begun by a member, answered by anybody, closed by its asker, an admin, the time or the number.

Law: a member's first press on a question counts and no other; a press counts for the question that it stands under and
never for another; at most one quiz is under way in a group; whoever may not do a thing is told so alone.
"""

from dataclasses import replace
from datetime import UTC, datetime
from typing import assert_never

from bot.engine import asks, buttons, obeying
from bot.engine.bubbles import said
from bot.engine.buttons import Op
from bot.engine.effects import Edit, Effect, Record, Say, Turn, Whisper
from bot.engine.events import GroupAsked, GroupFellDue, GroupPressed, Person
from bot.engine.groups import asking, naming, showing
from bot.engine.groups.quiz import KeepGroupAnswer, Quiz
from bot.engine.moment import Moment
from bot.engine.quizzes import items
from bot.engine.quizzes.grades import Grade, Verdict
from bot.engine.remembering.rows import Answered
from bot.engine.replies import Block, Code, Paragraph
from content.schema import Lesson, SingleChoice, TrueFalse

PAUSE_S, LAST_PAUSE_S = 25, 8
"""Seconds between what a question came to and the next question, or the board."""
_ECHO = 40


# --- what happens -----------------------------------------------------------------------------------------------------


def taken(moment: Moment, event: GroupAsked | GroupPressed | GroupFellDue) -> Turn:
    """Answer an event of a group."""
    match event:
        case GroupAsked():
            return asked(moment, event)
        case GroupPressed():
            return pressed(moment, event)
        case GroupFellDue():
            return fell_due(moment, event)
        case never:
            assert_never(never)


def asked(moment: Moment, event: GroupAsked) -> Turn:
    """Do what the command in a group asks for."""
    wish = asking.read(event.argument)
    quiz = moment.session.group
    match wish.what:
        case "board":
            return _boarded(moment, quiz) if quiz else _told(moment, "group.none")
        case "end":
            if quiz is None or quiz.over:
                return _told(moment, "group.none")
            may = _may(quiz, event.by)
            return _ended(moment, quiz, "group.ended") if may else _told(moment, "group.not_yours")
        case _:
            return _begun(moment, event.by, wish)


def pressed(moment: Moment, event: GroupPressed) -> Turn:
    """Take a press on a question of the group's quiz."""
    button = buttons.parse(event.payload)
    quiz = moment.session.group
    if button is None or button.op is not Op.GROUP:
        return _whispered(moment, "button.outdated")
    if quiz is None or quiz.over or button.ref != quiz.ask:
        return _whispered(moment, "group.old")
    if button.option in showing.CONTROLS:
        return _controlled(moment, quiz, event.by, button.option)
    if not quiz.open:
        return _whispered(moment, "group.closed")
    return _answered(moment, quiz, event.by, button.option)


def fell_due(moment: Moment, event: GroupFellDue) -> Turn:
    """Go on when the time has come; a call that comes late or twice changes nothing."""
    quiz = moment.session.group
    if quiz is None or quiz.over or (quiz.ask, quiz.open) != (event.ask, event.open):
        return moment.turn()
    return _closed(moment, quiz) if quiz.open else _gone_on(moment, quiz)


def when(quiz: Quiz | None) -> tuple[GroupFellDue, datetime] | None:
    """Say what falls due of a quiz next, and when; None when nothing does."""
    if quiz is None or quiz.over:
        return None
    return GroupFellDue(quiz.ask, quiz.open), datetime.fromtimestamp(quiz.due, UTC)


# --- the steps --------------------------------------------------------------------------------------------------------


def _begun(moment: Moment, by: Person, wish: asking.Wish) -> Turn:
    words = moment.words
    under_way = moment.session.group
    if under_way and not under_way.over:
        sentence = words.say("group.running", done=under_way.done, total=under_way.total)
        return moment.turn(*said(Paragraph(sentence)))
    if wish.fault:
        return moment.turn(*said(Paragraph(words.say(wish.fault, value=wish.value)), *_usage(moment)))
    lesson = obeying.lesson_named(moment, wish.lesson) if wish.lesson else None
    if wish.lesson and lesson is None:
        unknown = words.say("group.no_lesson", text=Code(wish.lesson[:_ECHO]), last=len(moment.course.lessons))
        return moment.turn(*said(Paragraph(unknown), *_usage(moment)))
    lessons = (lesson,) if lesson else moment.course.lessons
    pool = tuple(item.id for each in lessons for item in each.check if isinstance(item, SingleChoice | TrueFalse))
    chosen = moment.dice.shuffled(pool)[: wish.count]
    if not chosen:
        return _told(moment, "group.no_items")
    fewer = (Paragraph(words.say("group.fewer", n=len(chosen))),) if len(chosen) < wish.count else ()
    quiz = Quiz(moment.dice.identity(), by.chat, chosen, len(chosen), wish.seconds, wish.most)
    return _put(moment, quiz).after(*said(*showing.rules(moment, quiz, lesson), *fewer))


def _put(moment: Moment, quiz: Quiz) -> Turn:
    """Ask the item at hand."""
    found = _item(moment, quiz)
    if found is None:
        return _passed_over(moment, quiz)
    lesson, item = found
    quiz = replace(
        quiz,
        ask=moment.dice.identity(),
        rev=item.rev,
        options=items.arranged(item, moment.dice.shuffled(items.options(item))),
        at=moment.now.timestamp(),
        due=moment.now.timestamp() + quiz.seconds,
        open=True,
    )
    moment = moment.changed(group=quiz)
    return moment.turn(Say(showing.question(moment, quiz, lesson, item, 0), showing.post(quiz)))


def _answered(moment: Moment, quiz: Quiz, by: Person, option: str) -> Turn:
    """Count the first answer of a member, in the group and as the member's own."""
    found = _as_asked(moment, quiz)
    if found is None:
        return _whispered(moment, "ask.course_changed")
    if moment.known.group.mine:
        return _whispered(moment, "group.already")
    lesson, item = found
    if option not in quiz.options:
        return _whispered(moment, "group.old")
    grade = items.grade(item, option)
    row = _row(moment, quiz, by, (lesson, item), option, grade)
    counts = {**moment.known.group.counts}
    counts[option] = counts.get(option, 0) + 1
    heard: tuple[Effect, ...] = (Record((row,)), Whisper(moment.words.text("group.counted")))
    moment = moment.knowing(group=replace(moment.known.group, counts=counts, mine=option))
    if quiz.most and sum(counts.values()) >= quiz.most:
        return _closed(moment, quiz).after(*heard)
    shown = showing.question(moment, quiz, lesson, item, sum(counts.values()))
    return moment.turn(*heard, Edit(showing.post(quiz), shown))


def _row(  # noqa: PLR0913 - an answer, and all that it is an answer to
    moment: Moment, quiz: Quiz, by: Person, found: tuple[Lesson, showing.Asked], option: str, grade: Grade
) -> KeepGroupAnswer:
    lesson, item = found
    right = grade.verdict is Verdict.RIGHT
    return KeepGroupAnswer(
        quiz=quiz.id,
        ask=quiz.ask,
        by=by.chat,
        name=naming.shown(by.name),
        own=moment.dice.identity(),
        lesson=lesson.slug,
        item=item.id,
        rev=item.rev,
        options=quiz.options,
        course_hash=moment.course.hash,
        asked_at=datetime.fromtimestamp(quiz.at, UTC),
        answer=option,
        points=int(right),
        misconception=grade.misconception,
        learned=Answered(item.topic.value, item.id, item.rev, right, moment.now),
    )


def _controlled(moment: Moment, quiz: Quiz, by: Person, option: str) -> Turn:
    if option == showing.BOARD:
        return moment.turn(*_with_board(moment, quiz))  # one a question: many who press see the same
    if not _may(quiz, by):
        return _whispered(moment, "group.not_yours")
    if option == showing.END:
        return _ended(moment, quiz, "group.ended")
    if (option == showing.CLOSE) != quiz.open:
        return _whispered(moment, "group.done_already")
    return _closed(moment, quiz) if quiz.open else _gone_on(moment, quiz)


def _closed(moment: Moment, quiz: Quiz) -> Turn:
    """Close the question, and say what is right and why."""
    found = _as_asked(moment, quiz)
    if found is None:
        return _passed_over(moment, quiz)
    lesson, item = found
    counts = moment.known.group.counts
    quiz = replace(quiz, open=False, silent=0 if counts else quiz.silent + 1)
    pause = LAST_PAUSE_S if quiz.last else PAUSE_S
    quiz = replace(quiz, due=moment.now.timestamp() + pause)
    moment = moment.changed(group=quiz)
    return moment.turn(
        Edit(showing.post(quiz), showing.closed(moment, quiz, lesson, item, counts)),
        Say(showing.came_to(moment, quiz, item, counts, pause), showing.told(quiz)),
    )


def _gone_on(moment: Moment, quiz: Quiz) -> Turn:
    """Take the way on away from under the last answer, and ask the next question or show the end."""
    done = _settled(moment, quiz)
    after = replace(quiz, ahead=quiz.ahead[1:])
    if quiz.last:
        return _over(moment, quiz, "group.silent" if after.ahead else "").after(*done)
    return _put(moment, after).after(*done)


def _settled(moment: Moment, quiz: Quiz) -> tuple[Effect, ...]:
    """Take the buttons away from under the question at hand, or from what it came to."""
    found = _as_asked(moment, quiz)
    if found is None:
        return ()
    lesson, item = found
    if quiz.open:
        return (Edit(showing.post(quiz), showing.withdrawn(moment, quiz, lesson, item)),)
    counts = moment.known.group.counts
    return (Edit(showing.told(quiz), showing.came_to(moment, quiz, item, counts)),)


def _passed_over(moment: Moment, quiz: Quiz) -> Turn:
    """Leave out a question that the lessons changed or lost meanwhile."""
    note = said(Paragraph(moment.words.say("group.item_gone")))
    after = replace(quiz, ahead=quiz.ahead[1:], open=False)
    return (_put(moment, after) if after.ahead else _over(moment, replace(quiz, open=False))).after(*note)


def _ended(moment: Moment, quiz: Quiz, key: str) -> Turn:
    return _over(moment, quiz, key).after(*_settled(moment, quiz))


def _over(moment: Moment, quiz: Quiz, key: str = "") -> Turn:
    """End the quiz with its board."""
    quiz = replace(quiz, open=False, due=0.0, over=True)
    moment = moment.changed(group=quiz)
    note = (Paragraph(moment.words.say(key)),) if key else ()
    return moment.turn(*_with_board(moment, quiz, *note))


def _boarded(moment: Moment, quiz: Quiz) -> Turn:
    """Show the board, once more where it stands already."""
    *before, last = said(*showing.board(moment, quiz, moment.known.group.points))
    return moment.turn(*before, Say(last.reply, f"{showing.board_of(quiz)}:{moment.dice.identity()}"))


def _with_board(moment: Moment, quiz: Quiz, *note: Block) -> tuple[Effect, ...]:
    shown = said(*note, *showing.board(moment, quiz, moment.known.group.points))
    *before, last = shown
    return (*before, Edit(showing.board_of(quiz), last.reply))


# --- small things -----------------------------------------------------------------------------------------------------


def _item(moment: Moment, quiz: Quiz) -> tuple[Lesson, showing.Asked] | None:
    found = asks.anywhere(moment.course, "item", quiz.ahead[0]) if quiz.ahead else None
    return (found[0], found[1]) if found and isinstance(found[1], SingleChoice | TrueFalse) else None


def _as_asked(moment: Moment, quiz: Quiz) -> tuple[Lesson, showing.Asked] | None:
    """Give the item at hand as long as it is what was asked."""
    found = _item(moment, quiz)
    if found is None or found[1].rev != quiz.rev or set(items.options(found[1])) != set(quiz.options):
        return None
    return found


def _may(quiz: Quiz, by: Person) -> bool:
    return by.admin or by.chat == quiz.asker


def _told(moment: Moment, key: str) -> Turn:
    usage = _usage(moment) if key == "group.none" else ()
    return moment.turn(*said(Paragraph(moment.words.say(key)), *usage))


def _usage(moment: Moment) -> tuple[Block, ...]:
    return (Paragraph(moment.words.say("group.usage")),)


def _whispered(moment: Moment, key: str) -> Turn:
    return moment.turn(Whisper(moment.words.text(key)))
