"""Code on its way: what is checked, what is offered, what is measured, and what a stale answer changes."""

import pytest
from inline_snapshot import snapshot

from bot.engine import code
from bot.engine.events import ButtonPressed, CodeChecked, CodeSent, FileSent, SyntaxTrouble, TextSent
from bot.engine.replies import Choices, CodeBlock, Reply
from bot.testing import Conversation
from sandbox_runner.protocol import JobKind


def code_blocks(said: tuple[Reply, ...]) -> list[CodeBlock]:
    return [block for reply in said for block in reply.blocks if isinstance(block, CodeBlock)]


def payloads(said: tuple[Reply, ...]) -> list[str]:
    return [
        choice.payload
        for reply in said
        for block in reply.blocks
        if isinstance(block, Choices)
        for choice in block.choices
    ]


@pytest.mark.parametrize(
    ("source", "variants"),
    [
        ("x = 1\n# %% a\nx\n# %% b\nx", 2),
        ("# %% a\n1\n# %% b\n2\n# %% c\n3", 2),
        ("import numpy\n# %% setup\nx = 1\n# %% a\nx\n# %% b\nx", 2),
        ("x = 1\n#%% a\nx\n#%% b\nx", 2),
        ("print('# %% a')\n  # %% b", 0),
        ("", 0),
    ],
)
def test_variants_are_counted_as_the_harness_does(source: str, variants: int) -> None:
    assert code.variants(source) == variants


def test_cells_are_timed_and_other_code_is_run(talk: Conversation) -> None:
    talk.take(CodeSent("x = 1\n# %% a\nx\n# %% b\nx + 0"))
    talk.take(CodeSent("print(1)"))
    assert [job.kind for job in talk.waiting] == [JobKind.TIME, JobKind.RUN]


def test_code_that_was_asked_to_be_measured_is_timed(talk: Conversation) -> None:
    talk.take(CodeSent("sum(range(9))", measure=True))
    talk.take(TextSent("قياس"))
    talk.take(TextSent("```\nsum(range(8))\n```"))
    assert [job.kind for job in talk.waiting] == [JobKind.TIME, JobKind.TIME]
    assert talk.session.expects == ""


def test_a_repair_is_shown_and_runs_only_after_a_tap(talk: Conversation) -> None:
    said = talk.take(CodeSent("print(“a”)"))
    assert talk.waiting == []
    (difference,) = code_blocks(said)
    assert (difference.language, difference.code) == snapshot(("diff", '@@ -1 +1 @@\n-print(“a”)\n+print("a")'))
    yes, _ = payloads(said)
    talk.take(ButtonPressed(yes))
    talk.take(ButtonPressed(yes))
    assert [job.source for job in talk.waiting] == ['print("a")']


def test_a_refused_repair_runs_nothing(talk: Conversation) -> None:
    _, no = payloads(talk.take(CodeSent("print(“a”)")))
    talk.take(ButtonPressed(no))
    assert (talk.waiting, talk.session.pending) == ([], None)


def test_a_fault_is_shown_with_its_line_and_a_caret(talk: Conversation) -> None:
    check = talk.session.with_()
    assert check.pending is None
    (block,) = code_blocks(talk.take(CodeSent("x = 1\ny = = 2\n")))
    assert block.code == snapshot("""\
y = = 2
    ^\
""")
    assert talk.session.pending is None


def test_a_caret_in_a_long_line_keeps_its_column(talk: Conversation) -> None:
    talk.take(CodeSent("print(“a”)"))
    talk.take(TextSent("إلغاء"))
    trouble = SyntaxTrouble("invalid_syntax", 1, 500, "a" * 499 + "!" + "b" * 400)
    line, caret = code._caret(trouble).split("\n")
    assert line[caret.index("^")] == "!"


def test_an_answer_of_the_child_for_other_code_changes_nothing(talk: Conversation) -> None:
    talk.take(CodeSent("print(“a”)"))
    before = talk.session
    assert talk.take(CodeChecked("nobody", 0)) == ()
    assert before.pending is not None
    assert talk.take(CodeChecked(before.pending.check, 0)) == ()
    assert talk.session == before


def test_a_file_keeps_its_name(talk: Conversation) -> None:
    talk.take(FileSent("fast.py", b"print(1)\n"))
    assert talk.waiting[0].filename == "fast.py"


def test_a_traceback_asks_for_the_code(talk: Conversation) -> None:
    talk.take(TextSent('Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nNameError: x'))
    assert talk.waiting == []


def test_a_long_difference_is_cut() -> None:
    before = "\n".join(f"a{i}" for i in range(3000))
    after = "\n".join(f"b{i}" for i in range(3000))
    assert code.diff(before, after).endswith("…")
    assert len(code.diff(before, after).split("\n")) < 70


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("قياس\n```\nsum(range(9))\n```", JobKind.TIME),
        ("قس زمن هذا الكود:\n```\nsum(range(9))\n```", JobKind.TIME),
        ("```\nsum(range(9))\n```\nكم يستغرق؟", JobKind.TIME),
        ("شغّل\n```\nsum(range(9))\n```", JobKind.RUN),
        ("```\nimport time\nprint(time.time())\n```", JobKind.RUN),
    ],
)
def test_words_beside_code_say_whether_it_is_timed(talk: Conversation, text: str, kind: JobKind) -> None:
    talk.take(TextSent(text))
    assert [job.kind for job in talk.waiting] == [kind]
