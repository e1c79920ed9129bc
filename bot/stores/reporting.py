"""Gathers the teacher's report: the first answers of every item, wrong answers, visits, questions, complaints.

Law: it reads only; no learner's id leaves it but as the hash that the store gives; rows are streamed, so that memory
grows with the items and not with the learners.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import course_map
from bot.engine.teaching.figures import (
    SKIPPED,
    Complaint,
    First,
    ItemFigures,
    Report,
    StopFigures,
    Tally,
    Unanswered,
    counted,
)
from bot.stores import tables
from bot.stores.learned import complaints, misses, questions, visits
from content.schema import Course, Item, Lesson

MOST_QUESTIONS = 200
"""Unanswered questions that are listed, the newest first."""
MOST_WORDS = 50
_WORDS_FROM = 20_000
"""Newest questions whose unmatched words are counted."""
_MOST_ANSWERS = 40
"""Different answers of an item that are listed, the commonest first."""
_CHUNK = 1000

Key = tuple[str, int]


async def accounts(connection: AsyncConnection, chat: str) -> tuple[str, ...]:
    """Give the accounts of a chat's learner, as `platform:external`."""
    chats, owned = tables.chats, tables.accounts
    learner = select(chats.c.learner).where(chats.c.id == chat).scalar_subquery()
    wanted = select(owned.c.platform, owned.c.external).where(owned.c.learner == learner)
    rows = (await connection.execute(wanted)).all()
    return tuple(f"{row.platform}:{row.external}" for row in rows)


async def gathered(connection: AsyncConnection, hashed: Callable[[str], str], course: Course, now: datetime) -> Report:
    """Gather the report of a course, at one moment where the database can."""
    if connection.dialect.name != "sqlite":
        await connection.execution_options(isolation_level="REPEATABLE READ")
    try:
        return await _gathered(connection, hashed, course, now)
    finally:
        await connection.rollback()


async def _gathered(connection: AsyncConnection, hashed: Callable[[str], str], course: Course, now: datetime) -> Report:
    learners = (await connection.execute(select(func.count()).select_from(tables.learners))).scalar_one()
    tallies = await _tallies(connection)
    answers, beliefs = await _answers(connection)
    bands, astray = await _bands(connection)
    stops = [stop for lesson in course.lessons for stop in await _stops(connection, lesson)]
    return Report(
        made_at=now,
        learners=int(learners),
        items=_items(course, tallies, answers, beliefs),
        stops=tuple(stops),
        bands=bands,
        led_astray=astray,
        unanswered=await _unanswered(connection, hashed),
        unmatched=await _unmatched(connection),
        complaints=await _complaints(connection, hashed),
    )


# --- items ------------------------------------------------------------------------------------------------------------


def _firsts() -> Select[Any]:
    """Select the first closed ask of every item and learner, beside the learner's sums over all of those."""
    asks, chats = tables.asks, tables.chats
    nth = func.row_number().over(
        partition_by=(chats.c.learner, asks.c.item, asks.c.rev), order_by=(asks.c.answered_at, asks.c.id)
    )
    closed = (
        select(
            chats.c.learner,
            asks.c.id,
            asks.c.item,
            asks.c.rev,
            asks.c.credit,
            asks.c.tries,
            asks.c.answer,
            asks.c.asked_at,
            asks.c.answered_at,
            nth.label("nth"),
        )
        .select_from(asks.join(chats, chats.c.id == asks.c.chat))
        .where(asks.c.kind == "item", asks.c.answered_at.is_not(None))
        .subquery()
    )
    whole = select(closed).where(closed.c.nth == 1).subquery()
    return select(
        whole,
        func.sum(whole.c.credit).over(partition_by=whole.c.learner).label("total"),
        func.count().over(partition_by=whole.c.learner).label("many"),
    )


async def _tallies(connection: AsyncConnection) -> dict[Key, Tally]:
    tallies: dict[Key, Tally] = defaultdict(Tally)
    async with connection.stream(_firsts().execution_options(yield_per=_CHUNK)) as rows:
        async for row in rows:
            credit = float(row.credit or 0.0)
            tallies[row.item, row.rev].add(
                First(
                    item=row.item,
                    rev=row.rev,
                    credit=credit,
                    alone=credit >= 1.0 and row.tries == 0,
                    answer=row.answer,
                    seconds=(row.answered_at - row.asked_at).total_seconds(),
                    total=float(row.total or 0.0),
                    count=int(row.many),
                )
            )
    return tallies


async def _answers(connection: AsyncConnection) -> tuple[dict[Key, Counter[str]], dict[Key, Counter[str]]]:
    """Count every answer given and every misconception shown, of closed and of tried asks."""
    asks = tables.asks
    of_items = asks.c.kind == "item"
    last = (
        select(asks.c.item, asks.c.rev, asks.c.answer, asks.c.misconception, func.count().label("many"))
        .where(of_items, asks.c.answered_at.is_not(None))
        .group_by(asks.c.item, asks.c.rev, asks.c.answer, asks.c.misconception)
    )
    before = (
        select(asks.c.item, asks.c.rev, misses.c.answer, misses.c.misconception, func.count().label("many"))
        .select_from(misses.join(asks, asks.c.id == misses.c.ask))
        .where(of_items)
        .group_by(asks.c.item, asks.c.rev, misses.c.answer, misses.c.misconception)
    )
    answers: dict[Key, Counter[str]] = defaultdict(Counter)
    beliefs: dict[Key, Counter[str]] = defaultdict(Counter)
    for wanted in (last, before):
        async with connection.stream(wanted.execution_options(yield_per=_CHUNK)) as rows:
            async for row in rows:
                key = (row.item, row.rev)
                if row.answer != SKIPPED:
                    answers[key][row.answer] += row.many
                if row.misconception:
                    beliefs[key][row.misconception] += row.many
    return answers, beliefs


def _items(
    course: Course,
    tallies: Mapping[Key, Tally],
    answers: Mapping[Key, Counter[str]],
    beliefs: Mapping[Key, Counter[str]],
) -> tuple[ItemFigures, ...]:
    """Give the items in the order of the course, those that it asks no more behind them."""
    asked = {item.id: (lesson.slug, item) for lesson in course.lessons for item in lesson.check}
    order = {name: number for number, name in enumerate(asked)}
    keys = sorted(tallies, key=lambda key: (order.get(key[0], len(order)), key[0], -key[1]))
    return tuple(_item(key, asked.get(key[0]), tallies[key], answers.get(key), beliefs.get(key)) for key in keys)


def _item(
    key: Key,
    asked: tuple[str, Item] | None,
    tally: Tally,
    answers: Counter[str] | None,
    beliefs: Counter[str] | None,
) -> ItemFigures:
    lesson, item = asked or ("", None)
    return ItemFigures(
        lesson=lesson,
        item=key[0],
        rev=key[1],
        kind=item.kind if item else "",
        current=item is not None and item.rev == key[1],
        question=item.question if item else "",
        answered=tally.answered,
        difficulty=1 - tally.alone / tally.answered,
        credit=tally.credit / tally.answered,
        discrimination=tally.discrimination(),
        skipped=tally.skipped,
        options=dict((answers or Counter()).most_common(_MOST_ANSWERS)),
        misconceptions=dict((beliefs or Counter()).most_common()),
        median_s=tally.median_s(),
    )


# --- stops ------------------------------------------------------------------------------------------------------------


async def _stops(connection: AsyncConnection, lesson: Lesson) -> list[StopFigures]:
    keys = [course_map.key(stop) for stop in course_map.stops(lesson)]
    counted_rows = (
        await connection.execute(
            select(visits.c.stop, func.count().label("many")).where(visits.c.stop.in_(keys)).group_by(visits.c.stop)
        )
    ).all()
    visited = {row.stop: int(row.many) for row in counted_rows}
    place = case({key: number for number, key in enumerate(keys)}, value=visits.c.stop)
    furthest = (
        select(visits.c.learner, func.max(place).label("last"))
        .where(visits.c.stop.in_(keys))
        .group_by(visits.c.learner)
        .subquery()
    )
    ended_rows = (
        await connection.execute(select(furthest.c.last, func.count().label("many")).group_by(furthest.c.last))
    ).all()
    ended = {int(row.last): int(row.many) for row in ended_rows}
    return [
        StopFigures(lesson.slug, key, visited.get(key, 0), ended.get(number, 0) if number + 1 < len(keys) else 0)
        for number, key in enumerate(keys)
    ]


# --- questions and complaints -----------------------------------------------------------------------------------------


async def _bands(connection: AsyncConnection) -> tuple[dict[str, int], int]:
    rows = (
        await connection.execute(select(questions.c.band, func.count().label("many")).group_by(questions.c.band))
    ).all()
    chosen = (
        await connection.execute(
            select(questions.c.offered, questions.c.chosen, func.count().label("many"))
            .where(questions.c.band == "answer", questions.c.chosen != "")
            .group_by(questions.c.offered, questions.c.chosen)
        )
    ).all()
    astray = sum(int(row.many) for row in chosen if _listed(row.offered)[:1] != (row.chosen,))
    return {row.band: int(row.many) for row in rows}, astray


async def _unanswered(connection: AsyncConnection, hashed: Callable[[str], str]) -> tuple[Unanswered, ...]:
    refused = questions.c.band == "refuse"
    left = (questions.c.band == "offer") & (questions.c.chosen == "")
    wanted = (
        select(questions)
        .where(refused | left, questions.c.text != "")
        .order_by(questions.c.asked_at.desc(), questions.c.id)
        .limit(MOST_QUESTIONS)
    )
    rows = (await connection.execute(wanted)).all()
    return tuple(
        Unanswered(
            row.text,
            row.band,
            _listed(row.offered),
            row.chosen,
            _listed(row.unmatched),
            row.asked_at,
            hashed(row.learner),
        )
        for row in rows
    )


async def _unmatched(connection: AsyncConnection) -> tuple[tuple[str, int], ...]:
    wanted = (
        select(questions.c.unmatched)
        .where(questions.c.unmatched != "[]")
        .order_by(questions.c.asked_at.desc())
        .limit(_WORDS_FROM)
    )
    return counted(map(_listed, (await connection.execute(wanted)).scalars()), MOST_WORDS)


async def _complaints(connection: AsyncConnection, hashed: Callable[[str], str]) -> tuple[Complaint, ...]:
    wanted = (
        select(complaints)
        .where(complaints.c.settled.is_(False))
        .order_by(complaints.c.made_at.desc(), complaints.c.id)
        .limit(MOST_QUESTIONS)
    )
    rows = (await connection.execute(wanted)).all()
    return tuple(Complaint(row.item, row.rev, row.text, row.made_at, hashed(row.learner)) for row in rows)


def _listed(text: str) -> tuple[str, ...]:
    found: Sequence[object] = json.loads(text)
    return tuple(str(each) for each in found)
