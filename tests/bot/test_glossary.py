"""«ما معنى …؟»: the term in every way of asking, the section behind it, and what is left to the sections."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.engine.answering.glossary import Glossary
from bot.engine.events import ButtonPressed, TextSent
from bot.engine.replies import Choices, Reply
from bot.testing import Conversation
from content import glossary
from content.schema import Course

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def terms(own_course: Course) -> Glossary:
    return Glossary(own_course)


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("ما معنى الفيض؟", "overflow"),
        ("شنو يعني overflow", "overflow"),
        ("وش معنى التلاشي", "underflow"),
        ("الموتر يعني ايه؟", "tensor"),
        ("يعني إيه تنسور", "tensor"),
        ("what is a tensor", "tensor"),
        ("What does broadcasting mean?", "broadcasting"),
        ("shno ya3ni kernel", "kernel"),
        ("ايش يعني جرادينت", "gradient"),
        ("شو هي الفجوة", "spacing"),
        ("ما معنى `graph break`؟", "graph break"),
        ("what are CUDA graphs?", "CUDA graph"),
        ("اشرحلي البث", "broadcasting"),
        ("explain overflow", "overflow"),
    ],
)
def test_a_meaning_is_found_however_it_is_asked(terms: Glossary, text: str, english: str) -> None:
    found = terms.asked_for(text)
    assert found is not None
    assert found.english == english


@pytest.mark.parametrize(
    "text",
    ["ليش الفيض", "ما الفرق بين الفيض والتلاشي", "ما معنى الإحماء قبل القياس؟", "الفيض", "معنى الحياة", "ما", ""],
)
def test_other_questions_are_left_to_the_sections(terms: Glossary, text: str) -> None:
    assert terms.asked_for(text) is None


def test_a_term_alone_is_named_by_its_own_names_only(terms: Glossary) -> None:
    found = terms.named("البث")
    assert found is not None
    assert found.english == "broadcasting"
    assert terms.named("الحلقات") is None
    assert terms.named("البث والفيض") is None
    assert terms.named("") is None


def test_every_term_is_found_by_each_of_its_names(terms: Glossary, own_course: Course) -> None:
    for term in own_course.glossary:
        for name in (term.term, term.english, *term.names):
            assert terms.asked_for(f"ما معنى {name}؟") is term, name


def labels(replies: Sequence[Reply]) -> dict[str, str]:
    return {c.label: c.payload for r in replies for b in r.blocks if isinstance(b, Choices) for c in b.choices}


def test_a_meaning_leads_to_its_section_and_can_be_carried_on(own_course: Course) -> None:
    talk = Conversation(own_course)
    said = talk.take(TextSent("ما معنى الفيض؟"))
    assert "أكبر عدد في النوع" in str(said)
    assert "المصدر" in str(said)
    assert "65520" in str(talk.take(ButtonPressed(labels(said)["هذا القسم في الدرس"])))
    talk.take(TextSent("ما معنى الفيض؟"))
    assert "overflow.py" in str(talk.take(TextSent("مثال")))


def test_a_meaning_that_gives_an_open_answer_away_is_withheld(own_course: Course) -> None:
    talk = Conversation(own_course)
    talk.take(TextSent("درس 2"))
    talk.take(TextSent("اختبار"))
    assert "مؤجّل" in str(talk.take(TextSent("ما معنى المسافة؟")))
    assert "النواة" in str(talk.take(TextSent("ما معنى النواة؟")))


def test_no_page_of_the_web_says_a_rejected_word(own_course: Course) -> None:
    words = glossary.Words(own_course.glossary)
    pages = [
        path
        for path in (ROOT / "bot" / "adapters").rglob("*")
        if path.suffix in {".html", ".js", ".css", ".py", ".txt"}
    ]
    assert len(pages) > 5
    found = [(path.name, each.found) for path in pages for each in words.rejected(path.read_text(encoding="utf-8"))]
    assert found == []
