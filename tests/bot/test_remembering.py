"""Memory, mastery, streaks, days and queues: the rules by themselves, without a conversation."""

import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from fsrs import Card, Rating, Scheduler
from hypothesis import given
from hypothesis import strategies as st

from bot.engine import days
from bot.engine.remembering import choosing, mastery, memory, placement, streaks
from bot.engine.remembering.kept import CardRow, Remembered
from bot.engine.remembering.mastery import Difficulty, Status, Topic
from bot.engine.remembering.memory import Grade, Memory
from bot.engine.remembering.queue import followed, queue
from bot.engine.remembering.rows import MoveCard
from bot.engine.remembering.streaks import Streak
from content.schema import Course, Retired
from tests.bench.year import auc, simulate

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
GRADES = st.sampled_from(Grade)
HOURS = st.integers(min_value=-300, max_value=24 * 120)


@given(st.lists(st.tuples(GRADES, HOURS), min_size=1, max_size=30))
def test_intervals_never_shrink_on_success_whatever_the_clock_does(steps: list[tuple[Grade, int]]) -> None:
    before: Memory | None = None
    at = NOW
    for grade, hours in steps:
        at += timedelta(hours=hours)
        after = memory.graded(before, grade, 1, at)
        if before is not None and grade is not Grade.FORGOT:
            assert after.days >= before.days
            assert after.stability >= before.stability
        assert 1 <= after.days <= memory.MOST_DAYS
        assert after.due > after.graded_at
        before = after


@given(st.lists(GRADES, min_size=1, max_size=12))
def test_a_memory_is_what_fsrs_alone_makes_of_the_same_grades(grades: list[Grade]) -> None:
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), maximum_interval=60, enable_fuzzing=False)
    card, kept, at = Card(card_id=7), None, NOW
    for grade in grades:
        card, _ = scheduler.review_card(card, Rating(grade.value), at)
        kept = memory.from_json(memory.to_json(memory.graded(kept, grade, 1, at)))
        assert kept is not None
        assert kept.due == card.due
        at = card.due


def test_a_grade_counts_in_utc_wherever_the_learner_is() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=8)))
    assert memory.graded(None, Grade.KNEW, 1, there) == memory.graded(None, Grade.KNEW, 1, NOW)


def test_a_card_of_another_meaning_begins_anew() -> None:
    old = memory.graded(None, Grade.EASY, 1, NOW)
    assert memory.graded(old, Grade.KNEW, 2, NOW) == memory.graded(None, Grade.KNEW, 2, NOW)


@pytest.mark.parametrize("text", ["", "{}", "null", "[1]", '{"rev": 1}', "{", json.dumps({"rev": "x"})])
def test_a_damaged_memory_is_none(text: str) -> None:
    assert memory.from_json(text) is None


# --- days and streaks -------------------------------------------------------------------------------------------------


def test_a_day_begins_at_four_in_the_learners_zone() -> None:
    assert days.day_of(datetime(2026, 3, 2, 0, 59, tzinfo=UTC), "Asia/Riyadh") == date(2026, 3, 1)
    assert days.day_of(datetime(2026, 3, 2, 1, 0, tzinfo=UTC), "Asia/Riyadh") == date(2026, 3, 2)


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../../etc/passwd", "UTC\x00", "Africa"])
def test_a_zone_that_does_not_exist_counts_as_utc(zone: str) -> None:
    assert days.day_of(NOW, zone) == NOW.date()


@given(st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)), st.sampled_from(["UTC", "Africa/Cairo", "Asia/Gaza"]))  # noqa: DTZ001 - the zone is set below
def test_a_moment_lies_in_its_own_day_across_every_change_of_clocks(naive: datetime, zone: str) -> None:
    at = naive.replace(tzinfo=UTC)
    day = days.day_of(at, zone)
    assert days.start_of(day, zone) <= at < days.start_of(day + timedelta(days=1), zone)


def test_two_missed_days_a_week_end_no_streak_and_a_third_does() -> None:
    monday = date(2026, 3, 2)
    begun = streaks.practised(Streak(), monday)
    kept = streaks.practised(begun, monday + timedelta(days=3))
    assert (kept.days, kept.freezes) == (2, 2)
    assert streaks.practised(kept, monday + timedelta(days=5)).days == 1
    assert streaks.shown(kept, monday + timedelta(days=4)) == 2
    assert streaks.shown(kept, monday + timedelta(days=5)) == 0
    next_week = streaks.practised(streaks.practised(kept, monday + timedelta(days=4)), monday + timedelta(days=6))
    assert next_week.days == 1


def test_days_off_need_no_freeze() -> None:
    thursday = date(2026, 3, 5)
    weekend = frozenset({4, 5})
    after = streaks.practised(streaks.practised(Streak(), thursday, weekend), thursday + timedelta(days=3), weekend)
    assert (after.days, after.freezes) == (2, 0)


@given(st.lists(st.integers(min_value=-40, max_value=40), max_size=40))
def test_a_streak_never_counts_a_day_twice(steps: list[int]) -> None:
    streak, day, seen = Streak(), date(2026, 6, 1), set()
    for step in steps:
        day += timedelta(days=step)
        seen.add(day)
        streak = streaks.practised(streak, day)
        assert 1 <= streak.days <= len(seen)
        assert 0 <= streak.freezes <= streaks.FREEZES


# --- mastery ----------------------------------------------------------------------------------------------------------


def test_mastery_needs_successes_on_two_days_and_a_likely_answer() -> None:
    topic = Topic()
    for _ in range(30):
        topic, _ = mastery.answered(topic, Difficulty(), first=True, day=date(2026, 3, 1))
    assert mastery.seen(topic).chance >= mastery.SURE
    assert mastery.seen(topic).status is Status.GROWING
    topic, _ = mastery.answered(topic, Difficulty(), first=True, day=date(2026, 3, 2))
    assert mastery.seen(topic).status is Status.MASTERED
    assert mastery.seen(topic, 3.0).status is Status.GROWING
    assert mastery.seen(None).status is mastery.seen(Topic()).status is Status.NEW


def test_the_step_falls_as_it_was_written_down() -> None:
    assert [round(mastery.step(n), 4) for n in (0, 10, 100)] == [0.8, 0.4, 0.15]


@given(st.lists(st.tuples(st.booleans(), st.integers(min_value=-3, max_value=3)), max_size=60))
def test_what_is_kept_of_a_topic_stays_sound(answers: list[tuple[bool, int]]) -> None:
    topic, hard, day = Topic(), Difficulty(), date(2026, 3, 1)
    for first, step in answers:
        day += timedelta(days=step)
        before = topic
        topic, hard = mastery.answered(topic, hard, first=first, day=day)
        assert (topic.theta >= before.theta) is first or topic.theta == before.theta
        assert abs(topic.theta) <= mastery.BOUND
        assert abs(hard.value) <= mastery.BOUND
        assert topic.days <= topic.firsts <= topic.answers
        assert 0.0 <= mastery.seen(topic, hard.value).chance <= 1.0


def test_what_is_shown_of_simulated_learners_agrees_with_what_they_know() -> None:
    assert auc([(0.9, True), (0.1, False), (0.5, True), (0.5, False)]) == 0.875
    found = simulate(seed=3, learners=60, days=250)
    assert 0.7 < found.auc <= found.best_auc
    assert found.known_where_mastered > 0.85 > found.known_where_growing


# --- the queue --------------------------------------------------------------------------------------------------------


def row(card: str, due: timedelta, *, rev: int = 1, suspended: bool = False) -> CardRow:
    kept = memory.graded(None, Grade.KNEW, rev, NOW - timedelta(days=9))
    return CardRow(card, rev, kept, NOW + due, suspended)


def test_due_cards_come_oldest_first_and_no_more_than_the_cap(course: Course) -> None:
    ago = timedelta(days=-1)
    rows = (row("card-0", ago), row("card-1", ago * 3), row("card-2", -ago), row("card-3", ago, suspended=True))
    found = queue(course, Remembered(cards=rows, cap=1), NOW)
    assert found.due == ("card-1", "card-0")
    assert found.today == ("card-1",)
    assert found.held == ("card-3",)
    assert found.next_due == NOW - ago


def test_reviews_of_today_count_against_the_cap_and_those_of_yesterday_do_not(course: Course) -> None:
    kept = Remembered(cards=(row("card-0", timedelta(0)),), cap=2, reviews=(NOW, NOW - timedelta(hours=9)))
    assert queue(course, kept, NOW).left == 1


def test_a_card_whose_rev_rose_is_due_again_and_a_text_fix_is_not(course: Course) -> None:
    first = course.lessons[0]
    cards = tuple(
        card.model_copy(update={"rev": 2, "front": "وجه آخر"}) if card.id == "card-0" else card for card in first.cards
    )
    fixed = tuple(card.model_copy(update={"front": "وجه مصحح"}) if card.id == "card-1" else card for card in cards)
    changed = course.model_copy(update={"lessons": (first.model_copy(update={"cards": fixed}), *course.lessons[1:])})
    kept = Remembered(cards=(row("card-0", timedelta(days=9)), row("card-1", timedelta(days=9))))
    assert queue(course, kept, NOW).due == ()
    assert queue(changed, kept, NOW).due == ("card-0",)


def test_a_retired_card_is_followed_to_its_heir_with_its_memory(course: Course) -> None:
    retired = (Retired(id="gone", to="gone-too"), Retired(id="gone-too", to="card-5"), Retired(id="lost"))
    course = course.model_copy(update={"retired": retired})
    kept = Remembered(cards=(row("gone", timedelta(0), rev=3), row("lost", timedelta(0))))
    found = queue(course, kept, NOW)
    assert found.due == ("card-5",)
    assert found.moves == (MoveCard("gone", "card-5", 1),)
    rows, _ = followed(course, kept)
    assert rows[0].memory is not None
    assert rows[0].memory.rev == 1
    ring = course.model_copy(update={"retired": (Retired(id="gone", to="lost"), Retired(id="lost", to="gone"))})
    assert queue(ring, kept, NOW).due == ()


# --- choosing and placement -------------------------------------------------------------------------------------------


def test_items_and_myths_that_meet_a_misconception_come_first(course: Course) -> None:
    lesson = course.lessons[0]
    own = [item.id for item in lesson.check]
    assert list(choosing.items(lesson, {})) == own
    assert choosing.items(lesson, {"power-of-two": 2, "loops-are-fine": 1})[:2] == ("item-number", "item-choice")
    assert sorted(choosing.items(lesson, {"power-of-two": 1})) == sorted(own)
    assert choosing.next_up(lesson, ("item-more-1", "item-number"), "power-of-two") == ("item-number", "item-more-1")
    assert choosing.next_up(lesson, ("item-more-1",), "") == ("item-more-1",)
    assert sorted(choosing.myths(course, lesson, {"power-of-two": 1})) == sorted(myth.id for myth in lesson.myths)


@given(st.lists(st.booleans(), min_size=8, max_size=8))
def test_a_placement_asks_at_most_eight_items_of_as_many_topics(own_course: Course, answers: list[bool]) -> None:
    asked: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    topics = []
    while (item := placement.following(own_course, {}, asked, missed)) is not None:
        topics.append(item.topic)
        missed = missed if answers[len(asked)] else (*missed, item.id)
        asked = (*asked, item.id)
    assert len(asked) <= placement.MOST
    assert len(set(topics)) == len(topics)
    suggested = placement.suggested(own_course, asked, missed)
    assert suggested is not None or not missed


def test_a_placement_goes_up_with_right_answers_and_down_with_wrong_ones(own_course: Course) -> None:
    listed = {each.item.id: each for each in placement.candidates(own_course, {})}
    first = placement.following(own_course, {}, (), ())
    assert first is not None
    up = placement.following(own_course, {}, (first.id,), ())
    down = placement.following(own_course, {}, (first.id,), (first.id,))
    assert up is not None
    assert down is not None
    assert listed[up.id].hard > listed[first.id].hard > listed[down.id].hard
