"""Every paste case, as chat clients deliver it: its code, its action, and the verdict of the real child."""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from bot.codecheck import parse
from bot.engine.events import Entity
from bot.engine.intake.reading import Code, Intake, Refused, Traceback, join_parts, read_file, read_text

CASES = json.loads((Path(__file__).parent / "cases" / "pastes.json").read_text("utf-8"))
CURLY_APOSTROPHE = str.maketrans("’", "'")


def _read(case: dict[str, Any]) -> Intake:
    attachment = case["attachment"]
    if attachment is not None:
        return read_file(attachment["name"], attachment["text"].encode())
    raw = case["raw"]
    entities = tuple(
        Entity(entity["type"], entity["offset"], entity["length"], entity.get("language", ""))
        for entity in case["entities"] or ()
    )
    return read_text(join_parts(raw) if isinstance(raw, list) else raw, entities)


def _shown(source: str) -> list[str]:
    """Give the lines that are not empty, without white space at their ends; an apostrophe in a word may stay curly."""
    return [line.rstrip().translate(CURLY_APOSTROPHE) for line in source.split("\n") if line.strip()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_a_paste_gives_its_code_and_its_action(case: dict[str, Any]) -> None:
    read = _read(case)
    want = case["want"]
    if want["action"] == "ask":
        assert isinstance(read, Traceback | Refused)
        return
    assert isinstance(read, Code)
    verdict = await parse([candidate.source for candidate in read.candidates])
    action = {0: "run", None: "error"}.get(verdict.index, "offer_repair")
    assert action == want["action"], verdict.error
    if want["code"] is not None:
        source = read.candidates[verdict.index or 0].source
        assert _shown(source) == _shown(want["code"])
    if action == "offer_repair":
        assert read.candidates[1].repairs
        assert verdict.error is not None


def test_there_are_cases_of_every_kind_of_damage() -> None:
    seen = set()
    for case in CASES:
        read = _read(case)
        if isinstance(read, Code):
            for candidate in read.candidates:
                for repair in candidate.repairs:
                    seen |= {repair.kind.value, *(other.value for other in repair.others)}
    assert seen >= {
        *("quotes", "dash", "shift", "space", "arabic_punctuation", "digits", "full_width", "operator", "ellipsis"),
        *("autocorrect", "markup", "homoglyph", "indent", "tabs", "line_numbers"),
    }


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_repairs_show_each_changed_line_before_and_after(case: dict[str, Any]) -> None:
    read = _read(case)
    if not isinstance(read, Code):
        return
    assert not read.candidates[0].repairs
    plain = read.candidates[0].source.split("\n")
    for candidate in read.candidates[1:]:
        after = candidate.source.split("\n")
        assert len(after) == len(plain)
        changed = {at + 1 for at, (one, other) in enumerate(zip(plain, after, strict=True)) if one != other}
        assert {repair.line for repair in candidate.repairs} == changed
        for repair in candidate.repairs:
            assert (repair.before, repair.after) == (plain[repair.line - 1], after[repair.line - 1])


async def test_lost_nesting_is_an_error_on_line_four() -> None:
    read = _read(next(case for case in CASES if case["id"] == "p023"))
    assert isinstance(read, Code)
    verdict = await parse([candidate.source for candidate in read.candidates])
    assert verdict.error is not None
    assert (verdict.error.code, verdict.error.line) == ("indent_missing", 4)


def test_wanted_code_of_the_cases_is_python_itself() -> None:
    for case in CASES:
        code = case["want"]["code"]
        if code is not None and case["want"]["action"] != "error" and "%timeit" not in code:
            ast.parse(code)
