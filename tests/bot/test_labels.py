"""Labels of buttons, typed as text, do what the button does."""

import pytest

from bot.engine.commands import Command
from bot.engine.events import TextSent
from bot.testing import Conversation
from content.schema import Course


@pytest.mark.parametrize("command", [c for c in Command if c not in {Command.EXAMPLE, Command.EXERCISE}])
def test_the_label_of_every_command_is_understood(talk: Conversation, course: Course, command: Command) -> None:
    said = talk.take(TextSent(str(course.phrases[f"button.{command}"])))
    assert said
    assert "ليس أمرًا معروفًا" not in str(said)
    assert "فُهم هذا السؤال" not in str(said)


def test_a_card_is_flipped_and_graded_by_typed_labels(talk: Conversation) -> None:
    talk.take(TextSent("بطاقات"))
    assert "ظهر 0" in str(talk.take(TextSent("إظهار الجواب")))
    talk.take(TextSent("عرفتها"))
    assert talk.session.series is not None
    assert talk.session.series.done == 1


def test_leaving_a_check_by_a_word_keeps_it(talk: Conversation) -> None:
    talk.take(TextSent("كويز"))
    talk.take(TextSent("خروج"))
    assert talk.session.expects == ""
    assert talk.session.series is not None
    assert "السؤال" in str(talk.take(TextSent("متابعة الاختبار")))


@pytest.mark.parametrize(("shown", "graded"), [("قلب البطاقة", "أعرفها"), ("الجواب", "نسيت"), ("اظهر الجواب", "صعبة")])
def test_a_card_is_flipped_and_graded_in_the_words_of_learners(talk: Conversation, shown: str, graded: str) -> None:
    talk.take(TextSent("بطاقات"))
    assert "ظهر 0" in str(talk.take(TextSent(shown)))
    assert "تراجع" in str(talk.take(TextSent(graded)))


def test_words_for_a_card_are_none_where_no_card_is_shown(talk: Conversation) -> None:
    talk.take(TextSent("اختبار"))
    before = talk.session
    talk.take(TextSent("خروج"))
    talk.take(TextSent("نسيت"))
    assert talk.session.series == before.series


@pytest.mark.parametrize("vote", ["حقيقة", "خرافة", "بحسب الجهاز"])
def test_a_vote_on_a_claim_may_be_typed(own_course: Course, vote: str) -> None:
    talk = Conversation(own_course)
    talk.take(TextSent("خرافات"))
    assert "سُجّل التصويت" in str(talk.take(TextSent(vote)))


def test_at_an_exercise_its_task_is_shown_again_when_it_is_asked_for(own_course: Course) -> None:
    talk = Conversation(own_course)
    first = str(talk.take(TextSent("تمرين")))
    assert own_course.lessons[0].exercises[0].title in first
    assert own_course.lessons[0].exercises[0].title in str(talk.take(TextSent("شو المطلوب؟")))
