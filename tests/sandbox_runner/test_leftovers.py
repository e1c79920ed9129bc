"""What comes back of the files that a job left, and under which names."""

import base64
import struct

import pytest

from sandbox_runner.leftovers import hand_on
from sandbox_runner.sandbox.port import Found, Skipped


def _png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("a.txt", "a.txt"),
        ("out/deep/a.csv", "out_deep_a.csv"),
        ("../../etc/passwd.txt", "etc_passwd.txt"),
        ("-rf.txt", "rf.txt"),
        ("$(id);.txt", "id.txt"),
        ("\u202egnp.txt", "gnp.txt"),
        ("سلام.txt", "file.txt"),
        ("a\nb\udcff.txt", "a_b.txt"),
        ("x" * 500 + ".json", "x" * 75 + ".json"),
    ],
)
def test_a_name_is_made_bare_and_safe(given: str, name: str) -> None:
    (file,), notes = hand_on((Found(given, b"x"),), (), 0)
    assert (file.name, base64.b64decode(file.data), notes) == (name, b"x", ())


def test_equal_names_are_told_apart() -> None:
    files, _ = hand_on((Found("a/b.txt", b"1"), Found("a_b.txt", b"2")), (), 0)
    assert [file.name for file in files] == ["a_b.txt", "a_b-2.txt"]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"x\x9c not a picture at all", "not_png"),
        (b"", "not_png"),
        (_png(60_000, 60_000), "pixels"),
        (_png(0, 5), "pixels"),
    ],
)
def test_a_picture_is_refused_by_its_header(content: bytes, why: str) -> None:
    files, (note,) = hand_on((Found("p.png", content),), (), 0)
    assert (files, note.code, note.values["why_1"]) == ((), "files_skipped", why)


def test_a_picture_of_a_fair_size_comes_back() -> None:
    (file,), notes = hand_on((Found("p.png", _png(640, 480)),), (), 0)
    assert (file.media, notes) == ("image/png", ())


def test_a_figure_that_the_learner_saved_too_comes_once_under_the_learners_name() -> None:
    same = _png(2, 2)
    files, _ = hand_on((Found("figure_1.png", same), Found("mine.png", same)), (), 0)
    assert [file.name for file in files] == ["mine.png"]


def test_what_was_skipped_is_counted_and_the_first_ones_are_named() -> None:
    skipped = tuple(Skipped(f"{n}.bin", "kind") for n in range(8))
    _, (note,) = hand_on((), skipped, 100)
    assert note.values["count"] == 108
    assert sorted(name for name in note.values if name.startswith("name_")) == [f"name_{n}" for n in range(1, 6)]
