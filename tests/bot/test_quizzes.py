"""How answers of every item kind are read and graded."""

import pytest

from bot.engine.quizzes import items, numeric, predict, single
from bot.engine.quizzes.grades import Verdict
from bot.engine.replies import CodeBlock, Paragraph
from bot.engine.wording import Wording, plain
from content.schema import Course, Near, NumberAnswer, PredictOutput, SingleChoice, Topic


def predicting(answer: str, *near: str) -> PredictOutput:
    return PredictOutput(
        kind="predict",
        id="item",
        topic=Topic.PYTHON_LOOPS,
        question="ماذا يُطبع؟",
        explanation="شرح.",
        code="a.py",
        answer=answer,
        near=tuple(Near(answer=miss, feedback="قريب.", misconception="miss-one") for miss in near),
    )


def numbered(value: float, *, within: float = 0.0, rel: float = 0.0, unit: str = "") -> NumberAnswer:
    return NumberAnswer(
        kind="number",
        id="item",
        topic=Topic.PYTHON_LOOPS,
        question="كم؟",
        explanation="شرح.",
        value=value,
        within=within,
        rel=rel,
        unit=unit,
        near=(Near(answer="65536", feedback="قريب."),),
    )


@pytest.mark.parametrize(
    ("answer", "given", "verdict"),
    [
        ("[2 4 6]", " [ 2  4 6 ] ", Verdict.RIGHT),
        ("[2 4 6]", "[٢ ٤ ٦]", Verdict.RIGHT),
        ("(3, 4)", "(3،4)", Verdict.RIGHT),
        ("1000.5", "1,000.5", Verdict.RIGHT),
        ("1000.5", "1.0005e3", Verdict.RIGHT),
        ("[1. 2.]", "[1.0 2.0]", Verdict.RIGHT),
        ("'a'", "‘a’", Verdict.RIGHT),
        ("True", "true", Verdict.WRONG),
        ("inf", "Inf", Verdict.WRONG),
        ("[2 4 6]", "[2 4 7]", Verdict.WRONG),
        ("[2 4 6]", "[2 4 6", Verdict.WRONG),
        ("[2 4 6]", "ما معنى هذا؟", Verdict.UNREAD),
        ("[2 4 6]", "لا أعرف ماذا يطبع الكود هنا", Verdict.UNREAD),
        ("[2 4 6]", "", Verdict.UNREAD),
    ],
)
def test_a_prediction_is_compared_by_what_it_says(answer: str, given: str, verdict: Verdict) -> None:
    assert predict.grade(predicting(answer), given).verdict is verdict


def test_a_known_near_miss_has_its_own_words() -> None:
    grade = predict.grade(predicting("[2 4 6]", "[1 2 3]"), "[1 2 3]")
    assert (grade.verdict, grade.feedback, grade.misconception) == (Verdict.NEAR, "قريب.", "miss-one")


@pytest.mark.parametrize(
    ("item", "given", "verdict"),
    [
        (numbered(65504), "65504", Verdict.RIGHT),
        (numbered(65504), "٦٥٬٥٠٤", Verdict.RIGHT),
        (numbered(65504), "65536", Verdict.NEAR),
        (numbered(65504), "6.5e4", Verdict.WRONG),
        (numbered(65504, rel=0.01), "6.5e4", Verdict.RIGHT),
        (numbered(0.3, within=0.05), "0,33", Verdict.RIGHT),
        (numbered(0.3, within=0.05), "0.36", Verdict.WRONG),
        (numbered(4, unit="بايت"), "4 بايت", Verdict.RIGHT),
        (numbered(4, unit="بايت"), "4 كيلو", Verdict.OTHER_UNIT),
        (numbered(4), "أربعة", Verdict.UNREAD),
        (numbered(4), "1e9999", Verdict.NOT_FINITE),
    ],
)
def test_a_number_is_graded_within_its_tolerance(item: NumberAnswer, given: str, verdict: Verdict) -> None:
    assert numeric.grade(item, given).verdict is verdict


def test_a_typed_choice_is_a_number_in_the_order_shown_or_the_text(course: Course) -> None:
    item = course.lessons[0].check[0]
    assert isinstance(item, SingleChoice)
    order = ("both", "array", "loop")
    assert single.read(item, order, "٢") == "array"
    assert single.read(item, order, "المصفوفه") == "array"
    assert single.read(item, order, "4") == ""
    assert single.grade(item, "array").verdict is Verdict.RIGHT
    assert single.grade(item, "loop").misconception == "loops-are-fine"
    assert single.grade(item, "gone").verdict is Verdict.UNREAD


def test_every_item_of_the_course_has_a_solution_that_is_right(course: Course) -> None:
    for item in course.lessons[0].check:
        (block,) = items.solution(item, (), Wording(course.phrases))
        assert isinstance(block, Paragraph)
        answer = items.read(item, items.options(item), plain(block.spans).strip())
        assert items.grade(item, answer).verdict is Verdict.RIGHT


def test_a_solution_of_several_lines_stands_in_a_block() -> None:
    *_, block = items.solution(predicting("1\n2"), (), Wording({}))
    assert isinstance(block, CodeBlock)
    assert predict.grade(predicting("1\n2"), "1 2").verdict is Verdict.RIGHT
