"""Numbers with units as learners write them: each number and spelling of a unit, and what is refused without a try."""

import pytest

from bot.engine.events import TextSent
from bot.engine.quizzes import numeric, units
from bot.engine.quizzes.grades import Verdict
from bot.testing import Conversation
from content.schema import NumberAnswer, Topic


def item(value: float, unit: str) -> NumberAnswer:
    return NumberAnswer(
        kind="number",
        id="item-n",
        topic=Topic.VECTORIZATION,
        question="كم؟",
        explanation="هكذا.",
        value=value,
        unit=unit,
    )


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        ("مرة", 3.57, "٣٫٥٧ مرات"),
        ("مرة", 3.57, "3.57 مره"),
        ("مرات", 3.57, "3.57×"),
        ("مرات", 2, "2 مرتين"),
        ("مرات", 12, "12 مرّة"),
        ("ميغابايت", 80, "80 ميجابايت"),
        ("ميغابايت", 80, "80 MB"),
        ("ميغابايت", 80, "80MB"),
        ("ثانية", 120, "120 ثوانٍ"),
        ("ثانية", 120, "120 الثانية"),
        ("ميكروثانية", 4.2, "4.2 µs"),
        ("ميكروثانية", 4.2, "4,2 ميكرو ثانية"),
        ("خطوة", 1200, "1,200 خطوات"),
        ("", 65536, "2^16"),
        ("", 1500, "1.5e3"),
        ("مرة", 1500, "1.5e3 مرة"),
    ],
)
def test_a_unit_counts_in_every_number_and_spelling(unit: str, value: float, text: str) -> None:
    assert numeric.grade(item(value, unit), text).verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("unit", "text"),
    [("مرة", "12.5٪"), ("مرة", "12.5 %"), ("مرة", "3 ثوان"), ("ميكروثانية", "4.2 ms"), ("", "65504 %")],
)
def test_another_unit_is_no_answer(unit: str, text: str) -> None:
    assert numeric.grade(item(12.5, unit), text).verdict is Verdict.OTHER_UNIT


@pytest.mark.parametrize("text", ["1e400", "-1e400", "nan", "inf", "∞", "1e400 مرة", "2^9999"])
def test_what_is_not_finite_is_no_answer(text: str) -> None:
    assert numeric.grade(item(3, "مرة"), text).verdict is Verdict.NOT_FINITE


@pytest.mark.parametrize("text", ["كلام", "", "1/0", "x = 3", "لماذا"])
def test_what_is_no_figure_is_left_to_other_readings(text: str) -> None:
    assert numeric.grade(item(3, "مرة"), text).verdict is Verdict.UNREAD


def test_near_units_are_not_the_same() -> None:
    assert not units.same("ميغابايت", "بايت")
    assert not units.same("ms", "µs")
    assert not units.same("", "")


@pytest.mark.parametrize("text", ["65504 %", "65504 ميغابايت", "1e400", "nan"])
def test_a_figure_that_is_no_answer_spends_no_try(talk: Conversation, text: str) -> None:
    for line in ("اختبار", "المصفوفة", "[2 4 6]"):
        talk.take(TextSent(line))
    said = talk.take(TextSent(text))
    assert "لم تُحسب محاولة" in str(said)
    assert talk.store.asks[talk.session.asked].tries == 0
    assert not talk.store.asks[talk.session.asked].closed
