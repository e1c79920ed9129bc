"""What belongs to a learner, on each kind of database: copied whole, deleted whole, swept in time."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Boolean, Float, Integer, LargeBinary, Table, func, insert, select

from bot.app import App, SystemDice
from bot.engine.effects import Ask, CloseAsk, OpenAsk, Record, RunCode, Say, Turn
from bot.engine.events import ButtonPressed, CodeSent, TextSent
from bot.engine.known import Needs
from bot.engine.owned import anki
from bot.engine.owned.fading import fader
from bot.engine.owned.rows import KeepFile
from bot.engine.replies import Attachment, Choices, CodeBlock, File, Paragraph, Reply, Text
from bot.engine.session import PendingCode
from bot.engine.wording import Wording, plain
from bot.ports import Shown
from bot.stores import owned
from bot.stores.sql import SqlStore
from bot.stores.tables import UtcTime
from bot.sweeping import Sweeper
from bot.testing import Conversation, ParsingChecker, RecordingChat, StandStillClock
from content.schema import Course
from sandbox_runner.protocol import Accepted, Capabilities, Device, Ending, Event, Finished, Job, JobKind, Result
from tests.bot.databases import Database

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TABLES = owned.metadata.sorted_tables
MARK = "بصمة-لا-تتكرر"


class EndlessRunner:
    """A runner whose jobs end when they are cancelled."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []
        self.sent = asyncio.Event()
        self._gone = asyncio.Event()

    async def capabilities(self) -> Capabilities:
        return Capabilities(kinds=tuple(JobKind), devices=(Device.CPU,), slots=1)

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        self.sent.set()
        yield Accepted(0, 0.0)
        await self._gone.wait()
        yield Finished(Result(job.id, job.kind, Ending.CANCELLED))

    async def cancel(self, job_id: str) -> None:
        self.cancelled.append(job_id)
        self._gone.set()


@asynccontextmanager
async def talking(course: Course, store: SqlStore, chat: RecordingChat, runner: EndlessRunner) -> AsyncIterator[App]:
    app = App(
        course=course,
        store=store,
        runner=runner,
        checker=ParsingChecker(),
        clock=StandStillClock(NOW),
        dice=SystemDice(),
        chat=chat,
    )
    await app.start(adopt=False)
    await app.runner_asked()
    try:
        yield app
    finally:
        await app.close()


def value(table: Table, name: str, who: str) -> object:
    """Give a value that a column takes, another one for each learner."""
    column = table.c[name]
    for key in column.foreign_keys:
        return f"{who}-{key.column.table.name}"[:12]
    if name == "id":
        return f"{who}-{table.name}"[:12]
    kinds = {Boolean: False, Integer: 1, Float: 0.5, LargeBinary: b"bytes", UtcTime: NOW}
    found = next((one for kind, one in kinds.items() if isinstance(column.type, kind)), None)
    return f"{who}-{name}"[: getattr(column.type, "length", None) or 40] if found is None else found


async def fill(store: SqlStore, who: str) -> None:
    """Give a learner one row in every table that has rows of learners."""
    async with store._writer.begin() as connection:
        for table in TABLES:
            if owned.is_of_a_learner(table):
                await connection.execute(insert(table).values({c.name: value(table, c.name, who) for c in table.c}))


async def counts(store: SqlStore) -> dict[str, int]:
    async with store._reader.connect() as connection:
        return {
            table.name: (await connection.execute(select(func.count()).select_from(table))).scalar_one()
            for table in TABLES
        }


async def forget(store: SqlStore, chat: str) -> None:
    async with store._writer.begin() as connection:
        await owned.forget(connection, chat)


def press(shown: list[tuple[str, Shown]], label: str) -> ButtonPressed:
    choices = [
        choice
        for _, one in shown
        for block in one.reply.blocks
        if isinstance(block, Choices)
        for choice in block.choices
    ]
    return ButtonPressed(next(choice.payload for choice in reversed(choices) if choice.label == label))


# --- deleting ---------------------------------------------------------------------------------------------------------


def test_every_table_says_whose_its_rows_are() -> None:
    for table in TABLES:
        assert owned.is_of_a_learner(table) != (table.name in owned.OF_NOBODY), table.name
        for column in table.c:
            pointed = {key.column.table.name for key in column.foreign_keys}
            assert column.name == "learner" or "learners" not in pointed, f"{table.name}.{column.name}"
            assert column.name == "chat" or "chats" not in pointed, f"{table.name}.{column.name}"
    assert set(owned.OF_NOBODY) <= set(owned.metadata.tables)


async def test_of_a_deleted_learner_no_table_keeps_a_row_and_others_keep_all(store: SqlStore) -> None:
    await fill(store, "ann")
    await fill(store, "bob")
    full = await counts(store)
    assert all(full[table.name] == 2 for table in TABLES if owned.is_of_a_learner(table))
    await forget(store, "ann-chats")
    left = await counts(store)
    assert {name: left[name] for name in left if full[name] == 2} == {name: 1 for name in full if full[name] == 2}
    async with store._reader.connect() as connection:
        for table in TABLES:
            for row in await connection.execute(select(table)):
                assert not any(str(one).startswith("ann") for one in row), table.name
    await forget(store, "ann-chats")
    assert await counts(store) == left


async def test_a_confirmed_deletion_stops_the_run_and_the_account_meets_a_fresh_learner(
    course: Course, store: SqlStore
) -> None:
    chat, runner = RecordingChat(), EndlessRunner()
    async with talking(course, store, chat, runner) as app:
        row = await app.enter("web", "ali")
        await app.take(row.id, CodeSent("while True: pass"), "code")
        await runner.sent.wait()
        (running,) = await store.unfinished()
        await app.take(row.id, TextSent("/delete"), "delete")
        assert (await store.unfinished())[0].job.id == running.job.id
        await app.take(row.id, press(chat.shown, "حذف نهائي"), "erase")
        await app.idle()
        assert runner.cancelled == [running.job.id]
        assert chat.forgotten == [row.id]
        assert "حُذف كل شيء" in repr(chat.shown[-1][1].reply)
        assert set((await counts(store)).values()) == {0}
        assert not await app.take(row.id, TextSent("مساعدة"), "late")
        fresh = await app.enter("web", "ali")
        assert fresh.id != row.id
        assert fresh.learner != row.learner
        assert len(await app.since(fresh.id, 0)) == 1


def assert_nowhere(folder: Path) -> None:
    files = list(folder.glob("t.db*"))
    assert files
    for path in files:
        assert MARK.encode() not in path.read_bytes(), path


async def test_what_was_deleted_is_not_left_in_the_file(tmp_path: Path, store: SqlStore, database: Database) -> None:
    chat = (await store.enter("web", "ali", NOW)).id
    opened = await store.open(chat, "")
    assert opened is not None
    said = Say(Reply((Paragraph((Text(MARK),)),)))
    job = RunCode(Job("r1", JobKind.RUN, f"# {MARK}", "h"), "slot")
    await store.commit(chat, "", opened.revision, Turn(opened.session, (said, job)), NOW)
    await forget(store, chat)
    await store.owned().scrub()
    if database.kind == "sqlite":
        await asyncio.to_thread(assert_nowhere, tmp_path)


# --- copying ----------------------------------------------------------------------------------------------------------


async def test_a_copy_holds_every_row_of_the_learner_and_nothing_of_others(store: SqlStore) -> None:
    await fill(store, "ann")
    await fill(store, "bob")
    own = (await store.load("ann-chats", Needs(own=True))).own
    assert own is not None
    assert {name: len(rows) for name, rows in own.items()} == {
        table.name: 1 for table in TABLES if owned.is_of_a_learner(table)
    }
    text = json.dumps(own)
    assert "ann" in text
    assert "bob" not in text
    for table in TABLES:
        kept = set(own[table.name][0]) if table.name in own else set()
        left_out = {column.name for column in table.c} - kept if kept else set()
        assert left_out == owned._UNCOPIED.get(table.name, frozenset()), table.name


async def test_a_copy_is_offered_as_files_to_this_chat_alone(course: Course, store: SqlStore) -> None:
    chat = RecordingChat()
    async with talking(course, store, chat, EndlessRunner()) as app:
        mine, theirs = (await app.enter("web", "ali")).id, (await app.enter("web", "mona")).id
        for key in ("one", "two"):
            await app.take(mine, TextSent("/export"), key)
        files = [b for _, one in chat.shown for b in one.reply.blocks if isinstance(b, File)]
        assert [file.name for file in files] == ["tasree-data.json", "tasree-cards.csv"] * 2
        found = [await app.file(mine, file.ref) for file in files]
        assert [one is None for one in found] == [True, True, False, False]  # the newer copy stands for the older
        assert [await app.file(theirs, file.ref) for file in files] == [None] * 4
        document = json.loads(found[2].data)  # type: ignore[union-attr]
        assert document["format"] == "tasree-export"
        assert document["tables"]["accounts"][0]["external"] == "ali"
        assert all("data" not in row for row in document["tables"]["files"])
        assert found[2] is not None
        assert len(found[2].data) == files[2].size


async def test_a_copy_is_not_given_where_others_read_along(course: Course, store: SqlStore) -> None:
    chat = RecordingChat()
    async with talking(course, store, chat, EndlessRunner()) as app:
        group = (await app.enter("telegram", "-100/7", "7")).id
        await app.take(group, TextSent("/export"), "one")
        assert not any(isinstance(block, File) for _, one in chat.shown for block in one.reply.blocks)
        assert "المحادثة الخاصة" in repr(chat.shown[-1][1].reply)
        private = (await app.enter("telegram", "7", "7")).id
        await app.take(private, TextSent("/export"), "two")
        assert sum(isinstance(block, File) for _, one in chat.shown for block in one.reply.blocks) == 2


@pytest.mark.parametrize("word", ["لا", "إبقاء كل شيء", "no"])
def test_a_no_keeps_everything(course: Course, word: str) -> None:
    talk = Conversation(course)
    talk.take(TextSent("/delete"))
    (reply,) = talk.take(TextSent(word))
    assert "لم يُحذف شيء" in str(reply)
    assert talk.session.expects == ""


def test_the_cards_are_written_as_anki_reads_them(course: Course) -> None:
    lines = anki.table(course, {}).splitlines()
    assert lines[:5] == [
        "#separator:Comma",
        "#html:true",
        "#notetype:Basic",
        "#columns:Front,Back,Tags,Due,Suspended",
        "#tags column:3",
    ]
    assert len(lines) == 5 + sum(len(lesson.cards) for lesson in course.lessons)
    assert all(line.startswith('"<div dir=""rtl"">') and line.count('","') == 4 for line in lines[5:])


# --- sweeping ---------------------------------------------------------------------------------------------------------


async def test_code_outputs_and_files_go_after_their_time_and_the_rest_stays(course: Course, store: SqlStore) -> None:
    chat = (await store.enter("web", "ali", NOW)).id
    own = next(iter(course.files.values()))
    talk = Paragraph((Text("كلام"),))

    async def commit(at: datetime, *effects: object, code: str) -> None:
        opened = await store.open(chat, "")
        assert opened is not None
        session = opened.session.with_(pending=PendingCode("c", (code,), "code.py", measure=False, offered=True))
        assert await store.commit(chat, "", opened.revision, Turn(session, effects), at) is not None  # type: ignore[arg-type]

    for name, at in (("old", NOW - timedelta(days=31)), ("new", NOW - timedelta(days=29))):
        code = f"print('{MARK} {name}')"
        ask = Ask(f"q-{name}", "item", "vectorise", "item-one", 1, (), "hash")
        shown = Reply((talk, CodeBlock(code), Attachment("x.png", "image/png", "eA=="), CodeBlock(own)))
        await commit(
            at,
            Say(shown),
            RunCode(Job(f"r-{name}", JobKind.RUN, code, "h"), f"run:{name}"),
            Record((OpenAsk(ask), CloseAsk(ask.id, f"{code}\nx", 1.0), KeepFile(f"f-{name}", name, "text/csv", b"x"))),
            code=code,
        )
        await store.close_run(f"r-{name}")
    sweeper = Sweeper(store.owned(), lambda: course, StandStillClock(NOW), 30)
    assert await sweeper.sweep() == owned.Swept(runs=1, files=1, replies=1, answers=1)
    assert await sweeper.sweep() is None
    old, new = (one.reply.blocks for one in await store.since(chat, 0))
    note = Paragraph(Wording(course.phrases).say("faded.code", n=30))
    assert old == (talk, note, CodeBlock(own))
    assert "30 يومًا" in plain(note.spans)
    assert len(new) == 4
    answers = [(await store.load(chat, Needs(ask=f"q-{name}"))).ask for name in ("old", "new")]
    assert [bool(one and one.answer) for one in answers] == [False, True]
    assert [(await store.load(chat, Needs(run=f"r-{name}"))).run is None for name in ("old", "new")] == [True, False]
    later = Sweeper(store.owned(), lambda: course, StandStillClock(NOW + timedelta(days=40)), 30)
    assert await later.sweep() == owned.Swept(runs=1, files=1, replies=1, answers=1, drafts=1)
    assert MARK not in json.dumps((await store.load(chat, Needs(own=True))).own, ensure_ascii=False)


def test_a_reply_without_code_fades_to_nothing_new(course: Course) -> None:
    fade = fader(course, 30)
    assert fade(Reply((Paragraph((Text("كلام"),)),))) is None
    once = fade(Reply((CodeBlock("x = 1"), File("a", "a.csv", "text/csv", 1))))
    assert once is not None
    assert len(once.blocks) == 1
    assert fade(once) is None


async def test_a_clock_that_jumped_does_not_stop_the_sweeps(course: Course, store: SqlStore) -> None:
    far = StandStillClock(NOW + timedelta(days=4000))
    assert await Sweeper(store.owned(), lambda: course, far, 30).sweep() is not None
    chat = (await store.enter("web", "ali", NOW)).id
    opened = await store.open(chat, "")
    assert opened is not None
    said = Say(Reply((CodeBlock(MARK),)))
    await store.commit(chat, "", opened.revision, Turn(opened.session, (said,)), NOW - timedelta(days=31))
    swept = await Sweeper(store.owned(), lambda: course, StandStillClock(NOW), 30).sweep()
    assert swept == owned.Swept(replies=1)
