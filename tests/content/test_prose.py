# ruff: noqa: E501  (what is said is quoted whole)
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from content import answers, loader, prose, strictyaml


def said(text: str, limit: int = 900) -> list[str]:
    return [f"{line}: {wrong}; {right}" for line, wrong, right in prose.mistakes(text, limit)]


@pytest.mark.parametrize(
    ("text", "mistakes"),
    [
        ("استعمال np.dot هنا", snapshot(["0: an identifier outside a code span: np.dot; put it between backticks, or chats link it or turn it around"])),
        ("استعمال x.to هنا", snapshot(["0: an identifier outside a code span: x.to; put it between backticks, or chats link it or turn it around"])),
        ("الملف main.py هنا", snapshot(["0: an identifier outside a code span: main.py; put it between backticks, or chats link it or turn it around"])),
        ("الزخرفة @njit هنا", snapshot(["0: a decorator outside a code span: @njit; put it between backticks, or chats link it or turn it around"])),
        ("الدالة torch.save هنا", snapshot(["0: an identifier outside a code span: torch.save; put it between backticks, or chats link it or turn it around"])),
        ("الدالة sum(x) هنا", snapshot(["0: a call outside a code span: sum(; put it between backticks, or chats link it or turn it around"])),
        ("الدالة set_num_threads هنا", snapshot(["0: an identifier outside a code span: set_num_threads; put it between backticks, or chats link it or turn it around"])),
        ("الوضع max_autotune هنا", snapshot(["0: an identifier outside a code span: max_autotune; put it between backticks, or chats link it or turn it around"])),
        ("النوع float16 و bf16 هنا", snapshot(["0: a type's name outside a code span: float16; put it between backticks, or chats link it or turn it around", "0: a type's name outside a code span: bf16; put it between backticks, or chats link it or turn it around"])),
        ("الشكل (3, 4) هنا", snapshot(["0: a shape outside a code span: (3, 4); put it between backticks, or chats link it or turn it around"])),
        ("العبارة x * x هنا", snapshot(["0: a single *; write **strong**, or put the expression between backticks", "0: an expression outside a code span: x * x; put it between backticks, or chats link it or turn it around"])),
        ("العنوان https://example.org هنا", snapshot(["0: an address outside a code span: https://example.org; put it between backticks, or chats link it or turn it around"])),
        ("أولًا, ثانيًا; ثالثًا?", snapshot(["0: the Latin mark , in an Arabic sentence; write ،", "0: the Latin mark ; in an Arabic sentence; write ؛", "0: the Latin mark ? in an Arabic sentence; write ؟"])),
        ("الرقم ٣ والرقم ۴", snapshot(["0: the digit ٣; write 3: digits are 0-9", "0: the digit ۴; write 4: digits are 0-9"])),
        ("علامة\u200f خفية\u202e", snapshot(["0: the invisible character U+200F is typed; delete it; each platform's renderer places direction marks itself", "0: the invisible character U+202E is typed; delete it; each platform's renderer places direction marks itself"])),
        ("حرف ی و ک من لوحة أخرى", snapshot(["0: a Persian yeh (ی); type the Arabic yeh ي or alef maqsura ى", "0: a Persian kaf (ک); type the Arabic kaf ك"])),
        ("شكل جاهز ﻻ هنا", snapshot(["0: the ready-made form U+FEFB; type plain letters: لا"])),
        ("مسافة\u00a0لا تنكسر", snapshot(["0: a no-break space; type a plain space"])),
        ("تطويـــل", snapshot(["0: a stretching mark (ـ); type the word without it"])),
        ("همزة منفصلة ا\u0654", snapshot(["0: a letter and its mark are typed as two characters; type the composed letter (NFC)"])),
        ("علامة ` وحيدة و np.dot", snapshot(["0: a backtick without its partner; close the `code` on its own line (an unquoted ` #` in YAML cuts a text: use | or quotes)"])),
        ("فراغ `` هنا", snapshot(["0: a code span without anything in it; write code between single backticks"])),
        ("نص **قوي بلا نهاية", snapshot(["0: ** without its partner; close the **strong** words on the same line"])),
        ("نص **** فارغ", snapshot(["0: strong marks without words; write words between the **"])),
        ("نص **قوي `x` فيه** شيفرة", snapshot(["0: code inside **strong** words; end the strong words before the code"])),
        ("نجمة * وحيدة", snapshot(["0: a single *; write **strong**, or put the expression between backticks"])),
        ("سطر\n- بند\n# عنوان\n1. رقم", snapshot(["1: a line begins like a list, a heading or a quotation: - بند; write plain sentences: prose has only `code` and **strong**", "2: a line begins like a list, a heading or a quotation: # عنوان; write plain sentences: prose has only `code` and **strong**", "3: a line begins like a list, a heading or a quotation: 1. رقم; write plain sentences: prose has only `code` and **strong**"])),
        ("سطر بفراغ في آخره \nوسطر", snapshot(["0: spaces at the end of a line; delete them"])),
        ("سطر سليم\n\nسطر فيه np.dot", snapshot(["2: an identifier outside a code span: np.dot; put it between backticks, or chats link it or turn it around"])),
    ],
)  # fmt: skip
def test_what_chats_would_spoil_is_said(text: str, mistakes: list[str]) -> None:
    assert said(text) == mistakes


@pytest.mark.parametrize(
    "text",
    [
        "الدالة `np.dot(a, b)` والملف `main.py` والزخرفة `@njit` والشكل `(3, 4)`.",
        "العدد 65,504 والعدد 1.5 والنسبة 80% والمدى 2-3.",
        "مكتبتا PyTorch وNumPy على CPU وGPU من نوع H200، بلغة C.",
        "نص **قوي** ثم `**x**` في الشيفرة.",
        "`x * x`",
        "A plain English sentence, with a comma; fine?",
        "فقرة أولى.\n\nفقرة ثانية.",
        "العبارة `a | b` والعبارة `x[::2]` سليمتان.",
    ],
)
def test_good_prose_is_left_alone(text: str) -> None:
    assert said(text) == []


def test_the_limit_counts_what_is_seen() -> None:
    assert said("`" + "x" * 60 + "`", 60) == []
    assert said("ن" * 61, 60) == ["0: the text has 61 characters; shorten or divide it: at most 60 fit"]


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    for line, wrong, right in prose.mistakes(text, 900):
        assert 0 <= line <= text.count("\n")
        assert wrong
        assert right


@pytest.mark.parametrize(
    ("one", "other"),
    [("٦ ٣", "6 3"), ("  6   3 ", "6 3"), ("إلى الأمام", "الي الامام"), ("كُلفة", "كلفه"), ("نعم.", "نعم"), ("`F(x)`", "f(x)")],
)  # fmt: skip
def test_answers_that_mean_the_same_are_the_same_when_normalised(one: str, other: str) -> None:
    assert answers.normalised(one) == answers.normalised(other)


def test_every_section_of_a_lesson_is_asked_about_in_a_dialect_too() -> None:
    # Which words are dialect is a teacher's judgement; these markers are in no sentence of Modern Standard Arabic.
    markers = (
        {"إزاي", "ازاي", "ليه", "كده", "عشان", "لأ", "إمتى", "فين", "جوه"},  # Egypt
        {"شلون", "وش", "ليش", "شنو", "ودي", "وين"},  # the Gulf and Iraq
        {"شو", "بتفرق", "إيمتى", "بيطلعلي", "باخد", "كرمال", "هيك", "هاد"},  # the Levant
        {"علاش", "كيفاش", "وقتاش", "بزاف"},  # the Maghreb
    )
    for file in (loader.HERE / "lessons").glob("*/lesson.yaml"):
        sections = strictyaml.read(file.read_bytes(), file.name).data["sections"]
        asked = [
            [set(question.replace("؟", "").replace("،", "").split()) for question in each["questions"]]
            for each in sections
        ]
        for words in asked:
            assert any(question & family for question in words for family in markers), words
        for family in markers:
            assert any(question & family for words in asked for question in words), (file, family)
