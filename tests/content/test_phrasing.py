# ruff: noqa: E501  (what is said is quoted whole)
from collections.abc import Callable
from pathlib import Path

from inline_snapshot import snapshot

from content import loader
from content.faults import Fault

Survey = Callable[[], tuple[Fault, ...]]


def test_broken_phrases_are_all_said_at_once(root: Path, survey: Survey) -> None:
    (root / "phrases.yaml").write_text(
        """\
hello: مرحبًا
Hello: مرحبًا
empty:
number: 5
list: [نص]
counted: "في الصف {n} طلبات"
open: "الوقت {seconds"
strange: "الوقت {0} و{Name}"
mixed:
  zero: لا دورات
  one: دورة واحدة من {of}
  two: دورتان
  few: "{n} دورات من {of}"
  many: "دورة من {of}"
  other: "{n} دورة من {of}"
short:
  zero: لا شيء
  one: واحد
marks: "اضغط هنا, ثم عد"
link: افتح main.py
mention: استعمل @njit
arabic_digits: خلال ٣ دقائق
"""
    )
    assert [str(fault) for fault in survey()] == snapshot(
        [
            "phrases.yaml:2: Hello: the key is not allowed here; write small Latin letters, digits, _ and dots",
            "phrases.yaml:3: empty: this is no phrase; write a text, or the six forms zero, one, two, few, many, other",
            "phrases.yaml:4: number: this is no phrase; write a text, or the six forms zero, one, two, few, many, other",
            "phrases.yaml:5: list: this is no phrase; write a text, or the six forms zero, one, two, few, many, other",
            "phrases.yaml:6: counted: {n} counts something, which Arabic says in six forms; write the six forms zero, one, two, few, many, other; name another figure otherwise",
            "phrases.yaml:7: open: a brace { that encloses no placeholder; write {name} with small Latin letters and _, or remove the brace",
            "phrases.yaml:8: strange: a brace { that encloses no placeholder; write {name} with small Latin letters and _, or remove the brace",
            "phrases.yaml:12: mixed.two: the form lacks {of}, which another form has; add it here",
            "phrases.yaml:14: mixed.many: the form lacks {n}, the number; write {n} where the number is said",
            "phrases.yaml:16: short.few: this key is missing; add it",
            "phrases.yaml:16: short.many: this key is missing; add it",
            "phrases.yaml:16: short.other: this key is missing; add it",
            "phrases.yaml:16: short.two: this key is missing; add it",
            "phrases.yaml:19: marks: the Latin mark , in an Arabic sentence; write ،",
            "phrases.yaml:20: link: an identifier outside a code span: main.py; put it between backticks, or chats link it or turn it around",
            "phrases.yaml:21: mention: a decorator outside a code span: @njit; put it between backticks, or chats link it or turn it around",
            "phrases.yaml:22: arabic_digits: the digit ٣; write 3: digits are 0-9",
        ]
    )


def test_phrases_that_keep_the_rules_are_loaded(root: Path) -> None:
    course = loader.load_course(root)
    assert course.phrases["greeting"] == "مرحبًا"
    seconds = course.phrases["seconds"]
    assert not isinstance(seconds, str)
    assert seconds.two == "ثانيتان"


def test_a_file_that_is_no_group_of_phrases_is_said(root: Path, survey: Survey) -> None:
    (root / "phrases.yaml").write_text("- a\n- b\n")
    assert [str(fault) for fault in survey()] == snapshot(
        ["phrases.yaml:1: this is no list of phrases; write one phrase a key: `key: text`"]
    )
