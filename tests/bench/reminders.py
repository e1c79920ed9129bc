"""What it costs to find whom to remind among 100,000 learners, on each kind of database: the plan, and p99 of a claim.

The first argument is another number of learners.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Table, insert, text

from bot.engine.session import Session, to_json
from bot.reminding import BATCH, LEASE
from bot.stores import learned, reminding, tables
from bot.stores.sql import SqlStore

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bot.databases import SqliteFile, programs, served

NOW = datetime(2026, 5, 1, 14, 0, tzinfo=UTC)
AT_ONCE = 5_000
CLAIMS = 100


async def fill(store: SqlStore, count: int) -> None:
    """Give every learner a chat, and a digest at some second of the day: one in 86,400 learners falls due a second."""
    for start in range(0, count, AT_ONCE):
        ids = [f"l{n:011d}" for n in range(start, min(start + AT_ONCE, count))]
        rows: dict[Table, list[dict[str, Any]]] = {
            tables.learners: [{"id": each, "made_at": NOW} for each in ids],
            tables.accounts: [
                {"id": f"a{each[1:]}", "learner": each, "platform": "web", "external": each} for each in ids
            ],
            tables.chats: [
                {
                    "id": f"c{each[1:]}",
                    "learner": each,
                    "platform": "web",
                    "external": each,
                    "session": to_json(Session(each)),
                    "checking": False,
                    "revision": 0,
                    "last_number": 0,
                    "last_change": 0,
                    "changed_at": NOW,
                }
                for each in ids
            ],
            learned.wishes: [
                {
                    "learner": each,
                    "zone": "Asia/Riyadh",
                    "reminders": True,
                    "remind_minute": 1020,
                    "quiet_from": 1320,
                    "quiet_to": 480,
                    "daily_cap": 20,
                    "days_off": "",
                    "next_at": NOW + timedelta(seconds=int(each[1:]) * 86_400 / count),
                    "last_day": "",
                    "unanswered": 0,
                    "leased_by": "",
                    "leased_until": None,
                }
                for each in ids
            ],
        }
        async with store._writer.begin() as connection:
            for table, values in rows.items():
                await connection.execute(insert(table), values)


async def plan(store: SqlStore, kind: str) -> str:
    """Give the plan by which the due are chosen."""
    chosen = reminding.due(learned.wishes.c.next_at <= NOW, NOW, LEASE, ("web",), BATCH)
    async with store._writer.begin() as connection:
        await connection.execute(text("ANALYZE"))
        statement = chosen.compile(connection.engine, compile_kwargs={"literal_binds": True})
        explain = "EXPLAIN " if kind == "postgres" else "EXPLAIN QUERY PLAN "
        found = await connection.exec_driver_sql(explain + str(statement))
        return " | ".join(str(row[-1]).strip() for row in found)


def spread(values: Sequence[float]) -> dict[str, float]:
    """Give the median and the 99th percentile in milliseconds."""
    return {
        "p50": round(statistics.median(values) * 1e3, 3),
        "p99": round(statistics.quantiles(values, n=100)[98] * 1e3, 3),
    }


async def measured(store: SqlStore, kind: str, count: int) -> dict[str, object]:
    """Claim as one bot would, a second of the day after the other, beside opening one chat by its key."""
    await fill(store, count)
    async with store._writer.begin() as connection:
        await connection.execute(text("ANALYZE"))
    claims, opens, found = [], [], 0
    for n in range(CLAIMS):
        at = NOW + timedelta(seconds=n)
        start = time.perf_counter()
        due = await store.reminding().claim(at, "bench", LEASE, ("web",), BATCH)
        claims.append(time.perf_counter() - start)
        start = time.perf_counter()
        await store.open(f"c{n:011d}", "key")
        opens.append(time.perf_counter() - start)
        found += len(due)
    made = {"kind": kind, "plan": await plan(store, kind), "claimed": found}
    await store.close()
    return {**made, "claim_ms": spread(claims), "open_a_chat_ms": spread(opens)}


def main() -> None:
    """Measure on SQLite, and on PostgreSQL where its programs are."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with ExitStack() as stack:
        file = SqliteFile(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "bench.db")
        asyncio.run(file.migrate())
        told = [asyncio.run(measured(file.open(), "sqlite", count))]
        if programs() is not None:
            server = stack.enter_context(served())
            told.append(asyncio.run(measured(server.emptied().open(), "postgres", count)))
    print(json.dumps({"benchmark": "reminders", "learners": count, "databases": told}))


if __name__ == "__main__":
    main()
