"""The limited child: which candidate parses, the trouble of the first, and that nothing a learner writes breaks it."""

import asyncio
import sys
from pathlib import Path

import pytest

from bot import codecheck_child
from bot.codecheck import LimitedChild, parse
from bot.engine.intake.types import SyntaxCode

TROUBLES = [
    ("x = (1,\ny = 2", "never_closed", 1, 5),
    ("x = 1)", "unmatched", 1, 6),
    ("x = (1]", "mismatched", 1, 7),
    ("if x\n  y", "expected_colon", 1, 5),
    ("try:\n  x\ny", "expected_except", 3, 1),
    ("s = 'abc", "unterminated_string", 1, 5),
    ('a = 1\ns = """abc\n', "unterminated_triple", 2, 5),
    ("x=1\n  y=2", "indent_unexpected", 2, 3),
    ("if 1:\nx=1", "indent_missing", 2, 1),
    ("if 1:\n    x\n  y", "indent_mismatch", 3, 3),
    ("if 1:\n\tx=1\n        y=2", "tabs", 3, 9),
    ("x = 5—3", "invalid_character", 1, 6),
    ("س = “مرحبا”", "invalid_character", 1, 5),
    ("x\u00a0= 3", "invisible_character", 1, 2),
    ("a\x00b", "null_bytes", 1, 2),
    ("x = 08", "bad_number", 1, 5),
    ("x = '\\x1'", "bad_escape", 1, None),
    ("x = f'{}'", "bad_fstring", 1, None),
    ("x = b'é'", "bytes_not_ascii", 1, 5),
    ("5 = x", "bad_assignment", 1, 1),
    ("if x = 3: pass", "equals_in_condition", 1, 4),
    ("print(a b)", "missing_comma", 1, 7),
    ("print 'x'", "missing_parentheses", 1, 1),
    ("f(a=1, 2)", "argument_order", 1, None),
    ("x = 1 \\ 2", "after_backslash", 1, None),
    ("x = 1 +", "unfinished", 1, 8),
    ("x = 5 y = 6", "invalid_syntax", 1, 7),
]


@pytest.mark.parametrize(("source", "code", "line", "column"), TROUBLES)
async def test_a_trouble_has_its_code_and_its_place(source: str, code: str, line: int, column: int | None) -> None:
    verdict = await parse([source])
    assert verdict.index is None
    assert verdict.error is not None
    assert (verdict.error.code, verdict.error.line) == (code, line)
    assert column is None or verdict.error.column == column


def test_the_codes_of_the_child_are_those_of_the_engine() -> None:
    assert {code for _, code in codecheck_child.CODES} <= {code.value for code in SyntaxCode}
    assert {code for _, code, _, _ in TROUBLES} | {"too_complex"} == {code.value for code in SyntaxCode}


async def test_the_first_candidate_that_parses_is_named_with_the_trouble_of_the_first() -> None:
    verdict = await parse(["x = (", "x = 1", "x = 2"])
    assert verdict.index == 1
    assert verdict.error is not None
    assert verdict.error.code == "never_closed"
    assert (await parse(["x = 1", "("])).error is None


@pytest.mark.parametrize(
    "source",
    [
        "(" * 10_000,
        "-" * 1_000_000 + "1",
        "not " * 25_000 + "1",
        "lambda:" * 14_000 + "1",
        "a" + ".b" * 50_000,
        "if 1:\n" + "".join(" " * depth + "if 1:\n" for depth in range(1, 300)),
    ],
    ids=["parentheses", "minus signs", "not", "lambda", "attributes", "blocks"],
)
async def test_hostile_depth_is_too_complex_and_no_exception(source: str) -> None:
    verdict = await parse([source])
    assert verdict.index is None
    assert verdict.error is not None
    assert verdict.error.code == "too_complex"


async def test_big_constants_are_not_computed() -> None:
    assert (await parse(["x = ((1,)*1000,)*1000\ny = 'a'*10**9"])).index == 0


async def test_not_a_line_of_the_learner_is_run(tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    assert (await parse([f"open({str(proof)!r}, 'w')"])).index == 0
    assert not proof.exists()


async def test_timings_are_masked_with_their_lines_and_columns_kept() -> None:
    assert (await parse(["%timeit -n10 -r 3 f(x)\n%%timeit\nfoo\nif 1:\n    %timeit"])).index == 0
    error = (await parse(["x = 1\n%timeit -n 5 f(a b)"])).error
    assert error is not None
    assert (error.code, error.line, error.column, error.text) == ("missing_comma", 2, 16, "%timeit -n 5 f(a b)")


async def test_a_child_that_dies_or_hangs_is_too_complex(tmp_path: Path) -> None:
    for body in ("import os; os.abort()", "while True: pass", "print('no json')"):
        stand_in = tmp_path / "python"
        stand_in.write_text(f"#!{sys.executable}\n{body}\n")
        stand_in.chmod(0o755)
        verdict = await parse(["x = 1"], str(stand_in), 1.0)
        assert verdict.index is None
        assert verdict.error is not None
        assert verdict.error.code == "too_complex"


async def test_the_limits_stand_before_a_learner_is_read() -> None:
    program = (
        f"import runpy, resource as r; m = runpy.run_path({codecheck_child.__file__!r}); m['limit']();"
        "print(r.getrlimit(r.RLIMIT_AS)[1], r.getrlimit(r.RLIMIT_CPU)[1], r.getrlimit(r.RLIMIT_NOFILE)[1])"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-S", "-c", program, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await child.communicate()
    assert out.split() == [b"536870912", b"2", b"3"]


async def test_the_checker_answers_with_the_id_of_the_check() -> None:
    checker = LimitedChild()
    answers = await asyncio.gather(*(checker.check(f"c{n}", ["x = 1" if n % 2 else "x ="]) for n in range(6)))
    assert [(answer.check, answer.index) for answer in answers] == [(f"c{n}", 0 if n % 2 else None) for n in range(6)]


async def test_a_cancelled_check_leaves_no_child() -> None:
    stand_in = asyncio.create_task(parse(["-" * 1_000_000 + "1"] * 50))
    await asyncio.sleep(0)
    stand_in.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stand_in
