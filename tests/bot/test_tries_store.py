"""Attempts, votes and names in the database, on each kind: what stands, what is counted, who sees what."""

from datetime import datetime, timedelta

import pytest

from bot.engine.effects import Ask, OpenAsk, Record, RunCode, Turn
from bot.engine.known import Known, Needs
from bot.engine.purposes import Purpose, Why
from bot.engine.tries import GAVE_UP, Attempt, CastVote, DropName, KeepAttempt, Row, Standing, TakeName, Wanted
from bot.stores.sql import SqlStore
from sandbox_runner.protocol import Check, Exercise, Job, JobKind
from tests.bot.databases import Database
from tests.bot.test_store import NOW

ALL = Wanted(attempts=True, name=True, votes=True, board="task")


def attempt(run: str, outcome: str = "passed", ratio: float = 0.0, rev: int = 1, machine: str = "m") -> KeepAttempt:
    passed = outcome == "passed"
    return KeepAttempt(
        Attempt(run, "task", rev, outcome, passed, ratio, ratio * 0.9, ratio * 1.1, 0.5, passed, passed, machine, "cpu")
    )


async def write(store: SqlStore, chat: str, *rows: Row, at: datetime = NOW) -> object:
    opened = await store.open(chat, "")
    assert opened is not None
    return await store.commit(chat, "", opened.revision, Turn(opened.session, (Record(rows),)), at)


async def look(store: SqlStore, chat: str, wanted: Wanted = ALL) -> Known:
    return await store.load(chat, Needs(tries=wanted))


@pytest.fixture
async def chats(store: SqlStore) -> list[str]:
    """Give the chats of three learners."""
    return [(await store.enter("web", name, NOW)).id for name in ("ali", "mona", "sara")]


async def test_an_attempt_is_kept_once_and_counts_for_its_learner_alone(store: SqlStore, chats: list[str]) -> None:
    ali, mona, _ = chats
    await write(store, ali, attempt("r1", "slow", 2.0), attempt("r1", "passed", 9.0), attempt("r2", "differ"))
    await write(store, ali, KeepAttempt(Attempt("g1", "task", 1, GAVE_UP)), at=NOW + timedelta(minutes=1))
    found = (await look(store, ali)).tries
    assert found.standings == {("task", 1): Standing(failures=2, passed=False, gave_up=True)}
    assert [(kept.attempt.run, kept.attempt.outcome) for kept in found.recent] == [
        ("g1", GAVE_UP),
        ("r2", "differ"),
        ("r1", "slow"),
    ]
    assert found.recent[2].attempt == attempt("r1", "slow", 2.0).attempt
    assert found.recent[0].at == NOW + timedelta(minutes=1)
    assert (await look(store, mona)).tries.standings == {}


async def test_the_first_vote_on_each_revision_stands_and_counts_once(store: SqlStore, chats: list[str]) -> None:
    ali, mona, sara = chats
    await write(store, ali, CastVote("m", 1, "fact"), CastVote("m", 1, "myth"))
    await write(store, mona, CastVote("m", 1, "myth"))
    await write(store, sara, CastVote("m", 2, "myth"))
    await write(store, mona, CastVote("m", 2, "depends"), CastVote("m", 1, "fact"))
    job = Job("r1", JobKind.TIME, "1", "h")
    opened = await store.open(ali, "")
    assert opened is not None
    slot = Purpose(Why.MYTH, "m", "fact").slot("r1")
    await store.commit(ali, "", opened.revision, Turn(opened.session, (RunCode(job, slot),)), NOW)
    found = (await store.load(ali, Needs(run="r1", tries=Wanted(votes=True)))).tries
    assert found.voted == {"m": (1, "fact")}
    assert (found.counted, found.counts) == ("m", {(1, "fact"): 1, (2, "myth"): 1, (2, "depends"): 1})


async def test_votes_are_counted_for_the_card_that_is_asked(store: SqlStore, chats: list[str]) -> None:
    ali, mona, _ = chats
    opened = await store.open(ali, "")
    assert opened is not None
    asked = Record((OpenAsk(Ask("q1", "myth", "vectorise", "m", 1, ("fact",), "hash")),))
    await store.commit(ali, "", opened.revision, Turn(opened.session, (asked,)), NOW)
    await write(store, mona, CastVote("m", 1, "myth"))
    found = (await store.load(ali, Needs(ask="q1", tries=Wanted(votes=True)))).tries
    assert (found.counted, found.counts) == ("m", {(1, "myth"): 1})


async def test_the_board_ranks_the_best_run_of_each_name_on_each_machine(store: SqlStore, chats: list[str]) -> None:
    ali, mona, sara = chats
    await write(store, ali, attempt("a1", ratio=5.0), attempt("a2", ratio=9.0), TakeName("ali", "ali"))
    await write(
        store, mona, attempt("m1", ratio=7.0), attempt("m2", ratio=3.0, machine="other"), TakeName("Mona", "mona")
    )
    await write(store, sara, attempt("s1", ratio=99.0))
    await write(store, mona, attempt("m3", "slow", 50.0))
    seen = (await look(store, ali)).tries.board
    assert [(row.machine, row.rank, row.name, row.ratio, row.mine) for row in seen] == [
        ("m", 1, "ali", 9.0, True),
        ("m", 2, "Mona", 7.0, False),
        ("other", 1, "Mona", 3.0, False),
    ]
    await write(store, ali, DropName())
    assert [row.name for row in (await look(store, mona)).tries.board] == ["Mona", "Mona"]
    await write(store, mona, attempt("m9", ratio=4.0, rev=2))
    assert [row.ratio for row in (await look(store, mona)).tries.board] == [4.0]


async def test_beyond_the_last_place_a_learner_sees_themself_alone(store: SqlStore) -> None:
    for i in range(14):
        chat = (await store.enter("web", f"n{i}", NOW)).id
        await write(store, chat, attempt(f"r{i}", ratio=100.0 - i), TakeName(f"n{i}", f"n{i}"))
    seen = (await look(store, chat)).tries.board
    assert [row.rank for row in seen] == [*range(1, 11), 14]
    assert [row.mine for row in seen] == [False] * 10 + [True]


async def test_a_name_is_one_learners_and_changing_it_frees_the_old_one(store: SqlStore, chats: list[str]) -> None:
    ali, mona, _ = chats
    await write(store, ali, TakeName("نور", "نور"))
    assert (await look(store, mona, Wanted(name=True, taken="نور"))).tries.taken
    assert not (await look(store, ali, Wanted(name=True, taken="نور"))).tries.taken
    assert await write(store, mona, TakeName("نُور", "نور")) is None
    assert (await look(store, mona)).tries.name == ""
    await write(store, ali, TakeName("ali", "ali"))
    assert await write(store, mona, TakeName("نُور", "نور")) is not None
    assert (await look(store, mona)).tries.name == "نُور"


async def test_the_longest_purpose_of_a_run_fits_its_slot(store: SqlStore, chats: list[str]) -> None:
    opened = await store.open(chats[0], "")
    assert opened is not None
    slot = Purpose(Why.MYTH, "m" * 40, "depends").slot("r" * 12)
    effect = RunCode(Job("r" * 12, JobKind.TIME, "1", "h"), slot)
    await store.commit(chats[0], "", opened.revision, Turn(opened.session, (effect,)), NOW)
    known = (await store.load(chats[0], Needs(run="r" * 12))).run
    assert known is not None
    assert known.slot == slot


async def test_a_board_is_read_by_its_index(database: Database, store: SqlStore, chats: list[str]) -> None:
    del store, chats
    if database.kind == "sqlite":
        statement = "EXPLAIN QUERY PLAN SELECT ratio FROM attempts WHERE exercise = 'task' AND board = 1"
        assert "ix_attempts_board" in str(await database.execute(statement))


async def test_a_copy_of_ones_own_rows_holds_no_solution(store: SqlStore, chats: list[str]) -> None:
    opened = await store.open(chats[0], "")
    assert opened is not None
    task = Exercise("def solve(): ...", "SECRET = 1", (Check(1, 1, 1e-9),))
    job = Job("r1", JobKind.EXERCISE, "def solve(): pass", "h", exercise=task)
    await store.commit(chats[0], "", opened.revision, Turn(opened.session, (RunCode(job, "task:t:r1:r1"),)), NOW)
    known = await store.load(chats[0], Needs(own=True))
    assert "def solve(): pass" in str(known.own)
    assert "SECRET" not in str(known.own)
    (run,) = await store.unfinished()
    assert run.job == job


async def test_two_chats_of_one_learner_share_their_standing_their_vote_and_their_name(store: SqlStore) -> None:
    one, two = [(await store.enter("web", name, NOW, account="ali")).id for name in ("phone", "desk")]
    assert one != two
    await write(store, one, attempt("r1", "slow", 2.0), CastVote("m", 1, "fact"), TakeName("ali", "ali"))
    await write(store, two, attempt("r2", "differ"), CastVote("m", 1, "myth"), TakeName("Ali", "ali"))
    found = (await look(store, one)).tries
    assert found == (await look(store, two)).tries
    assert found.standings == {("task", 1): Standing(failures=2)}
    assert found.voted == {"m": (1, "fact")}
    assert found.name == "Ali"
