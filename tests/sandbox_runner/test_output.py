"""What is kept and shown of a job's output."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.output import Kept, drain, show


def _kept(content: bytes, most: int, step: int = 7) -> Kept:
    kept = Kept(most)
    for start in range(0, len(content), step):
        kept.feed(content[start : start + step])
    return kept


def test_what_fits_is_kept_whole() -> None:
    stream = _kept(b"0123456789", 10).stream()
    assert (stream.head, stream.tail, stream.bytes, stream.dropped) == ("0123456789", "", 10, 0)


def test_what_does_not_fit_keeps_head_and_tail() -> None:
    stream = _kept(b"0123456789abcdef", 8).stream()
    assert (stream.head, stream.tail, stream.bytes, stream.dropped) == ("0123", "cdef", 16, 8)


@given(st.binary(max_size=400), st.integers(2, 100), st.integers(1, 50))
def test_nothing_kept_is_counted_twice_or_lost(content: bytes, most: int, step: int) -> None:
    kept = _kept(content, most, step)
    stream = kept.stream()
    assert stream.bytes == len(content)
    assert stream.dropped == max(0, len(content) - most)


def test_a_character_cut_in_half_is_dropped_at_the_cut() -> None:
    stream = _kept("ممممم".encode(), 6).stream()
    assert (stream.head, stream.tail) == ("م", "م")


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"a\0b\x07\x1b[31mred\r\b\n", "a\\x00b\\x07red\\x0d\\x08\n"),
        (b"one\r\ntwo\tthree", "one\ntwo\tthree"),
        ("abc\u202edcba\u2066".encode(), "abc\\u202edcba\\u2066"),
        ("سلام\u200f".encode(), "سلام\\u200f"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"\x1b]0;title\x07x", "x"),
        (b"\x1b[38;5;1mx\x1b[0m", "x"),
        ("نعم ✓ 🙂".encode(), "نعم ✓ 🙂"),
    ],
)
def test_control_and_direction_characters_are_shown_as_escapes(content: bytes, shown: str) -> None:
    assert show(content) == shown


def test_frames_of_ours_are_left_out_and_the_learners_file_has_its_bare_name() -> None:
    ours = '  File "/harness/tasree_harness/running.py", line 90 in run\n'
    text = f'Traceback:\n{ours}  File "/code/code.py", line 2 in <module>\n'
    assert show(text.encode()) == 'Traceback:\n  File "code.py", line 2 in <module>\n'


async def test_a_stream_is_drained_to_its_end_beyond_the_ceiling() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(b"x" * 100)
    reader.feed_data(b"y" * 100)
    reader.feed_eof()
    told: list[str] = []
    kept = Kept(10)
    await drain(reader, kept, 50, lambda: told.append("over"))
    assert told == ["over"]
    assert reader.at_eof()
