"""Places in phrases that nothing fills are faults, as far as the sources say what fills them."""

import shutil
from pathlib import Path

import pytest

from content import loader, places
from content.__main__ import main

CODE = """
def told(moment, key, **more):
    words = moment.words
    words.say("time.is", hour=3)
    words.text("day.free" if key else "day.busy", day=1)
    words.say("open.one", **more)
    words.say(key, left=2)
    return {"late": 5}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "telling.py").write_text(CODE)
    return folder


@pytest.mark.parametrize(
    ("key", "phrase", "wrong"),
    [
        ("time.is", "الساعة {hour}.", None),
        ("time.is", "الساعة {houur}.", "write {hour}"),
        ("day.busy", "اليوم {day}.", None),
        ("day.free", "اليوم {hour}.", "it gets day"),
        ("open.one", "ما زاد {late}.", None),
        ("computed.key", "بقي {left}.", None),
        ("computed.key", "بقي {leftt}.", "write {left}"),
    ],
)
def test_a_place_that_nothing_fills_is_a_fault(
    source: Path, tmp_path: Path, key: str, phrase: str, wrong: str | None
) -> None:
    file = tmp_path / "phrases.yaml"
    file.write_text(f'first: "x"\n{key}: "{phrase}"\n')
    given = places.given((source,))
    assert given is not None
    found = list(places.unfilled(file, {key: phrase}, given))
    assert [(one.line, one.right) for one in found] == ([] if wrong is None else [(2, wrong)])


def test_lessons_that_stand_alone_are_checked_without_the_sources(tmp_path: Path) -> None:
    assert places.given((tmp_path,)) is None


def test_a_misspelt_place_does_not_pass_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tmp_path / "content"
    shutil.copytree(loader.HERE, root, ignore=shutil.ignore_patterns("__pycache__"))
    file = root / "phrases.yaml"
    file.write_text(file.read_text("utf-8").replace("{hour}", "{houur}", 1), "utf-8")
    assert main(["check", "--root", str(root)]) == 1
    assert "nothing fills the place {houur}" in capsys.readouterr().out
