"""What two logs of one learner make when they are one, whichever of them is named first."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bot.engine.linking import codes, uniting
from bot.engine.linking.uniting import Answer, Review
from bot.engine.remembering import mastery, memory
from bot.engine.remembering.kept import CardRow
from bot.engine.remembering.mastery import Difficulty, Topic
from bot.engine.remembering.memory import Grade, Memory
from bot.engine.remembering.streaks import Streak
from bot.engine.reminders.wishes import Wishes

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
GRADES = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(list(Grade)), st.integers(0, 60)), min_size=2)
ANSWERS = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz"), st.booleans(), st.integers(0, 60)))


def row(kept: Memory | None, *, suspended: bool = False) -> CardRow:
    return CardRow("card", 1, kept, kept.due if kept else NOW, suspended)


@given(GRADES)
def test_a_card_is_as_if_all_grades_had_been_given_in_one_place(given_: list[tuple[str, Grade, int]]) -> None:
    alone: dict[str, Memory | None] = {"a": None, "b": None}
    log: list[Review] = []
    for at, (who, grade, after) in enumerate(sorted(given_, key=lambda each: each[2])):
        when = NOW + after * DAY + timedelta(seconds=at)
        log.append(Review(f"r{at:03}", who, 1, grade, when, alone[who]))
        alone[who] = memory.graded(alone[who], grade, 1, when)
    whole: Memory | None = None
    for each in log:
        whole = memory.graded(whole, each.grade, 1, each.at)
    united, met = uniting.card(row(alone["a"], suspended=True), row(alone["b"]), reversed(log))
    turned, _ = uniting.card(row(alone["b"]), row(alone["a"], suspended=True), log)
    assert (united.memory, united.suspended) == (whole, True)
    assert (turned.memory, turned.suspended) == (whole, False)
    assert whole is not None
    assert united.due == whole.due
    assert [each.id for each in met] == [each.id for each in log]
    assert met[0].before is None
    for one, following in pairwise(met):
        assert following.before == memory.graded(one.before, one.grade, 1, one.at)


def test_a_card_that_took_a_retired_ones_place_goes_on_from_what_was_known() -> None:
    known = memory.graded(None, Grade.EASY, 1, NOW - 40 * DAY)
    mine = Review("r1", "a", 1, Grade.KNEW, NOW, known)
    other = Review("r2", "b", 1, Grade.KNEW, NOW + DAY)
    united, _ = uniting.card(row(memory.graded(known, Grade.KNEW, 1, NOW)), row(None), (mine, other))
    assert united.memory is not None
    assert united.memory.grades == 3
    never, _ = uniting.card(row(known), row(None), ())
    assert never.memory == known


@given(ANSWERS)
def test_the_later_of_two_first_answers_to_a_question_does_not_count(given_: list[tuple[str, str, bool, int]]) -> None:
    log = [
        Answer(who, item, 1, first, NOW + after * DAY + timedelta(seconds=at))
        for at, (who, item, first, after) in enumerate(given_)
    ]
    kept = uniting.counted(log)
    assert kept == uniting.counted(reversed(log))
    for item in "xyz":
        mine = {who: sorted((e for e in log if (e.item, e.learner) == (item, who)), key=lambda e: e.at) for who in "ab"}
        firsts = sorted((own[0] for own in mine.values() if own), key=lambda each: each.at)
        lost = set(firsts[1:])
        assert {each for each in log if each.item == item} - set(kept) == lost


def test_a_topic_is_answered_anew_and_an_incomplete_log_goes_on_from_what_is_known() -> None:
    log = [Answer("a", "x", 1, first=True, at=NOW), Answer("b", "y", 1, first=False, at=NOW + DAY)]
    hard = {"x": Difficulty(1.0, 4)}
    expected = Topic()
    for each in log:
        expected, _ = mastery.answered(
            expected, hard.get(each.item, Difficulty()), first=each.first, day=each.at.date()
        )
    rows = [("a", Topic(0.5, 1, 1, 1, "2026-03-01")), ("b", Topic(-0.4, 1))]
    assert uniting.topic(rows, log, hard, "UTC") == expected
    assert uniting.topic(rows[::-1], log, hard, "UTC") == expected
    old = Topic(2.0, 9, 7, 4, "2026-02-20")
    carried = uniting.topic([("a", old), rows[1]], log, hard, "UTC")
    assert (carried.answers, carried.firsts) == (10, 7)


def test_a_streak_counts_the_days_of_both() -> None:
    moments = [NOW + at * DAY for at in (0, 2, 4)] + [NOW + at * DAY for at in (1, 3)]
    kept = [Streak(3, "2026-03-05", 2, "2026-W10"), Streak(2, "2026-03-04", 1, "2026-W10")]
    assert uniting.streak(kept, moments, "UTC", frozenset()).days == 5
    longer = Streak(30, "2026-03-05", 0, "2026-W10")
    assert uniting.streak([longer, kept[1]], moments, "UTC", frozenset()) == longer


def test_what_is_wished_here_holds_and_no_day_is_told_twice() -> None:
    here = Wishes(zone="Asia/Riyadh", reminders=True, minute=18 * 60, last_day="2026-02-27", unanswered=2)
    there = Wishes(zone="Africa/Cairo", reminders=True, minute=9 * 60, last_day="2026-03-01")
    united = uniting.wishes(here, there, NOW)
    assert united is not None
    assert (united.zone, united.minute, united.last_day, united.unanswered) == ("Asia/Riyadh", 18 * 60, "2026-03-01", 0)
    assert united.next_at is not None
    assert united.next_at > NOW + timedelta(hours=12)
    untold = uniting.wishes(Wishes(), there, NOW)
    assert untold is not None
    assert untold.zone == "Africa/Cairo"
    assert uniting.wishes(None, None, NOW) is None


@given(st.text(st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789"), min_size=12, max_size=12))
def test_a_code_is_read_as_it_is_shown_and_as_people_write_it(identity: str) -> None:
    code = codes.made(identity)
    shown = codes.shown(code)
    for written in (shown, shown.lower(), f" `{shown}` ", shown.replace("-", " "), shown.replace("-", "")):
        assert codes.read(written) == code
    assert codes.read(shown.replace("0", "O").replace("1", "l")) == code
    for other in ("", "7K2MQ", f"{shown}X", "رمز الربط", "7K2MQ-9XW4T\n1"):
        assert codes.read(other) == ""
