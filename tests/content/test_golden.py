"""One folder with many mistakes: they are told together, each with its own line; `faults.txt` is what is said."""

import shutil
from pathlib import Path

import pytest

from content import loader
from content.faults import CourseError

GOLDEN = Path(__file__).parent / "golden"


def test_many_mistakes_are_told_together_with_their_lines(root: Path) -> None:
    folder = root / "lessons" / "golden"
    folder.mkdir()
    shutil.copy(GOLDEN / "lesson.yaml", folder / "lesson.yaml")
    shutil.copy(GOLDEN / "two_cells.txt", folder / "two_cells.py")  # kept under another name: its tab is meant
    (folder / "unused.txt").write_text("...\n")
    (root / "course.yaml").write_text("lessons: [vectorise, golden]\n")
    with pytest.raises(CourseError) as caught:
        loader.load_course(root)
    said = "".join(f"{fault}\n" for fault in caught.value.faults)
    assert said == (GOLDEN / "faults.txt").read_text()


def test_every_fault_of_the_golden_lesson_points_to_the_line_that_has_it() -> None:
    lines = (GOLDEN / "lesson.yaml").read_text().splitlines()
    said = (GOLDEN / "faults.txt").read_text()
    for sign in ("np.dot", "0x10", "Part One", "absent.py", "movie", "١", "speed"):
        (fault,) = [line for line in said.splitlines() if sign in line and "lesson.yaml" in line]
        number = int(fault.split(":")[1])
        assert sign in lines[number - 1]
