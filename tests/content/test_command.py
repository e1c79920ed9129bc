import json
import subprocess
import sys
from pathlib import Path

import pytest

from content import __main__ as command
from content import loader, schema


def test_check_prints_every_fault_and_exits_with_1(
    root: Path, lesson: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["check", "--root", str(root)]) == 0
    assert capsys.readouterr().out.startswith("1 lesson(s), no fault; hash ")
    lesson.write_text(lesson.read_text().replace("minutes: 35", "minutes: 0"))
    assert command.main(["check", "--root", str(root)]) == 1
    assert capsys.readouterr().out == (
        "lessons/vectorise/lesson.yaml:7: minutes: 0 is out of range; write a number of at least 1\n1 fault(s)\n"
    )


def test_check_prints_json_for_programs(root: Path, lesson: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["check", "--root", str(root), "--json"]) == 0
    good = json.loads(capsys.readouterr().out)
    assert good == {
        "ok": True,
        "hash": loader.load_course(root).hash,
        "lessons": ["vectorise"],
        "faults": [],
        "not_recorded": [],
        "unwritten": [],
    }
    lesson.write_text(lesson.read_text().replace("minutes: 35", "minutes: 0"))
    assert command.main(["check", "--root", str(root), "--json"]) == 1
    bad = json.loads(capsys.readouterr().out)
    assert bad["ok"] is False
    assert bad["faults"] == [
        {
            "file": "lessons/vectorise/lesson.yaml",
            "line": 7,
            "path": "minutes",
            "wrong": "0 is out of range",
            "right": "write a number of at least 1",
        }
    ]


def test_the_committed_json_schema_is_todays() -> None:
    kept = (loader.HERE / "schema.json").read_text()
    assert kept == command.schema_text(), "run `python -m content schema > content/schema.json`"


def test_the_json_schema_describes_a_lesson_for_editors(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["schema"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert set(described["properties"]) == set(schema.Lesson.model_fields)
    assert described["additionalProperties"] is False


def test_every_lesson_names_the_json_schema_for_editors() -> None:
    for file in (loader.HERE / "lessons").glob("*/lesson.yaml"):
        first = file.read_text().splitlines()[0]
        assert first == "# yaml-language-server: $schema=../../schema.json"
        assert (file.parent / "../../schema.json").resolve() == loader.HERE / "schema.json"


def test_draw_draws_what_is_stale_and_check_only_says_so(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = root / "lessons" / "vectorise" / "pictures" / "memory.png"
    picture.unlink()
    assert command.main(["draw", "--check", "--root", str(root)]) == 1
    assert capsys.readouterr().out == "stale: lessons/vectorise/pictures/memory.png\n"
    assert not picture.exists()
    assert command.main(["draw", "--root", str(root)]) == 0
    assert capsys.readouterr().out == "drawn: lessons/vectorise/pictures/memory.png\n"
    assert command.main(["draw", "--check", "--root", str(root)]) == 0


def test_it_runs_as_a_module_from_any_folder(root: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "content", "check", "--root", str(root)], cwd=tmp_path, check=False, capture_output=True
    )
    assert ran.returncode == 0
    assert b"no fault" in ran.stdout


def test_a_wrong_command_is_said_and_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(["chekc"])
    assert caught.value.code == 2
    assert "chekc" in capsys.readouterr().err
