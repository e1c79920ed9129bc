"""What holds for every text: nothing raises, valid files pass untouched, damage is undone, work grows with length."""

import ast
import dataclasses
import difflib
import heapq
import json
import json.decoder
import re
import statistics
import sys
import textwrap
import tokenize
from collections.abc import Callable
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.engine.events import Entity
from bot.engine.intake.lex import INVISIBLE, Lexer, Part
from bot.engine.intake.reading import Code, NotCode, Refused, Traceback, read_code, read_file, read_text

PROGRAMS = (
    """import numpy as np

def slow(v):
    t = 0
    for e in v:
        t += int(e) % 3
    return t

data = np.arange(3000)
print(slow(data), 'مرحبا، ٣')
""",
    '''class A:
    def __init__(self, a, b=2):
        self.x = [a, b, 0.5]

    def f(self):
        """doc “x” — y"""
        return self.x[0] - self.x[1] - -1


print(A(1).f())
''',
    """x = {'a': [1, 2], "b": (3, 4)}
if x['a'][0] <= 3 and x['b'] != 4:
    y = x['a'][1] * 2 >> 1
else:
    y = 1 << 3
print(f'{y} {x}', "it's", y // 2 ** 2)  # comment: 'x', "y"
""",
    """import torch

@torch.no_grad()
def step(w: int, x) -> int:
    return w @ x if x is not None else w[..., 0]

try:
    step(1, None)
except TypeError as e:
    print('%s' % e)
""",
    """names = ['a', 'b']
for i, n in enumerate(names):
    while i < 10:
        i += 1; print(n, i, sep=', ')
""",
)


def _outside_strings(source: str, change: Callable[[str], str]) -> str:
    """Apply a damage to the code of a program, never to its strings and comments."""
    lexer = Lexer()
    lines = []
    for line in source.split("\n"):
        pieces = lexer.feed(line)
        lines.append(
            "".join(
                change(line[piece.start : piece.end]) if piece.part is Part.CODE else line[piece.start : piece.end]
                for piece in pieces
            )
        )
    return "\n".join(lines)


def _signs(pairs: dict[str, str]) -> Callable[[str], str]:
    return lambda source: _outside_strings(
        source, lambda code: code.translate(str.maketrans(dict[str, str | int | None](pairs)))
    )


def _curly(source: str) -> str:
    """Turn single-line string delimiters into curly ones, as a phone does."""
    lexer = Lexer()
    lines = []
    for line in source.split("\n"):
        whole = not lexer.in_string
        parts = []
        for piece in lexer.feed(line):
            text = line[piece.start : piece.end]
            if (
                whole
                and piece.part is Part.STRING
                and text[0] == text[-1]
                and len(text) > 1
                and text[:3] not in {'"""', "'''"}
            ):
                text = f"“{text[1:-1]}”" if text[0] == '"' else f"‘{text[1:-1]}’"
            parts.append(text)
        lines.append("".join(parts))
    return "\n".join(lines)


ARABIC_DIGITS = {str(digit): chr(0x660 + digit) for digit in range(10)}
DAMAGES: dict[str, Callable[[str], str]] = {
    "no-break spaces": _signs({" ": "\u00a0"}),
    "em spaces": _signs({" ": "\u2003"}),
    "short dashes": _signs({"-": "–"}),
    "minus signs": _signs({"-": "−"}),
    "Arabic commas": _signs({",": "،", ";": "؛"}),
    "Arabic digits": lambda source: _outside_strings(
        source,
        lambda code: re.sub(
            r"(?<![\w.])[\d.]+",
            lambda m: m.group().translate(str.maketrans(dict[str, str | int | None](ARABIC_DIGITS))),
            code,
        ),
    ),
    "full-width forms": lambda source: _outside_strings(
        source, lambda code: "".join(chr(ord(c) + 0xFEE0) if c in "()[]{},:;=+*/<>%@" else c for c in code)
    ),
    "guillemets": lambda source: _outside_strings(source, lambda code: code.replace(">>", "»").replace("<<", "«")),
    "comparisons": lambda source: _outside_strings(
        source, lambda code: code.replace("<=", "≤").replace("!=", "≠").replace("->", "→")
    ),
    "ellipses": lambda source: _outside_strings(source, lambda code: code.replace("...", "…")),
    "zero-width marks": lambda source: _outside_strings(source, lambda code: code.replace("(", "\u200b(\u200e")),
    "curly quotes": _curly,
    "escapes": lambda source: _outside_strings(source, lambda code: code.replace("_", "\\_").replace("*", "\\*")),
    "entities": lambda source: _outside_strings(
        source, lambda code: code.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    ),
    "everything shifted": lambda source: _outside_first_columns(source, "    "),
}


def _outside_first_columns(source: str, shift: str) -> str:
    lexer = Lexer()
    lines = []
    for line in source.split("\n"):
        fresh = lexer.fresh
        lexer.feed(line)
        lines.append(shift + line if fresh and line.strip() else line)
    return "\n".join(lines)


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("program", range(len(PROGRAMS)))
def test_damage_outside_strings_is_undone(damage: str, program: int) -> None:
    source = PROGRAMS[program]
    damaged = DAMAGES[damage](source)
    read = read_code(damaged)
    assert isinstance(read, Code)
    found = next(candidate.source for candidate in read.candidates if _parses(candidate.source))
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(source))


@given(st.lists(st.sampled_from(sorted(DAMAGES)), min_size=2, max_size=4, unique=True), st.sampled_from(PROGRAMS))
@settings(max_examples=80, deadline=None)
def test_damages_together_are_undone(damages: list[str], source: str) -> None:
    # an entity's ampersand and an escape's backslash would be damaged by what comes after them
    last = [name for name in damages if name in {"entities", "escapes", "curly quotes"}][:1]
    damaged = source
    for name in [*(name for name in damages if name not in {"entities", "escapes", "curly quotes"}), *last]:
        damaged = DAMAGES[name](damaged)
    read = read_code(damaged)
    assert isinstance(read, Code)
    found = next(candidate.source for candidate in read.candidates if _parses(candidate.source))
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(source))


@pytest.mark.parametrize("program", range(len(PROGRAMS)))
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_valid_file_passes_byte_for_byte(program: int, end: str, mark: bytes) -> None:
    source = PROGRAMS[program]
    read = read_file("a.py", mark + source.replace("\n", end).encode())
    assert isinstance(read, Code)
    assert read.candidates[0].source == source


@pytest.mark.parametrize("module", [ast, dataclasses, difflib, heapq, json.decoder, statistics, textwrap, tokenize])
def test_a_module_of_the_standard_library_passes_unchanged(module: ModuleType) -> None:
    source = Path(str(module.__file__)).read_text("utf-8")
    for read in (read_code(source), read_file("a.py", source.encode())):
        assert isinstance(read, Code)
        assert read.candidates[0].source == source


SPECIAL = st.sampled_from(
    [
        *(
            "```",
            "~~~",
            "py",
            "\n",
            " ",
            "    ",
            "\t",
            ">>> ",
            "... ",
            '"',
            "'",
            '"""',
            "“",
            "”",
            "‘",
            "’",
            "«",
            "»",
            "—",
            "…",
        ),
        *(
            "#",
            "\\",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ":",
            "=",
            "x",
            "if ",
            "def f",
            "import ",
            "مرحبا",
            "،",
            "٣",
            "٫",
            "`",
            "> ",
        ),
        *(
            "%timeit ",
            "!ls",
            "Traceback (most recent call last):",
            '  File "a", line 1',
            "KeyError: 1",
            "\u200b",
            "\u2066",
        ),
        *("\ufeff", "\r", "\x00", "\ud83d", "😀", "&lt;", "&quot;", "²", "сo", "1", ". ", "\u2028"),
    ]
)
TEXTS = st.lists(SPECIAL | st.text(max_size=3), max_size=40).map("".join)
ENTITIES = st.lists(
    st.builds(
        Entity,
        st.sampled_from(["pre", "code", "bold", "italic", "url"]),
        st.integers(-3, 60),
        st.integers(-3, 60),
        st.sampled_from(["", "python", "bash", "x"]),
    ),
    max_size=4,
).map(tuple)


@given(TEXTS, ENTITIES)
@example('"```""', ())
@example("x = 1\n\ud83d\ny", (Entity("pre", 8, 1, "bash"),))
@settings(max_examples=400, deadline=None)
def test_reading_a_text_never_raises(text: str, entities: tuple[Entity, ...]) -> None:
    for read in (read_text(text, entities), read_code(text)):
        assert isinstance(read, Code | NotCode | Traceback | Refused)
        if isinstance(read, Code):
            first, *rest = read.candidates
            first.source.encode()
            assert len(rest) < 2
            for candidate in rest:
                assert candidate.source.count("\n") == first.source.count("\n")
                candidate.source.encode()


@given(
    st.sampled_from(["a.py", "a.ipynb", "message.txt", "a", "x.zip"]),
    st.binary(max_size=80) | TEXTS.map(lambda t: t.encode(errors="replace")),
)
@settings(max_examples=200, deadline=None)
def test_reading_a_file_never_raises(name: str, data: bytes) -> None:
    assert isinstance(read_file(name, data), Code | NotCode | Traceback | Refused)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cells", "cell_type", "source", "metadata", "worksheets", "kernelspec", "language"]),
                inner,
                max_size=4,
            )
        ),
    )
)
@settings(max_examples=200, deadline=None)
def test_reading_any_notebook_never_raises(book: Any) -> None:  # noqa: ANN401 - any JSON
    assert isinstance(read_file("a.ipynb", json.dumps(book).encode()), Code | Refused)


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_what_parses_is_touched_only_in_marks(text: str) -> None:
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\n" in source and _valid(source):
        read = read_code(source)
        if isinstance(read, Code) and not any(mark in source for mark in INVISIBLE):
            assert read.candidates[0].source == source


def _valid(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _steps(work: Callable[[], object]) -> int:
    """Count the lines of intake's own code that are run."""
    count = 0

    def local(_frame: FrameType, event: str, _arg: object) -> Any:  # noqa: ANN401 - the type of a trace function
        nonlocal count
        count += event == "line"
        return local

    def trace(frame: FrameType, _event: str, _arg: object) -> Any:  # noqa: ANN401 - the type of a trace function
        return local if "intake" in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


GROWING: dict[str, Callable[[int], str]] = {
    "an unclosed fence": lambda n: "```python\n" + "\n" * n + "print(1)",
    "ticks": lambda n: "`" * n,
    "lines of ticks": lambda n: "```\n" * n,
    "opening quotes": lambda n: "“ " * n,
    "lines of opening quotes": lambda n: "x = “\n" * n,
    "curly triples": lambda n: "x = “””" * n,
    "guillemets": lambda n: "(«" * n,
    "both quotes": lambda n: "'\"" * n,
    "parentheses": lambda n: "x = " + "(" * n,
    "tracebacks": lambda n: "Traceback (most recent call last):\n" * n,
    "frames": lambda n: '  File "a", line 1\n\n' * n,
    "errors and blanks": lambda n: 'Traceback (most recent call last):\n  File "a", line 1\nXError: 1\n\n\n' * n,
    "prompts": lambda n: ">>> x\n1\n" * n,
    "entities": lambda n: "x &quot; &lt;" * n,
    "Arabic separators": lambda n: "x = ١٬٫" * n,
    "marks": lambda n: "a\u200b" * n,
    "backslashes": lambda n: "x = \\" * n,
    "numbered lines": lambda n: "".join(f"{i} x = 1\n" for i in range(n)),
    "talk": lambda n: "مرحبا بك\n" * n + "x = 1",
    "ladders": lambda n: "".join(" " * (i % 50) + "if x:\n" for i in range(n)),
}


@pytest.mark.parametrize("kind", GROWING)
def test_work_grows_in_line_with_the_length(kind: str) -> None:
    text = GROWING[kind]

    def work(size: int) -> Callable[[], object]:
        return lambda: (read_text(text(size)), read_code(text(size)))

    small, large = _steps(work(200)), _steps(work(800))
    assert large <= 4 * small * 1.1 + 2000


def test_overlapping_entities_do_not_multiply_a_text() -> None:
    text = "x = 1\n" * 300
    one = _steps(lambda: read_text(text, (Entity("pre", 0, 1800, "python"),)))
    many = _steps(lambda: read_text(text, tuple(Entity("pre", at, 1800 - at, "python") for at in range(300))))
    assert many < 3 * one
