"""Codes that join accounts, and the joining itself: two learners become one, in the transaction of the turn that asks.

Law: both learners are locked in one order before anything is read; every chat of theirs gets another revision, so that
no turn that began before is saved after. Whatever names a learner is named in `UNITED`, or simply changes hands.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, assert_never

from sqlalchemy import Table, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import effects
from bot.engine import session as sessions
from bot.engine.linking import rows, uniting
from bot.engine.linking.rows import FoundLink, Linking
from bot.engine.remembering import memory
from bot.engine.remembering.kept import CardRow
from bot.engine.remembering.mastery import Difficulty, Topic
from bot.engine.remembering.memory import Grade
from bot.engine.remembering.streaks import Streak
from bot.stores import learned, locks, owned, remembering, reminding, tables, visiting

UNITED = frozenset(
    {
        "learners",
        "chats",
        "cards",
        "reviews",
        "topics",
        "streaks",
        "votes",
        "board_names",
        "wishes",
        "visits",
        "links",
        "guesses",
    }
)
"""Tables whose rows of two learners cannot both stand, or not as they are; all others change hands as they are."""


class UsedMeanwhileError(Exception):
    """The code was used, taken back or ran out since the turn looked."""


async def locked(connection: AsyncConnection, chat: str, turn: effects.Turn) -> None:
    """Wait for whatever else is written of the chat's learner, and of the one whom the turn joins to them."""
    joins = [row for row in _rows(turn) if isinstance(row, rows.JoinLearners)]
    if not joins:
        await locks.learner_of(connection, chat)
        return
    links, chats = learned.links, tables.chats
    theirs = select(links.c.learner).where(links.c.code == joins[0].code)
    mine = select(chats.c.learner).where(chats.c.id == chat)
    both = {*(await connection.execute(theirs)).scalars(), *(await connection.execute(mine)).scalars()}
    for learner in sorted(both):
        await locks.learner(connection, learner)


def _rows(turn: effects.Turn) -> Iterable[effects.Row]:
    return (row for effect in turn.effects if isinstance(effect, effects.Record) for row in effect.rows)


async def session_of(connection: AsyncConnection, chat: str, turn: effects.Turn) -> sessions.Session:
    """Give the session to be saved: that of the turn, with what the one who was joined by it has visited."""
    if not any(isinstance(row, rows.JoinLearners) for row in _rows(turn)):
        return turn.session
    stored = select(tables.chats.c.session).where(tables.chats.c.id == chat)
    united = visiting.session_of((await connection.execute(stored)).scalar_one())
    return turn.session if united is None else turn.session.with_(visited=united.visited)


async def load(connection: AsyncConnection, chat: str, code: str) -> Linking:
    """Give what a turn on a code looks at; whether a code ran out is told by its time."""
    accounts, links, guesses, chats = tables.accounts, learned.links, learned.guesses, tables.chats
    learner = (await connection.execute(select(chats.c.learner).where(chats.c.id == chat))).scalar_one_or_none()
    if learner is None:
        return Linking()
    names = (await connection.execute(select(accounts.c.platform).where(accounts.c.learner == learner))).scalars()
    wrong = (await connection.execute(select(guesses).where(guesses.c.learner == learner))).one_or_none()
    found = None
    if code:
        wanted = (
            select(links, chats.c.platform)
            .join(chats, chats.c.id == links.c.chat)
            .where(links.c.code == code, links.c.used.is_(False))
        )
        row = (await connection.execute(wanted)).one_or_none()
        found = FoundLink(row.chat, row.platform, row.made_at, row.learner == learner) if row else None
    return Linking(
        private=await owned.is_private(connection, chat),
        platforms=tuple(sorted(names)),
        missed=wrong.wrong if wrong else 0,
        since=wrong.since if wrong else None,
        found=found,
    )


async def keep(connection: AsyncConnection, chat: str, row: rows.Row) -> None:
    """Keep a row of a turn.

    Raises:
        UsedMeanwhileError: when a code that joins is worth nothing any more.
    """
    links, guesses, chats = learned.links, learned.guesses, tables.chats
    learner = str((await connection.execute(select(chats.c.learner).where(chats.c.id == chat))).scalar_one())
    match row:
        case rows.OfferLink(code, at):
            await connection.execute(delete(links).where(links.c.learner == learner))
            await connection.execute(
                insert(links).values(learner=learner, chat=chat, code=code, used=False, made_at=at)
            )
        case rows.DropLink(code):
            unused = (links.c.code == code) & links.c.used.is_(False)
            await connection.execute(delete(links).where(unused if code else links.c.learner == learner))
        case rows.MissLink(at):
            before = (await connection.execute(select(guesses).where(guesses.c.learner == learner))).one_or_none()
            goes_on = before is not None and at - before.since < rows.FORGIVEN
            values = (
                {"wrong": before.wrong + 1, "since": before.since} if before and goes_on else {"wrong": 1, "since": at}
            )
            await connection.execute(delete(guesses).where(guesses.c.learner == learner))
            await connection.execute(insert(guesses).values(learner=learner, **values))
        case rows.JoinLearners():
            await _join(connection, chat, learner, row)
        case _:
            assert_never(row)


async def joined(connection: AsyncConnection, platforms: Sequence[str]) -> tuple[tuple[str, datetime], ...]:
    """Give the chats whose code was used and that were not told, each with when the code was given."""
    links, chats = learned.links, tables.chats
    wanted = (
        select(links.c.chat, links.c.made_at)
        .join(chats, chats.c.id == links.c.chat)
        .where(links.c.used, chats.c.platform.in_(platforms))
    )
    return tuple((row.chat, row.made_at) for row in await connection.execute(wanted))


# --- joining ----------------------------------------------------------------------------------------------------------


async def _join(connection: AsyncConnection, chat: str, mine: str, row: rows.JoinLearners) -> None:
    links = learned.links
    unused = (links.c.code == row.code) & links.c.used.is_(False)
    found = (await connection.execute(select(links).where(unused))).one_or_none()
    if found is None or found.learner == mine or row.at - found.made_at >= rows.LIVES:
        raise UsedMeanwhileError
    other = str(found.learner)
    await _wishes(connection, mine, other, row.at)
    zone, off = await _days(connection, mine)
    await _streak(connection, mine, other, zone, off)  # while the logs are still two
    await _topics(connection, mine, other, zone, row.topics)
    await _cards(connection, mine, other)
    await _votes(connection, mine, other)
    await _visits(connection, mine, other)
    await _first_alone(connection, learned.board_names, mine, other)
    await connection.execute(delete(links).where(links.c.learner == mine))
    await connection.execute(update(links).where(links.c.learner == other).values(learner=mine, used=True))
    await connection.execute(delete(learned.guesses).where(learned.guesses.c.learner.in_((mine, other))))
    await _sessions(connection, chat, mine, other)
    for table in tables.metadata.sorted_tables:
        if "learner" in table.c and table.name not in UNITED:
            await connection.execute(update(table).where(table.c.learner == other).values(learner=mine))
    await connection.execute(delete(tables.learners).where(tables.learners.c.id == other))


async def _sessions(connection: AsyncConnection, chat: str, mine: str, other: str) -> None:
    """Give all chats to one learner, under one name outside the store, with what was visited in any of them."""
    table = tables.chats
    found = (await connection.execute(select(table).where(table.c.learner.in_((mine, other))))).all()
    read = {row.id: loaded for row in found if (loaded := visiting.session_of(row.session)) is not None}
    visited = tuple(dict.fromkeys(stop for loaded in read.values() for stop in loaded.visited))
    name = next((read[row.id].learner for row in found if row.learner == mine and row.id in read), "")
    for row in found:
        values: dict[str, Any] = {"learner": mine}
        if row.id != chat:
            values["revision"] = row.revision + 1  # what a turn began there before is not saved after
        if row.id in read:
            there = read[row.id].with_(visited=visited, **({"learner": name} if name else {}))
            values["session"] = sessions.to_json(there)
        await connection.execute(update(table).where(table.c.id == row.id).values(**values))


async def _wishes(connection: AsyncConnection, mine: str, other: str, at: datetime) -> None:
    table = learned.wishes
    found = {
        row.learner: row for row in await connection.execute(select(table).where(table.c.learner.in_((mine, other))))
    }
    if other not in found:
        return
    here = reminding.wishes_of(found[mine]) if mine in found else None
    united = uniting.wishes(here, reminding.wishes_of(found[other]), at)
    cap = found[mine if mine in found else other].daily_cap
    await connection.execute(delete(table).where(table.c.learner.in_((mine, other))))
    if united is not None:
        values = reminding.values_of(united)
        await connection.execute(insert(table).values(learner=mine, daily_cap=cap, **values))


async def _days(connection: AsyncConnection, learner: str) -> tuple[str, frozenset[int]]:
    table = learned.wishes
    wanted = select(table.c.zone, table.c.days_off).where(table.c.learner == learner)
    row = (await connection.execute(wanted)).one_or_none()
    return (row.zone or "UTC", remembering.off_of(row.days_off)) if row else ("UTC", frozenset())


async def _streak(connection: AsyncConnection, mine: str, other: str, zone: str, off: frozenset[int]) -> None:
    table, reviews, both = learned.streaks, learned.reviews, (mine, other)
    found = (await connection.execute(select(table).where(table.c.learner.in_(both)))).all()
    if not found:
        return
    graded = (await connection.execute(select(reviews.c.reviewed_at).where(reviews.c.learner.in_(both)))).scalars()
    moments = [*graded, *(each.at for each in await _answers(connection, both, None))]
    kept = [Streak(row.days, row.last_day, row.freezes, row.week) for row in found]
    united = uniting.streak(kept, moments, zone, off)
    values = {"days": united.days, "last_day": united.last_day, "freezes": united.freezes, "week": united.week}
    await connection.execute(delete(table).where(table.c.learner.in_(both)))
    await connection.execute(insert(table).values(learner=mine, **values))


async def _answers(
    connection: AsyncConnection, learners: Sequence[str], items: Iterable[str] | None
) -> tuple[uniting.Answer, ...]:
    """Give the answers that closed items; a right one without help has the whole credit."""
    asks, chats = tables.asks, tables.chats
    closed = asks.c.answered_at.is_not(None) & asks.c.credit.is_not(None) & (asks.c.kind == "item")
    wanted = (
        select(chats.c.learner, asks.c.item, asks.c.rev, asks.c.credit, asks.c.answered_at)
        .join(chats, chats.c.id == asks.c.chat)
        .where(chats.c.learner.in_(learners), closed)
    )
    if items is not None:
        wanted = wanted.where(asks.c.item.in_(tuple(items)))
    found = (await connection.execute(wanted)).all()
    return tuple(uniting.Answer(row.learner, row.item, row.rev, row.credit >= 1, row.answered_at) for row in found)


async def _topics(connection: AsyncConnection, mine: str, other: str, zone: str, items: Mapping[str, str]) -> None:
    table, both = learned.topics, (mine, other)
    found: dict[str, list[Any]] = {}
    for row in await connection.execute(select(table).where(table.c.learner.in_(both))):
        found.setdefault(row.topic, []).append(row)
    shared = {topic for topic, those in found.items() if len(those) > 1}
    wanted = [item for item, topic in items.items() if topic in shared]
    log = await _answers(connection, both, wanted) if wanted else ()
    hard = {
        row.item: Difficulty(row.difficulty, row.answers)
        for row in await connection.execute(select(learned.difficulties).where(learned.difficulties.c.item.in_(wanted)))
    }
    for topic in shared:
        those = found[topic]
        known = [(row.learner, Topic(row.theta, row.answers, row.firsts, row.days, row.last_day)) for row in those]
        united = uniting.topic(known, (each for each in log if items.get(each.item) == topic), hard, zone)
        values = {name: getattr(united, name) for name in ("theta", "answers", "firsts", "days", "last_day")}
        values["changed_at"] = max(row.changed_at for row in those)
        await connection.execute(delete(table).where(table.c.learner == other, table.c.topic == topic))
        await connection.execute(update(table).where(table.c.learner == mine, table.c.topic == topic).values(**values))
    await _handed(connection, table, mine, other)


async def _cards(connection: AsyncConnection, mine: str, other: str) -> None:
    """Grade anew, in the order of time, every card that both have met."""
    cards, reviews, both = learned.cards, learned.reviews, (mine, other)
    found: dict[str, dict[str, CardRow]] = {}
    for row in await connection.execute(select(cards).where(cards.c.learner.in_(both))):
        there = CardRow(row.card, row.rev, memory.from_json(row.memory), row.due, row.suspended)
        found.setdefault(row.card, {})[row.learner] = there
    shared = {card: those for card, those in found.items() if len(those) > 1}
    standing = select(reviews).where(reviews.c.learner.in_(both), reviews.c.undone.is_(False))
    log: dict[str, list[uniting.Review]] = {card: [] for card in shared}
    for row in (await connection.execute(standing)).all() if shared else ():
        if row.card in shared:
            before = memory.from_json(row.memory_before or "")
            grade = Grade(row.rating)
            log[row.card].append(uniting.Review(row.id, row.learner, row.rev, grade, row.reviewed_at, before))
    for card, those in shared.items():
        united, met = uniting.card(those[mine], those[other], log[card])
        for each in met:
            text = memory.to_json(each.before) if each.before else None
            await connection.execute(update(reviews).where(reviews.c.id == each.id).values(memory_before=text))
        values = {
            "rev": united.rev,
            "memory": memory.to_json(united.memory) if united.memory else "",
            "due": united.due,
        }
        await connection.execute(delete(cards).where(cards.c.learner == other, cards.c.card == card))
        await connection.execute(update(cards).where(cards.c.learner == mine, cards.c.card == card).values(**values))
    await _handed(connection, cards, mine, other)
    await _handed(connection, reviews, mine, other)


async def _votes(connection: AsyncConnection, mine: str, other: str) -> None:
    """Let the first vote on the newest revision stand."""
    table = learned.votes
    found: dict[str, list[Any]] = {}
    for row in await connection.execute(select(table).where(table.c.learner.in_((mine, other)))):
        found.setdefault(row.myth, []).append(row)
    for myth, those in found.items():
        if len(those) > 1:
            lost = max(those, key=lambda row: (-row.rev, row.voted_at, row.learner))
            await connection.execute(delete(table).where(table.c.learner == lost.learner, table.c.myth == myth))
    await _handed(connection, table, mine, other)


async def _visits(connection: AsyncConnection, mine: str, other: str) -> None:
    table = learned.visits
    found: dict[str, list[Any]] = {}
    for row in await connection.execute(select(table).where(table.c.learner.in_((mine, other)))):
        found.setdefault(row.stop, []).append(row)
    for stop, those in found.items():
        if len(those) > 1:
            later = max(those, key=lambda row: (row.first_at, row.learner))
            await connection.execute(delete(table).where(table.c.learner == later.learner, table.c.stop == stop))
    await _handed(connection, table, mine, other)


async def _first_alone(connection: AsyncConnection, table: Table, mine: str, other: str) -> None:
    """Of a table with one row a learner keep the one of here; the other's where here is none."""
    if (await connection.execute(select(table.c.learner).where(table.c.learner == mine))).first() is not None:
        await connection.execute(delete(table).where(table.c.learner == other))
    await _handed(connection, table, mine, other)


async def _handed(connection: AsyncConnection, table: Table, mine: str, other: str) -> None:
    await connection.execute(update(table).where(table.c.learner == other).values(learner=mine))
