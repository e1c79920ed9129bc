"""Delivery without a platform: pacing, lanes, and a courier over a line that fails as it is told to."""

import asyncio
import shutil
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.app import SystemDice
from bot.engine.effects import Edit, Say, Turn
from bot.engine.replies import CodeBlock, Paragraph, Reply, Text
from bot.engine.session import Session
from bot.errors import StoreAwayError
from bot.ports import Shown  # noqa: TC001 - the only use here is a name
from bot.posting.boxes import Drawing
from bot.posting.courier import Courier
from bot.posting.errors import BusyError, GoneError, MissingError, NotSentError, PostingError, UnsureError
from bot.posting.lanes import Lane, Lanes
from bot.posting.pacing import Limits, Pacing
from bot.posting.ports import Arrival, Done, State
from bot.stores import sqlite
from bot.stores.sql import SqlStore
from bot.testing import StandStillClock
from tests.bot.databases import Database, PostgresServer

NOW = StandStillClock().now()


class Timeline:
    """A clock that whoever sleeps moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


async def test_no_window_ever_holds_more_calls_than_it_may() -> None:
    timeline, limits = Timeline(), Limits(chat=(3, 3.0), group=(5, 10.0), overall=(7, 1.0))
    pacing = Pacing(limits, timeline.time, timeline.sleep)
    calls: dict[str, list[float]] = defaultdict(list)
    for number in range(200):
        name = f"-{number % 3}" if number % 4 == 0 else f"{number % 20}"
        await pacing.turn(name, group=name.startswith("-"))
        calls[name].append(timeline.now)
        calls["all"].append(timeline.now)
    for name, times in calls.items():
        most, seconds = limits.overall if name == "all" else limits.group if name.startswith("-") else limits.chat
        for first, later in zip(times, times[most:], strict=False):
            assert later - first >= seconds - 1e-6


async def test_calls_of_a_chat_that_waited_for_others_do_not_leave_in_a_heap() -> None:
    loop = asyncio.get_running_loop()
    pacing = Pacing(Limits(chat=(2, 0.3), group=(9, 1.0), overall=(1, 0.03)), loop.time)
    left: list[float] = []

    async def call(address: str) -> None:
        await pacing.turn(address, group=False)
        await pacing.leave(address, group=False)
        if address == "busy":
            left.append(loop.time())

    await asyncio.gather(*(call("busy" if number % 3 == 0 else f"{number}") for number in range(15)))
    assert len(left) == 5
    assert all(later - first >= 0.3 - 1e-3 for first, later in zip(left, left[2:], strict=False))


async def test_a_chat_that_is_held_back_holds_back_no_other() -> None:
    timeline = Timeline()
    pacing = Pacing(Limits(), timeline.time, timeline.sleep)
    await pacing.hold("1", 50.0, group=False)
    await pacing.turn("2", group=False)
    assert timeline.now == 1000.0
    await pacing.turn("1", group=False)
    assert timeline.now >= 1050.0


async def test_a_lane_keeps_its_order_and_goes_on_after_a_fault() -> None:
    done: list[tuple[str, int]] = []

    async def work(thing: tuple[str, int], _: Lane[tuple[str, int]]) -> None:
        await asyncio.sleep(0.001 * (5 - thing[1]))
        if thing[1] == 2:
            message = "a fault"
            raise ValueError(message)
        done.append(thing)

    lanes = Lanes(work)
    for number in range(5):
        for name in ("a", "b"):
            lanes.put(name, (name, number))
    await lanes.idle()
    for name in ("a", "b"):
        assert [number for who, number in done if who == name] == [0, 1, 3, 4]


async def test_what_found_the_store_away_is_begun_anew_with_what_it_took_before_what_came_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bot.posting.lanes.AWAY_S", 0.01)
    done: list[list[int]] = []
    away = 3

    async def work(thing: int, lane: Lane[int]) -> None:
        nonlocal away
        taken = [thing]
        if thing == 1 and (following := lane.take()) is not None:
            taken.append(following)
        if taken == [1, 2] and away:
            away -= 1
            raise StoreAwayError
        done.append(taken)

    lanes = Lanes(work)
    for number in range(5):
        lanes.put("a", number)
    await lanes.idle()
    assert done == [[0], [1, 2], [3], [4]]


@dataclass(frozen=True, slots=True)
class Words:
    """A draft that is its own text."""

    text: str
    kind: str = "text"

    @property
    def digest(self) -> str:
        return self.text


class Line:
    """A platform in memory; `troubles` are raised by the next calls, None lets one pass."""

    def __init__(self) -> None:
        self.shown: dict[str, str] = {}
        self.calls: list[str] = []
        self.troubles: list[PostingError | None] = []
        self.times: list[float] = []

    async def send(self, address: str, draft: Words, answers: str) -> str:
        self._met("send", draft.text)
        name = f"m{len(self.calls)}"
        self.shown[name] = draft.text
        return name

    async def edit(self, address: str, external: str, draft: Words) -> None:
        self._met("edit", draft.text)
        if external not in self.shown:
            raise MissingError
        self.shown[external] = draft.text

    async def remove(self, address: str, external: str) -> None:
        self._met("remove", external)
        self.shown.pop(external, None)

    def _met(self, what: str, text: str) -> None:
        self.calls.append(f"{what} {text}")
        self.times.append(asyncio.get_running_loop().time())
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble is not None:
            raise trouble


def draw(_: str, reply: Reply) -> Sequence[Words]:
    """Give each paragraph as a text, each block of code as a file."""
    made: list[Words] = []
    for block in reply.blocks:
        if isinstance(block, Paragraph):
            made.append(Words(block.spans[0].text))
        elif isinstance(block, CodeBlock):
            made.append(Words(block.code, "file"))
    return made


def reply(*texts: str) -> Reply:
    return Reply(tuple(Paragraph((Text(text),)) for text in texts))


class Chatting:
    """A chat in a store, and couriers over it."""

    def __init__(self, store: SqlStore, chat: str) -> None:
        self.store = store
        self.chat = chat
        self.line = Line()

    async def courier(
        self, edit_every_s: float = 0.0, lease_s: float = 30.0, look_s: float | None = None
    ) -> Courier[Words]:
        loop = asyncio.get_running_loop()
        quick = Pacing(Limits((9999, 1.0), (9999, 1.0), (9999, 1.0)), loop.time)
        drawing = Drawing(draw=draw, offer=lambda number: Words(f"lost {number}"))
        made: Courier[Words] = Courier(
            *("test", self.store.outbox(), self.store, self.line, drawing, quick, loop.time),
            *(edit_every_s, 0.01, lease_s, look_s),
        )
        await made.start()
        return made

    async def say(self, courier: Courier[Words] | None, *effects: Say | Edit) -> None:
        opened = await self.store.open(self.chat, "")
        assert opened is not None
        for one in await self.store.commit(self.chat, "", opened.revision, Turn(Session("x"), effects), NOW) or ():
            if courier is not None:
                await courier.show(self.chat, one)


async def opened(store: SqlStore) -> Chatting:
    row = await store.enter("test", "1", NOW)
    await store.outbox().place(row.id, "1")
    return Chatting(store, row.id)


@pytest.fixture
async def chatting(tmp_path: Path, migrated: Path) -> AsyncIterator[Chatting]:
    path = Path(shutil.copy(migrated, tmp_path / "t.db"))
    store = sqlite.open_store(path, b"k" * 32, SystemDice().identity)
    yield await opened(store)
    await store.close()


async def test_replies_go_out_in_order_and_an_edit_takes_the_place_of_its_reply(chatting: Chatting) -> None:
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("one"), "a"), Say(reply("two")))
    await courier.idle()
    await chatting.say(courier, Edit("a", reply("one again")))
    await courier.idle()
    assert chatting.line.calls == ["send one", "send two", "edit one again"]


async def test_something_is_called_out_without_the_store_and_nothing_is_kept_of_it(chatting: Chatting) -> None:
    courier = await chatting.courier()
    await chatting.store.close()
    chatting.line.troubles = [NotSentError()]
    await courier.call_out(chatting.chat, "1", reply("the store is away"))
    await courier.call_out(chatting.chat, "", reply("to nowhere"))
    await courier.idle()
    assert chatting.line.calls == ["send the store is away"] * 2
    assert await chatting.store.since(chatting.chat, 0) == ()


async def test_of_several_states_only_the_newest_goes_out(chatting: Chatting) -> None:
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("0%"), "a"), *(Edit("a", reply(f"{n}%")) for n in range(1, 90)))
    await courier.idle()
    assert chatting.line.calls == ["send 89%"]


async def test_an_older_state_that_comes_late_does_not_take_the_place_of_a_newer_one(chatting: Chatting) -> None:
    first, second = await chatting.courier(), await chatting.courier()
    await chatting.say(first, Say(reply("0%"), "a"))
    await first.idle()
    late: list[Shown] = []
    for text in ("50%", "done"):
        opened = await chatting.store.open(chatting.chat, "")
        assert opened is not None
        turn = Turn(Session("x"), (Edit("a", reply(text)),))
        late += await chatting.store.commit(chatting.chat, "", opened.revision, turn, NOW) or ()
    await second.show(chatting.chat, late[1])
    await second.idle()
    await first.show(chatting.chat, late[0])
    await first.idle()
    assert chatting.line.calls == ["send 0%", "edit done"]


async def test_parts_that_come_go_and_change_their_kind_are_sent_removed_and_replaced(chatting: Chatting) -> None:
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("a", "b", "c"), "x"))
    await courier.idle()
    await chatting.say(courier, Edit("x", Reply((Paragraph((Text("a"),)), CodeBlock("file")))))
    await courier.idle()
    assert sorted(chatting.line.shown.values()) == ["a", "file"]
    await chatting.say(courier, Edit("x", reply("a", "d", "e")))
    await courier.idle()
    assert sorted(chatting.line.shown.values()) == ["a", "d", "e"]


@pytest.mark.parametrize("trouble", [BusyError(0.01), NotSentError()])
async def test_what_was_certainly_not_taken_is_sent_again(chatting: Chatting, trouble: PostingError) -> None:
    chatting.line.troubles = [trouble, trouble]
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("one")), Say(reply("two")))
    await courier.idle()
    assert list(chatting.line.shown.values()) == ["one", "two"]


async def test_what_may_have_been_taken_is_not_sent_again_and_said(chatting: Chatting) -> None:
    chatting.line.troubles = [UnsureError()]
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("one")), Say(reply("two")))
    await courier.idle()
    assert sorted(chatting.line.shown.values()) == ["lost 1", "two"]
    assert await courier.again(chatting.chat, 1)
    await courier.idle()
    assert not await courier.again(chatting.chat, 1)
    assert sorted(chatting.line.shown.values()) == ["lost 1", "one", "two"]


async def test_what_was_asked_for_again_is_offered_once_more_by_who_follows_a_process_that_ended(
    chatting: Chatting,
) -> None:
    chatting.line.troubles = [UnsureError()]
    first = await chatting.courier()
    await chatting.say(first, Say(reply("one")), Say(reply("two")))
    await first.idle()
    assert await first.again(chatting.chat, 1)
    await first.close(within_s=0.0)  # pressed, and ended before it was sent
    follows = await chatting.courier()
    await follows.idle()
    assert sorted(chatting.line.shown.values()) == ["lost 1", "lost 1", "two"]
    assert await follows.again(chatting.chat, 1)
    await follows.idle()
    assert sorted(chatting.line.shown.values()) == ["lost 1", "lost 1", "one", "two"]
    await (await chatting.courier()).idle()
    assert sorted(chatting.line.shown.values()) == ["lost 1", "lost 1", "one", "two"]


async def test_another_content_of_an_unsure_reply_is_worth_sending(chatting: Chatting) -> None:
    chatting.line.troubles = [UnsureError()]
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("under way"), "run"))
    await courier.idle()
    await chatting.say(courier, Edit("run", reply("done")))
    await courier.idle()
    assert "done" in chatting.line.shown.values()


async def test_whoever_takes_nothing_gets_nothing_until_they_write(chatting: Chatting) -> None:
    chatting.line.troubles = [GoneError()]
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("one")), Say(reply("two")))
    await courier.idle()
    await chatting.say(courier, Say(reply("three")))
    await courier.idle()
    assert chatting.line.calls == ["send one"]
    await chatting.store.outbox().place(chatting.chat, "1")
    courier.placed(chatting.chat, "1")
    await chatting.say(courier, Say(reply("four")))
    await courier.idle()
    assert list(chatting.line.shown.values()) == ["four"]


async def test_what_was_said_and_not_sent_goes_out_at_the_next_start(chatting: Chatting) -> None:
    await chatting.say(None, Say(reply("one"), "a"), Say(reply("two")), Edit("a", reply("one again")))
    courier = await chatting.courier()
    await courier.idle()
    assert chatting.line.calls == ["send one again", "send two"]
    await (await chatting.courier()).idle()
    assert len(chatting.line.calls) == 2


async def test_an_arrival_is_taken_in_once_and_left_until_it_is_done(store: SqlStore) -> None:
    kept = store.outbox()
    first = await kept.take_in("test", [Arrival("1", "a"), Arrival("2", "b"), Arrival("1", "a")], NOW)
    again = await kept.take_in("test", [Arrival("2", "b"), Arrival("3", "c")], NOW)
    assert [one.key for one in (*first, *again)] == ["1", "2", "3"]
    await asyncio.gather(*(kept.write([Done("test", key)]) for key in ("1", "3")))
    assert await kept.left("test") == (Arrival("2", "b"),)


async def test_marks_parts_and_addresses_are_kept_on_every_database(store: SqlStore) -> None:
    chatting = await opened(store)
    chatting.line.troubles = [None, UnsureError()]
    courier = await chatting.courier()
    await chatting.say(courier, Say(reply("one")), Say(reply("two")))
    await courier.idle()
    kept = store.outbox()
    assert [one.state for one in (*await kept.parts(chatting.chat, 1), *await kept.parts(chatting.chat, 2))] == [
        State.SENT,
        State.OFFERED,
    ]
    assert await kept.holder("1", "m1") == chatting.chat
    assert await kept.behind("test") == ()
    await kept.moved("test", "1", "2")
    await kept.stands("test", "2", silent=True)
    box = await kept.mailbox(chatting.chat)
    assert box is not None
    assert (box.address, box.silent) == ("2", True)


@pytest.fixture
def shared(postgres_server: PostgresServer) -> Database:
    """Give a database that several processes may use."""
    return postgres_server.emptied()


@pytest.mark.services
async def test_two_processes_bring_each_reply_once_and_in_order(shared: Database) -> None:
    one, other = shared.open(), shared.open()
    try:
        chatting = await opened(one)
        second = Chatting(other, chatting.chat)
        second.line = chatting.line
        couriers = (await chatting.courier(), await second.courier())
        for number in range(20):
            await chatting.say(couriers[number % 3 % 2], Say(reply(str(number))))
        async with asyncio.timeout(20):
            while await one.outbox().behind("test"):  # noqa: ASYNC110 - two others do the work
                await asyncio.sleep(0.02)
        assert chatting.line.calls == [f"send {number}" for number in range(20)]
        for each in couriers:
            await each.close()
    finally:
        await one.close()
        await other.close()


@pytest.mark.services
async def test_what_a_process_said_that_was_killed_before_it_sent_it_is_brought_by_another(shared: Database) -> None:
    one, other = shared.open(), shared.open()
    try:
        killed, second = await opened(one), Chatting(other, "")
        courier = await second.courier(lease_s=1.0, look_s=0.1)
        await killed.say(None, Say(reply("kept")))
        async with asyncio.timeout(20):
            while not second.line.calls:  # noqa: ASYNC110 - the other looks by itself
                await asyncio.sleep(0.02)
        await courier.close()
        assert second.line.calls == ["send kept"]
    finally:
        await one.close()
        await other.close()


async def test_edits_of_one_reply_wait_and_hold_up_nothing_new(chatting: Chatting) -> None:
    courier = await chatting.courier(1.0)
    await chatting.say(courier, Say(reply("0"), "a"))
    await courier.idle()
    await chatting.say(courier, Edit("a", reply("1")))
    await courier.idle()
    await chatting.say(courier, Edit("a", reply("2")), Edit("a", reply("3")), Say(reply("new")))
    await courier.idle()
    assert chatting.line.calls == ["send 0", "edit 1", "send new", "edit 3"]
