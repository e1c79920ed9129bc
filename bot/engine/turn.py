"""One event answered: `take_turn` is the whole conversation, as a function.

Law: pure, total and deterministic: the same arguments give the same turn, whatever was sent never raises, and a turn
that refuses changes nothing.
"""

from dataclasses import replace
from datetime import datetime
from typing import assert_never

from bot.engine import code, doubles, hearing, help, incidents, pressing, runs, settling  # noqa: A004
from bot.engine.answering import rephrased
from bot.engine.effects import Turn
from bot.engine.events import (
    AccountsJoined,
    ButtonPressed,
    ChatBlocked,
    ChatOpened,
    CodeChecked,
    CodeSent,
    DigestFellDue,
    Event,
    FileSent,
    GroupAsked,
    GroupFellDue,
    GroupPressed,
    IncidentTold,
    OddSent,
    Phrased,
    ReportMade,
    RunFinished,
    RunProgressed,
    TextSent,
)
from bot.engine.groups import playing as groups
from bot.engine.known import Dice, Known
from bot.engine.letters import whole
from bot.engine.linking import asking as linking
from bot.engine.moment import Moment
from bot.engine.reminders import digests
from bot.engine.session import Session
from bot.engine.teaching import telling
from bot.engine.wording import Wording
from content.schema import Course


def take_turn(  # noqa: PLR0913 - everything a turn depends on is an argument
    session: Session, event: Event, known: Known, course: Course, now: datetime, dice: Dice
) -> Turn:
    """Answer one event.

    Args:
        session: the learner's place before the event.
        event: what happened; its texts and payloads are untrusted.
        known: the rows that `known.needs(session, event)` named, and what the runner can do.
        course: the course in service.
        now: the time, in UTC and aware.
        dice: chance and fresh identities.
    """
    moment = Moment(session, known, course, Wording(course.phrases), now, dice)
    event = _storable(event)
    match event:
        case RunProgressed():
            return runs.progressed(moment, event)
        case RunFinished():
            return runs.finished(moment, event)
        case CodeChecked():
            return code.checked(moment, event)
        case DigestFellDue() | ChatBlocked():
            return digests.fell_due(moment) if isinstance(event, DigestFellDue) else digests.blocked(moment)
        case ReportMade():
            return telling.made(moment, event)
        case AccountsJoined():
            return linking.joined(moment)
        case Phrased():
            return rephrased.came(moment, event)
        case GroupAsked() | GroupPressed() | GroupFellDue():
            return groups.taken(moment, event)
        case IncidentTold():
            return incidents.told(moment, event)
        case ChatOpened() | TextSent() | CodeSent() | FileSent() | OddSent() | ButtonPressed():
            if doubles.twice(session, event, now):
                return Turn(session)
            moment, back = digests.returned(moment)
            settled, notice = settling.settled(moment)
            turn = _still_told(settled.session, _answered(settled, event)).after(*back, *notice)
            return doubles.noted(session, event, turn, now)
        case never:
            assert_never(never)


def _storable(event: Event) -> Event:
    """Give the event without halves of characters, which some clients cut off and no store takes."""
    match event:
        case TextSent(text, entities):
            marks = tuple(replace(mark, language=whole(mark.language)) for mark in entities)
            return TextSent(whole(text), marks)
        case CodeSent(source, filename, measure):
            return CodeSent(whole(source), whole(filename), measure)
        case FileSent(name, data):
            return FileSent(whole(name), data)
        case _:
            return event


def _answered(moment: Moment, event: ChatOpened | TextSent | CodeSent | FileSent | OddSent | ButtonPressed) -> Turn:
    match event:
        case ChatOpened():
            return help.greeted(moment)
        case TextSent():
            return hearing.heard(moment, event)
        case CodeSent():
            return code.sent_by_editor(moment, event)
        case FileSent():
            return code.sent_as_file(moment, event)
        case OddSent(kind):
            return help.odd(moment, kind)
        case ButtonPressed(payload):
            return pressing.pressed(moment, payload)
        case never:
            assert_never(never)


def _still_told(before: Session, turn: Turn) -> Turn:
    """Forget which section or run was told when the talk went on to another place or question."""
    after = turn.session
    if (after.place, after.asked) == (before.place, before.asked):
        return turn
    told = after.told if after.told != before.told else None
    return Turn(after.with_(told=told, ran=False, phrasing="" if told is None else after.phrasing), turn.effects)
