"""What is code and what is talk, what is refused and why, and what is said about it."""

import json

import pytest

from bot.engine.events import Entity
from bot.engine.intake.reading import (
    Code,
    NotCode,
    NoticeKind,
    Reason,
    Refused,
    Traceback,
    asks_to_time,
    join_parts,
    read_code,
    read_file,
    read_text,
)

TALK = [
    *(
        "مرحبا",
        "أ",
        "5",
        "1.5",
        "50% أسرع",
        "(3, 4)",
        "[1, 2, 3]",
        "[1 2 3]",
        "True",
        "float32",
        "np.dot",
        "/start",
        ":)",
    ),
    *("ما هي numpy؟", "ليش x.sum() بطيء؟", "why is np.sum(x) slow?", "what is numpy", "return to the lesson", "import"),
    *("if you want: tell me", "for example, use numpy", "https://numpy.org/doc//x", "O(n)", "O(n^2)", "print hello"),
    "the loop is slower because Python is interpreted",
    "ما الفرق بين `np.dot` و `np.matmul`؟",
    "شغلت `x.sum()` وطلع خطأ",
    "لأن `a + b` ينشئ مصفوفة مؤقتة",
    "السرعة = المسافة / الزمن",
]


def _code(text: str) -> Code:
    read = read_text(text)
    assert isinstance(read, Code)
    return read


@pytest.mark.parametrize("text", TALK)
def test_talk_is_not_code(text: str) -> None:
    assert read_text(text) == NotCode()


@pytest.mark.parametrize(
    "text",
    [
        "x = 5",
        "print(1)",
        "import numpy as np",
        "@njit\ndef f(x):\n    return x",
        "while True:\n    pass",
        "x = 5 y = 6",
    ],
)
def test_a_bare_statement_is_code_as_it_is(text: str) -> None:
    assert _code(text).candidates[0].source == text


def test_an_inline_span_is_code_only_when_it_is_to_be_run() -> None:
    assert _code("جرب `sum(range(10))`").candidates[0].source == "sum(range(10))"
    assert read_text("ليش `sum(range(10))` بطيء") == NotCode()


def test_a_code_entity_in_a_question_is_not_run() -> None:
    text = "ليش x.sum() بطيء"
    assert read_text(text, (Entity("code", 4, 7),)) == NotCode()


@pytest.mark.parametrize(("offset", "length"), [(-5, 3), (0, 10_000), (3, -1), (10**9, 10**9), (1, 1)])
def test_offsets_that_do_not_fit_do_no_harm(offset: int, length: int) -> None:
    for kind in ("pre", "code", "bold"):
        assert read_text("😀x = 1\nprint(x)", (Entity(kind, offset, length),)) is not None


def test_parts_are_joined_with_nothing_between() -> None:
    assert join_parts(["np.o", "nes(3)"]) == "np.ones(3)"


def test_own_line_numbers_survive_in_a_bare_paste() -> None:
    assert _code("\n\nx = 1").candidates[0].source == "\n\nx = 1"


def test_the_first_line_of_a_fence_is_line_one() -> None:
    assert _code("كلام\nكلام\n```py\n1 / 0\n```").candidates[0].source == "1 / 0"


def test_talk_amid_code_becomes_an_empty_line_with_a_notice() -> None:
    read = _code("x = 1\nهذا السطر بدون تعليق\nprint(x)")
    assert read.candidates[0].source == "x = 1\n\nprint(x)"
    notice = read.notices[0]
    assert (notice.kind, notice.line, dict(notice.values)) == (
        NoticeKind.PROSE_AMID,
        2,
        {"text": "هذا السطر بدون تعليق"},
    )


def test_a_mark_inside_a_string_stays_and_is_named() -> None:
    read = _code('x = "a\u200eb"\u200e')
    assert read.candidates[0].source == 'x = "a\u200eb"'
    kinds = {notice.kind: dict(notice.values) for notice in read.notices}
    assert kinds[NoticeKind.MARKS_IN_STRING] == {"code": "U+200E", "name": "LEFT-TO-RIGHT MARK"}
    assert NoticeKind.MARKS_REMOVED in kinds


def test_the_joiner_of_an_emoji_is_no_news() -> None:
    assert _code('print("👩🏽\u200d💻")').notices == ()


def test_a_homoglyph_is_named_with_letter_code_and_name() -> None:
    notice = _code("сount = 1\nprint(count)").notices[0]
    assert notice.kind is NoticeKind.HOMOGLYPH
    assert dict(notice.values) == {
        "word": "сount",
        "letter": "с",
        "code": "U+0441",
        "name": "CYRILLIC SMALL LETTER ES",
    }


def test_a_greek_name_is_no_homoglyph() -> None:
    assert _code("π = 3.14\nλ = 2\nprint(π * λ)").notices == ()


def test_shell_lines_are_set_aside_on_their_line_and_named() -> None:
    read = _code("import os\n!rm -rf /\nif os:\n    !ls\nx = !pwd")
    assert read.candidates[0].source == "import os\n# !rm -rf /\nif os:\n    pass  # !ls\n# x = !pwd"
    assert [(notice.kind, notice.line) for notice in read.notices] == [
        (NoticeKind.SHELL_LINE, 2),
        (NoticeKind.SHELL_LINE, 4),
        (NoticeKind.SHELL_LINE, 5),
    ]


def test_a_cell_of_another_language_is_set_aside_to_the_next_cell() -> None:
    read = read_code("x = 1\n%%bash\nrm -rf /\n# %% next\ny = 2")
    assert isinstance(read, Code)
    assert read.candidates[0].source == "x = 1\n# (%%bash)\n# rm -rf /\n# %% next\ny = 2"


def test_a_percent_sign_that_goes_on_an_expression_is_no_magic() -> None:
    source = 'print(\n    "%d %s"\n    %(1, 2)\n)\nx = (7\n%y)'
    assert _code(source).candidates[0].source == source


def test_formatting_that_ate_underscores_is_named_even_when_the_rest_parses() -> None:
    read = read_text("class A:\n    def init(self):\n        pass", (Entity("italic", 17, 4),))
    assert isinstance(read, Code)
    notice = read.notices[0]
    assert notice.kind is NoticeKind.FORMATTING_EATEN
    assert dict(notice.values) == {"before": "def init(self):", "after": "def __init__(self):"}
    assert read.candidates[1].source == "class A:\n    def __init__(self):\n        pass"


def test_a_traceback_without_code_gives_its_last_line() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nKeyError: 3\n\nساعدوني'
    assert read_text(text) == Traceback("KeyError: 3")


def test_chained_tracebacks_give_the_last_error() -> None:
    one = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError: 3\n'
    between = "\nDuring handling of the above exception, another exception occurred:\n\n"
    assert read_text(one + between + one.replace("KeyError", "ValueError")) == Traceback("ValueError: 3")


@pytest.mark.parametrize("text", ["```python\n\n```", "```py\n# لا شيء\n```", "# nothing"])
def test_nothing_but_comments_is_no_code(text: str) -> None:
    assert read_text(text) == Refused(Reason.NO_CODE)


def test_a_text_beyond_the_limit_is_refused_with_its_length() -> None:
    assert read_text("x" * 100_001) == Refused(Reason.TOO_LONG, (("count", "100001"), ("limit", "100000")))


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.py", b"", Reason.EMPTY_FILE),
        ("a.py", b"\xef\xbb\xbf \r\n", Reason.EMPTY_FILE),
        ("a.py", b"x = 1\n" * 200_000, Reason.TOO_LARGE),
        ("a.py", b"x = 1\n" * 20_000, Reason.TOO_LONG),
        ("a.py", b"PK\x03\x04rest", Reason.ARCHIVE),
        ("a.py", b"\x1f\x8b\x08\x00", Reason.ARCHIVE),
        ("a.py", b"\x7fELF\x02\x01", Reason.BINARY),
        ("a.py", b"x = 1\x00\nprint(2)", Reason.BINARY),
        ("a.py", "x = 1".encode("utf-16"), Reason.UTF16),
        ("a.py", "x = 1\nprint(x)".encode("utf-16-le"), Reason.UTF16),
        ("a.py", "س = 1".encode("cp1256"), Reason.NOT_UTF8),
        ("a.zip", b"PK\x03\x04rest", Reason.UNKNOWN_KIND),
        ("a", b"x = 1", Reason.UNKNOWN_KIND),
        ("a.py\u202e.exe", b"x = 1", Reason.UNKNOWN_KIND),
        ("a.ipynb", b"{", Reason.BAD_NOTEBOOK),
        ("a.ipynb", b"[1, 2]", Reason.NOTEBOOK_SHAPE),
        ("a.ipynb", b'{"cells": 3}', Reason.NOTEBOOK_SHAPE),
        ("a.ipynb", b'{"cells": [{"cell_type": "code", "source": [1]}]}', Reason.NOTEBOOK_SHAPE),
        ("a.ipynb", b"[" * 100_000, Reason.NOTEBOOK_SHAPE),
        ("a.ipynb", b'{"cells": []}', Reason.EMPTY_NOTEBOOK),
        ("a.ipynb", b'{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}', Reason.NOTEBOOK_LANGUAGE),
        ("a.txt", "مرحبا".encode(), Reason.NO_CODE),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_reason(name: str, content: bytes, reason: Reason) -> None:
    read = read_file(name, content)
    assert isinstance(read, Refused)
    assert read.reason is reason


def test_a_declared_encoding_is_used_and_named() -> None:
    read = read_file("a.py", "# -*- coding: cp1256 -*-\nprint('سلام')".encode("cp1256"))
    assert isinstance(read, Code)
    assert read.candidates[0].source.endswith("print('سلام')")
    assert read.notices[0].kind is NoticeKind.DECODED_AS


def test_a_file_keeps_its_name_only_when_it_is_plain() -> None:
    for name, kept in [
        ("my_code.py", "my_code.py"),
        ("../../etc/x.py", "x.py"),
        ("حل.py", "code.py"),
        ("-x.py", "code.py"),
    ]:
        read = read_file(name, b"x = 1")
        assert isinstance(read, Code)
        assert read.filename == kept


def test_a_notebook_tells_where_its_cells_begin() -> None:
    book = {"cells": [{"cell_type": "code", "source": "a = 1\nb = 2"}, {"cell_type": "code", "source": ["c = 3"]}]}
    read = read_file("n.ipynb", json.dumps(book).encode())
    assert isinstance(read, Code)
    assert (read.candidates[0].source, read.cells, read.filename) == ("a = 1\nb = 2\n\nc = 3", (1, 4), "n.py")


def test_a_timed_cell_of_a_notebook_does_not_swallow_the_next() -> None:
    book = {"cells": [{"cell_type": "code", "source": source} for source in ("%%timeit\nf(x)", "y = 2", "z = 3")]}
    read = read_file("n.ipynb", json.dumps(book).encode())
    assert isinstance(read, Code)
    assert read.candidates[0].source == "%%timeit\nf(x)\n# %%\ny = 2\n\nz = 3"


@pytest.mark.parametrize(
    ("source", "timed"),
    [("%timeit f(x)", True), ("x = 1\n%%timeit\nx", True), ('s = """\n%timeit x\n"""', False), ("x = 7\n", False)],
)
def test_code_says_itself_that_it_is_to_be_timed(source: str, timed: bool) -> None:  # noqa: FBT001 - a table's column
    assert asks_to_time(source) is timed


def test_code_from_an_editor_is_never_taken_for_talk() -> None:
    read = read_code("x")
    assert isinstance(read, Code)
    assert read.candidates[0].source == "x"


def test_half_a_character_is_replaced_so_that_the_code_can_be_stored() -> None:
    _code("x = '\ud83d'").candidates[0].source.encode()


def test_mixed_indentation_with_two_readings_is_left_alone() -> None:
    # with tabs of eight `y` stands in the block, with tabs of four outside of it
    source = "if a:\n    if b:\n\tx = 1\n    y = 2\n\tz = “3”"
    read = _code(source)
    assert read.candidates[1].source == source.replace("“3”", '"3"')


def test_a_page_of_a_notebook_gives_its_cells() -> None:
    read = _code("In [1]:\nimport math\nx = 1\nOut[1]:\n1\nIn [2]:\nprint(x)")
    assert read.candidates[0].source == "import math\nx = 1\nprint(x)"


def test_an_untagged_block_of_output_is_not_run() -> None:
    read = _code("```\nfor i in range(2):\n    print(i)\n```\nالناتج\n```\n0\n1\n```")
    assert read.candidates[0].source == "for i in range(2):\n    print(i)"
    assert read.notices[-1].kind is NoticeKind.OTHER_BLOCKS_SET_ASIDE


@pytest.mark.parametrize("head", ["/run", "شغل", "python", "pythonCopyEdit", "here is my code:", "@someone مرحبا"])
def test_a_word_above_the_code_is_not_run(head: str) -> None:
    assert _code(f"{head}\nimport math\nprint(math.pi)").candidates[0].source == "import math\nprint(math.pi)"
