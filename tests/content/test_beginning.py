"""Beginning a lesson, the list of what is still to write, and the table of parts."""

from pathlib import Path

import pytest

from content import __main__ as command
from content import beginning, loader, table


def test_a_new_lesson_has_every_part_and_no_fault(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["new", "my-lesson", "--root", str(root)]) == 0
    assert "lessons/my-lesson/lesson.yaml" in capsys.readouterr().out
    course = loader.load_course(root)
    assert [lesson.slug for lesson in course.lessons] == ["vectorise", "my-lesson"]
    assert min(table.counted(course.lessons[1], course)[:4]) >= 0
    assert len({item.kind for item in course.lessons[1].check}) == 6


def test_what_is_still_to_write_is_listed_with_its_line_and_fails_the_check(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beginning.begin(root, "my-lesson")
    assert command.main(["check", "--root", str(root)]) == 1
    told = capsys.readouterr().out
    assert "lessons/my-lesson/lesson.yaml:5: title: still to write; عنوان الدرس\n" in told
    assert "lessons/my-lesson/first.py:1: still the template's code; write the lesson's own\n" in told
    assert "vectorise/lesson.yaml" not in told
    lesson = root / "lessons" / "my-lesson" / "lesson.yaml"
    before = len(beginning.unwritten(root))
    lesson.write_text(lesson.read_text().replace(f"{beginning.MARK} عنوان الدرس", "درس لي"))
    assert len(beginning.unwritten(root)) == before - 1


@pytest.mark.parametrize("slug", ["My", "", "درس", "a" * 25, "../out", "vectorise"])
def test_a_name_that_is_none_or_taken_changes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str], slug: str
) -> None:
    before = sorted(root.rglob("*"))
    assert command.main(["new", slug, "--root", str(root)]) == 1
    assert capsys.readouterr().err.strip()
    assert sorted(root.rglob("*")) == before


def test_a_course_file_that_lists_otherwise_is_refused_before_anything_is_written(root: Path) -> None:
    (root / "course.yaml").write_text("lessons: [vectorise]\n")
    with pytest.raises(beginning.RefusedError, match="one a line"):
        beginning.begin(root, "my-lesson")
    assert not (root / "lessons" / "my-lesson").exists()


def test_the_table_counts_each_lesson_and_sums(root: Path) -> None:
    course = loader.load_course(root)
    lines = table.table(course).splitlines()
    assert len(lines) == 4
    assert all(line.count("|") == len(table.HEAD) + 1 for line in lines)
    (counts,) = [table.counted(lesson, course) for lesson in course.lessons]
    assert lines[2].endswith(" | ".join(["", *map(str, counts)]).removeprefix(" | ") + " |")


def test_the_table_is_put_between_its_marks_only(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{table.OPENS}\nold\n{table.CLOSES}\nafter\n")
    assert command.main(["table", "--root", str(root), "--into", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith(f"{table.CLOSES}\nafter\n")
    assert "old" not in text
    assert command.main(["table", "--root", str(root), "--into", str(page)]) == 0
    assert page.read_text() == text
    page.write_text("no marks\n")
    assert command.main(["table", "--root", str(root), "--into", str(page)]) == 1
    assert "no place for the table" in capsys.readouterr().err
    assert page.read_text() == "no marks\n"
