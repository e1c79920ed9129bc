"""What carries on from an answer, in the standard language and the dialects; and what never does."""

import json
from pathlib import Path

import pytest

from bot.adapters.shell import asking
from bot.engine import commands
from bot.engine.answering.manners import Manners
from bot.engine.events import TextSent
from bot.testing import Conversation
from content.schema import Course

FOLDER = Path(__file__).resolve().parent / "questions"
SAID = json.loads((FOLDER / "followups.json").read_text())
TITLES = {"why": "السبب: الآلية", "simple": "بكلام أبسط"}


@pytest.mark.parametrize("kind", SAID)
def test_a_follow_up_is_known_in_each_dialect(own_course: Course, kind: str) -> None:
    manners = Manners(own_course.speech)
    assert [text for text in SAID[kind] if manners.followup(text) != kind] == []


def test_no_question_and_no_answer_is_one(own_course: Course) -> None:
    manners = Manners(own_course.speech)
    names = ("dev", "own", "later", "outside", "dialects", "kept")
    texts = [question.text for name in names for question in asking.read(FOLDER / f"{name}.jsonl")]
    texts += ["لا تشغله", "مو لازم تشغل", "فهمت", "شكرا", "لا أعرف", "صواب", "الحلقة", "4", "x.sum()", "اشرح autocast"]
    assert [text for text in texts if manners.followup(text)] == []


def test_a_command_without_anything_told_stays_a_command(own_course: Course) -> None:
    talk = Conversation(own_course)
    for text in ("مثال", "شغل", "شغل المثال"):
        assert commands.parse(text) is not None
        assert "لم يُفهم" not in str(talk.take(TextSent(text)))


@pytest.mark.parametrize("text", [*SAID["why"][:8], *SAID["simple"][:8]])
def test_a_follow_up_carries_on_from_the_last_answer(course: Course, text: str) -> None:
    talk = Conversation(course)
    talk.take(TextSent("لماذا الحلقات بطيئة؟"))
    kind = "why" if text in SAID["why"] else "simple"
    assert TITLES[kind] in str(talk.take(TextSent(text)))


@pytest.mark.parametrize("text", ["ما فهمت", "اشرح أكثر", "ليش؟"])
def test_with_nothing_to_carry_on_from_the_learner_is_asked_what_is_meant(own_course: Course, text: str) -> None:
    talk = Conversation(own_course)
    assert "أي فكرة تحتاج إلى شرح؟" in str(talk.take(TextSent(text)))


def test_while_a_question_is_open_what_is_not_understood_is_offered_its_hint(own_course: Course) -> None:
    talk = Conversation(own_course)
    talk.take(TextSent("اختبار"))
    said = str(talk.take(TextSent("ما فهمت")))
    assert "تلميح" in said
    assert "التشبيه والآلية" not in said


@pytest.mark.parametrize("text", ["وريني درس البث", "البث", "اشرحلي البث"])
def test_a_subject_asked_for_as_a_lesson_leads_to_its_section(own_course: Course, text: str) -> None:
    said = str(Conversation(own_course).take(TextSent(text)))
    assert "broadcasting" in said
    assert "لا درس بهذا الاسم" not in said
    assert "هل المقصود" not in said


@pytest.mark.parametrize(("text", "title"), [("الدرس التالي", 1), ("آخر درس", -1), ("الدرس رقم ٣", 2)])
def test_a_lesson_is_opened_by_where_it_stands(own_course: Course, text: str, title: int) -> None:
    said = str(Conversation(own_course).take(TextSent(text)))
    assert own_course.lessons[title].title.replace("`", "") in said.replace("`", "")
    assert "لا درس بهذا" not in said
