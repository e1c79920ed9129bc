"""The two ends of the wire: what a harness says arrives whole, and anything else is named tampering."""

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_runner.channel import Channel, HungUp, Reply, Tampered, parse_header
from sandbox_runner.harness.wire import HungUpError, Line


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    yield ours, theirs
    ours.close()
    theirs.close()


def frame(header: object, payload: bytes = b"", *, claimed_payload: int | None = None) -> bytes:
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(payload) if claimed_payload is None else claimed_payload
    return struct.pack(">II", len(content), size) + content + payload


def behind(sock: socket.socket, act: Callable[[Line, socket.socket], None]) -> threading.Thread:
    """Let `act` play the harness at the other end."""
    thread = threading.Thread(target=lambda: act(Line(sock.fileno()), sock), daemon=True)
    thread.start()
    return thread


async def asked(pair: tuple[socket.socket, socket.socket], act: Callable[[Line, socket.socket], None]) -> Reply:
    channel = Channel(pair[0], nonce=lambda: "n1")
    thread = behind(pair[1], act)
    try:
        return await channel.ask("round", timeout=5, blocks=[1, 2])
    finally:
        channel.close()
        await asyncio.to_thread(thread.join, 5)


async def test_an_answer_comes_back_with_its_payload_and_its_wall_time(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    payload = bytes(range(256)) * 20_000

    def act(line: Line, _sock: socket.socket) -> None:
        got = line.receive()
        line.answer(got["nonce"], payload, op=got["op"], blocks=got["blocks"])

    reply = await asked(pair, act)
    assert reply.header == {"op": "round", "blocks": [1, 2]}
    assert reply.payload == payload
    assert reply.wall_ns > 0


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(b"hello, this is not a frame at all, only a stranger's text", id="garbage"),
        pytest.param(frame({"nonce": "n2"}), id="another nonce"),
        pytest.param(frame({"ok": 1}), id="no nonce"),
        pytest.param(frame(["n1"]), id="a list"),
        pytest.param(frame(b'{"nonce":"n1","t":NaN}'), id="NaN"),
        pytest.param(frame(b'{"nonce":"n1","t":1e999}'), id="infinite"),
        pytest.param(frame(b'{"nonce":"n1","t":' + b"9" * 5000 + b"}"), id="a number of 5000 digits"),
        pytest.param(frame(b'{"nonce":"n1","nonce":"n1"}'), id="a key twice"),
        pytest.param(frame(b'{"nonce":"n1","t":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), id="100,000 brackets"),
        pytest.param(frame(b"\xff\xfe"), id="not UTF-8"),
        pytest.param(frame({"nonce": "n1"}, claimed_payload=1 << 31), id="a payload over the cap"),
        pytest.param(struct.pack(">II", 1 << 31, 0), id="a header over the cap"),
    ],
)
async def test_anything_else_is_tampering(pair: tuple[socket.socket, socket.socket], answer: bytes) -> None:
    def act(line: Line, sock: socket.socket) -> None:
        line.receive()
        sock.sendall(answer)

    with pytest.raises(Tampered):
        await asked(pair, act)


async def test_a_line_that_goes_dead_in_the_middle_of_an_answer_is_a_hang_up(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    def act(line: Line, sock: socket.socket) -> None:
        line.receive()
        sock.sendall(frame({"nonce": "n1"})[:-3])
        sock.shutdown(socket.SHUT_RDWR)

    with pytest.raises(HungUp):
        await asked(pair, act)


async def test_silence_is_a_timeout_and_the_channel_is_of_no_more_use(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    channel = Channel(pair[0])
    with pytest.raises(TimeoutError):
        await channel.ask("round", timeout=0.05)
    with pytest.raises(HungUp, match="round was not answered"):
        await channel.ask("round", timeout=0.05)
    channel.close()


async def test_each_time_another_nonce_is_asked_with(pair: tuple[socket.socket, socket.socket]) -> None:
    seen: list[object] = []

    def act(line: Line, _sock: socket.socket) -> None:
        for _ in range(3):
            got = line.receive()
            seen.append(got["nonce"])
            line.answer(got["nonce"])

    channel = Channel(pair[0])
    thread = behind(pair[1], act)
    for _ in range(3):
        await channel.ask("round", timeout=5)
    await asyncio.to_thread(thread.join, 5)
    channel.close()
    assert len(set(seen)) == 3


def test_the_inner_end_says_when_its_parent_is_gone(pair: tuple[socket.socket, socket.socket]) -> None:
    line = Line(pair[1].fileno())
    pair[0].close()
    with pytest.raises(HungUpError):
        line.receive()
    with pytest.raises(HungUpError):
        line.answer("n1", b"x" * 1000)


def test_the_inner_end_refuses_to_say_what_is_not_finite(pair: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        Line(pair[1].fileno()).answer("n1", t=float("nan"))


@given(st.binary(max_size=200))
def test_no_bytes_make_the_header_reader_fail_in_another_way(content: bytes) -> None:
    try:
        header = parse_header(content)
    except Tampered:
        return
    assert isinstance(header, dict)
