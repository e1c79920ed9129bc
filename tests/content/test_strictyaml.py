# ruff: noqa: E501  (what is said is quoted whole)
import math
import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from content import strictyaml


def value(text: str) -> Any:  # noqa: ANN401
    document = strictyaml.read(f"key: {text}\n".encode(), "a.yaml")
    assert document.faults == []
    return document.data["key"]


def faults(text: str | bytes) -> list[str]:
    raw = text if isinstance(text, bytes) else text.encode()
    return [str(fault) for fault in strictyaml.read(raw, "a.yaml").faults]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e-5", 1e-5),
        ("1.5", 1.5),
        (".5", 0.5),
        ("-3", -3),
        ("+7", 7),
        ("0", 0),
        ("0.25", 0.25),
        ("65504", 65504),
        ("true", True),
        ("false", False),
        ("null", None),
        ("", None),
        ("12:30", "12:30"),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("True", "True"),
        ("NULL", "NULL"),
        ("~", "~"),
        ("1_000", "1_000"),
        ("2026-11-29", "2026-11-29"),
        ("1.2.3", "1.2.3"),
        ("'5'", "5"),
        ('"true"', "true"),
        ("=", "="),
        ("<<", "<<"),
    ],
)
def test_scalars_follow_yaml_1_2(written: str, meant: object) -> None:
    read = value(written)
    assert read == meant
    assert type(read) is type(meant)


@pytest.mark.parametrize("written", ["010", "0x1F", "0o17", "007.5", "12345678901234567890", "1e999", ".inf", "-.NaN"])
def test_a_number_that_programs_read_differently_is_refused_with_its_value_and_line(written: str) -> None:
    (fault,) = faults(f"a: 1\nkey: {written}\n")
    assert fault.startswith("a.yaml:2: key: ")
    assert written in fault


def test_a_duplicate_key_names_both_lines_and_keeps_the_first() -> None:
    document = strictyaml.read(b"a: 1\nb: 2\na: 3\n", "a.yaml")
    assert document.data == {"a": 1, "b": 2}
    assert [str(fault) for fault in document.faults] == snapshot(
        ["a.yaml:3: a: the key is written twice, on lines 1 and 3; keep one of the two"]
    )


def test_anchors_aliases_and_tags_are_refused_all_at_once() -> None:
    assert faults("a: &x 1\nb: *x\nc: !!int 5\nd: !python/object:os.system {}\n") == snapshot(
        [
            "a.yaml:1: &x names a place to be repeated; remove the mark",
            "a.yaml:2: *x repeats another place of the file; write the value out here",
            "a.yaml:3: tag:yaml.org,2002:int is a type mark; remove it; types are known from the key",
            "a.yaml:4: !python/object:os.system is a type mark; remove it; types are known from the key",
        ]
    )


def test_a_billion_laughs_is_a_handful_of_faults() -> None:
    lines = ["a0: &a0 [ha, ha]"] + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 30)]
    document = strictyaml.read("\n".join(lines).encode(), "a.yaml")
    assert len(document.faults) == 30 + 29 * 2
    assert document.data["a29"] == ["", ""]


def test_nesting_beyond_the_limit_is_refused_with_its_line() -> None:
    assert faults("a: 1\nb: " + "[" * 100_000) == snapshot(
        ["a.yaml:2: more than 24 levels are nested; indent less, or close the brackets"]
    )
    deep = "".join("  " * level + f"k{level}:\n" for level in range(40))
    assert faults(deep) == snapshot(["a.yaml:24: more than 24 levels are nested; indent less, or close the brackets"])


def test_a_file_beyond_the_size_limit_is_refused_unread() -> None:
    assert faults(b"a" * (strictyaml.SIZE_LIMIT + 1)) == snapshot(
        ["a.yaml:1: the file has 524289 bytes; keep it under 524288; divide the lesson"]
    )


def test_bytes_that_are_not_utf_8_are_told_with_their_line() -> None:
    assert faults(b"a: 1\nb: \xff\n") == snapshot(
        ["a.yaml:2: the byte 0xff is not UTF-8; save the file with the encoding UTF-8"]
    )


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    document = strictyaml.read("\ufeffa: 1\r\nb: نص\r\n".encode(), "a.yaml")
    assert document.faults == []
    assert document.data == {"a": 1, "b": "نص"}
    assert document.line(("b",)) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "a: 1\nb: `code` first\n",
            snapshot(["a.yaml:2: a text cannot begin with `; put the whole text between double quotes"]),
        ),
        (
            "a: الجواب: نعم\n",
            snapshot(
                [
                    "a.yaml:1: a second `key: value` stands inside a value; put a text with a colon between double quotes; indent a key exactly like the keys beside it"
                ]
            ),
        ),
        (
            'a: "open\nb: 1\n',
            snapshot(["a.yaml:1: a quotation mark is opened and never closed; close the quotation mark"]),
        ),
        ("a:\n\t- 1\n", snapshot(["a.yaml:2: a tab is used to indent; indent with spaces"])),
        (
            "a: 1\n  b: 2\n",
            snapshot(
                [
                    "a.yaml:2: a second `key: value` stands inside a value; put a text with a colon between double quotes; indent a key exactly like the keys beside it"
                ]
            ),
        ),
        (
            "a: [1, 2\nb: 3\n",
            snapshot(
                ["a.yaml:2: a list in [ ] or { } is not closed or lacks a comma; write one entry a line, with dashes"]
            ),
        ),
        (
            'a: "\\q"\n',
            snapshot(
                [
                    "a.yaml:1: a backslash stands in a text between double quotes; use single quotes, or begin the text with | on the line of its key"
                ]
            ),
        ),
        (
            "a: **bold** words\n",
            snapshot(["a.yaml:1: a text cannot begin with * or &; put the whole text between double quotes"]),
        ),
        (
            "a: @njit\n",
            snapshot(["a.yaml:1: a text cannot begin with @; put the whole text between double quotes"]),
        ),
        (
            "a: %timeit\n",
            snapshot(["a.yaml:1: a text cannot begin with %; put the whole text between double quotes"]),
        ),
        (
            "a: 1\n---\nb: 2\n",
            snapshot(["a.yaml:2: a second document begins here; keep one document a file: remove the line ---"]),
        ),
        (
            "a: 1\nonly text\n",
            snapshot(
                [
                    "a.yaml:2: a key without its colon; write `key: value`, and indent the further lines of a text deeper than its key"
                ]
            ),
        ),
        (
            "- a\nb: 1\n",
            snapshot(
                [
                    "a.yaml:2: this line does not fit the lines above it; indent it exactly as the other keys or dashes of the same list, with spaces"
                ]
            ),
        ),
        ("[a]: 1\n", snapshot(["a.yaml:1: a key is a list, a group or nothing; write `key: value`"])),
        ("a: x\x00y\n", snapshot(["a.yaml:1: the invisible character U+0000; delete it"])),
        (
            "a: x\u2028y\n",
            snapshot(["a.yaml:1: the line break U+2028 that editors do not show; replace it by a new line"]),
        ),
        (
            'a: "\\ud800"\n',
            snapshot(
                [
                    "a.yaml:1: a: half a character (U+D800 to U+DFFF) is written by its number; write the character itself"
                ]
            ),
        ),
        ("", snapshot(["a.yaml:1: the file is empty; write keys and values"])),
        ("# only a comment\n", snapshot(["a.yaml:1: the file is empty; write keys and values"])),
        (
            "%YAML 9.9\n---\na: 1\n",
            snapshot(
                [
                    "a.yaml:1: this cannot be read as YAML (found incompatible YAML document (version 1.* is required)); compare it with the lines above"
                ]
            ),
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_a_teachers_words(text: str, said: list[str]) -> None:
    assert faults(text) == said


def test_every_value_knows_its_line() -> None:
    text = "a: 1\nb:\n  - x\n  - k: |\n      first\n      second\n    z: >-\n      folded\n"
    document = strictyaml.read(text.encode(), "a.yaml")
    assert document.line(("b", 0)) == 3
    assert document.line(("b", 1, "k")) == 5
    assert document.line(("b", 1, "k"), 1) == 6
    assert document.line(("b", 1, "z")) == 7
    assert document.line(("b", 7, "missing")) == 2


PIECES = st.sampled_from(
    ["a", "b:", ": ", "\n", "  ", "- ", "[", "]", "{", "}", "&x ", "*x", "!!t ", "|", ">-", '"', "'", "\\", "#", "%", "?", "\t", "010", "1e5", "نص", "`", "**", "---", "...", "\u200f", "\ud7ff"]
)  # fmt: skip


@given(st.one_of(st.binary(max_size=400), st.lists(PIECES, max_size=60).map(lambda parts: "".join(parts).encode())))
@example(b"\xef\xbb\xbf")
@example(b'"\\U00110000"')
@example(b"? " * 5000)
@example(b"&" * 2000 + b" x")
def test_no_bytes_raise(raw: bytes) -> None:
    document = strictyaml.read(raw, "a.yaml")
    assert document.faults or document.data is not None or raw.strip()
    for fault in document.faults:
        assert fault.line >= 1
        assert fault.wrong
        assert fault.right


PLAIN = st.recursive(
    st.one_of(
        st.booleans(),
        st.integers(-(10**17), 10**17),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp", "Cn", "Co"]), max_size=20),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcdef", min_size=1, max_size=5), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(st.dictionaries(st.text("xyz", min_size=1, max_size=5), PLAIN, min_size=1, max_size=4))
def test_what_pyyaml_writes_is_read_back_the_same(data: dict[str, Any]) -> None:
    # Quoted, for PyYAML leaves texts plain that are numbers by YAML 1.2, such as 0E0.
    text = yaml.safe_dump(data, allow_unicode=True, default_style='"', width=10**6)
    text = re.sub(r"!!(?:int|float|bool) \"([^\"]*)\"", r"\1", text)
    document = strictyaml.read(text.encode(), "a.yaml")
    assert document.faults == []
    assert equal(document.data, data)


def equal(left: Any, right: Any) -> bool:  # noqa: ANN401
    match left, right:
        case dict(), dict():
            return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
        case list(), list():
            return len(left) == len(right) and all(map(equal, left, right))
        case ((float() | int()), float()):
            return math.isclose(left, right, rel_tol=1e-15)
        case _:
            return bool(left == right)


def test_a_file_of_too_many_values_is_given_up_at_once() -> None:
    assert faults("a: [" + "1," * 100_000 + "]") == snapshot(
        ["a.yaml:1: the file has more than 20000 keys and values; divide it"]
    )


def test_a_fault_repeats_only_the_beginning_of_what_is_long() -> None:
    for text in ("a: &" + "x" * 5000 + " 1", "a: 0" + "_" * 5000, "x" * 900 + ": 0x1", "a: !" + "t" * 5000 + " 1"):
        (fault,) = faults(text)
        assert len(fault) < 300
