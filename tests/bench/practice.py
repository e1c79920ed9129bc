"""What remembering costs with many learners: the due queue and its plan, an answer beside a bare insert, one review.

`--learners` and `--cards` make it smaller. Everything is measured in one run on one SQLite file; ratios count.
"""

import argparse
import asyncio
import json
import random
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fsrs import Card, Rating, Scheduler
from sqlalchemy import Select
from sqlalchemy.dialects import sqlite as dialect

from bot.app import SystemDice
from bot.engine.events import ButtonPressed, Event, TextSent
from bot.engine.known import needs
from bot.engine.remembering import memory
from bot.engine.remembering.memory import Grade
from bot.engine.session import Session, to_json
from bot.engine.turn import take_turn
from bot.ports import Shown
from bot.stores import remembering, sqlite
from bot.stores.sql import SqlStore
from content.loader import load_course
from content.schema import Course, SingleChoice

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANSWERS = 300
QUEUES = 300
REVIEWS = 2000
BATCH = 500
"""Learners written at once."""
CAP = 20


def spread(values: Sequence[float], scale: float) -> dict[str, float]:
    """Give the median and the 99th percentile."""
    return {
        "p50": round(statistics.median(values) * scale, 4),
        "p99": round(statistics.quantiles(values, n=100)[98] * scale, 4),
    }


def filled(path: Path, learners: int, cards: int) -> float:
    """Write learners with their chats and cards; gives the seconds that it took."""
    chance = random.Random(7)  # noqa: S311 - a benchmark
    stamp = NOW.replace(tzinfo=None).isoformat(sep=" ")
    memories = [
        (memory.to_json(kept), (NOW + timedelta(days=days)).replace(tzinfo=None).isoformat(sep=" "))
        for days in range(-5, 55)
        for kept in (memory.graded(None, Grade.KNEW, 1, NOW - timedelta(days=3)),)
    ]
    start = time.perf_counter()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous=OFF")
    for first in range(0, learners, BATCH):
        names = [f"l{number:011d}" for number in range(first, min(first + BATCH, learners))]
        connection.executemany("INSERT INTO learners VALUES (?, ?)", ((name, stamp) for name in names))
        connection.executemany(
            "INSERT INTO chats (id, learner, platform, external, session, checking, revision, last_number, last_change,"
            " changed_at) VALUES (?, ?, 'bench', ?, ?, 0, 0, 0, 0, ?)",
            ((f"c{name[1:]}", name, name, to_json(Session(learner=name)), stamp) for name in names),
        )
        connection.executemany(
            "INSERT INTO cards (learner, card, rev, memory, due, suspended) VALUES (?, ?, 1, ?, ?, 0)",
            ((name, f"card-{card:03d}", *chance.choice(memories)) for name in names for card in range(cards)),
        )
        connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return time.perf_counter() - start


def written(query: Select[Any]) -> str:
    """Give a query as SQLite reads it."""
    return str(query.compile(dialect=dialect.dialect(), compile_kwargs={"literal_binds": True}))


def plan(path: Path, query: Select[Any]) -> str:
    """Give SQLite's plan of a query."""
    connection = sqlite3.connect(path)
    try:
        return "; ".join(str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {written(query)}"))
    finally:
        connection.close()


def queues(path: Path, learners: int) -> dict[str, Any]:
    """Time the due cards of learners at random, and show by which index they are found."""
    chance = random.Random(8)  # noqa: S311 - a benchmark
    connection = sqlite3.connect(path)
    took, found = [], 0
    for _ in range(QUEUES):
        query = written(remembering.due_of(f"l{chance.randrange(learners):011d}", NOW, CAP))
        start = time.perf_counter()
        found += len(connection.execute(query).fetchall())
        took.append(time.perf_counter() - start)
    connection.close()
    return {
        "plan": plan(path, remembering.due_of("l00000000000", NOW, CAP)),
        "plan_of_all_cards": plan(path, remembering.queue_of("l00000000000")),
        "due_each": round(found / QUEUES, 2),
        "ms": spread(took, 1e3),
    }


async def answers(store: SqlStore, path: Path, course: Course, learners: int) -> dict[str, Any]:
    """Time answers from the press to the end of the commit, and, turn about, an insert of one row and its commit.

    The insert is made twice: by the driver alone in this thread, and through the store's own door.
    """
    dice, chance = SystemDice(), random.Random(9)  # noqa: S311 - a benchmark
    bare = sqlite3.connect(path, isolation_level=None)
    bare.execute("PRAGMA synchronous=FULL")
    bare.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, text TEXT)")
    whole, inserts, through, loads = [], [], [], []
    item = next(item for item in course.lessons[0].check if isinstance(item, SingleChoice))
    right = next(option.id for option in item.options if option.right)
    first = course.lessons[0].model_copy(update={"check": (item, *(i for i in course.lessons[0].check if i != item))})
    course = course.model_copy(update={"lessons": (first, *course.lessons[1:])})

    async def take(chat: str, event: Event, key: str) -> tuple[Shown, ...]:
        opened = await store.open(chat, key)
        assert opened is not None
        known = await store.load(chat, needs(opened.session, event))
        turn = take_turn(opened.session, event, known, course, NOW, dice)
        shown = await store.commit(chat, key, opened.revision, turn, NOW)
        assert shown is not None
        return shown

    for number, learner in enumerate(chance.sample(range(learners), min(ANSWERS, learners))):
        chat = f"c{learner:011d}"
        start = time.perf_counter()
        await store.load(chat, needs(Session(learner="x"), TextSent("/progress")))
        loads.append(time.perf_counter() - start)
        await take(chat, TextSent("/quiz"), f"q{number}")
        opened = await store.open(chat, "")
        assert opened is not None
        start = time.perf_counter()
        await take(chat, ButtonPressed(f"1:ans:{opened.session.asked}:{right}"), f"a{number}")
        whole.append(time.perf_counter() - start)
        start = time.perf_counter()
        bare.execute("INSERT INTO bare (text) VALUES (?)", ("x" * 100,))
        inserts.append(time.perf_counter() - start)
        start = time.perf_counter()
        async with store._writer.begin() as connection:
            await connection.exec_driver_sql("INSERT INTO bare (text) VALUES ('x')")
        through.append(time.perf_counter() - start)
    answered = bare.execute("SELECT count(*) FROM asks WHERE answered_at IS NOT NULL").fetchone()[0]
    bare.close()
    assert answered == len(whole)
    told, alone, door = spread(whole, 1e3), spread(inserts, 1e3), spread(through, 1e3)
    return {
        "answers": len(whole),
        "answer_ms": told,
        "bare_insert_ms": alone,
        "insert_through_the_store_ms": door,
        "ratio_p50": round(told["p50"] / alone["p50"], 2),
        "ratio_p99": round(told["p99"] / alone["p99"], 2),
        "ratio_to_the_store_p50": round(told["p50"] / door["p50"], 2),
        "ratio_to_the_store_p99": round(told["p99"] / door["p99"], 2),
        "everything_kept_loaded_ms": spread(loads, 1e3),
    }


def reviews() -> dict[str, Any]:
    """Time a grade with its memory read and written, beside FSRS alone, turn about."""
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), maximum_interval=60, enable_fuzzing=False)
    text = memory.to_json(memory.graded(None, Grade.KNEW, 1, NOW))
    card, _ = scheduler.review_card(Card(card_id=1), Rating.Good, NOW)
    later = NOW + timedelta(days=3)

    def ours() -> None:
        memory.to_json(memory.graded(memory.from_json(text), Grade.KNEW, 1, later))

    def alone() -> None:
        scheduler.review_card(card, Rating.Good, later)

    def timed(work: Callable[[], None]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    pairs = [(timed(ours), timed(alone)) for _ in range(REVIEWS)]
    own, theirs = (spread([pair[at] for pair in pairs], 1e6) for at in (0, 1))
    return {"review_us": own, "fsrs_alone_us": theirs, "ratio_p50": round(own["p50"] / theirs["p50"], 2)}


async def main() -> None:
    """Fill a database, measure, and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--learners", type=int, default=100_000)
    parser.add_argument("--cards", type=int, default=50)
    chosen = parser.parse_args()
    course = load_course()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        sqlite.migrate(path)
        seconds = filled(path, chosen.learners, chosen.cards)
        found = queues(path, chosen.learners)
        store = sqlite.open_store(path, b"k" * 32, SystemDice().identity)
        answered = await answers(store, path, course, chosen.learners)
        await store.close()
        told = {
            "benchmark": "practice",
            "learners": chosen.learners,
            "cards_each": chosen.cards,
            "filled_s": round(seconds, 1),
            "mib": path.stat().st_size >> 20,
            "due_queue": found,
            "answering": answered,
            "reviewing": reviews(),
        }
    print(json.dumps(told))


if __name__ == "__main__":
    asyncio.run(main())
