"""Learners' questions and wrong answers in the database: kept, chosen from, and forgotten after their time.

Law: forgetting takes the words and leaves the counts: a row's text and unmatched words go, its band and stops stay.
"""

import json
from datetime import datetime
from typing import assert_never

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine.effects import CountTry
from bot.engine.questions import ChooseOffered, KeepQuestion, Row
from bot.stores import tables
from bot.stores.learned import misses, questions


async def keep(connection: AsyncConnection, chat: str, row: Row, now: datetime) -> None:
    """Write one row, of the chat's learner."""
    learner = select(tables.chats.c.learner).where(tables.chats.c.id == chat).scalar_subquery()
    match row:
        case KeepQuestion(question, text, band, offered, unmatched):
            await connection.execute(
                insert(questions).values(
                    id=question,
                    learner=learner,
                    text=text,
                    band=band,
                    offered=json.dumps(offered),
                    chosen="",
                    unmatched=json.dumps(unmatched, ensure_ascii=False),
                    asked_at=now,
                )
            )
        case ChooseOffered(question, chosen):
            mine = (questions.c.id == question) & (questions.c.learner == learner) & (questions.c.chosen == "")
            await connection.execute(update(questions).where(mine).values(chosen=chosen))
        case _:
            assert_never(row)


async def miss(connection: AsyncConnection, chat: str, row: CountTry, now: datetime) -> None:
    """Write a wrong answer beside its ask, after the ask's count of tries rose."""
    asks, chats = tables.asks, tables.chats
    await connection.execute(
        insert(misses).values(
            ask=row.ask,
            number=select(asks.c.tries).where(asks.c.id == row.ask).scalar_subquery(),
            learner=select(chats.c.learner).where(chats.c.id == chat).scalar_subquery(),
            answer=row.answer,
            misconception=row.misconception,
            missed_at=now,
        )
    )


async def forget(connection: AsyncConnection, before: datetime) -> int:
    """Take the words of every question asked before this time; give how many questions lost them."""
    old = (questions.c.asked_at < before) & (questions.c.text != "")
    done = await connection.execute(update(questions).where(old).values(text="", unmatched="[]"))
    return int(done.rowcount)
