"""Keeps what a learner remembers and knows: cards, reviews, topics, streaks, visits, complaints; and loads them.

Law: what was before is read under the writing transaction's own lock, and `bot.engine.remembering` alone says what
comes of it; a row about a learner is found by the chat that the turn is of.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, assert_never

from sqlalchemy import (
    ColumnElement,
    Row,
    ScalarSelect,
    Select,
    Table,
    and_,
    delete,
    func,
    insert,
    not_,
    select,
    union_all,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import days
from bot.engine.remembering import mastery, memory, rows, streaks
from bot.engine.remembering.kept import CAP, CardRow, Remembered
from bot.engine.remembering.mastery import Difficulty, Topic
from bot.engine.remembering.streaks import Streak
from bot.stores import learned, tables

_MOST_REVIEWS = 400
"""Reviews of late that are loaded: more than any daily cap."""
_WISHES: Mapping[str, Any] = {
    "zone": "UTC",
    "reminders": False,
    "remind_minute": 17 * 60,
    "quiet_from": 22 * 60,
    "quiet_to": 8 * 60,
    "daily_cap": CAP,
    "days_off": "",
    "last_day": "",
    "unanswered": 0,
    "leased_by": "",
}
"""A learner's wishes before any was told."""


# --- what a turn looks at ---------------------------------------------------------------------------------------------


async def card_of(connection: AsyncConnection, chat: str, card: str) -> CardRow | None:
    """Load what is remembered of one card."""
    table = learned.cards
    wanted = select(table).where(table.c.learner == _learner(chat), table.c.card == card)
    row = (await connection.execute(wanted)).one_or_none()
    return _card(row) if row else None


def queue_of(learner: ColumnElement[str] | ScalarSelect[str] | str) -> Select[Any]:
    """Select a learner's cards as they come: those held back last, the others by when they are due."""
    table = learned.cards
    return select(table).where(table.c.learner == learner).order_by(table.c.suspended, table.c.due)


def due_of(learner: str, now: datetime, most: int) -> Select[Any]:
    """Select the cards that are due, oldest first."""
    table = learned.cards
    due = and_(table.c.learner == learner, not_(table.c.suspended), table.c.due <= now)
    return select(table.c.card, table.c.rev, table.c.due).where(due).order_by(table.c.due).limit(most)


async def load(connection: AsyncConnection, chat: str) -> Remembered:
    """Load everything that is kept of the learner whose chat this is."""
    chats, asks, wishes = tables.chats, tables.asks, learned.wishes
    found = (
        await connection.execute(
            select(chats.c.learner, wishes.c.zone, wishes.c.daily_cap, wishes.c.days_off)
            .select_from(chats.outerjoin(wishes, wishes.c.learner == chats.c.learner))
            .where(chats.c.id == chat)
        )
    ).one_or_none()
    if found is None:
        return Remembered()
    learner: str = found.learner
    cards = (await connection.execute(queue_of(learner))).all()
    topics = (await connection.execute(select(learned.topics).where(learned.topics.c.learner == learner))).all()
    items = (await connection.execute(select(learned.difficulties))).all()
    own = asks.c.chat.in_(select(chats.c.id).where(chats.c.learner == learner))
    closed = select(asks.c.misconception).where(own, asks.c.misconception != "")
    missed = select(learned.misses.c.misconception).where(
        learned.misses.c.learner == learner, learned.misses.c.misconception != ""
    )
    each = union_all(closed, missed).subquery()
    shown = (await connection.execute(select(each.c.misconception, func.count()).group_by(each.c.misconception))).all()
    streak = await _streak(connection, learner)
    reviews = learned.reviews
    late = (
        await connection.execute(
            select(reviews.c.reviewed_at)
            .where(reviews.c.learner == learner, reviews.c.was_due, not_(reviews.c.undone))
            .order_by(reviews.c.reviewed_at.desc())
            .limit(_MOST_REVIEWS)
        )
    ).scalars()
    return Remembered(
        cards=tuple(_card(row) for row in cards),
        topics={row.topic: _topic(row) for row in topics},
        difficulties={row.item: Difficulty(row.difficulty, row.answers) for row in items},
        misconceptions={str(name): int(count) for name, count in shown},
        streak=streak,
        reviews=tuple(late),
        zone=found.zone or "UTC",
        cap=CAP if found.daily_cap is None else found.daily_cap,
        off=_off(found.days_off),
    )


# --- what a turn keeps ------------------------------------------------------------------------------------------------


async def learn(connection: AsyncConnection, chat: str, what: rows.Learned) -> None:
    """Keep what the answer that closed an ask says of its learner."""
    learner, zone, off = await _who(connection, chat)
    day = days.day_of(what.at, zone)
    match what:
        case rows.Answered():
            await _answered(connection, learner, what, day)
        case rows.Reviewed():
            await _reviewed(connection, learner, what)
        case _:
            assert_never(what)
    before = await _streak(connection, learner)
    after = streaks.practised(before, day, off)
    if after != before:
        values = {"days": after.days, "last_day": after.last_day, "freezes": after.freezes, "week": after.week}
        await _put(connection, learned.streaks, {"learner": learner}, values)


async def keep(connection: AsyncConnection, chat: str, row: rows.Row, now: datetime) -> None:
    """Keep another row of a turn."""
    learner = await _learner_id(connection, chat)
    match row:
        case rows.UndoReview():
            await _undo(connection, learner, chat, row)
        case rows.SuspendCard(card, rev, suspended, at):
            fresh = {"rev": rev, "memory": "", "due": at}
            await _put(connection, learned.cards, {"learner": learner, "card": card}, {"suspended": suspended}, fresh)
        case rows.MoveCard():
            await _move(connection, learner, row)
        case rows.SetCap(cap):
            fresh = {name: value for name, value in _WISHES.items() if name != "daily_cap"}
            await _put(connection, learned.wishes, {"learner": learner}, {"daily_cap": cap}, fresh)
        case rows.Complain():
            await _complain(connection, learner, row, now)
        case rows.Visited(stop):
            visited = _insert(connection, learned.visits).values(learner=learner, stop=stop, first_at=now)
            await connection.execute(visited.on_conflict_do_nothing())
        case _:
            assert_never(row)


async def _answered(connection: AsyncConnection, learner: str, what: rows.Answered, day: date) -> None:
    table, items = learned.topics, learned.difficulties
    found = select(table).where(table.c.learner == learner, table.c.topic == what.topic)
    row = (await connection.execute(found)).one_or_none()
    # Items are everyone's: the row is made first and then locked, where the database locks rows.
    fresh = _insert(connection, items).values(item=what.item, rev=what.rev, difficulty=0.0, answers=0)
    await connection.execute(fresh.on_conflict_do_nothing())
    locked = select(items).where(items.c.item == what.item).with_for_update()
    item = (await connection.execute(locked)).one()
    same = item.rev == what.rev
    topic, hard = mastery.answered(
        _topic(row) if row else Topic(),
        Difficulty(item.difficulty, item.answers) if same else Difficulty(),
        first=what.first,
        day=day,
    )
    values = {
        "theta": topic.theta,
        "answers": topic.answers,
        "firsts": topic.firsts,
        "days": topic.days,
        "last_day": topic.last_day,
        "changed_at": what.at,
    }
    await _put(connection, table, {"learner": learner, "topic": what.topic}, values)
    await connection.execute(
        update(items).where(items.c.item == what.item).values(rev=what.rev, difficulty=hard.value, answers=hard.answers)
    )


async def _reviewed(connection: AsyncConnection, learner: str, what: rows.Reviewed) -> None:
    table = learned.cards
    mine = (table.c.learner == learner) & (table.c.card == what.card)
    row = (await connection.execute(select(table).where(mine))).one_or_none()
    before = memory.from_json(row.memory) if row else None
    after = memory.graded(before, what.grade, what.rev, what.at)
    values = {"rev": what.rev, "memory": memory.to_json(after), "due": after.due}
    await _put(connection, table, {"learner": learner, "card": what.card}, values, {"suspended": False})
    await connection.execute(
        insert(learned.reviews).values(
            id=what.review,
            learner=learner,
            card=what.card,
            rev=what.rev,
            rating=what.grade.value,
            memory_before=row.memory if row and before else None,
            was_due=row is not None and (row.due <= what.at or row.rev < what.rev),
            undone=False,
            reviewed_at=what.at,
        )
    )


async def _undo(connection: AsyncConnection, learner: str, chat: str, what: rows.UndoReview) -> None:
    reviews, cards, asks = learned.reviews, learned.cards, tables.asks
    mine = (reviews.c.id == what.review) & (reviews.c.learner == learner) & not_(reviews.c.undone)
    row = (await connection.execute(select(reviews).where(mine))).one_or_none()
    if row is None:
        return
    await connection.execute(update(reviews).where(reviews.c.id == what.review).values(undone=True))
    before = memory.from_json(row.memory_before) if row.memory_before else None
    values = (
        {"memory": "", "due": row.reviewed_at}
        if before is None
        else {"memory": row.memory_before, "due": before.due, "rev": before.rev}
    )
    await connection.execute(update(cards).where(cards.c.learner == learner, cards.c.card == row.card).values(**values))
    await connection.execute(
        update(asks).where(asks.c.id == what.ask, asks.c.chat == chat).values(answer="", credit=None, answered_at=None)
    )


async def _move(connection: AsyncConnection, learner: str, what: rows.MoveCard) -> None:
    table = learned.cards
    mine = table.c.learner == learner
    found = select(table).where(mine, table.c.card.in_((what.card, what.heir)))
    kept = {row.card: row for row in (await connection.execute(found)).all()}
    old = kept.get(what.card)
    if old is None:
        return
    if what.heir in kept:
        await connection.execute(delete(table).where(mine, table.c.card == what.card))
        return
    before = memory.from_json(old.memory)
    carried = memory.to_json(replace(before, rev=what.rev)) if before else ""
    moved = update(table).where(mine, table.c.card == what.card)
    await connection.execute(moved.values(card=what.heir, rev=what.rev, memory=carried))


async def _complain(connection: AsyncConnection, learner: str, row: rows.Complain, now: datetime) -> None:
    table = learned.complaints
    same = (table.c.learner == learner) & (table.c.item == row.item) & (table.c.rev == row.rev)
    said = await connection.execute(select(table.c.id).where(same, table.c.text == row.text, not_(table.c.settled)))
    if said.first() is None:
        await connection.execute(
            insert(table).values(
                id=row.complaint, learner=learner, item=row.item, rev=row.rev, text=row.text, settled=False, made_at=now
            )
        )


# --- one row ----------------------------------------------------------------------------------------------------------


def _learner(chat: str) -> ScalarSelect[str]:
    return select(tables.chats.c.learner).where(tables.chats.c.id == chat).scalar_subquery()


async def _learner_id(connection: AsyncConnection, chat: str) -> str:
    found = select(tables.chats.c.learner).where(tables.chats.c.id == chat)
    return str((await connection.execute(found)).scalar_one())


async def _who(connection: AsyncConnection, chat: str) -> tuple[str, str, frozenset[int]]:
    """Give the chat's learner, their zone, and their days off."""
    chats, wishes = tables.chats, learned.wishes
    wanted = (
        select(chats.c.learner, wishes.c.zone, wishes.c.days_off)
        .select_from(chats.outerjoin(wishes, wishes.c.learner == chats.c.learner))
        .where(chats.c.id == chat)
    )
    row = (await connection.execute(wanted)).one()
    return row.learner, row.zone or "UTC", _off(row.days_off)


def _off(text: str | None) -> frozenset[int]:
    """Read the digits of the days off, Monday being 0."""
    return frozenset(int(each) for each in text or "" if each in "0123456")


def _card(row: Row[Any]) -> CardRow:
    return CardRow(row.card, row.rev, memory.from_json(row.memory), row.due, row.suspended)


def _topic(row: Row[Any]) -> Topic:
    return Topic(row.theta, row.answers, row.firsts, row.days, row.last_day)


async def _streak(connection: AsyncConnection, learner: str) -> Streak:
    row = (await connection.execute(select(learned.streaks).where(learned.streaks.c.learner == learner))).one_or_none()
    return Streak(row.days, row.last_day, row.freezes, row.week) if row else Streak()


def _insert(connection: AsyncConnection, table: Table) -> Any:  # noqa: ANN401 - the two dialects share no type for it
    return (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)


async def _put(
    connection: AsyncConnection,
    table: Table,
    key: Mapping[str, Any],
    values: Mapping[str, Any],
    fresh: Mapping[str, Any] | None = None,
) -> None:
    """Set the values of a row, which is made with what is `fresh` when it is not there."""
    put = _insert(connection, table).values(**key, **values, **(fresh or {}))
    await connection.execute(put.on_conflict_do_update(index_elements=list(key), set_=dict(values)))
