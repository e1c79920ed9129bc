import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from content import loader
from content.faults import Fault

NEAR = 9
"""Lines around a replaced one that belong to the same thing."""

PHRASES = """\
greeting: مرحبًا
seconds:
  zero: أقل من ثانية
  one: ثانية واحدة
  two: ثانيتان
  few: "{n} ثوانٍ"
  many: "{n} ثانية"
  other: "{n} ثانية"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a copy of the course, with phrases of its own, for a test to spoil."""
    folder = tmp_path / "course"
    kept = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(loader.HERE / "lessons", folder / "lessons", ignore=kept)
    for name in ("course.yaml", "retired.yaml"):
        shutil.copy(loader.HERE / name, folder / name)
    (folder / "course.yaml").write_text("lessons:\n  - vectorise\n")
    for other in (folder / "lessons").iterdir():
        if other.name != "vectorise":
            shutil.rmtree(other)
    (folder / "phrases.yaml").write_text(PHRASES)
    return folder


@pytest.fixture
def lesson(root: Path) -> Path:
    return root / "lessons" / "vectorise" / "lesson.yaml"


@pytest.fixture
def faults_after(root: Path, lesson: Path) -> Callable[..., list[str]]:
    """Replace text in the lesson (or another file of its folder) and give the faults as they are printed.

    Lines of the spoilt file are told from the replaced line (`+0`), so that an edit elsewhere in the lesson changes
    nothing here; lines far from it, and of other files, are `?`.
    """

    def spoil(old: str, new: str, *, file: str = "lesson.yaml") -> list[str]:
        path = lesson.parent / file
        text = path.read_text()
        assert old in text, f"the lesson has no {old!r}"
        path.write_text(text.replace(old, new, 1))
        spoilt = path.relative_to(root).as_posix()
        line = text.count("\n", 0, text.index(old)) + 1
        return [relative(str(fault), spoilt, line) for fault in loader.survey(root)[1]]

    return spoil


def relative(fault: str, spoilt: str, line: int) -> str:
    name, number, rest = fault.split(":", 2)
    away = int(number) - line
    shown = f"{away:+d}" if name == spoilt and abs(away) <= NEAR else "?"
    # Lines inside a sentence ("taken (lesson.yaml:463)") are of the lesson as it is today.
    return f"{name.removeprefix('lessons/vectorise/')}:{shown}:{re.sub(r'yaml:[0-9]+', 'yaml:?', rest)}"


@pytest.fixture
def survey(root: Path) -> Callable[[], tuple[Fault, ...]]:
    return lambda: loader.survey(root)[1]
