"""The teacher's report: figures held against plain arithmetic, on each database; who may have it, and what it hides."""

import csv
import io
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import correlation

import pytest
from PIL import Image

from bot import charts
from bot.adapters.shell import reporting as shell_reporting
from bot.engine.effects import Ask as AskRow
from bot.engine.effects import CloseAsk, CountTry, MakeReport, OpenAsk, Record, Turn
from bot.engine.events import ReportMade, TextSent
from bot.engine.questions import ChooseOffered, KeepQuestion
from bot.engine.remembering.rows import Complain, Visited
from bot.engine.replies import Attachment
from bot.engine.teaching import tables
from bot.engine.teaching.figures import First, Tally
from bot.errands import Errands
from bot.errors import StoreError
from bot.stores import questions
from bot.stores.sql import SqlStore
from bot.testing import Conversation, StandStillClock
from content.schema import Course
from tests.bot.databases import identity

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def save(store: SqlStore, chat: str, *effects: object, at: datetime = NOW) -> None:
    opened = await store.open(chat, "")
    assert opened is not None
    assert await store.commit(chat, "", opened.revision, Turn(opened.session, effects), at) is not None  # type: ignore[arg-type]


async def answer(
    store: SqlStore, chat: str, item: str, *given: tuple[str, str], credit: float, seconds: float = 9
) -> None:
    """Ask an item and answer it: each of `given` is an answer with the misconception it shows; the last one closes."""
    ask = identity()
    await save(store, chat, Record((OpenAsk(AskRow(ask, "item", "small", item, 1, (), "h")),)))
    for text, belief in given[:-1]:
        await save(store, chat, Record((CountTry(ask, text, belief),)))
    text, belief = given[-1]
    await save(store, chat, Record((CloseAsk(ask, text, credit, belief),)), at=NOW + timedelta(seconds=seconds))


async def test_the_figures_are_those_of_the_first_answers(store: SqlStore, course: Course) -> None:
    rights: dict[str, list[float]] = {"item-choice": [], "item-predict": [], "item-number": []}
    for number in range(12):
        chat = (await store.enter("test", str(number), NOW)).id
        for place, item in enumerate(rights):
            right = (number * (place + 2)) % 5 < 3 - place % 2
            rights[item].append(float(right))
            given = [("array", "")] if right else [("loop", "loops-are-fine"), ("both", "")]
            await answer(store, chat, item, *given, credit=float(right), seconds=10 + number)
        await answer(
            store, chat, "item-choice", ("array", ""), credit=1.0, seconds=99
        )  # practised again: counts for nothing
    report = await store.report(course, NOW)
    found = {item.item: item for item in report.items}
    assert report.learners == 12
    for item, own in rights.items():
        rest = [sum(rights[other][i] for other in rights if other != item) / 2 for i in range(12)]
        figures = found[item]
        assert figures.answered == 12
        assert figures.difficulty == pytest.approx(1 - sum(own) / 12)
        assert figures.discrimination == pytest.approx(correlation(own, rest))
        assert figures.median_s == pytest.approx(15.5)
    choice = found["item-choice"]
    wrong = 12 - int(sum(rights["item-choice"]))
    assert choice.options == {"array": 24 - wrong, "loop": wrong, "both": wrong}
    assert choice.misconceptions == {"loops-are-fine": wrong}
    assert (choice.current, choice.kind) == (True, "single")


def test_a_correlation_is_not_told_of_few_or_of_answers_all_alike() -> None:
    few, alike = Tally(), Tally()
    for number in range(20):
        first = First("i", 1, float(number % 2), bool(number % 2), "a", 1.0, 1.0 + number % 2, 3)
        if number < 9:
            few.add(first)
        alike.add(replace(first, alone=True, credit=1.0))
    assert few.discrimination() is None
    assert alike.discrimination() is None
    assert few.median_s() == 1.0


def test_a_question_answered_on_the_next_day_took_no_time_that_is_told() -> None:
    tally = Tally()
    tally.add(First("i", 1, 1.0, alone=True, answer="a", seconds=80_000.0, total=1.0, count=1))
    assert tally.median_s() is None


async def test_stops_say_how_many_came_no_further(store: SqlStore, course: Course) -> None:
    for number, last in enumerate((1, 3, 3, 4)):
        chat = (await store.enter("test", str(number), NOW)).id
        keys = [stop.stop for stop in (await store.report(course, NOW)).stops if stop.lesson == "small"][:last]
        await save(store, chat, Record(tuple(Visited(key) for key in keys)))
    stops = [stop for stop in (await store.report(course, NOW)).stops if stop.lesson == "small"]
    assert [stop.learners for stop in stops[:5]] == [4, 3, 3, 1, 0]
    assert [stop.ended_here for stop in stops[:5]] == [1, 0, 2, 1, 0]


async def test_questions_and_complaints_come_with_hashes_and_without_ids(store: SqlStore, course: Course) -> None:
    row = await store.enter("test", "secret-name", NOW)
    asked = (
        KeepQuestion("q1", "كيف الرز؟", "refuse", (), ("الرز",)),
        KeepQuestion("q2", "شو السرعة", "offer", ("small.section.loops",)),
        KeepQuestion("q3", "شو الحلقة", "offer", ("small.section.loops",)),
        KeepQuestion("q4", "سؤال", "answer", ("small.section.loops", "small.section.arrays")),
        ChooseOffered("q3", "small.section.loops"),
        ChooseOffered("q4", "small.section.arrays"),
        Complain("c1", "item-choice", 1, "=HYPERLINK('x')"),
    )
    await save(store, row.id, Record(asked))
    report = await store.report(course, NOW)
    assert report.bands == {"refuse": 1, "offer": 2, "answer": 1}
    assert report.led_astray == 1
    assert {each.text for each in report.unanswered} == {"كيف الرز؟", "شو السرعة"}
    assert report.unmatched == (("الرز", 1),)
    hashes = [each.learner for each in report.unanswered] + [each.learner for each in report.complaints]
    assert set(hashes) == {row.learner}
    written = shell_reporting.as_json(report) + "".join(tables.written(report).values())
    assert "secret-name" not in written
    assert "'=HYPERLINK" in tables.written(report)["complaints.csv"]


async def test_a_choice_counts_once_and_only_for_its_own_learner(store: SqlStore, course: Course) -> None:
    mine, other = [(await store.enter("test", name, NOW)).id for name in ("a", "b")]
    await save(store, mine, Record((KeepQuestion("q1", "سؤال", "offer", ("x", "y")),)))
    await save(store, other, Record((ChooseOffered("q1", "x"),)))
    assert (await store.report(course, NOW)).unanswered
    await save(store, mine, Record((ChooseOffered("q1", "y"), ChooseOffered("q1", "x"))))
    assert not (await store.report(course, NOW)).unanswered


async def test_after_their_time_the_words_of_questions_go_and_the_counts_stay(store: SqlStore, course: Course) -> None:
    chat = (await store.enter("test", "a", NOW)).id
    await save(store, chat, Record((KeepQuestion("q1", "اسمي فلان", "refuse", (), ("فلان",)),)))
    async with store._writer.begin() as connection:
        assert await questions.forget(connection, NOW) == 0
        assert await questions.forget(connection, NOW + timedelta(days=1)) == 1
    report = await store.report(course, NOW)
    assert (report.bands, report.unanswered, report.unmatched) == ({"refuse": 1}, (), ())


async def test_an_admin_gets_the_report_with_its_picture_and_tables_and_nobody_else(
    store: SqlStore, course: Course
) -> None:
    admin, other = [(await store.enter("test", name, NOW)).id for name in ("boss", "else")]
    errands = Errands(store, StandStillClock(NOW), ("test:boss",))
    made = await errands.run(admin, MakeReport("report:1"), course)
    assert isinstance(made, ReportMade)
    assert made.report is not None
    assert [name for name, _, _ in made.files] == ["report.png", *tables.written(made.report)]
    refused = await errands.run(other, MakeReport("report:2"), course)
    assert refused == ReportMade("report:2", allowed=False)


async def test_a_report_that_fails_says_so_and_nothing_more(course: Course) -> None:
    class Away:
        async def accounts(self, chat: str) -> tuple[str, ...]:
            message = "the database is away"
            raise StoreError(message)

        async def report(self, course: Course, now: datetime) -> None:
            raise NotImplementedError

    made = await Errands(Away(), StandStillClock(NOW), ()).run("chat", MakeReport("s"), course)  # type: ignore[arg-type]
    assert made == ReportMade("s", allowed=True)


def test_in_chat_the_report_takes_the_place_of_the_promise(course: Course) -> None:
    talk = Conversation(course)
    said = talk.take(TextSent("/report"))
    assert "يُجهَّز" in str(said)
    shown = talk.store._chats[talk.chat].shown
    slot = next(one.slot for one in shown.values() if one.slot.startswith("report:"))
    (edited,) = talk.take(ReportMade(slot, allowed=False))
    assert "للمشرفين وحدهم" in str(edited)
    assert not any(isinstance(block, Attachment) for block in edited.blocks)


async def test_a_picture_is_drawn_of_any_report_even_an_empty_one(store: SqlStore, course: Course) -> None:
    empty = charts.drawn(await store.report(course, NOW), course)
    chat = (await store.enter("test", "a", NOW)).id
    await answer(store, chat, "item-choice", ("loop", "x"), ("array", ""), credit=0.5)
    drawn = charts.drawn(await store.report(course, NOW), course)
    for data in (empty, drawn):
        assert Image.open(io.BytesIO(data)).size[0] == 1080
    assert drawn != empty


async def test_tables_can_be_read_back_and_hold_numbers(store: SqlStore, course: Course, tmp_path: Path) -> None:
    chat = (await store.enter("test", "a", NOW)).id
    await answer(store, chat, "item-choice", ("_skip", ""), credit=0.0)
    report = await store.report(course, NOW)
    files = shell_reporting.table_files(tmp_path / "out.csv", report)
    assert {path.name for path in files} >= {"out.csv", "out-stops.csv", "out-questions.csv", "out-complaints.csv"}
    (row,) = csv.DictReader(io.StringIO(files[tmp_path / "out.csv"].decode("utf-8-sig")))
    assert (row["item"], row["skipped"], row["options"]) == ("item-choice", "1", "{}")
    assert math.isclose(float(row["difficulty"]), 1.0)
    minus = replace(report, items=(replace(report.items[0], discrimination=-0.25),))
    assert ",-0.25," in tables.written(minus)["items.csv"]


async def test_the_sweep_takes_the_words_of_old_questions(store: SqlStore, course: Course) -> None:
    chat = (await store.enter("test", "a", NOW)).id
    await save(store, chat, Record((KeepQuestion("q1", "سؤال قديم", "refuse", (), ("قديم",)),)))
    later = NOW + timedelta(days=40)
    await store.owned().sweep(NOW + timedelta(days=10), later, lambda _: None)
    report = await store.report(course, later)
    assert (report.bands, report.unanswered) == ({"refuse": 1}, ())
