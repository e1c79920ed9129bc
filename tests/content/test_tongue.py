"""Aliases, speech and bands: what is refused in them, and that a course folder may lack them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from content import loader
from content.faults import Fault

Survey = Callable[[], tuple[Fault, ...]]


def test_a_course_without_these_files_answers_by_its_own_words(root: Path) -> None:
    course = loader.load_course(root)
    assert course.aliases == {}
    assert course.speech.stop_words == ()
    assert course.bands.fitted == ""


def test_aliases_speech_and_bands_come_with_the_course(root: Path) -> None:
    (root / "aliases.yaml").write_text('autocast: ["amp", "دقه مختلطه"]\n')
    (root / "speech.yaml").write_text("stop_words: [ما هو]\ntalk: {thanks: [شكرا]}\n")
    (root / "bands.yaml").write_text("fitted: '2026-01-01'\nanswer: 0.6\nweights: {shape: 1.5}\n")
    course = loader.load_course(root)
    assert course.aliases == {"autocast": ("amp", "دقه مختلطه")}
    assert course.speech.talk == {"thanks": ("شكرا",)}
    assert (course.bands.answer, course.bands.weights) == (0.6, {"shape": 1.5})


@pytest.mark.parametrize(
    ("aliases", "said"),
    [
        ('autocast: ["أوتوكاست"]', "is not normalised; write it as it is compared, perhaps 'اوتوكاست'"),
        ('autocast: ["perf_counter"]', "perhaps 'perf counter'"),
        ('autocast: ["واحد اثنان ثلاثه اربعه"]', "more than 3 words"),
        ('autocast: ["ا"]', "one letter"),
        ('autocast: ["هو"]', "stop word of speech.yaml"),
        ('autocast: ["amp"]\ngradscaler: ["amp"]', "amp stands under autocast already"),
        ('autocast: ["amp", "amp"]', "amp stands under autocast already"),
        ('autocast: ["loop"]\nloop: ["for"]', "loop is a token of its own"),
        ('Auto: ["amp"]', "the key is no token"),
        ("autocast: amp", "no list of forms"),
        ("- amp", "no list of aliases"),
    ],
)
def test_a_faulty_alias_is_told_with_its_line(root: Path, survey: Survey, aliases: str, said: str) -> None:
    (root / "speech.yaml").write_text("stop_words: [ما هو]\n")
    (root / "aliases.yaml").write_text(aliases + "\n")
    faults = [str(fault) for fault in survey()]
    assert len(faults) == 1
    assert faults[0].startswith("aliases.yaml:")
    assert said in faults[0]


@pytest.mark.parametrize(
    ("name", "text"),
    [("speech.yaml", "talk: {praise: [شكرا]}"), ("speech.yaml", "stop_word: [ما]"), ("bands.yaml", "answer: 1.5")],
)
def test_what_the_schema_does_not_know_is_refused(root: Path, survey: Survey, name: str, text: str) -> None:
    (root / name).write_text(text + "\n")
    assert [fault.file for fault in survey()] == [name]


def test_aliases_leave_the_courses_hash_as_it_is(root: Path) -> None:
    before = loader.load_course(root).hash
    (root / "aliases.yaml").write_text('autocast: ["amp"]\n')
    assert loader.load_course(root).hash == before
