"""Reviews, progress and placement as a learner meets them, whatever they do and whatever happens to the course."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.engine.events import ButtonPressed, TextSent
from bot.engine.remembering.memory import Grade
from bot.engine.replies import Bars, Choices, Reply
from bot.testing import Conversation
from content.schema import Course, Retired

WORDS = (
    "بطاقات",
    "مراجعة",
    "اختبار",
    "تقدمي",
    "تحديد المستوى",
    "خرافة",
    "حد يومي 2",
    "تراجع",
    "لا أعرف",
    "عرفتها",
    "نعم",
)


def payloads(said: tuple[Reply, ...]) -> list[tuple[str, str]]:
    blocks = (block for reply in said for block in reply.blocks if isinstance(block, Choices))
    return [(choice.label, choice.payload) for block in blocks for choice in block.choices]


def press(talk: Conversation, said: tuple[Reply, ...], label: str) -> tuple[Reply, ...]:
    return talk.take(ButtonPressed(next(payload for name, payload in payloads(said) if name.startswith(label))))


def without(course: Course, *gone: str, retired: tuple[Retired, ...] = ()) -> Course:
    """Give the course without some cards and items, under another hash."""
    lessons = tuple(
        lesson.model_copy(
            update={
                "cards": tuple(card for card in lesson.cards if card.id not in gone),
                "check": tuple(item for item in lesson.check if item.id not in gone),
            }
        )
        for lesson in course.lessons
    )
    return course.model_copy(update={"lessons": lessons, "retired": retired, "hash": "b" * 64})


def learned(course: Course) -> Conversation:
    """Give a learner who has gone through the first lesson's cards, ten days ago."""
    talk = Conversation(course)
    talk.take(TextSent("بطاقات"))
    for _ in range(6):
        talk.take(TextSent("إظهار الجواب"))
        talk.take(TextSent("عرفتها"))
    talk.clock.at += timedelta(days=10)
    return talk


Step = tuple[str, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(("say", "press", "press", "press", "wait", "reload")), st.integers(0, 10**6)), max_size=40
)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_any_sequence_leaves_a_session_that_loads_and_sound_credit(course: Course, steps: list[Step]) -> None:
    talk = Conversation(course)
    shown: list[str] = ["1:rev:more:", "1:rev:hold:card-1", "1:rep:card-1:_wrong"]
    for what, number in steps:
        match what:
            case "say":
                shown += [payload for _, payload in payloads(talk.take(TextSent(WORDS[number % len(WORDS)])))]
            case "press":
                pressed = shown[-1 - number % min(len(shown), 12)]
                shown += [payload for _, payload in payloads(talk.take(ButtonPressed(pressed)))]
            case "wait":
                talk.clock.at += timedelta(hours=number % 600 - 100)
            case _:
                talk.course = without(course, "card-2", "item-number") if number % 2 else course
        assert talk.session.learner  # it was read back from its JSON
    assert all(0.0 <= credit <= 1.0 for credit in talk.store.credits.values())
    own = talk.store.memories.of("learner-one")
    closed = [ask for ask in talk.store.asks.values() if ask.closed]
    assert sum(topic.answers for topic in own.topics.values()) == sum(ask.kind == "item" for ask in closed)
    assert sum(not review.undone for review in own.reviews.values()) == sum(ask.kind == "card" for ask in closed)
    for review in own.reviews.values():
        assert review.grade in set(Grade)


def test_two_presses_of_a_grade_count_once(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("بطاقات"))
    flipped = talk.take(TextSent("إظهار الجواب"))
    press(talk, flipped, "عرفتها")
    assert "أُجيب عنه من قبل" in str(press(talk, flipped, "لم أعرفها"))
    assert [review.grade for review in talk.store.memories.of("learner-one").reviews.values()] == [Grade.KNEW]


def test_easy_is_offered_only_for_what_was_flipped_at_once(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("بطاقات"))
    talk.clock.at += timedelta(minutes=1)
    flipped = talk.take(TextSent("إظهار الجواب"))
    assert not [label for label, _ in payloads(flipped) if label.startswith("سهلة")]
    talk.take(TextSent("سهلة"))
    assert [review.grade for review in talk.store.memories.of("learner-one").reviews.values()] == [Grade.KNEW]


def test_a_card_that_vanished_in_the_middle_of_a_review_is_passed_over(course: Course) -> None:
    talk = learned(course)
    talk.take(TextSent("مراجعة"))
    talk.course = without(course, "card-0")
    assert "وجه 1" in str(talk.take(TextSent("متابعة المراجعة")))


def test_a_grade_of_a_course_that_was_reloaded_cannot_be_taken_back(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("بطاقات"))
    graded = press(talk, talk.take(TextSent("إظهار الجواب")), "عرفتها")
    talk.course = without(course, "card-0")
    assert "لم يتغيّر شيء" in str(press(talk, graded, "تراجع"))
    assert "وجه 1" in str(talk.take(TextSent("بطاقات")))


def test_a_retired_card_is_reviewed_under_the_id_of_its_heir(course: Course) -> None:
    talk = learned(course)
    changed = without(course, "card-0", retired=(Retired(id="card-0", to="two-card-3"),))
    talk.course = changed
    asked = talk.take(TextSent("مراجعة"))
    assert "بطاقات لمراجعة اليوم" in str(asked)
    own = talk.store.memories.of("learner-one")
    assert "card-0" not in own.cards
    kept = own.cards["two-card-3"].memory
    assert kept is not None
    assert kept.grades == 1


def test_a_reload_in_the_middle_of_a_placement_does_not_stop_it(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("تحديد المستوى"))
    talk.course = without(course, "item-choice")
    assert payloads(talk.take(TextSent("تحديد المستوى")))


def test_progress_is_drawn_with_a_bar_for_each_topic_that_was_begun(course: Course) -> None:
    talk = Conversation(course)
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("المصفوفة"))
    bars = [block for reply in talk.take(TextSent("تقدمي")) for block in reply.blocks if isinstance(block, Bars)]
    assert [(bar.state, bar.shown) for bar in bars[0].bars] == [("growing", "61%")]
    assert len(bars[0].in_words().items) == 1


def test_a_wrong_answer_brings_the_next_item_on_the_same_misconception_forward(course: Course) -> None:
    lesson = course.lessons[0]
    more = lesson.check[0].model_copy(update={"id": "item-again", "question": "والسؤال نفسه بصيغة أخرى؟"})
    changed = lesson.model_copy(update={"check": (*lesson.check, more)})
    talk = Conversation(course.model_copy(update={"lessons": (changed, *course.lessons[1:])}))
    talk.take(TextSent("اختبار"))
    talk.take(TextSent("الحلقة"))
    talk.take(TextSent("المصفوفة"))
    assert talk.session.series is not None
    assert talk.session.series.ahead[0] == "item-again"


def test_a_myth_on_a_topic_with_misconceptions_comes_first(course: Course) -> None:
    lesson = course.lessons[0]
    moved = lesson.myths[2].model_copy(update={"topic": lesson.check[2].topic})
    changed = lesson.model_copy(update={"myths": (*lesson.myths[:2], moved)})
    talk = Conversation(course.model_copy(update={"lessons": (changed, *course.lessons[1:])}))
    talk.store.memories.misconceived("learner-one", ["power-of-two"])
    assert "myth-three" in str(talk.take(TextSent("خرافة")))


def test_the_labels_of_reviews_can_be_typed(course: Course) -> None:
    talk = learned(course)
    talk.take(TextSent("حد يومي 1"))
    talk.take(TextSent("مراجعة"))
    talk.take(TextSent("إظهار الجواب"))
    assert "ما الخطأ" in str(talk.take(TextSent("الإبلاغ عن خطأ")))
    assert "أُوقفت" in str(talk.take(TextSent("إيقاف البطاقة")))
    assert "وجه 0" in str(talk.take(TextSent("البطاقات الموقوفة")))
    assert "وجه 1" in str(talk.take(TextSent("مراجعة المزيد")))


@pytest.mark.parametrize("wish", ["0", "-3", "201", "كثير", "1e9"])
def test_a_cap_that_is_none_changes_nothing(course: Course, wish: str) -> None:
    talk = Conversation(course)
    said = str(talk.take(TextSent(f"/cap {wish}")))
    assert "لم يتغيّر شيء" in said
    assert wish in said
    assert talk.store.memories.of("learner-one").cap == 20
