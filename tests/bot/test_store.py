"""The store for real, on each kind of database: two processes' worth of connections, a kill in the middle."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from bot.engine.effects import Ask, CheckCode, CloseAsk, CountTry, Edit, Forget, OpenAsk, Record, RunCode, Say, Turn
from bot.engine.known import Needs
from bot.engine.remembering.rows import Answered
from bot.engine.replies import Paragraph, Reply, Text
from bot.engine.session import PendingCode, Session
from bot.errors import StoreError
from bot.stores import postgres, sqlite, tables
from bot.stores.sql import SqlStore
from sandbox_runner.protocol import Ending, Job, JobKind, Result
from tests.bot.databases import Database

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def reply(text: str) -> Reply:
    return Reply((Paragraph((Text(text),)),))


def texts(shown: tuple[object, ...]) -> list[str]:
    return [one.reply.blocks[0].spans[0].text for one in shown]  # type: ignore[attr-defined]


def ask(name: str, *, kind: str = "item") -> Ask:
    return Ask(name, kind, "vectorise", "item-one", 1, ("b", "a"), "hash")  # type: ignore[arg-type]


async def commit(store: SqlStore, chat: str, *effects: object, key: str = "", session: Session | None = None) -> object:
    opened = await store.open(chat, key)
    assert opened is not None
    turn = Turn(session or opened.session, effects)  # type: ignore[arg-type]
    return await store.commit(chat, key, opened.revision, turn, NOW)


def differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"render_as_batch": True})
    return list(compare_metadata(context, tables.metadata))


async def test_the_migrations_make_exactly_the_tables_that_the_code_names(database: Database) -> None:
    driver = "sqlite+aiosqlite:///" if database.kind == "sqlite" else ""
    engine = create_async_engine(driver + database.place)
    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
    await engine.dispose()


def test_every_constraint_has_a_name_in_the_database(tmp_path: Path) -> None:
    sqlite.migrate(tmp_path / "t.db")
    connection = sqlite3.connect(tmp_path / "t.db")
    made = [
        row[0]
        for row in connection.execute("SELECT sql FROM sqlite_master WHERE type='table' AND name!='alembic_version'")
    ]
    connection.close()
    assert len(made) == len(tables.metadata.tables)
    for sql in made:
        for line in sql.splitlines():
            if any(word in line for word in ("PRIMARY KEY", "UNIQUE", "FOREIGN KEY", "CHECK")):
                assert "CONSTRAINT " in line


async def test_migrating_twice_changes_nothing(database: Database) -> None:
    await database.migrate()


async def test_a_file_that_is_no_database_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database, but long enough to be read as one" * 40)
    with pytest.raises(StoreError, match=r"notes\.db"):
        sqlite.migrate(path)


@pytest.mark.services
async def test_a_server_that_is_not_there_is_refused_by_address_without_its_password() -> None:
    with pytest.raises(StoreError, match=r"tasree:\*\*\*@127\.0\.0\.1") as caught:
        await postgres.migrate("postgresql+asyncpg://tasree:geheim@127.0.0.1:1/tasree", patience_s=0.1)
    assert "geheim" not in str(caught.value)


async def test_what_a_learner_sends_is_stored_whatever_its_characters(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    sent = "قبل \0 بعد \U0001f680 '; DROP TABLE chats; --"
    await commit(store, chat, Say(reply(sent)), Record((OpenAsk(ask("q1")),)))
    await commit(store, chat, Record((CountTry("q1", sent),)))
    assert texts(await store.since(chat, 0)) == [sent]
    found = (await store.load(chat, Needs(ask="q1"))).ask
    assert found is not None
    assert found.answer.replace("\0", "\ufffd") == sent.replace("\0", "\ufffd")


async def test_a_fault_of_the_database_repeats_nothing_of_what_a_learner_sent(store: SqlStore) -> None:
    for door in (store._reader, store._writer):
        with pytest.raises(DBAPIError) as told:
            async with door.begin() as connection:
                await connection.execute(text("SELECT * FROM nothing_of_that_name WHERE it = :it"), {"it": "a secret"})
        assert "nothing_of_that_name" in str(told.value)
        assert "a secret" not in str(told.value)


async def test_an_account_keeps_its_chat_and_learners_are_hashed(store: SqlStore) -> None:
    first, again, other = [await store.enter("web", name, NOW) for name in ("ali", "ali", "mona")]
    assert first == again
    assert other.id != first.id
    assert len(first.learner) == 32
    assert first.learner != other.learner


async def test_thirty_first_visits_at_once_make_one_chat(store: SqlStore) -> None:
    rows = await asyncio.gather(*(store.enter("web", "same", NOW) for _ in range(30)))
    assert len({row.id for row in rows}) == 1


async def test_replies_are_numbered_and_an_edit_keeps_its_number(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    await commit(store, chat, Say(reply("one"), "s"), Say(reply("two")))
    shown = await commit(store, chat, Edit("s", reply("one, edited")))
    assert [(one.number, one.change) for one in shown] == [(1, 3)]  # type: ignore[attr-defined]
    assert texts(await store.since(chat, 0)) == ["one, edited", "two"]
    assert texts(await store.since(chat, 2)) == ["one, edited"]
    assert await store.since(chat, 3) == ()


async def test_an_edit_of_an_unknown_slot_is_said_anew(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    shown = await commit(store, chat, Edit("gone", reply("here")))
    assert [(one.number, one.slot) for one in shown] == [(1, "gone")]  # type: ignore[attr-defined]


async def test_an_event_is_taken_once(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    await commit(store, chat, Say(reply("once")), key="k")
    assert await store.open(chat, "k") is None
    opened = await store.open(chat, "other")
    assert opened is not None
    assert await store.commit(chat, "k", opened.revision, Turn(opened.session, (Say(reply("twice")),)), NOW) is None
    assert texts(await store.since(chat, 0)) == ["once"]


async def test_of_two_turns_on_the_same_revision_one_is_refused_whole(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    opened = await store.open(chat, "")
    assert opened is not None
    turn = Turn(opened.session, (Say(reply("mine")), Record((OpenAsk(ask("q1")),))))
    assert await store.commit(chat, "x", opened.revision, turn, NOW) is not None
    other = Turn(opened.session, (Say(reply("theirs")), Record((OpenAsk(ask("q2")),))))
    assert await store.commit(chat, "y", opened.revision, other, NOW) is None
    assert texts(await store.since(chat, 0)) == ["mine"]
    assert (await store.load(chat, Needs(ask="q2"))).ask is None
    assert await store.open(chat, "y") is not None


async def test_two_stores_on_one_database_lose_no_update(store: SqlStore, database: Database) -> None:
    other = database.open()
    chat = (await store.enter("web", "a", NOW)).id

    async def add(to: SqlStore, text: str) -> None:
        while True:
            opened = await to.open(chat, "")
            assert opened is not None
            if await to.commit(chat, "", opened.revision, Turn(opened.session, (Say(reply(text)),)), NOW) is not None:
                return

    await asyncio.gather(*(add(one, f"{name}{i}") for name, one in (("a", store), ("b", other)) for i in range(10)))
    shown = await store.since(chat, 0)
    assert [one.number for one in shown] == list(range(1, 21))
    assert sorted(texts(shown)) == sorted(f"{name}{i}" for name in "ab" for i in range(10))
    await other.close()


async def test_answers_of_one_learner_from_two_devices_at_once_all_count_once(
    store: SqlStore, database: Database
) -> None:
    other = database.open()
    chats = [(await store.enter("web", name, NOW, account="ali")).id for name in ("phone", "desk")]

    async def answer(to: SqlStore, chat: str, name: str) -> None:
        learnt = Answered("loops", "item-one", 1, first=True, at=NOW)
        while True:
            opened = await to.open(chat, "")
            assert opened is not None
            rows = (
                OpenAsk(ask(name)),
                CloseAsk(name, "a", 1.0, learned=learnt),
                CloseAsk(name, "b", 0.0, learned=learnt),
            )
            turn = Turn(opened.session, (Record(rows),))
            if await to.commit(chat, "", opened.revision, turn, NOW) is not None:
                return

    pairs = zip((store, other), chats, strict=True)
    await asyncio.gather(*(answer(to, chat, f"{chat[:8]}-{i}") for to, chat in pairs for i in range(8)))
    kept = (await store.load(chats[0], Needs(remembered=True))).remembered
    assert kept is not None
    assert kept.topics["loops"].answers == 16
    assert kept.difficulties["item-one"].answers == 16
    await other.close()


async def test_of_a_first_chat_and_a_deletion_at_once_both_come_out_whole(store: SqlStore, database: Database) -> None:
    other = database.open()
    for n in range(5):
        chat = (await store.enter("web", f"old{n}", NOW, account="ali")).id
        opened = await store.open(chat, "")
        assert opened is not None
        rows = await asyncio.gather(
            store.commit(chat, "", opened.revision, Turn(opened.session, (Forget(),)), NOW),
            *(other.enter("web", f"new{n}-{i}", NOW, account="ali") for i in range(3)),
        )
        assert rows[0] == ()
        for row in [await store.enter("web", f"new{n}-{i}", NOW, account="ali") for i in range(3)]:
            assert await store.open(row.id, "") is not None
    await other.close()


async def test_an_ask_is_answered_once_and_counts_its_tries(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    await commit(store, chat, Record((OpenAsk(ask("q1")),)))
    await commit(store, chat, Record((CountTry("q1", "7"),)))
    await commit(store, chat, Record((CloseAsk("q1", "a", 1.0),)))
    await commit(store, chat, Record((CloseAsk("q1", "b", 0.0), CountTry("q1", "9"))))
    found = (await store.load(chat, Needs(ask="q1"))).ask
    assert found is not None
    assert (found.answer, found.tries, found.closed, found.options) == ("a", 1, True, ("b", "a"))


async def test_a_chat_sees_no_ask_and_no_run_of_another(store: SqlStore) -> None:
    mine, theirs = [(await store.enter("web", name, NOW)).id for name in ("a", "b")]
    job = Job("r1", JobKind.RUN, "1", "h")
    await commit(store, mine, Record((OpenAsk(ask("q1")),)), RunCode(job, "slot"))
    await commit(store, theirs, Record((CloseAsk("q1", "a", 1.0),)))
    stolen = await store.load(theirs, Needs(ask="q1", run="r1"))
    assert (stolen.ask, stolen.run) == (None, None)
    own = (await store.load(mine, Needs(ask="q1"))).ask
    assert own is not None
    assert not own.closed


async def test_a_run_is_unfinished_until_its_end_was_told(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    job = Job("r1", JobKind.TIME, "x = 'مرحبا'", "h")
    await commit(store, chat, RunCode(job, "slot"))
    assert [(run.chat, run.job, run.result) for run in await store.unfinished()] == [(chat, job, None)]
    result = Result("r1", JobKind.TIME, Ending.OK)
    await store.finish("r1", result, NOW)
    await store.finish("r1", Result("r1", JobKind.TIME, Ending.CRASH), NOW)
    assert [run.result for run in await store.unfinished()] == [result]
    known = (await store.load(chat, Needs(run="r1"))).run
    assert known is not None
    assert (known.job, known.slot, known.done) == (job, "slot", True)
    await store.close_run("r1")
    assert await store.unfinished() == ()


async def test_a_check_without_an_answer_is_found_again(store: SqlStore) -> None:
    chat = (await store.enter("web", "a", NOW)).id
    opened = await store.open(chat, "")
    assert opened is not None
    waiting = opened.session.with_(pending=PendingCode("c1", ("x=1",), "code.py", measure=False))
    await commit(store, chat, CheckCode("c1", ("x=1",)), session=waiting)
    assert [(one.chat, one.check, one.candidates) for one in await store.unchecked()] == [(chat, "c1", ("x=1",))]
    await commit(store, chat, session=opened.session)
    assert await store.unchecked() == ()


async def test_a_damaged_session_is_begun_anew_and_the_replies_stay(store: SqlStore, database: Database) -> None:
    row = await store.enter("web", "a", NOW)
    await commit(store, row.id, Say(reply("kept")))
    await database.execute("UPDATE chats SET session='{\"version\": 99}'")
    opened = await store.open(row.id, "")
    assert opened is not None
    assert opened.session == Session(learner=row.learner)
    assert texts(await store.since(row.id, 0)) == ["kept"]


async def test_times_come_back_in_utc_and_naive_ones_are_refused(store: SqlStore) -> None:
    there = datetime(2026, 3, 1, 20, 0, tzinfo=timezone(timedelta(hours=8)))
    await store.enter("web", "a", there)
    async with store._reader.connect() as connection:
        assert (await connection.execute(select(tables.learners.c.made_at))).scalar_one() == NOW
    with pytest.raises(Exception, match="naive"):
        await store.enter("web", "b", datetime(2026, 3, 1))  # noqa: DTZ001 - the mistake under test


async def test_what_was_committed_survives_a_kill(database: Database) -> None:
    code = textwrap.dedent(f"""
        import asyncio, secrets
        from datetime import UTC, datetime
        from bot.engine.effects import Say, Turn
        from bot.engine.replies import Paragraph, Reply, Text
        from bot.stores import {database.kind}
        async def main():
            store = {database.kind}.open_store({database.place!r}, b"k" * 32, lambda: secrets.token_hex(6))
            chat = (await store.enter("web", "a", datetime.now(UTC))).id
            for i in range(10**6):
                opened = await store.open(chat, "")
                said = Say(Reply((Paragraph((Text(str(i)),)),)))
                await store.commit(chat, f"k{{i}}", opened.revision, Turn(opened.session, (said,)), datetime.now(UTC))
                print(i, flush=True)
        asyncio.run(main())
    """)
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220 - nothing else runs here
    assert child.stdout is not None
    last = ""
    for last in child.stdout:
        if int(last) == 25:
            child.send_signal(signal.SIGKILL)
            break
    rest = child.stdout.read().split()
    child.wait()
    promised = int(rest[-1]) if rest else int(last)
    store = database.open()
    chat = (await store.enter("web", "a", NOW)).id
    said = [int(text) for text in texts(await store.since(chat, 0))]
    assert said == list(range(len(said)))
    assert len(said) >= promised + 1
    assert await store.open(chat, f"k{promised}") is None
    await store.close()
