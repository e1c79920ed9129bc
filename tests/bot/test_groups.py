"""A quiz that anybody in a group may answer: conversations as data, on each store, and what they cannot show.

Regenerate the conversations, after looking at why they changed, with REGENERATE_CONVERSATIONS=1.
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bot.engine.buttons import Op, encode
from bot.engine.effects import Say, Turn, Whisper
from bot.engine.events import ButtonPressed, Event, GroupAsked, GroupFellDue, GroupPressed, Person, TextSent
from bot.engine.groups import asking, naming, playing
from bot.engine.groups.quiz import Quiz
from bot.engine.known import Needs, needs
from bot.engine.replies import Choices, Reply
from bot.engine.session import Session, from_json, to_json
from bot.engine.turn import take_turn
from bot.ports import Opened
from bot.stores.sql import SqlStore
from bot.testing import Conversation, FixedDice, MemoryStore, StandStillClock
from content.schema import Course, Item
from tests.bot.databases import Database
from tests.bot.test_conversations import REGENERATE, _Literal, told, with_items

FOLDER = Path(__file__).resolve().parent.parent / "conversations" / "groups"
AtOnce = Callable[[Coroutine[Any, Any, Any]], Any]


def at_once(work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - what the coroutine gives
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    raise RuntimeError


class Group:
    """A group and its members, turn by turn."""

    def __init__(self, course: Course, store: MemoryStore | SqlStore | None = None, run: AtOnce = at_once) -> None:
        self.course = course
        self.store: Any = store or MemoryStore()
        self.run = run
        self.dice = FixedDice()
        self.clock = StandStillClock()
        self.room: str = run(self.store.room("test", "-1/#", self.clock.now()))
        self.admins: frozenset[str] = frozenset()
        self.names: dict[str, str] = {}
        self.buttons: dict[str, str] = {}
        self.heard: list[Reply] = []

    @property
    def session(self) -> Session:
        opened: Opened = self.run(self.store.open(self.room, ""))
        return opened.session

    @property
    def quiz(self) -> Quiz:
        assert self.session.group is not None
        return self.session.group

    def person(self, member: str) -> Person:
        """Give a member by a key; the name shown may be another."""
        row = self.run(self.store.enter("test", f"-1/{member}", self.clock.now(), member))
        return Person(row.id, self.names.get(member, member), member in self.admins)

    def take(self, event: Event, key: str = "") -> Turn | None:
        opened = self.run(self.store.open(self.room, key))
        if opened is None:
            return None
        known = self.run(self.store.load(self.room, needs(opened.session, event)))
        turn = take_turn(opened.session, event, known, self.course, self.clock.now(), self.dice)
        shown = self.run(self.store.commit(self.room, key, opened.revision, turn, self.clock.now()))
        assert shown is not None
        self.heard = [one.reply for one in shown]
        for block in (block for reply in self.heard for block in reply.blocks):
            if isinstance(block, Choices):
                self.buttons.update({choice.label: choice.payload for choice in block.choices})
        return turn

    def ask(self, member: str, argument: str = "") -> Turn:
        return self._done(GroupAsked(self.person(member), argument))

    def press(self, member: str, label: str) -> Turn:
        return self._done(GroupPressed(self.person(member), self.buttons.get(label, label)))

    def fall_due(self) -> Turn:
        due = playing.when(self.quiz)
        assert due is not None
        event, self.clock.at = due
        return self._done(event)

    def _done(self, event: Event) -> Turn:
        turn = self.take(event)
        assert turn is not None
        return turn

    def play(self, step: dict[str, Any]) -> list[str]:
        if "wait" in step:
            self.clock.at += timedelta(seconds=step["wait"])
            return []
        if "due" in step:
            turn = self.fall_due()
        elif "ask" in step:
            turn = self.ask(step["by"], step["ask"])
        else:
            turn = self.press(step["by"], step["press"])
        whispers = [f"({step['by']}) {one.text}" for one in turn.effects if isinstance(one, Whisper)]
        return [told(reply) for reply in self.heard] + whispers


def whispered(turn: Turn) -> str:
    return next((one.text for one in turn.effects if isinstance(one, Whisper)), "")


def played(group: Group, written: dict[str, Any]) -> list[dict[str, Any]]:
    group.names, group.admins = written.get("names", {}), frozenset(written.get("admins", ()))
    steps = [{key: value for key, value in step.items() if key != "replies"} for step in written["steps"]]
    return [{**step, "replies": group.play(step)} for step in steps]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_groups_conversation_goes_as_written(path: Path, course: Course, other_items: tuple[Item, ...]) -> None:
    written = yaml.safe_load(path.read_text())
    done = played(Group(with_items(course, written.get("items", ()), other_items)), written)
    if REGENERATE:
        text = yaml.dump({**written, "steps": done}, Dumper=_Literal, allow_unicode=True, sort_keys=False, width=10**6)
        path.write_text(text)
        return
    assert done == written["steps"]


@pytest.mark.parametrize("name", ["whole", "ties"])
def test_a_groups_conversation_goes_the_same_way_on_each_database(
    name: str, course: Course, database: Database
) -> None:
    written = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    with asyncio.Runner() as loop:
        store = database.open()
        assert played(Group(course, store, loop.run), written) == written["steps"]
        loop.run(store.close())


# --- what conversations do not show -----------------------------------------------------------------------------------


def test_a_press_counts_for_the_question_under_which_it_stands_and_for_no_other(course: Course) -> None:
    group = Group(course)
    group.ask("sara", "2")
    old = group.buttons["المصفوفة"]
    group.fall_due()
    group.fall_due()
    assert group.quiz.done == 2
    assert "ليس للسؤال المفتوح" in whispered(group.press("ali", old))
    forged = [
        encode(Op.GROUP, group.quiz.ask, "none"),
        encode(Op.GROUP, group.quiz.ask),
        encode(Op.GROUP, group.quiz.ask, "_none"),
        encode(Op.GROUP, "", "yes"),
        encode(Op.ANSWER, group.quiz.ask, "yes"),
        "1:grp:" + "x" * 99,
        "\ud800",
        "",
    ]
    for payload in forged:
        turn = group.press("ali", payload)
        assert whispered(turn)
        assert turn.session.group == group.quiz
        assert len(turn.effects) == 1
    assert group.store.group.kept == {}


def test_a_time_that_falls_due_late_or_twice_changes_nothing(course: Course) -> None:
    group = Group(course)
    group.ask("sara", "2")
    first = GroupFellDue(group.quiz.ask, open=True)
    group.press("sara", "إغلاق السؤال")
    for event in (first, GroupFellDue("x" * 12, open=True), GroupFellDue("x" * 12, open=False)):
        turn = group.take(event)
        assert turn is not None
        assert turn.effects == ()
    group.fall_due()
    assert group.quiz.open


def test_an_answer_in_a_group_is_the_members_own_first_answer_too(course: Course) -> None:
    group = Group(course)
    group.ask("sara", "1")
    group.press("ali", "المصفوفة")
    group.press("mona", "الحلقة")
    kept = {
        name: group.run(group.store.load(group.person(name).chat, Needs(remembered=True))).remembered
        for name in ("ali", "mona", "sara")
    }
    assert [kept[name].topics["vectorization"].firsts for name in ("ali", "mona")] == [1, 0]
    assert kept["mona"].misconceptions == {"loops-are-fine": 1}
    assert kept["sara"].topics == {}


def test_a_question_that_the_lessons_changed_meanwhile_is_left_out(course: Course) -> None:
    group = Group(course)
    group.ask("sara", "2")
    lesson = course.lessons[0]
    changed = lesson.check[0].model_copy(update={"rev": lesson.check[0].rev + 1})
    group.course = course.model_copy(
        update={"lessons": (lesson.model_copy(update={"check": (changed, *lesson.check[1:])}), *course.lessons[1:])}
    )
    assert "تغيّرت الدروس" in whispered(group.press("ali", "المصفوفة"))
    group.fall_due()
    assert "لا يُحسب" in told(group.heard[0]).replace("فلا", "لا")
    assert group.quiz.done == 2
    assert group.quiz.open
    group.course = course.model_copy(update={"lessons": ()})
    group.fall_due()
    assert group.quiz.over


def test_a_learners_own_question_is_not_a_groups(course: Course) -> None:
    talk = Conversation(course)
    for event in (TextSent("/group 5"), TextSent("اختبار جماعي"), ButtonPressed("1:grp:abcdefghijkl:loop")):
        (reply,) = talk.take(event)
        assert "للمجموعات" in told(reply)
    assert talk.session.group is None


def test_a_groups_session_comes_back_as_it_was(course: Course) -> None:
    group = Group(course)
    group.ask("sara", "3")
    assert from_json(to_json(group.session)) == group.session
    assert group.session.learner == ""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("سارة أحمد", "سارة أحمد"),
        ("李小龙", "李小龙"),
        ("Нина-Мария O'Neil", "Нина-Мария O'Neil"),
        ("np.dot @someone #tag /start", "np dot someone tag start"),
        ("a\nb\u2028c\u202ed", "a b cd"),
        ("   ", ""),
        ("***", ""),
        (":\u03000", "0"),
        ("-\u03000", "0"),
        ("x" * 99, "x" * 24),
    ],
)
def test_a_name_is_shown_without_what_would_ping_link_or_turn_lines(text: str, name: str) -> None:
    assert naming.shown(text) == name


@given(st.text(st.characters(codec=None, categories=None), max_size=300))
def test_every_name_is_one_short_line_of_letters_and_figures(text: str) -> None:
    name = naming.shown(text)
    assert len(name) <= naming.LONGEST
    assert name == " ".join(name.split())
    assert not set(name) & set("@#/<>*_`~|\\[](){}:.!&$\u202e\u2066\u200f\u061c")
    assert naming.shown(name) in {name, name.strip("-'’ ")}
    name.encode()


@given(st.text(max_size=80))
def test_every_argument_is_read_within_bounds_or_named_a_fault(text: str) -> None:
    wish = asking.read(text)
    assert wish.fault or (1 <= wish.count <= asking.MOST_COUNT and 10 <= wish.seconds <= 600 and wish.most <= 500)


# --- the database -----------------------------------------------------------------------------------------------------


async def test_two_presses_of_one_member_at_once_count_once(course: Course, database: Database) -> None:
    """Both looked before either was saved, as on two bots that share a database: the second looks again."""
    store = database.open()
    now = StandStillClock().now()
    room = await store.room("test", "-1/#", now)
    assert await store.room("test", "-1/#", now) == room
    ali = Person((await store.enter("test", "-1/ali", now, "ali")).id, "ali")
    dice = FixedDice()

    async def turned(event: Event) -> tuple[Opened, Turn]:
        opened = await store.open(room, "")
        assert opened is not None
        known = await store.load(room, needs(opened.session, event))
        return opened, take_turn(opened.session, event, known, course, now, dice)

    opened, turn = await turned(GroupAsked(ali, "1"))
    assert await store.commit(room, "", opened.revision, turn, now) is not None
    quiz = turn.session.group
    assert quiz is not None
    assert [one.event for one in await store.rooms_due("test")] == [GroupFellDue(quiz.ask, open=True)]
    assert await store.rooms_due("test", now) == ()
    assert await store.rooms_due("other") == ()
    press = GroupPressed(ali, encode(Op.GROUP, quiz.ask, "array"))
    (first, one), (second, two) = await turned(press), await turned(press)
    assert await store.commit(room, "", first.revision, one, now) is not None
    assert await store.commit(room, "", second.revision, two, now) is None
    assert await store.commit(room, "", second.revision + 1, two, now) is None  # the row itself stands for it, too
    _, again = await turned(press)
    assert "من قبل" in whispered(again)
    assert len(await database.execute("SELECT ask FROM group_answers")) == 1
    assert len(await database.execute("SELECT id FROM asks WHERE credit = 1 AND tries = 0")) == 1
    await store.close()


async def test_a_member_who_has_everything_deleted_leaves_the_group_without_a_name(
    course: Course, database: Database
) -> None:
    store = database.open()
    now = StandStillClock().now()
    room = await store.room("test", "-1/#", now)
    people = {name: (await store.enter("test", f"-1/{name}", now, name)).id for name in ("ali", "mona")}
    dice = FixedDice()

    async def take(chat: str, event: Event) -> Turn:
        opened = await store.open(chat, "")
        assert opened is not None
        known = await store.load(chat, needs(opened.session, event))
        turn = take_turn(opened.session, event, known, course, now, dice)
        assert await store.commit(chat, "", opened.revision, turn, now) is not None
        return turn

    quiz = (await take(room, GroupAsked(Person(people["ali"], "ضرغام"), "1"))).session.group
    assert quiz is not None
    for name, shown in (("ali", "ضرغام"), ("mona", "منى")):
        await take(room, GroupPressed(Person(people[name], shown), encode(Op.GROUP, quiz.ask, "array")))
    await take(room, GroupAsked(Person(people["ali"]), "board"))
    assert any("ضرغام" in str(row) for row in await database.execute("SELECT blocks FROM replies"))
    copy = (await store.load(people["ali"], Needs(own=True))).own
    assert copy is None or len(copy["group_answers"]) == 1
    asked = await take(people["ali"], TextSent("/delete"))
    choices = [one for effect in asked.effects if isinstance(effect, Say) for one in effect.reply.blocks]
    first = next(block.choices[0] for block in choices if isinstance(block, Choices))
    await take(people["ali"], ButtonPressed(first.payload))
    assert await store.open(people["ali"], "") is None
    assert not any("ضرغام" in str(row) for row in await database.execute("SELECT blocks FROM replies"))
    assert [row[0] for row in await database.execute("SELECT name FROM group_answers")] == ["منى"]
    assert (await store.open(room, "")) is not None
    await store.owned().sweep(now + timedelta(days=1), now + timedelta(days=2), lambda _: None)
    assert await database.execute("SELECT name FROM group_answers") == []
    await store.close()
