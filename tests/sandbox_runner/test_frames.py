import asyncio
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.errors import WireError
from sandbox_runner.frames import (
    ASK_BYTES,
    Cancel,
    Hello,
    Submit,
    ask_of,
    hello_of,
    pack,
    parse,
    read_body,
    tell_of,
    told,
)
from sandbox_runner.protocol import Accepted, Ending, Finished, Job, JobKind, Phase, Progress, Result


def reader_of(*pieces: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    for piece in pieces:
        reader.feed_data(piece)
    reader.feed_eof()
    return reader


@pytest.mark.parametrize(
    "event",
    [Accepted(3, 1.5), Progress(Phase.MEASURE, 4, 20), Finished(Result("j1", JobKind.RUN, Ending.OK))],
)
async def test_an_event_comes_out_as_it_went_in(event: Accepted | Progress | Finished) -> None:
    frame = pack(told("j1", event), ASK_BYTES)
    assert tell_of(await read_body(reader_of(frame), ASK_BYTES)) == told("j1", event)


async def test_a_job_with_arabic_and_a_lone_surrogate_comes_out_as_it_went_in() -> None:
    job = Job("j1", JobKind.RUN, "print('سلام \ud800')", "learner")
    frame = pack(Submit(job), ASK_BYTES)
    assert ask_of(await read_body(reader_of(frame), ASK_BYTES)) == Submit(job)


def test_what_is_too_large_is_not_sent() -> None:
    with pytest.raises(WireError, match="larger than the 100 allowed"):
        pack(Cancel("x" * 200), 100)


async def test_an_announced_length_over_the_cap_is_refused_before_it_is_read() -> None:
    with pytest.raises(WireError, match="4294967295 bytes was announced"):
        await read_body(reader_of(struct.pack(">I", 0xFFFFFFFF)), ASK_BYTES)


async def test_an_empty_frame_is_refused() -> None:
    with pytest.raises(WireError, match="0 bytes"):
        await read_body(reader_of(bytes(4)), ASK_BYTES)


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 10])
async def test_a_connection_that_ends_anywhere_is_an_end(cut: int) -> None:
    with pytest.raises(EOFError):
        await read_body(reader_of(pack(Cancel("j1"), ASK_BYTES)[:cut]), ASK_BYTES)


async def test_a_body_that_dribbles_is_refused() -> None:
    reader = asyncio.StreamReader()
    reader.feed_data(pack(Cancel("j1"), ASK_BYTES)[:-1])
    with pytest.raises(WireError, match="within"):
        await read_body(reader, ASK_BYTES, 0.05)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"\xff\xfe", "byte 0 of a frame is not UTF-8"),
        (b"{", "not JSON"),
        (b"[1]", "holds a list"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1, "a": 2}', "a key twice"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"a":' * 50_000, "not JSON"),
    ],
)
def test_what_is_not_strict_json_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(WireError, match=words):
        parse(body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "say"),
        ({"say": ["submit"]}, "say"),
        ({"say": "welcome"}, "say"),
        ({"say": "cancel"}, "'job_id' is missing"),
        ({"say": "cancel", "job_id": 3}, "str was expected"),
        ({"say": "cancel", "job_id": "a", "force": True}, "unknown key 'force'"),
        ({"say": "submit", "job": {"id": "a", "kind": "fly", "source": "", "learner": "l"}}, "is not a JobKind"),
    ],
)
def test_what_a_bot_may_not_say_is_refused_with_its_path(body: dict[str, object], words: str) -> None:
    with pytest.raises(WireError, match=words):
        ask_of(body)


def test_only_the_version_of_a_hello_from_another_version_is_read() -> None:
    assert hello_of({"say": "hello", "version": 99, "token": [], "secret": 7}) == 99
    assert hello_of({"say": "hello", "version": 1, "secret": "s"}) == Hello(1, "s")
    for body in ({"say": "hello"}, {"say": "hello", "version": True, "secret": "s"}, {"version": 1, "secret": "s"}):
        with pytest.raises(WireError):
            hello_of(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["submit", "cancel", "ping", "hello", "finished"]))
def test_whatever_json_comes_either_decodes_or_is_a_wire_error(value: object, say: str) -> None:
    for body in (value, {"say": say, "job": value, "job_id": value}):
        try:
            ask_of(parse(json.dumps(body).encode()))
        except WireError as fault:
            assert str(fault)  # noqa: PT017 - both outcomes are right


@given(st.binary(max_size=200))
def test_whatever_bytes_come_either_parse_or_are_a_wire_error(body: bytes) -> None:
    try:
        assert isinstance(parse(body), dict)
    except WireError as fault:
        assert str(fault)  # noqa: PT017 - both outcomes are right
