"""Keeps what a learner remembers and knows: cards, reviews, topics, streaks, visits, complaints; and loads them.

Law: what was before is read under the writing transaction's own lock, and `bot.engine.remembering` alone says what
comes of it; a row about a learner is found by the chat that the turn is of.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
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
from bot.stores import learned, tables, visiting

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
    found = (await connection.execute(_who(chat).add_columns(wishes.c.daily_cap))).one_or_none()
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
        streak=_streak(found),
        reviews=tuple(late),
        zone=found.zone or "UTC",
        cap=CAP if found.daily_cap is None else found.daily_cap,
        off=off_of(found.days_off),
    )


# --- what a turn keeps ------------------------------------------------------------------------------------------------


async def learn(connection: AsyncConnection, chat: str, what: rows.Learned) -> None:
    """Keep what the answer that closed an ask says of its learner."""
    match what:
        case rows.Answered():
            found = await _answered(connection, chat, what)
        case rows.Reviewed():
            found = await _reviewed(connection, chat, what)
        case _:
            assert_never(what)
    before = _streak(found)
    after = streaks.practised(before, days.day_of(what.at, found.zone or "UTC"), off_of(found.days_off))
    if after != before:
        values = {"days": after.days, "last_day": after.last_day, "freezes": after.freezes, "week": after.week}
        await _put(connection, learned.streaks, {"learner": found.learner}, values)


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
            await visiting.elsewhere(connection, chat, learner, stop)
            await visiting.elsewhere(connection, chat, learner, stop)
        case _:
            assert_never(row)


async def _answered(connection: AsyncConnection, chat: str, what: rows.Answered) -> Row[Any]:
    topics, items = learned.topics, learned.difficulties
    wanted = _who(chat, topics, topics.c.topic == what.topic).add_columns(
        topics.c.theta, topics.c.answers, topics.c.firsts, topics.c.days, topics.c.last_day
    )
    found = (await connection.execute(wanted)).one()
    # Items are everyone's: the row is made, or else locked where the database locks rows, and given as it stands.
    fresh = _insert(connection, items).values(item=what.item, rev=what.rev, difficulty=0.0, answers=0)
    same = fresh.on_conflict_do_update(index_elements=["item"], set_={"item": items.c.item})
    item = (await connection.execute(same.returning(items.c.rev, items.c.difficulty, items.c.answers))).one()
    topic, hard = mastery.answered(
        Topic() if found.theta is None else _topic(found),
        Difficulty(item.difficulty, item.answers) if item.rev == what.rev else Difficulty(),
        first=what.first,
        day=days.day_of(what.at, found.zone or "UTC"),
    )
    values = {
        "theta": topic.theta,
        "answers": topic.answers,
        "firsts": topic.firsts,
        "days": topic.days,
        "last_day": topic.last_day,
        "changed_at": what.at,
    }
    await _put(connection, topics, {"learner": found.learner, "topic": what.topic}, values)
    moved = {"rev": what.rev, "difficulty": hard.value, "answers": hard.answers}
    await connection.execute(update(items).where(items.c.item == what.item).values(**moved))
    return found


async def _reviewed(connection: AsyncConnection, chat: str, what: rows.Reviewed) -> Row[Any]:
    table = learned.cards
    wanted = _who(chat, table, table.c.card == what.card).add_columns(table.c.rev, table.c.memory, table.c.due)
    row = (await connection.execute(wanted)).one()
    before = memory.from_json(row.memory or "")
    after = memory.graded(before, what.grade, what.rev, what.at)
    values = {"rev": what.rev, "memory": memory.to_json(after), "due": after.due}
    await _put(connection, table, {"learner": row.learner, "card": what.card}, values, {"suspended": False})
    await connection.execute(
        insert(learned.reviews).values(
            id=what.review,
            learner=row.learner,
            card=what.card,
            rev=what.rev,
            rating=what.grade.value,
            memory_before=row.memory if before else None,
            was_due=row.rev is not None and (row.due <= what.at or row.rev < what.rev),
            undone=False,
            reviewed_at=what.at,
        )
    )
    return row


async def _undo(connection: AsyncConnection, learner: str, chat: str, what: rows.UndoReview) -> None:
    reviews, cards, asks = learned.reviews, learned.cards, tables.asks
    mine = (reviews.c.id == what.review) & (reviews.c.learner == learner) & not_(reviews.c.undone)
    row = (await connection.execute(select(reviews).where(mine))).one_or_none()
    if row is None:
        return
    again = (reviews.c.card == row.card) & (reviews.c.reviewed_at > row.reviewed_at) & not_(reviews.c.undone)
    later = await connection.execute(select(reviews.c.id).where(reviews.c.learner == learner, again).limit(1))
    if later.first() is not None:
        return  # another device graded the card since: what was before that is no longer what was before this
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


def _who(chat: str, also: Table | None = None, on: ColumnElement[bool] | None = None) -> Select[Any]:
    """Select the chat's learner with zone, days off and streak, and their row of another table, if it is there."""
    chats, wishes, rows_of = tables.chats, learned.wishes, learned.streaks
    source = chats.outerjoin(wishes, wishes.c.learner == chats.c.learner)
    source = source.outerjoin(rows_of, rows_of.c.learner == chats.c.learner)
    if also is not None and on is not None:
        source = source.outerjoin(also, (also.c.learner == chats.c.learner) & on)
    streak = (getattr(rows_of.c, name).label(f"streak_{name}") for name in ("days", "last_day", "freezes", "week"))
    return (
        select(chats.c.learner, wishes.c.zone, wishes.c.days_off, *streak).select_from(source).where(chats.c.id == chat)
    )


def off_of(text: str | None) -> frozenset[int]:
    """Read the digits of the days off, Monday being 0."""
    return frozenset(int(each) for each in text or "" if each in "0123456")


def _card(row: Row[Any]) -> CardRow:
    return CardRow(row.card, row.rev, memory.from_json(row.memory), row.due, row.suspended)


def _topic(row: Row[Any]) -> Topic:
    return Topic(row.theta, row.answers, row.firsts, row.days, row.last_day)


def _streak(row: Row[Any]) -> Streak:
    if row.streak_days is None:
        return Streak()
    return Streak(row.streak_days, row.streak_last_day, row.streak_freezes, row.streak_week)


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
