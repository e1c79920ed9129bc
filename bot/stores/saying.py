"""Writes the effects of one turn inside its transaction: replies with their numbers, asks, runs."""

import json
from datetime import datetime
from typing import assert_never

from sqlalchemy import insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.engine import effects, replies, tries
from bot.engine import questions as asked
from bot.engine.groups.quiz import KeepGroupAnswer
from bot.engine.linking import rows as linking
from bot.engine.owned.rows import KeepFile
from bot.engine.remembering import rows
from bot.engine.reminders.wishes import KeepWishes
from bot.ports import Shown
from bot.posting.ports import Origin
from bot.stores import attempting, grouping, joining, owned, questions, remembering, reminding, tables
from sandbox_runner import codec


async def origin_of(connection: AsyncConnection, chat: str, turn: effects.Turn) -> Origin:
    """Give what a turn answers that began without anybody's word: a run's end, told after a restart, or a check's."""
    slots = [effect.slot for effect in turn.effects if isinstance(effect, effects.Edit)]
    table, chats = tables.replies, tables.chats
    mine = (table.c.chat == chat) & table.c.slot.in_(slots) & or_(table.c.address != "", table.c.answers != "")
    wanted = select(table.c.answers, table.c.address).where(mine).order_by(table.c.number.desc()).limit(1)
    row = (await connection.execute(wanted)).one_or_none() if slots else None
    if row is None:
        checked = select(chats.c.checking_answers, chats.c.checking_address).where(chats.c.id == chat)
        row = (await connection.execute(checked)).one_or_none()
    return Origin() if row is None else Origin(row[0] or "", row[1] or "")


async def carry_out(  # noqa: PLR0913 - the two counters are the chat's, read under the same lock
    connection: AsyncConnection,
    chat: str,
    last_number: int,
    last_change: int,
    turn: effects.Turn,
    now: datetime,
    origin: Origin,
) -> tuple[Shown, ...]:
    """Write every effect that leaves a row; give what is to be shown, in order."""
    whence = (origin.answers, origin.address)
    shown: list[Shown] = []
    for effect in turn.effects:
        match effect:
            case effects.Say(reply, slot):
                last_number, last_change = last_number + 1, last_change + 1
                shown.append(Shown(last_number, last_change, slot, reply, *whence))
                await _say(connection, chat, shown[-1], now)
            case effects.Edit(slot, reply):
                last_change += 1
                edited = await _edit(connection, chat, slot, reply, last_change)
                if edited is None:
                    last_number += 1
                    edited = Shown(last_number, last_change, slot, reply, *whence)
                    await _say(connection, chat, edited, now)
                shown.append(edited)
            case effects.Record(rows):
                for one in rows:
                    await _record(connection, chat, one, now)
            case effects.RunCode(job, slot):
                text = json.dumps(codec.encode(job), ensure_ascii=False)
                await connection.execute(
                    insert(tables.runs).values(id=job.id, chat=chat, slot=slot, job=text, told=False, submitted_at=now)
                )
            case effects.CheckCode() | effects.CancelRun() | effects.MakeReport() | effects.AskPhrasing():
                pass
            case effects.Whisper():
                pass  # whoever pressed hears it now or never
            case effects.TellOther():
                pass  # a turn of the other chat says it
            case effects.Forget():
                pass  # what it deletes is deleted whole, before anything of the turn would be written
            case _:
                assert_never(effect)
    return tuple(shown)


def farewell(last_number: int, last_change: int, turn: effects.Turn) -> tuple[Shown, ...]:
    """Give what a turn says in a chat that it deletes: to be shown, and stored nowhere."""
    said = [effect for effect in turn.effects if isinstance(effect, effects.Say)]
    return tuple(
        Shown(last_number + i, last_change + i, effect.slot, effect.reply) for i, effect in enumerate(said, start=1)
    )


async def _say(connection: AsyncConnection, chat: str, shown: Shown, now: datetime) -> None:
    await connection.execute(
        insert(tables.replies).values(
            chat=chat,
            number=shown.number,
            slot=shown.slot or None,
            blocks=replies.to_json(shown.reply),
            state="said",
            change=shown.change,
            said_at=now,
            answers=shown.answers,
            address=shown.address,
        )
    )


async def _edit(connection: AsyncConnection, chat: str, slot: str, reply: replies.Reply, change: int) -> Shown | None:
    table = tables.replies
    mine = (table.c.chat == chat) & (table.c.slot == slot)
    wanted = select(table.c.number, table.c.answers, table.c.address).where(mine)
    row = (await connection.execute(wanted)).one_or_none()
    if row is None:
        return None
    blocks = replies.to_json(reply)
    await connection.execute(update(table).where(mine).values(blocks=blocks, change=change, state="edited"))
    return Shown(row.number, change, slot, reply, row.answers, row.address)


async def _keep(connection: AsyncConnection, chat: str, row: KeepGroupAnswer | KeepFile, now: datetime) -> None:
    if isinstance(row, KeepFile):
        await owned.keep_file(connection, chat, row, now)
    else:
        await grouping.keep(connection, chat, row, now)


async def _record(
    connection: AsyncConnection,
    chat: str,
    row: effects.Row,
    now: datetime,
) -> None:
    table = tables.asks
    match row:
        case effects.OpenAsk(ask):
            await connection.execute(
                insert(table).values(
                    id=ask.id,
                    chat=chat,
                    kind=ask.kind,
                    lesson=ask.lesson,
                    item=ask.item,
                    rev=ask.rev,
                    options=json.dumps(ask.options),
                    course_hash=ask.course_hash,
                    tries=ask.tries,
                    answer="",
                    misconception="",
                    asked_at=now,
                )
            )
        case effects.CloseAsk(ask_id, answer, credit, misconception, learnt):
            closed = await connection.execute(
                update(table)
                .where(table.c.id == ask_id, table.c.chat == chat, table.c.answered_at.is_(None))
                .values(answer=answer, credit=credit, misconception=misconception, answered_at=now)
            )
            if learnt is not None and closed.rowcount:
                await remembering.learn(connection, chat, learnt)
        case effects.CountTry(ask_id, answer):
            tried = await connection.execute(
                update(table)
                .where(table.c.id == ask_id, table.c.chat == chat, table.c.answered_at.is_(None))
                .values(answer=answer, tries=table.c.tries + 1)
            )
            if tried.rowcount:
                await questions.miss(connection, chat, row, now)
        case (
            rows.UndoReview() | rows.SuspendCard() | rows.MoveCard() | rows.SetCap() | rows.Complain() | rows.Visited()
        ):
            await remembering.keep(connection, chat, row, now)
        case tries.KeepAttempt() | tries.CastVote() | tries.TakeName() | tries.DropName():
            await attempting.record(connection, chat, row, now)
        case KeepWishes():
            await reminding.keep(connection, chat, row)
        case KeepGroupAnswer() | KeepFile():
            await _keep(connection, chat, row, now)
        case linking.OfferLink() | linking.DropLink() | linking.MissLink() | linking.JoinLearners():
            await joining.keep(connection, chat, row)
        case asked.KeepQuestion() | asked.ChooseOffered():
            await questions.keep(connection, chat, row, now)
        case _:
            assert_never(row)
