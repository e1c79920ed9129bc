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
