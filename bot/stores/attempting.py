"""Attempts at exercises, votes on myth cards and names on the board, written and read for one learner of a chat.

Law: everything written is written under the learner's lock of the turn's transaction; what is read is the learner's
own, but for the board, which shows chosen names alone, and the counts of votes.
"""

from datetime import datetime
from typing import assert_never

from sqlalchemy import ScalarSelect, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine.purposes import Why, purpose_of
from bot.engine.tries import (
    GAVE_UP,
    Attempt,
    CastVote,
    DropName,
    Found,
    KeepAttempt,
    Kept,
    Ranked,
    Row,
    Standing,
    TakeName,
    Wanted,
)
from bot.stores import learned, tables

RECENT = 12
"""Own attempts that are shown."""
PLACES = 10
"""Places of a board, a machine."""


class TakenMeanwhileError(Exception):
    """Somebody else took the name after the turn had looked: the turn is to be made again."""


async def record(connection: AsyncConnection, chat: str, row: Row, now: datetime) -> None:
    """Write one row of a turn.

    Raises:
        TakenMeanwhileError: the name is somebody else's by now.
    """
    learner = (await connection.execute(select(_learner(chat)))).scalar_one()
    match row:
        case KeepAttempt(attempt):
            await _keep(connection, learner, attempt, now)
        case CastVote():
            await _vote(connection, learner, row, now)
        case TakeName():
            await _name(connection, learner, row, now)
        case DropName():
            names = learned.board_names
            await connection.execute(delete(names).where(names.c.learner == learner))
        case _:
            assert_never(row)


async def load(connection: AsyncConnection, chat: str, wanted: Wanted, ask_item: str, run_slot: str) -> Found:
    """Read what a turn wants; `ask_item` and `run_slot` name the myth card whose votes are counted."""
    learner = _learner(chat)
    purpose = purpose_of(run_slot)
    counted = (purpose.item if purpose.why is Why.MYTH else ask_item) if wanted.votes else ""
    return Found(
        standings=await _standings(connection, learner) if wanted.attempts else {},
        recent=await _recent(connection, learner) if wanted.attempts else (),
        board=await _board(connection, chat, wanted.board) if wanted.board else (),
        name=await _own_name(connection, learner) if wanted.name else "",
        taken=await _taken(connection, learner, wanted.taken) if wanted.taken else False,
        voted=await _voted(connection, learner) if wanted.votes else {},
        counted=counted,
        counts=await _counts(connection, counted) if counted else {},
    )


def _learner(chat: str) -> ScalarSelect[str]:
    return select(tables.chats.c.learner).where(tables.chats.c.id == chat).scalar_subquery()


# --- writing ----------------------------------------------------------------------------------------------------------


async def _keep(connection: AsyncConnection, learner: str, attempt: Attempt, now: datetime) -> None:
    table = learned.attempts
    if (await connection.execute(select(table.c.run).where(table.c.run == attempt.run))).one_or_none():
        return
    measured = attempt.ratio > 0
    await connection.execute(
        insert(table).values(
            run=attempt.run,
            learner=learner,
            exercise=attempt.exercise,
            rev=attempt.rev,
            passed=attempt.passed,
            ratio=attempt.ratio if measured else None,
            ratio_low=attempt.low if measured else None,
            ratio_high=attempt.high if measured else None,
            share=attempt.share if attempt.share > 0 else None,
            confirmed=attempt.confirmed,
            board=attempt.board,
            machine=attempt.machine,
            device=attempt.device,
            outcome=attempt.outcome,
            attempted_at=now,
        )
    )


async def _vote(connection: AsyncConnection, learner: str, row: CastVote, now: datetime) -> None:
    """The first vote on a revision stands; one on an older revision was on another claim."""
    table = learned.votes
    mine = (table.c.learner == learner) & (table.c.myth == row.myth)
    rev = (await connection.execute(select(table.c.rev).where(mine))).scalar_one_or_none()
    if rev is None:
        await connection.execute(
            insert(table).values(learner=learner, myth=row.myth, rev=row.rev, vote=row.vote, voted_at=now)
        )
    elif rev < row.rev:
        await connection.execute(update(table).where(mine).values(rev=row.rev, vote=row.vote, voted_at=now))


async def _name(connection: AsyncConnection, learner: str, row: TakeName, now: datetime) -> None:
    table = learned.board_names
    await connection.execute(delete(table).where(table.c.learner == learner))
    try:
        await connection.execute(
            insert(table).values(learner=learner, name=row.name, likeness=row.likeness, chosen_at=now)
        )
    except IntegrityError as error:
        raise TakenMeanwhileError from error


# --- reading ----------------------------------------------------------------------------------------------------------


async def _standings(connection: AsyncConnection, learner: ScalarSelect[str]) -> dict[tuple[str, int], Standing]:
    table = learned.attempts
    counted = (
        select(table.c.exercise, table.c.rev, table.c.passed, table.c.outcome, func.count().label("n"))
        .where(table.c.learner == learner)
        .group_by(table.c.exercise, table.c.rev, table.c.passed, table.c.outcome)
    )
    found: dict[tuple[str, int], Standing] = {}
    for row in (await connection.execute(counted)).all():
        before = found.get((row.exercise, row.rev), Standing())
        gave_up = row.outcome == GAVE_UP
        failures = 0 if row.passed or gave_up else int(row.n)
        found[row.exercise, row.rev] = Standing(
            before.failures + failures, before.passed or bool(row.passed), before.gave_up or gave_up
        )
    return found


async def _recent(connection: AsyncConnection, learner: ScalarSelect[str]) -> tuple[Kept, ...]:
    table = learned.attempts
    newest = (
        select(table)
        .where(table.c.learner == learner)
        .order_by(table.c.attempted_at.desc(), table.c.run.desc())
        .limit(RECENT)
    )
    return tuple(
        Kept(
            Attempt(
                row.run,
                row.exercise,
                row.rev,
                row.outcome,
                row.passed,
                row.ratio or 0.0,
                row.ratio_low or 0.0,
                row.ratio_high or 0.0,
                row.share or 0.0,
                row.confirmed,
                row.board,
                row.machine,
                row.device,
            ),
            row.attempted_at,
        )
        for row in (await connection.execute(newest)).all()
    )


async def _board(connection: AsyncConnection, chat: str, exercise: str) -> tuple[Ranked, ...]:
    """Rank the best run of each name, machine by machine, of the newest revision that was tried."""
    table, names = learned.attempts, learned.board_names
    newest = select(func.max(table.c.rev)).where(table.c.exercise == exercise).scalar_subquery()
    order = (table.c.ratio.desc(), table.c.attempted_at, table.c.run)
    best = (
        select(
            table.c.machine,
            table.c.learner,
            names.c.name,
            table.c.ratio,
            table.c.ratio_low,
            table.c.ratio_high,
            table.c.attempted_at,
            func.row_number().over(partition_by=(table.c.machine, table.c.learner), order_by=order).label("nth"),
        )
        .join(names, names.c.learner == table.c.learner)
        .where(table.c.exercise == exercise, table.c.board.is_(True), table.c.rev == newest)
        .subquery()
    )
    ranks = func.row_number().over(
        partition_by=best.c.machine, order_by=(best.c.ratio.desc(), best.c.attempted_at, best.c.learner)
    )
    ranked = select(best, ranks.label("rank")).where(best.c.nth == 1).subquery()
    me = _learner(chat)
    shown = (
        select(ranked, (ranked.c.learner == me).label("mine"))
        .where(or_(ranked.c.rank <= PLACES, ranked.c.learner == me))
        .order_by(ranked.c.machine, ranked.c.rank)
    )
    return tuple(
        Ranked(row.machine, row.rank, row.name, row.ratio, row.ratio_low, row.ratio_high, bool(row.mine))
        for row in (await connection.execute(shown)).all()
    )


async def _own_name(connection: AsyncConnection, learner: ScalarSelect[str]) -> str:
    table = learned.board_names
    return (await connection.execute(select(table.c.name).where(table.c.learner == learner))).scalar_one_or_none() or ""


async def _taken(connection: AsyncConnection, learner: ScalarSelect[str], likeness: str) -> bool:
    table = learned.board_names
    other = select(table.c.name).where(table.c.likeness == likeness, table.c.learner != learner)
    return (await connection.execute(other)).first() is not None


async def _voted(connection: AsyncConnection, learner: ScalarSelect[str]) -> dict[str, tuple[int, str]]:
    table = learned.votes
    mine = select(table.c.myth, table.c.rev, table.c.vote).where(table.c.learner == learner)
    return {row.myth: (row.rev, row.vote) for row in (await connection.execute(mine)).all()}


async def _counts(connection: AsyncConnection, myth: str) -> dict[tuple[int, str], int]:
    table = learned.votes
    counted = (
        select(table.c.rev, table.c.vote, func.count().label("n"))
        .where(table.c.myth == myth)
        .group_by(table.c.rev, table.c.vote)
    )
    return {(row.rev, row.vote): int(row.n) for row in (await connection.execute(counted)).all()}
