import base64
import json

from hypothesis import given
from hypothesis import strategies as st

from bot.adapters.web import parse
from bot.engine.events import ButtonPressed, CodeSent, FileSent, TextSent

ID = "0123456789abcdef"


def _event(event: object) -> object:
    sent = parse.frame(json.dumps({"t": "send", "id": ID, "event": event}))
    assert isinstance(sent, parse.Sent), sent
    return parse.event(sent)


def test_each_kind_of_event_is_read() -> None:
    assert _event({"kind": "text", "text": "ابدأ"}) == TextSent("ابدأ")
    assert _event({"kind": "code", "source": "x = 1\n"}) == CodeSent("x = 1\n")
    assert _event({"kind": "code", "source": "x", "measure": True, "filename": "a.py"}) == CodeSent("x", "a.py", True)  # noqa: FBT003
    assert _event({"kind": "press", "payload": "1:cmd:map:"}) == ButtonPressed("1:cmd:map:")


def test_a_file_arrives_byte_for_byte() -> None:
    data = bytes(range(256)) * 3
    event = {"kind": "file", "name": "درس.py", "data": base64.b64encode(data).decode()}
    assert _event(event) == FileSent("درس.py", data)
    assert _event({**event, "data": ""}) == FileSent("درس.py", b"")


def test_a_text_of_any_length_is_an_event_for_the_engine_to_answer() -> None:
    assert _event({"kind": "text", "text": "ا" * 100_000}) == TextSent("ا" * 100_000)


def test_what_does_not_fit_is_unreadable_and_keeps_its_id() -> None:
    wrong = [
        {"kind": "text"},
        {"kind": "text", "text": 5},
        {"kind": "text", "text": "x", "more": 1},
        {"kind": "press", "payload": "x" * 201},
        {"kind": "file", "name": "x.py", "data": "no base64!"},
        {"kind": "file", "name": "", "data": ""},
        {"kind": "finished"},
        None,
    ]
    for event in wrong:
        assert parse.frame(json.dumps({"t": "send", "id": ID, "event": event})) == parse.Unreadable(id=ID), event


def test_damaged_frames_are_unreadable_without_an_id() -> None:
    for text in ("", "{", "[]", "null", '"x"', "[" * 100_000, '{"t":"send","id":"../etc"}', '{"t":"x","id":"short"}'):
        assert parse.frame(text) == parse.Unreadable(), text[:40]


def test_a_change_number_is_a_whole_number_from_zero() -> None:
    assert parse.frame('{"t":"hello","since":7}') == parse.Hello(t="hello", since=7)
    for since in ("-1", "1.5", '"7"', "true", "1e400", str(2**31), str(2**60)):
        assert parse.frame(f'{{"t":"hello","since":{since}}}') == parse.Unreadable(), since


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_reading_never_raises(text: str) -> None:
    parse.frame(text)
