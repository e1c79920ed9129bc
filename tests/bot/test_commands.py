"""Words that are commands, near misses that are offered, and texts that are neither."""

import pytest

from bot.engine import commands, spoken
from bot.engine.commands import Command, Said
from bot.engine.letters import count, fold, number


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/start", Command.START),
        ("ابدأ", Command.START),
        ("إبدأ", Command.START),
        ("اِبْدَأْ", Command.START),
        ("ابـــدأ!", Command.START),
        ("/help@TasreeBot", Command.HELP),
        ("/مساعدة", Command.HELP),
        ("مساعده", Command.HELP),
        ("\u200f\u2067الخريطة\u2069", Command.MAP),
        ("الدروس", Command.MAP),
        ("قائمة الدروس", Command.MAP),
        ("NEXT", Command.NEXT),
        ("التالى", Command.NEXT),
        ("من فضلك التالي", Command.NEXT),
        ("السابق", Command.BACK),
        ("وين وصلت؟", Command.WHERE),
        ("أين كنت", Command.WHERE),
        ("اختبار", Command.QUIZ),
        ("أريد الاختبار الآن", Command.QUIZ),
        ("مراجعة", Command.REVIEW),
        ("خرافة أم حقيقة", Command.MYTHS),
        ("خرافة أم حقيقة؟", Command.MYTHS),
        ("شغّل المثال", Command.EXAMPLE),
        ("كويز", Command.QUIZ),
        ("خروج", Command.CANCEL),
        ("exit", Command.CANCEL),
        ("شغّل", Command.RUN),
        ("قياس", Command.TIME),
        ("إلغاء", Command.CANCEL),
        ("استكشاف", Command.EXPLORE),
        ("الجهاز", Command.MACHINE),
        ("كمّلي", Command.NEXT),
        ("يلا نبدأ", Command.START),
        ("رجّعني لورا", Command.BACK),
        ("ورجيني الخريطة", Command.MAP),
        ("خدني عالخريطة لو سمحتي", Command.MAP),
        ("أبغى أختبر نفسي", Command.QUIZ),
        ("أعطيني تمرين", Command.EXERCISE),
        ("شو لازم أراجع؟", Command.REVIEW),
        ("شغّل هالكود", Command.RUN),
        ("قارن هالكودين", Command.TIME),
        ("show map", Command.MAP),
    ],
)
def test_a_command_is_read_however_it_is_written(text: str, command: Command) -> None:
    said = commands.parse(text)
    assert said is not None
    assert (said.command, said.argument) == (command, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("درس 2", Said(Command.LESSON, "2")),
        ("الدرس الثّاني", Said(Command.LESSON, "الثاني")),
        ("/lesson sixteen-bits", Said(Command.LESSON, "sixteen-bits", slashed=True)),
        ("/start lesson-vectorise", Said(Command.START, "lesson-vectorise", slashed=True)),
        ("افتح درس mixed-precision", Said(Command.LESSON, "mixed precision")),
        ("ابدأ درس 5", Said(Command.LESSON, "5")),
        ("وريني درس البث", Said(Command.LESSON, "البث")),
        ("فوت عالدرس ٣", Said(Command.LESSON, "3")),
        ("روح للدرس الخامس", Said(Command.LESSON, "الخامس")),
        ("آخر درس", Said(Command.LESSON, "اخر")),
        ("next lesson", Said(Command.LESSON, "next")),
        ("لا تذكرني", Said(Command.REMIND, "off")),
        ("أوقف التذكير لو سمحت", Said(Command.REMIND, "off")),
        ("مثال ٢", Said(Command.EXAMPLE, "2")),
        ("مثال f16-bits من فضلك", Said(Command.EXAMPLE, "f16 bits")),
        ("تمرين الثاني", Said(Command.EXERCISE, "الثاني")),
    ],
)
def test_an_argument_is_kept(text: str, said: Said) -> None:
    assert commands.parse(text) == said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "لماذا الحلقة بطيئة",
        "next()",
        "اختبار الفرضيات في numpy",
        "print(1)",
        "اختبار\nالآن",
        "/nonsense",
        "x" * 99,
        "مثال على البث",
        "example of broadcasting",
        "مثال على broadcasting",
        "تمرين عن الحلقات",
        "وريني تمرين عن الحلقات",
        "وريني الفرق بين compile و eager",
        "هات",
        "كم درس",
    ],
)
def test_what_is_no_command_is_none(text: str) -> None:
    said = commands.parse(text)
    assert said is None or text == "next()"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("helpp", Command.HELP),
        ("بطقات", Command.CARDS),
        ("اختبارر", Command.QUIZ),
        ("مساعجة", Command.HELP),
        ("lessn", Command.LESSON),
        ("السلام على المدينة كلها", None),
        ("", None),
        ("؟", None),
    ],
)
def test_a_near_miss_is_offered(text: str, near: Command | None) -> None:
    assert commands.nearest(text) is near


@pytest.mark.parametrize(
    ("argument", "which"),
    [("2", 2), ("٢", 2), ("الثاني", 2), ("العاشر", 10), ("كثير", None), ("²", 2), ("رقم ٣", 3), ("تاني", 2)],
)
def test_which_one_in_a_row_is_read(argument: str, which: int | None) -> None:
    assert commands.ordinal(argument) == which


def test_every_form_is_one_command_s_alone() -> None:
    seen: dict[str, str] = {}
    for name, forms in spoken.FORMS.items():
        for form in forms:
            assert seen.setdefault(fold(form), name) == name, form
    assert set(spoken.FORMS) == {command.value for command in Command}


@pytest.mark.parametrize(
    ("argument", "place"), [("التالي", 4), ("السابق", 2), ("الأخير", 8), ("last", 8), ("الثاني", None)]
)
def test_a_place_seen_from_here_is_read(argument: str, place: int | None) -> None:
    assert commands.step(argument, 3, 8) == place


def test_folding_brings_spellings_together() -> None:
    assert fold("  إِلى  الْمَدْرَسَةِ، ٣ مَرّات! ") == "الي المدرسه 3 مرات"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("65504", 65504),
        ("65,504", 65504),
        ("٦٥٬٥٠٤", 65504),
        ("65 504", 65504),
        ("6.5e4", 65000),
        ("٠٫٥", 0.5),
        ("0,5", 0.5),
        (" 80 % ", 80),
        ("-3", -3),
        ("−3", -3),
        ("1.", 1),
        (".5", 0.5),
        ("1,0000", 1.0),
        ("x", None),
        ("", None),
        ("1 2", None),
        ("1e", None),
        ("nan", None),
        ("9" * 60, None),
    ],
)
def test_numbers_are_read_as_learners_write_them(text: str, value: float | None) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("3", 3), ("٣", 3), ("3.", 3), ("#4", 4), ("1000", None), ("-1", None), ("²", None)]
)
def test_a_place_in_a_list_is_read(text: str, value: int | None) -> None:
    assert count(text) == value
