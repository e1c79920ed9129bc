# ruff: noqa: E501  (what is said is quoted whole)
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from content import drafts, loader, strictyaml
from content.faults import CourseError, Fault

Survey = Callable[[], tuple[Fault, ...]]


def said(faults: tuple[Fault, ...]) -> list[str]:
    """Give the faults without the lines of today's lesson; test_golden.py looks at lines."""
    return [f"{fault.file}: {fault.path}: {fault.wrong}; {fault.right}" for fault in faults]


def test_a_course_comes_whole_with_its_files_and_pictures(root: Path) -> None:
    course = loader.load_course(root)
    assert [lesson.slug for lesson in course.lessons] == ["vectorise"]
    assert course.files["vectorise/three_ways.py"].startswith("# %% setup\n")
    assert course.files["vectorise/boxed.txt"].startswith("24\n")
    assert course.files["vectorise/energy/reference.py"]
    assert course.pictures["vectorise/pictures/memory.png"][:4] == b"\x89PNG"
    assert course.pictures["vectorise/pictures/memory_dark.png"][:4] == b"\x89PNG"
    assert not any("drawings" in name for name in course.files)


def test_one_fault_keeps_the_whole_course_back(root: Path, lesson: Path) -> None:
    lesson.write_text(lesson.read_text().replace("minutes: 35", "minutes: 0"))
    with pytest.raises(CourseError) as caught:
        loader.load_course(root)
    assert str(caught.value) == snapshot("""\
1 fault in the course
lessons/vectorise/lesson.yaml:7: minutes: 0 is out of range; write a number of at least 1\
""")


def test_the_hash_is_stable_and_changes_with_what_is_said(root: Path, lesson: Path) -> None:
    first = loader.load_course(root).hash
    assert loader.load_course(root).hash == first
    lesson.write_text("# a remark\n" + lesson.read_text())
    assert loader.load_course(root).hash == first
    seen = {first}
    for file, old, new in (
        ("lesson.yaml", "minutes: 35", "minutes: 36"),
        ("boxed.py", "2.5]", "2.25]"),
        ("boxed.txt", "24", "32"),
    ):
        path = lesson.parent / file
        path.write_text(path.read_text().replace(old, new, 1))
        seen.add(loader.load_course(root).hash)
    picture = lesson.parent / "pictures" / "memory.png"
    picture.write_bytes(picture.read_bytes() + b"\0")
    seen.add(loader.load_course(root).hash)
    phrases = root / "phrases.yaml"
    phrases.write_text(phrases.read_text() + "new: جديد\n")
    seen.add(loader.load_course(root).hash)
    assert len(seen) == 6


def test_missing_files_are_all_said_at_once(tmp_path: Path) -> None:
    assert said(loader.survey(tmp_path)[1]) == snapshot(
        [
            "course.yaml: : there is no file course.yaml; create it, or correct the name",
            "phrases.yaml: : there is no file phrases.yaml; create it, or correct the name",
            "retired.yaml: : there is no file retired.yaml; create it, or correct the name",
        ]
    )
    assert said(loader.survey(tmp_path / "nowhere")[1]) == said(loader.survey(tmp_path)[1])


def test_a_folder_a_link_outwards_and_a_socket_are_no_files(
    root: Path, lesson: Path, survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = lesson.parent
    (folder / "boxed.py").unlink()
    (folder / "boxed.py").mkdir()
    (folder / "masks.py").unlink()
    (folder / "masks.py").symlink_to(root / "course.yaml")
    (folder / "layout.txt").unlink()
    (folder / "layout.txt").symlink_to("layout.txt")
    (folder / "small.py").unlink()
    monkeypatch.chdir(folder)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("small.py")
    os.mkfifo(folder / "waits.py")
    (folder / "strided.py").unlink()
    (folder / "strided.py").symlink_to("waits.py")
    assert [fault for fault in said(survey()) if "waits.py: :" not in fault] == snapshot(
        [
            "lessons/vectorise/lesson.yaml: sections[1].blocks[2].file: boxed.py is a folder; put a file there",
            "lessons/vectorise/lesson.yaml: sections[4].blocks[1].file: masks.py leads out of its folder; put a copy of the file itself into the folder",
            "lessons/vectorise/lesson.yaml: sections[5].blocks[1].expect: layout.txt cannot be read (its links run in a circle); put a readable file there",
            "lessons/vectorise/lesson.yaml: sections[5].blocks[5].file: strided.py is no regular file; put a file there",
            "lessons/vectorise/lesson.yaml: sections[7].blocks[1].file: small.py is no regular file; put a file there",
            "lessons/vectorise/lesson.yaml: examples[2].file: boxed.py is a folder; put a file there",
            "lessons/vectorise/lesson.yaml: examples[7].file: masks.py leads out of its folder; put a copy of the file itself into the folder",
            "lessons/vectorise/lesson.yaml: examples[8].expected.file: layout.txt cannot be read (its links run in a circle); put a readable file there",
            "lessons/vectorise/lesson.yaml: examples[9].file: strided.py is no regular file; put a file there",
            "lessons/vectorise/lesson.yaml: examples[11].file: small.py is no regular file; put a file there",
        ]
    )


def test_a_lesson_that_is_a_link_out_of_its_folder_is_not_read(root: Path, lesson: Path, survey: Survey) -> None:
    other = root / "other.yaml"
    lesson.rename(other)
    lesson.symlink_to(other)
    assert said(survey()) == snapshot(
        [
            "lessons/vectorise/lesson.yaml: : lesson.yaml leads out of its folder; put a copy of the file itself into the folder"
        ]
    )


def test_a_lesson_folder_that_is_a_link_elsewhere_is_not_read(root: Path, lesson: Path, tmp_path: Path) -> None:
    lesson.parent.rename(tmp_path / "elsewhere")
    (root / "lessons" / "vectorise").symlink_to(tmp_path / "elsewhere")
    assert said(loader.survey(root)[1]) == snapshot(
        [
            "lessons/vectorise/lesson.yaml: : the folder lessons/vectorise is a link to another place; put the folder itself there"
        ]
    )


def test_a_link_inside_the_folder_is_read(root: Path, lesson: Path) -> None:
    (lesson.parent / "boxed.py").rename(lesson.parent / "_boxed")
    (lesson.parent / "boxed.py").symlink_to("_boxed")
    assert ["_boxed" in fault for fault in said(loader.survey(root)[1])] == [True]


def test_large_foreign_and_unreadable_files_are_said(lesson: Path, survey: Survey) -> None:
    folder = lesson.parent
    (folder / "boxed.txt").write_bytes(b"\xff\xfe")
    (folder / "masks.txt").write_text("0" * (drafts.CODE_LIMIT + 1))
    (folder / "pictures" / "memory.png").write_bytes(b"GIF89a")
    (folder / "pictures" / "memory_dark.png").unlink()
    assert said(survey()) == snapshot(
        [
            "lessons/vectorise/lesson.yaml: sections[1].blocks[0].file: pictures/memory.png is no PNG picture; draw it with `python -m content draw`",
            "lessons/vectorise/lesson.yaml: sections[1].blocks[0].file: there is no file pictures/memory_dark.png; create it, or correct the name",
            "lessons/vectorise/lesson.yaml: sections[1].blocks[2].expect: boxed.txt is not UTF-8 (line 1); save it with the encoding UTF-8",
            "lessons/vectorise/lesson.yaml: sections[4].blocks[1].expect: masks.txt has 32769 bytes; at most 32768 are allowed",
            "lessons/vectorise/lesson.yaml: examples[2].expected.file: boxed.txt is not UTF-8 (line 1); save it with the encoding UTF-8",
            "lessons/vectorise/lesson.yaml: examples[7].expected.file: masks.txt has 32769 bytes; at most 32768 are allowed",
        ]
    )


def test_a_lesson_of_a_megabyte_is_not_read(lesson: Path, survey: Survey) -> None:
    lesson.write_bytes(b"a" * (strictyaml.SIZE_LIMIT + 100))
    assert said(survey()) == snapshot(
        ["lessons/vectorise/lesson.yaml: : lesson.yaml has 524388 bytes; at most 524288 are allowed"]
    )


def test_a_lesson_that_is_no_group_of_keys_is_said(lesson: Path, survey: Survey) -> None:
    for text in ("just words\n", "- a\n- b\n", "5\n"):
        lesson.write_text(text)
        (fault,) = [fault for fault in survey() if fault.file.endswith("lesson.yaml")]
        assert "write keys and values" in str(fault)


def test_the_order_of_the_course_must_be_there(root: Path, survey: Survey) -> None:
    (root / "course.yaml").write_text("lessons: []\n")
    assert said(survey()) == snapshot(["course.yaml: lessons: the list has 0 entries; write at least 1"])
    (root / "course.yaml").write_text("lessons: [../../etc]\n")
    assert said(survey()) == snapshot(
        [
            'course.yaml: lessons[0]: "../../etc" is not allowed here; write a short name: 1 to 24 small Latin letters, digits and hyphens, a letter first'
        ]
    )


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(raw=st.binary(max_size=200), which=st.sampled_from(["lesson.yaml", "boxed.py", "boxed.txt"]))
def test_no_bytes_in_a_lesson_raise_anything_but_a_course_error(
    root: Path, lesson: Path, raw: bytes, which: str
) -> None:
    path = lesson.parent / which
    kept = path.read_bytes()
    try:
        path.write_bytes(raw)
        loader.load_course(root)
    except CourseError as error:
        assert error.faults  # noqa: PT017
    finally:
        path.write_bytes(kept)


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 5), st.text(max_size=8), st.lists(st.integers(0, 2), max_size=2),
    st.dictionaries(st.sampled_from(["id", "kind", "file"]), st.sampled_from(["text", "a.py", "x"]), max_size=3),
)  # fmt: skip


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(draw=st.data())
def test_any_value_in_any_place_is_a_fault_or_a_course(root: Path, lesson: Path, draw: st.DataObject) -> None:
    document = strictyaml.read(lesson.read_bytes(), "lesson.yaml")
    places = [path for path in document.places if path]
    path = draw.draw(st.sampled_from(places))
    kept = lesson.read_bytes()
    here = document.data
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = draw.draw(VALUES)
    try:
        lesson.write_text(json.dumps(document.data, ensure_ascii=False))  # JSON is YAML too
        for fault in loader.survey(root)[1]:
            assert fault.line >= 1
            assert fault.wrong
            assert fault.right
    finally:
        lesson.write_bytes(kept)
