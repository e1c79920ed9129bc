"""The glossary: what is refused in it, and that a rejected word is told with its file and line."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from content import glossary, loader, schema
from content.faults import Fault

Survey = Callable[[], tuple[Fault, ...]]
TERM = """\
terms:
  - term: البث
    english: broadcasting
    meaning: "قاعدة بين شكلين."
    lesson: vectorise
    section: broadcasting
"""


def term(**more: object) -> schema.Term:
    given = {"term": "المسافة", "english": "spacing", "meaning": "فرق.", "lesson": "a", "section": "b", **more}
    return schema.Term.model_validate(given)


def test_a_course_may_lack_a_glossary_and_has_its_terms_otherwise(root: Path) -> None:
    assert loader.load_course(root).glossary == ()
    before = loader.load_course(root).hash
    (root / "glossary.yaml").write_text(TERM)
    course = loader.load_course(root)
    assert [each.english for each in course.glossary] == ["broadcasting"]
    assert course.hash == before  # no asked item depends on it


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lesson: vectorise", "lesson: vectors", "glossary.yaml:5: terms[0].lesson: there is no lesson vectors"),
        ("section: broadcasting", "section: cast", "glossary.yaml:6: terms[0].section: the lesson vectorise has no"),
        ("    section: broadcasting\n", "", "terms[0].section: this key is missing"),
        ("english: broadcasting", "englisch: broadcasting", "did you mean english?"),
        ("english: broadcasting", "english: a b c d", "a b c d has more than 3 words"),
        ('"قاعدة بين شكلين."', '"' + "قاعدة " * 60 + '."', "shorten it to at most 300"),
    ],
)
def test_a_faulty_term_is_told_with_its_line(root: Path, survey: Survey, old: str, new: str, said: str) -> None:
    (root / "glossary.yaml").write_text(TERM.replace(old, new, 1))
    assert any(said in str(fault) for fault in survey()), survey()


def test_two_terms_of_one_name_and_a_term_that_is_rejected_are_told_at_once(root: Path, survey: Survey) -> None:
    again = TERM.removeprefix("terms:\n").replace("البث", "القناع")
    third = again.replace("القناع", "الخطوات").replace("english: broadcasting", "english: strides")
    (root / "glossary.yaml").write_text(TERM + again + third + '    instead_of: ["قناع"]\n')
    faults = [str(fault) for fault in survey()]
    assert any("glossary.yaml:8: terms[1].english: broadcasting names البث already" in each for each in faults)
    assert any("terms[1].term: القناع is a term here, and rejected for الخطوات" in each for each in faults)


def test_a_rejected_word_is_told_with_file_and_line_in_lessons_phrases_and_figures(root: Path, survey: Survey) -> None:
    (root / "glossary.yaml").write_text(TERM + '    instead_of: ["نشر", "إذاعة الأبعاد"]\n')
    lesson = root / "lessons" / "vectorise" / "lesson.yaml"
    text = lesson.read_text()
    folded = "المطلوب مجموع مربعات مليون عدد."
    assert folded in text
    lesson.write_text(text.replace(folded, f"{folded} وهذا بالنَّشْر.", 1))
    number = text[: text.index(folded)].count("\n") + 1
    figure = root / "lessons" / "vectorise" / "drawings" / "lines.py"
    figure.write_text(figure.read_text() + 'TITLE = "إذاعةُ الأبعاد"\n')
    with (root / "phrases.yaml").open("a") as file:
        file.write("late: والنشر هنا\n")
    faults = [str(fault) for fault in survey()]
    end = "is another word for a term of the glossary; write «البث», one term is one word"
    last = len(figure.read_text().splitlines())
    assert faults == [
        f"lessons/vectorise/drawings/lines.py:{last}: «إذاعةُ الأبعاد» {end}",
        f"lessons/vectorise/lesson.yaml:{number}: sections[0].blocks[0].text: «بالنَّشْر» {end}",
        f"phrases.yaml:9: late: «والنشر» {end}",
    ]


def test_learners_words_code_and_parts_of_words_are_no_rejected_words(root: Path, survey: Survey) -> None:
    (root / "glossary.yaml").write_text(TERM + '    instead_of: ["لوب"]\n')
    assert "بدون لوب" in (root / "lessons" / "vectorise" / "lesson.yaml").read_text()
    assert survey() == ()
    words = glossary.Words([term(instead_of=("فجوة",))])
    assert [each.found for each in words.rejected("فجوة وبالفجوة، والفجوتان، و`فجوة` ولفجوة")] == [
        "فجوة",
        "وبالفجوة",
        "ولفجوة",
    ]


def test_the_longest_rejected_word_is_told_once() -> None:
    words = glossary.Words([term(instead_of=("مدى", "تجاوز المدى"))])
    assert [each.found for each in words.rejected("تجاوز المدى")] == ["تجاوز المدى"]


def test_a_faulty_lesson_is_not_missing_for_its_terms(root: Path, survey: Survey) -> None:
    (root / "glossary.yaml").write_text(TERM)
    lesson = root / "lessons" / "vectorise" / "lesson.yaml"
    lesson.write_text(lesson.read_text().replace("id: broadcasting\n    title", "id: Broad casting\n    title", 1))
    assert {fault.file for fault in survey()} == {"lessons/vectorise/lesson.yaml"}


def test_a_glossary_that_cannot_be_read_is_one_fault(root: Path, survey: Survey) -> None:
    shutil.copytree(root / "lessons", root / "glossary.yaml")
    assert [fault.wrong for fault in survey()] == ["glossary.yaml is a folder"]
