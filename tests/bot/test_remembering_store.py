"""Cards, topics, streaks and complaints in the database, on each kind: what counts once, what is taken back."""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy.dialects import sqlite

from bot.engine.effects import Ask, CloseAsk, CountTry, OpenAsk, Record, Turn
from bot.engine.known import Known, Needs
from bot.engine.remembering import memory
from bot.engine.remembering.memory import Grade
from bot.engine.remembering.rows import (
    Answered,
    Complain,
    MoveCard,
    Reviewed,
    SetCap,
    SuspendCard,
    UndoReview,
    Visited,
)
from bot.stores import remembering
from bot.stores.sql import SqlStore
from tests.bot.databases import Database
from tests.bot.test_store import NOW

DAY = timedelta(days=1)


def asked(name: str, item: str = "card-0", kind: str = "card") -> OpenAsk:
    return OpenAsk(Ask(name, kind, "small", item, 1, (), "h"))  # type: ignore[arg-type]


def graded(ask: str, review: str, grade: Grade = Grade.KNEW, at: timedelta = timedelta(0), rev: int = 1) -> CloseAsk:
    return CloseAsk(ask, "_knew", 1.0, learned=Reviewed(review, "card-0", rev, grade, NOW + at))


def answered(ask: str, *, first: bool = True, at: timedelta = timedelta(0), misconception: str = "") -> CloseAsk:
    learned = Answered("vectorization", "item-one", 1, first, NOW + at)
    return CloseAsk(ask, "yes", float(first), misconception, learned)


async def write(store: SqlStore, chat: str, *rows: object) -> None:
    while True:
        opened = await store.open(chat, "")
        assert opened is not None
        turn = Turn(opened.session, (Record(rows),))  # type: ignore[arg-type]
        if await store.commit(chat, "", opened.revision, turn, NOW) is not None:
            return


async def look(store: SqlStore, chat: str, ask: str = "") -> Known:
    return await store.load(chat, Needs(ask=ask, remembered=True))


@pytest.fixture
async def chats(store: SqlStore) -> list[str]:
    """Give the chats of two learners."""
    return [(await store.enter("web", name, NOW)).id for name in ("ali", "mona")]


async def test_a_grade_counts_once_and_is_seen_by_its_learner_alone(store: SqlStore, chats: list[str]) -> None:
    ali, mona = chats
    await write(store, ali, asked("a1"))
    await write(store, ali, graded("a1", "r1"))
    await write(store, ali, graded("a1", "r2", Grade.FORGOT))
    await write(store, mona, graded("a1", "r3", Grade.FORGOT))
    found = await look(store, ali, "a1")
    assert found.remembered is not None
    assert found.card == found.remembered.cards[0]
    assert found.card.memory == memory.graded(None, Grade.KNEW, 1, NOW)
    assert found.remembered.streak.days == 1
    assert (await look(store, mona)).remembered.cards == ()  # type: ignore[union-attr]


async def test_a_grade_taken_back_leaves_the_card_and_its_ask_as_before(store: SqlStore, chats: list[str]) -> None:
    ali, mona = chats
    await write(store, ali, asked("a1"), graded("a1", "r1"), asked("a2"))
    before = (await look(store, ali, "a2")).card
    await write(store, ali, graded("a2", "r2", Grade.FORGOT, 9 * DAY))
    assert len((await look(store, ali)).remembered.reviews) == 1  # type: ignore[union-attr]
    await write(store, mona, UndoReview("r2", "a2"))
    assert (await look(store, ali, "a2")).card != before
    await write(store, ali, UndoReview("r2", "a2"), UndoReview("r2", "a2"))
    found = await look(store, ali, "a2")
    assert found.card == before
    assert found.ask is not None
    assert not found.ask.closed
    assert found.remembered is not None
    assert found.remembered.reviews == ()
    await write(store, ali, UndoReview("r1", "a1"))
    fresh = (await look(store, ali, "a1")).card
    assert fresh is not None
    assert (fresh.memory, fresh.due) == (None, NOW)


async def test_a_grade_is_not_taken_back_behind_a_later_one(store: SqlStore, chats: list[str]) -> None:
    ali, _ = chats
    await write(store, ali, asked("a1"), graded("a1", "r1"), asked("a2"), graded("a2", "r2", at=3 * DAY))
    before = (await look(store, ali, "a2")).card
    await write(store, ali, UndoReview("r1", "a1"))
    assert (await look(store, ali, "a2")).card == before


async def test_an_answer_moves_topic_and_item_once(store: SqlStore, chats: list[str]) -> None:
    ali, mona = chats
    await write(store, ali, asked("q1", "item-one", "item"), asked("q2", "item-one", "item"))
    await write(store, ali, answered("q1"), answered("q1", first=False), answered("q2", at=DAY))
    kept = (await look(store, ali)).remembered
    assert kept is not None
    topic = kept.topics["vectorization"]
    assert (topic.answers, topic.firsts, topic.days, topic.last_day) == (2, 2, 2, "2026-03-02")
    assert kept.difficulties["item-one"].answers == 2
    assert kept.difficulties["item-one"].value < 0 < topic.theta
    assert kept.streak.days == 2
    other = (await look(store, mona)).remembered
    assert other is not None
    assert other.topics == {}
    assert other.difficulties == kept.difficulties


async def test_misconceptions_of_every_try_are_counted(store: SqlStore, chats: list[str]) -> None:
    ali, mona = chats
    await write(store, ali, asked("q1", "item-one", "item"), CountTry("q1", "no", "loops-are-fine"))
    await write(store, ali, answered("q1", first=False, misconception="loops-are-fine"))
    assert (await look(store, ali)).remembered.misconceptions == {"loops-are-fine": 2}  # type: ignore[union-attr]
    assert (await look(store, mona)).remembered.misconceptions == {}  # type: ignore[union-attr]


async def test_a_card_is_held_back_and_comes_again_with_its_memory(store: SqlStore, chats: list[str]) -> None:
    ali, _ = chats
    await write(store, ali, asked("a1"), graded("a1", "r1"), SuspendCard("card-0", 1, suspended=True, at=NOW))
    await write(store, ali, SuspendCard("card-9", 1, suspended=True, at=NOW))
    kept = (await look(store, ali)).remembered
    assert kept is not None
    assert {row.card: row.suspended for row in kept.cards} == {"card-0": True, "card-9": True}
    await write(store, ali, SuspendCard("card-0", 1, suspended=False, at=NOW))
    card = (await look(store, ali, "a1")).card
    assert card is not None
    assert (card.suspended, card.memory) == (False, memory.graded(None, Grade.KNEW, 1, NOW))


async def test_a_retired_card_is_moved_and_an_heir_with_its_own_memory_stays(store: SqlStore, chats: list[str]) -> None:
    ali, mona = chats
    for chat, name in ((ali, "a1"), (mona, "a2")):
        await write(store, chat, asked(name), graded(name, f"r{name}"))
    await write(store, mona, SuspendCard("heir", 2, suspended=True, at=NOW))
    for chat in chats:
        await write(store, chat, MoveCard("card-0", "heir", 2), MoveCard("card-0", "heir", 2))
    first, second = [(await look(store, chat)).remembered for chat in chats]
    assert first is not None
    assert second is not None
    assert [(row.card, row.rev, row.memory and row.memory.rev) for row in first.cards] == [("heir", 2, 2)]
    assert [(row.card, row.memory, row.suspended) for row in second.cards] == [("heir", None, True)]


async def test_a_cap_a_complaint_and_a_visit_are_kept(store: SqlStore, chats: list[str], database: Database) -> None:
    ali, _ = chats
    same = [Complain(f"c{i}", "card-0", 1, "خطأ لغوي") for i in range(2)]
    await write(store, ali, SetCap(7), *same, Complain("c9", "card-0", 1, "شيء آخر"), Visited("small.idea"))
    await write(store, ali, SetCap(9), Visited("small.idea"))
    assert (await look(store, ali)).remembered.cap == 9  # type: ignore[union-attr]
    assert len(await database.execute("SELECT id FROM complaints")) == 2
    assert len(await database.execute("SELECT stop FROM visits")) == 1


async def test_a_hundred_answers_at_once_from_two_processes_lose_none(
    store: SqlStore, chats: list[str], database: Database
) -> None:
    other = database.open()
    asks = [f"q{i:03d}" for i in range(100)]
    await write(store, chats[0], *(asked(name, "item-one", "item") for name in asks[::2]))
    await write(store, chats[1], *(asked(name, "item-one", "item") for name in asks[1::2]))

    async def answer(which: SqlStore, chat: str, names: list[str]) -> None:
        for name in names:
            await write(which, chat, answered(name))

    quarter = asks[::2][:25], asks[::2][25:]
    await asyncio.gather(
        answer(store, chats[0], quarter[0]), answer(other, chats[0], quarter[1]), answer(other, chats[1], asks[1::2])
    )
    first, second = [(await look(store, chat)).remembered for chat in chats]
    assert first is not None
    assert second is not None
    assert first.topics["vectorization"].answers == second.topics["vectorization"].answers == 50
    assert first.difficulties["item-one"].answers == 100
    await other.close()


async def test_due_cards_are_found_by_an_index(database: Database) -> None:
    if database.kind != "sqlite":
        return  # a planner with nothing in the table reads it whole; the benchmark looks at a full one
    for query in (remembering.due_of("ali", NOW, 20), remembering.queue_of("ali")):
        text = str(query.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
        plan = " ".join(str(line) for line in await database.execute(f"EXPLAIN QUERY PLAN {text}"))
        assert "ix_cards_learner_due" in plan
        assert "TEMP B-TREE" not in plan
