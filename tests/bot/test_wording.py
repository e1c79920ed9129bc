"""Phrases: marks, figures, plural forms, and that the engine and the file agree on every key."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.engine import commands, course_map
from bot.engine.intake import types as intake_types
from bot.engine.replies import Code, Number, Strong, Text
from bot.engine.wording import Wording, inline, plain, prose
from content.schema import Phrase, Plural
from sandbox_runner.protocol import Claim, Ending, Limits, Phase

BOT = Path(__file__).resolve().parent.parent.parent / "bot"
KEY = re.compile(r"[a-z_]+\.[a-z0-9_]+")
START = re.compile(r"[a-z_]+\.[a-z0-9_]*")
ARABIC_WORDS = {"clock.py", "commands.py", "letters.py", "normalise.py", "phrasing.py", "spoken.py", "stem.py"}
"""Modules that hold Arabic words to be recognised, or single letters: never sentences to be said."""
NINE = Plural(zero="صفر", one="ثانية", two="ثانيتان", few="{n} ثوانٍ", many="{n} ثانية", other="{n} ثانية أخرى")
SPOKEN = Wording({"plain": "فيه `x.sum()` و**قوي** و{what}", "slot": "`{name}` و**{name}**", "seconds": NINE})


def test_marks_and_figures_become_spans() -> None:
    assert SPOKEN.say("plain", what=7) == (
        Text("فيه "),
        Code("x.sum()"),
        Text(" و"),
        Strong("قوي"),
        Text(" و"),
        Number("7"),
    )


def test_a_figure_is_filled_inside_marks() -> None:
    assert SPOKEN.say("slot", name="a") == (Code("a"), Text(" و"), Strong("a"))


def test_what_a_learner_wrote_is_never_read_for_marks() -> None:
    assert SPOKEN.say("plain", what=Code("**x** {y}"))[-1] == Code("**x** {y}")


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "صفر"),
        (1, "ثانية"),
        (2, "ثانيتان"),
        (5, "5 ثوانٍ"),
        (11, "11 ثانية"),
        (100, "100 ثانية أخرى"),
        ("2", "ثانيتان"),
        ("2.0", "2.0 ثانية أخرى"),
        ("1,011", "1,011 ثانية"),
        (Number("3"), "3 ثوانٍ"),
    ],
)
def test_counts_choose_the_form_of_arabic(count: int | str | Number, said: str) -> None:
    assert SPOKEN.text("seconds", n=count) == said


def test_a_missing_phrase_or_figure_is_shown_and_not_raised() -> None:
    assert SPOKEN.text("no.such.key", n=3) == "no.such.key"
    assert SPOKEN.text("plain") == "فيه x.sum() وقوي و{what}"


def test_prose_is_parted_at_blank_lines_and_keeps_braces() -> None:
    assert prose("أول `{a}`\nسطر {b}\n\nثان") == ((Text("أول "), Code("{a}"), Text(" سطر {b}")), (Text("ثان"),))
    assert plain(inline("أول\n\nثان")) == "أول ثان"


def modules() -> Iterator[tuple[Path, ast.AST]]:
    for path in sorted(BOT.rglob("*.py")):
        yield path, ast.parse(path.read_text())


def docstrings(tree: ast.AST) -> set[int]:
    return {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def strings(tree: ast.AST) -> Iterator[str]:
    skipped = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def used() -> tuple[set[str], set[str]]:
    """Give the keys that code names, and the beginnings that it completes with a code."""
    keys: set[str] = set()
    families: set[str] = set()
    for _, tree in modules():
        keys |= {text for text in strings(tree) if KEY.fullmatch(text) or text == "turn_failed"}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                start = str(node.values[0].value)
                families |= {start} if START.fullmatch(start) else set()
    return keys, families


CLOSED: dict[str, set[str]] = {
    "ending.": {ending.value for ending in Ending if ending is not Ending.OK},
    "verdict.": {claim.value for claim in Claim},
    "phase.": {phase.value for phase in Phase},
    "part.": {part.value for part in course_map.Part},
    "button.": {command.value for command in commands.Command},
    "limit.": {*Limits.__slots__, "wall_s"},
    "refused.": {reason.value for reason in intake_types.Reason},
    "notice.": {kind.value for kind in intake_types.NoticeKind},
    "syntax.": {code.value for code in intake_types.SyntaxCode},
    "vote.": {"fact", "myth", "depends"},
    "myth.truth_": {"fact", "myth", "depends"},
    "quiz.how_": {"predict", "number"},
    "code.wanted_": {"run", "time"},
    "series.": {"check", "cards", "myths"},
    "talk.": {"greeting", "thanks", "insult", "who", "bye"},
    "button.go_on_": {"check", "cards", "myths"},
}


def test_every_key_that_code_completes_has_its_phrase(phrases: dict[str, Phrase]) -> None:
    missing = [start + code for start, codes in CLOSED.items() for code in sorted(codes) if start + code not in phrases]
    assert missing == []


def test_every_key_that_code_names_has_its_phrase(phrases: dict[str, Phrase]) -> None:
    firsts = {key.split(".")[0] for key in phrases} - {"web", "code"}
    keys, _ = used()
    asked = {key for key in keys if key.split(".")[0] in firsts}
    assert {key for key in asked if not key.endswith(("_", ".py"))} - set(phrases) == set()


def test_every_phrase_is_used(phrases: dict[str, Phrase]) -> None:
    keys, families = used()
    idle = {key for key in phrases if key not in keys and not any(key.startswith(start) for start in families)}
    assert idle == set()


def test_no_arabic_sentence_stands_in_code() -> None:
    for path, tree in modules():
        arabic = [text for text in strings(tree) if len(re.findall(r"[\u0621-\u064a]{2,}", text)) > 2]
        intake = "intake" in path.parts or path.name.startswith("codecheck")
        assert not arabic or intake or path.name in ARABIC_WORDS or "adapters" in path.parts, (path, arabic)
