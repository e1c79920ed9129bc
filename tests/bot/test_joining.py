"""Two accounts become one learner's, on each kind of database: by a code that is used once, whole or not at all."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import DBAPIError

from bot.app import App, SystemDice
from bot.engine.effects import Ask, CloseAsk, OpenAsk, Record, Turn
from bot.engine.events import ButtonPressed, Event, TextSent
from bot.engine.known import Needs
from bot.engine.linking import codes
from bot.engine.linking.rows import GUESSES, JoinLearners
from bot.engine.remembering import memory
from bot.engine.remembering.memory import Grade
from bot.engine.remembering.rows import Answered, Reviewed, SetCap, Visited
from bot.engine.reminders.wishes import KeepWishes, Wishes
from bot.engine.replies import Choices, Code, File, Paragraph, Reply
from bot.engine.tries import Attempt, CastVote, KeepAttempt, TakeName
from bot.reminding import Reminder
from bot.stores import learned, owned, tables
from bot.stores.sql import SqlStore
from bot.testing import InstantRunner, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from tests.bot.databases import Database
from tests.bot.test_owned import fill

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Pair:
    """One learner's chats on two platforms, of which the bot does not know yet that they are one's."""

    def __init__(self, app: App, store: SqlStore, clock: StandStillClock, shown: RecordingChat) -> None:
        self.app, self.store, self.clock, self.shown = app, store, clock, shown
        self.one = self.two = self.group = ""
        self._count = 0

    async def say(self, chat: str, text: str) -> str:
        return await self.take(chat, TextSent(text))

    async def take(self, chat: str, event: Event) -> str:
        """Answer an event; give what was said to it in this chat."""
        self._count += 1
        before = len(self.shown.shown)
        await self.app.take(chat, event, f"k{self._count}")
        await self.app.idle()
        return "\n".join(_text(one.reply) for where, one in self.shown.shown[before:] if where == chat)

    async def code(self, chat: str) -> str:
        """Ask for a code."""
        await self.say(chat, "/link")
        reply = self.shown.shown[-1][1].reply
        spans = [span for block in reply.blocks if isinstance(block, Paragraph) for span in block.spans]
        return next(span.text for span in spans if isinstance(span, Code) and codes.read(span.text))

    async def press(self, chat: str, label: str) -> str:
        choices = [
            choice
            for where, one in self.shown.shown
            for block in one.reply.blocks
            if where == chat and isinstance(block, Choices)
            for choice in block.choices
        ]
        return await self.take(chat, ButtonPressed(next(c.payload for c in reversed(choices) if c.label == label)))

    async def write(self, chat: str, *rows: object) -> None:
        while True:
            opened = await self.store.open(chat, "")
            assert opened is not None
            turn = Turn(opened.session, (Record(rows),))  # type: ignore[arg-type]
            if await self.store.commit(chat, "", opened.revision, turn, self.clock.at) is not None:
                return

    async def join(self) -> str:
        """Join the second chat's account to the first's, confirmed in the second."""
        code = await self.code(self.one)
        await self.say(self.two, f"/link {code}")
        return await self.press(self.two, "ربط الحسابين")


def _text(reply: Reply) -> str:
    spans = [span for block in reply.blocks for span in getattr(block, "spans", ())]
    listed = [span for block in reply.blocks for item in getattr(block, "items", ()) for span in item]
    return " ".join(span.text for span in (*spans, *listed))


@asynccontextmanager
async def talking(course: Course, store: SqlStore) -> AsyncIterator[Pair]:
    chat, clock = RecordingChat(), StandStillClock(NOW)
    app = App(
        course=course,
        store=store,
        runner=InstantRunner(),
        checker=ParsingChecker(),
        clock=clock,
        dice=SystemDice(),
        chat=chat,
    )
    await app.start(adopt=False)
    await app.runner_asked()
    try:
        pair = Pair(app, store, clock, chat)
        pair.one = (await app.enter("telegram", "7", greet=False)).id
        pair.two = (await app.enter("discord", "9", greet=False)).id
        pair.group = (await app.enter("telegram", "-100/7", "7", greet=False)).id
        yield pair
    finally:
        await app.close()


@pytest.fixture
async def pair(course: Course, store: SqlStore) -> AsyncIterator[Pair]:
    """Give the two chats."""
    async with talking(course, store) as found:
        yield found


async def rows(store: SqlStore, table: Any) -> list[Any]:  # noqa: ANN401 - SQLAlchemy's
    async with store._reader.connect() as connection:
        return list((await connection.execute(select(table))).all())


async def practised(pair: Pair, chat: str, mark: str, at: timedelta, grade: Grade) -> None:
    """Answer an item and grade a card."""
    when = NOW + at
    what = (("item", "item-one"), ("card", "card-0"))
    asks = [Ask(f"{mark}{at // HOUR}{kind}", kind, "small", name, 1, (), "h") for kind, name in what]  # type: ignore[arg-type]
    answered = Answered("vectorization", "item-one", 1, first=True, at=when)
    reviewed = Reviewed(f"{mark}{at // HOUR}rev", "card-0", 1, grade, when)
    pair.clock.at = when
    await pair.write(
        chat,
        *(OpenAsk(ask) for ask in asks),
        CloseAsk(asks[0].id, "yes", 1.0, learned=answered),
        CloseAsk(asks[1].id, "_knew", 1.0, learned=reviewed),
    )


async def test_what_was_done_on_two_platforms_is_one_learners_after(pair: Pair, store: SqlStore) -> None:
    await practised(pair, pair.one, "a", 0 * HOUR, Grade.KNEW)
    await practised(pair, pair.two, "b", 24 * HOUR, Grade.FORGOT)
    await practised(pair, pair.one, "a", 72 * HOUR, Grade.EASY)
    told = Wishes(zone="Asia/Riyadh", reminders=True, minute=18 * 60)
    await pair.write(
        pair.one, KeepWishes(told.with_(minute=9 * 60), ""), CastVote("myth-one", 1, "myth"), Visited("x.1")
    )
    await pair.write(pair.two, KeepWishes(told, ""), CastVote("myth-one", 1, "truth"), Visited("x.2"), SetCap(7))
    await pair.write(pair.one, KeepAttempt(Attempt("run1", "task", 1, "passed", passed=True)), TakeName("سارة", "ساره"))
    assert "صار الحسابان واحدًا" in await pair.join()
    (learner,) = await rows(store, tables.learners)
    assert {row.learner for row in await rows(store, tables.chats)} == {learner.id}
    assert {json.loads(row.session)["learner"] for row in await rows(store, tables.chats)} == {store.hashed(learner.id)}
    assert {row.platform for row in await rows(store, tables.accounts)} == {"telegram", "discord"}
    expected = None
    for grade, at in ((Grade.KNEW, 0), (Grade.FORGOT, 24), (Grade.EASY, 72)):
        expected = memory.graded(expected, grade, 1, NOW + at * HOUR)
    for chat in (pair.one, pair.two):
        kept = (await store.load(chat, Needs(remembered=True))).remembered
        assert kept is not None
        assert [card.memory for card in kept.cards] == [expected]
        assert (kept.topics["vectorization"].answers, kept.streak.days, kept.cap) == (2, 3, 7)  # two first answers: one
        wishes = (await store.load(chat, Needs(wishes=True))).wishes
        assert wishes is not None
        assert wishes.minute == 18 * 60
    (vote,) = await rows(store, learned.votes)
    assert vote.vote in {"myth", "truth"}
    assert {row.stop for row in await rows(store, learned.visits)} == {"x.1", "x.2"}
    assert [row.name for row in await rows(store, learned.board_names)] == ["سارة"]
    assert await rows(store, learned.links) == []


async def test_reading_on_one_platform_counts_on_the_other(pair: Pair, store: SqlStore) -> None:
    await pair.say(pair.one, "درس 1")
    await pair.say(pair.one, "التالي")
    await pair.join()

    async def visited(chat: str) -> set[str]:
        opened = await store.open(chat, "")
        assert opened is not None
        return set(opened.session.visited)

    assert await visited(pair.one) == await visited(pair.two) != set()
    await pair.say(pair.two, "التالي")
    assert await visited(pair.one) == await visited(pair.two) == await visited(pair.group)


async def test_whoever_gave_the_code_is_told_and_a_copy_and_a_deletion_reach_both(pair: Pair, store: SqlStore) -> None:
    code = await pair.code(pair.one)
    await pair.say(pair.two, code)  # a bare code is none of this before /link
    await pair.say(pair.two, "/link")
    assert "تأكيد الربط" not in await pair.say(pair.two, "ما هو الرمز")
    confirm = await pair.say(pair.two, codes.shown(codes.read(code)).lower())
    assert "Telegram" in confirm
    before = len(pair.shown.shown)
    await pair.press(pair.two, "ربط الحسابين")
    there = [_text(one.reply) for chat, one in pair.shown.shown[before:] if chat == pair.one]
    assert any("استُعمل رمز الربط" in text for text in there)
    await pair.say(pair.two, "/export")
    document = next(b for _, s in pair.shown.shown for b in s.reply.blocks if isinstance(b, File) and "json" in b.name)
    kept = await pair.app.file(pair.two, document.ref)
    assert kept is not None
    assert {row["external"] for row in json.loads(kept.data)["tables"]["accounts"]} == {"7", "9"}
    await pair.say(pair.one, "/delete")
    await pair.press(pair.one, "حذف نهائي")
    assert await rows(store, tables.chats) == await rows(store, tables.accounts) == []
    assert set(pair.shown.forgotten) == {pair.one, pair.two, pair.group}


async def test_a_code_counts_once_for_ten_minutes_and_never_for_its_own_learner(pair: Pair, store: SqlStore) -> None:
    code = await pair.code(pair.one)
    assert "لهذا المتعلّم نفسه" in await pair.say(pair.one, f"/link {code}")
    newer = await pair.code(pair.one)
    assert "لا يوجد رمز كهذا" in await pair.say(pair.two, f"/link {code}")
    pair.clock.at = NOW + timedelta(minutes=10)
    assert "لا يوجد رمز كهذا" in await pair.say(pair.two, f"/link {newer}")
    fresh = await pair.code(pair.one)
    await pair.say(pair.two, f"/link {fresh}")
    pair.clock.at = NOW + timedelta(minutes=20)
    assert "لا يوجد رمز كهذا" in await pair.press(pair.two, "ربط الحسابين")
    assert "صار الحسابان واحدًا" in await pair.join()
    stranger = (await pair.app.enter("web", "x", greet=False)).id
    assert "لا يوجد رمز كهذا" in await pair.say(stranger, f"/link {fresh}")
    assert len(await rows(store, tables.learners)) == 2
    assert "لهذا المتعلّم نفسه" in await pair.say(pair.two, f"/link {await pair.code(pair.one)}")


async def test_where_others_read_a_code_is_neither_given_nor_worth_anything(pair: Pair, store: SqlStore) -> None:
    assert "المحادثة الخاصة" in await pair.say(pair.group, "/link")
    other = (await pair.app.enter("discord", "1/9", "9", greet=False)).id
    code = await pair.code(pair.one)
    assert "فأُلغي" in await pair.say(other, f"/link {code}")
    assert "لا يوجد رمز كهذا" in await pair.say(pair.two, f"/link {code}")
    again = await pair.code(pair.one)
    await pair.press(pair.one, "إلغاء الرمز")
    assert "لا يوجد رمز كهذا" in await pair.say(pair.two, f"/link {again}")
    assert len(await rows(store, tables.learners)) == 2


async def test_guessing_ends_after_a_few_wrong_codes_also_by_forged_buttons(pair: Pair) -> None:
    code = await pair.code(pair.one)
    for at in range(GUESSES):
        wrong = f"zzzzz-zzzz{at}"
        guess = TextSent(f"/link {wrong}") if at % 2 else ButtonPressed(f"1:link:{codes.read(wrong)}:yes")
        assert "لا يوجد رمز كهذا" in await pair.take(pair.two, guess)
    assert "رموز خاطئة كثيرة" in await pair.say(pair.two, f"/link {code}")
    assert "رموز خاطئة كثيرة" in await pair.take(pair.two, ButtonPressed(f"1:link:{codes.read(code)}:yes"))
    pair.clock.at = NOW + timedelta(minutes=61)
    assert "صار الحسابان واحدًا" in await pair.join()


async def test_a_refusal_joins_nothing(pair: Pair, store: SqlStore) -> None:
    code = await pair.code(pair.one)
    await pair.say(pair.two, f"/link {code}")
    assert "بقي كل حساب كما هو" in await pair.press(pair.two, "إبقاء كل حساب كما هو")
    for text in ("/link كلام", "/link 12"):
        assert "ليس هذا رمز ربط" in await pair.say(pair.two, text)
    assert len(await rows(store, tables.learners)) == 2


async def test_rows_of_every_table_change_hands(store: SqlStore) -> None:
    await fill(store, "ann")
    await fill(store, "bob")
    turn = (Record((JoinLearners("bob-code", NOW),)),)
    async with store._writer.begin() as connection:
        await connection.execute(update(tables.chats).values(session="{}", revision=1))
    opened = await store.open("ann-chats", "")
    assert opened is not None
    assert await store.commit("ann-chats", "", opened.revision, Turn(opened.session, turn), NOW) is not None
    async with store._reader.connect() as connection:
        for table in owned.metadata.sorted_tables:
            if "learner" in table.c:
                left = select(func.count()).select_from(table).where(table.c.learner == "bob-learners")
                assert (await connection.execute(left)).scalar_one() == 0, table.name
        assert [row.id for row in (await connection.execute(select(tables.learners))).all()] == ["ann-learners"]
    async with store._writer.begin() as connection:
        await owned.forget(connection, "bob-chats")
    async with store._reader.connect() as connection:
        for table in owned.metadata.sorted_tables:
            if owned.is_of_a_learner(table):
                assert (await connection.execute(select(func.count()).select_from(table))).scalar_one() == 0, table.name


async def test_a_joining_that_breaks_in_the_middle_changes_nothing(
    pair: Pair, store: SqlStore, database: Database
) -> None:
    if database.kind != "sqlite":
        return
    await practised(pair, pair.one, "a", 0 * HOUR, Grade.KNEW)
    await practised(pair, pair.two, "b", 1 * HOUR, Grade.FORGOT)
    code = codes.read(await pair.code(pair.one))
    names = [table for table in owned.metadata.sorted_tables if owned.is_of_a_learner(table)]
    before = {table.name: await rows(store, table) for table in names}
    await database.execute("CREATE TRIGGER stop BEFORE DELETE ON learners BEGIN SELECT RAISE(ABORT, 'broken'); END")
    opened = await store.open(pair.two, "")
    assert opened is not None
    turn = Turn(opened.session, (Record((JoinLearners(code, pair.clock.at),)),))
    with pytest.raises(DBAPIError):
        await store.commit(pair.two, "", opened.revision, turn, pair.clock.at)
    assert {table.name: await rows(store, table) for table in names} == before
    await database.execute("DROP TRIGGER stop")
    assert await store.commit(pair.two, "", opened.revision, turn, pair.clock.at) is not None
    assert len(await rows(store, tables.learners)) == 1


async def test_a_turn_that_began_before_a_joining_is_not_saved_after_it(pair: Pair, store: SqlStore) -> None:
    opened = await store.open(pair.one, "")
    assert opened is not None
    await pair.join()
    assert await store.commit(pair.one, "", opened.revision, Turn(opened.session), NOW) is None


async def test_two_who_join_each_other_at_once_are_one(pair: Pair, store: SqlStore) -> None:
    first, second = codes.read(await pair.code(pair.one)), codes.read(await pair.code(pair.two))
    await pair.say(pair.two, f"/link {first}")
    await pair.say(pair.one, f"/link {second}")
    presses = ((pair.two, first), (pair.one, second))
    await asyncio.gather(
        *(pair.app.take(chat, ButtonPressed(f"1:link:{code}:yes"), f"both{chat}") for chat, code in presses)
    )
    await pair.app.idle()
    assert len(await rows(store, tables.learners)) == 1
    assert len(await rows(store, tables.accounts)) == 2


async def test_who_learns_on_a_platform_of_another_bot_is_told_by_that_bot(course: Course, store: SqlStore) -> None:
    async with talking(course, store) as pair:
        pair.app._platforms = ("discord",)
        await pair.join()
        assert not any("استُعمل رمز الربط" in _text(one.reply) for _, one in pair.shown.shown)
        for platform, times in (("discord", 0), ("telegram", 1), ("telegram", 1)):
            reminder = Reminder(pair.app, store.reminding(), pair.clock, "bot", (platform,))
            await reminder.tick()
            told = [chat for chat, one in pair.shown.shown if "استُعمل رمز الربط" in _text(one.reply)]
            assert told == [pair.one] * times
