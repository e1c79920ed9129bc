import asyncio
import base64
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType, WSServerHandshakeError
from aiohttp.test_utils import TestServer

from bot.adapters.web import tab as tabs
from bot.adapters.web.serve import WebChat, WebSettings
from bot.adapters.web.testing import MemoryTalk
from bot.engine.events import ButtonPressed, Event, FileSent, TextSent
from bot.engine.replies import Paragraph, Reply, Text
from content.schema import Course

KEY = b"k" * 32
WAIT_S = 30
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x02\x00\x00\x00\x02\x08\x02\x00\x00\x00"
PHRASES = {"web.too_large": "كبير جدًّا", "web.unreadable": "لا يُقرأ <b>"}
COURSE = Course(lessons=(), phrases=PHRASES, pictures={"v/p.png": PNG, "v/x.png": b"<svg/>"}, hash="c" * 64)


def said(text: str) -> Reply:
    return Reply((Paragraph((Text(text),)),))


def echo(event: Event) -> Sequence[tuple[str, Reply]]:
    match event:
        case TextSent(text):
            return [("", said(f"قلت: {text[:50]}"))]
        case ButtonPressed(payload):
            return [("live", said(payload))]
        case FileSent(name, data):
            return [("", said(f"{name} {len(data)}"))]
        case _:
            return []


class Page:
    """A page of a learner: one cookie jar, any number of sockets."""

    def __init__(self, server: TestServer, session: ClientSession) -> None:
        self.server = server
        self.session = session
        self.origin = f"http://127.0.0.1:{server.port}"

    async def enter(self) -> None:
        async with self.session.post(self.server.make_url("/enter"), headers={"Origin": self.origin}) as answer:
            assert answer.status == 204

    async def open(self, since: int | None = 0) -> ClientWebSocketResponse:
        await self.enter()
        url = self.server.make_url("/socket")
        socket = await self.session.ws_connect(url, headers={"Origin": self.origin}, max_msg_size=0)
        assert (await hear(socket))["t"] == "welcome"
        if since is not None:
            await socket.send_json({"t": "hello", "since": since})
        return socket


async def hear(socket: ClientWebSocketResponse) -> dict[str, Any]:
    async with asyncio.timeout(WAIT_S):
        frame: dict[str, Any] = await socket.receive_json()
        return frame


async def hear_until(socket: ClientWebSocketResponse, kind: str) -> list[dict[str, Any]]:
    frames = [await hear(socket)]
    while frames[-1]["t"] != kind:
        frames.append(await hear(socket))
    return frames


async def send(socket: ClientWebSocketResponse, id_: str, **event: object) -> None:
    await socket.send_json({"t": "send", "id": id_, "event": event})


def texts(frames: Sequence[dict[str, Any]]) -> list[str]:
    items = [item for frame in frames if frame["t"] in {"replies", "earlier"} for item in frame["items"]]
    return [re.sub(r"<[^>]+>", "", item["html"]) for item in items]


class House:
    """A served conversation and the pages of its learners."""

    def __init__(self, server: TestServer, talk: MemoryTalk, chat: WebChat, stack: contextlib.AsyncExitStack) -> None:
        self.server, self.talk, self.chat, self._stack = server, talk, chat, stack

    async def page(self) -> Page:
        jar = CookieJar(unsafe=True)
        return Page(self.server, await self._stack.enter_async_context(ClientSession(cookie_jar=jar)))

    async def only_chat(self) -> str:
        (chat,) = self.talk._shown
        return chat


Open = Callable[..., Any]


@pytest.fixture
async def house() -> AsyncIterator[Open]:
    async with contextlib.AsyncExitStack() as stack:

        async def build(*greeting: str, **settings: Any) -> House:  # noqa: ANN401 - the settings' own types
            chat = WebChat()
            talk = MemoryTalk(COURSE, echo, [said(text) for text in greeting])
            talk.chat = chat
            server = TestServer(chat.app_for(talk, WebSettings(KEY, **settings)))
            await server.start_server()
            stack.push_async_callback(server.close)
            return House(server, talk, chat, stack)

        yield build


# --- the page ---------------------------------------------------------------------------------------------------------


async def test_the_page_is_arabic_right_to_left_and_names_only_its_own_parts(house: Open) -> None:
    page = await (await house()).page()
    async with page.session.get(page.server.make_url("/")) as answer:
        html = await answer.text()
        assert answer.status == 200
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["Cache-Control"] == "no-cache"
        assert "Set-Cookie" not in answer.headers
        etag = answer.headers["ETag"]
    assert '<html dir="rtl" lang="ar">' in html
    addresses = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert addresses
    for address in addresses:
        async with page.session.get(page.server.make_url(address)) as answer:
            assert answer.status == 200, address
            assert "immutable" in answer.headers["Cache-Control"]
    async with page.session.get(page.server.make_url("/"), headers={"If-None-Match": etag}) as answer:
        assert answer.status == 304


async def test_no_part_of_the_page_names_another_host_or_runs_inline(house: Open) -> None:
    served = await house()
    page = await served.page()
    async with page.session.get(page.server.make_url("/")) as answer:
        html = await answer.text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|https?://", html)
    for address in re.findall(r'(?:src|href)="([^"#]+\.(?:js|css))"', html):
        async with page.session.get(page.server.make_url(address)) as answer:
            assert not re.search(r"https?://|innerHTML \+=|eval\(", await answer.text())


async def test_only_known_parts_and_sound_pictures_are_served(house: Open) -> None:
    page = await (await house()).page()
    wanted = {
        "/pictures/cccccccccccccccc/v/p.png": 200,
        "/pictures/older/v/p.png": 200,
        "/pictures/cccccccccccccccc/v/x.png": 404,
        "/pictures/cccccccccccccccc/v/none.png": 404,
        "/static/nothing/main.js": 404,
        "/static/nothing/..%2f..%2fserve.py": 404,
        "/nowhere": 404,
    }
    for path, status in wanted.items():
        async with page.session.get(page.server.make_url(path)) as answer:
            assert answer.status == status, path
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


async def test_a_strange_host_gets_nothing(house: Open) -> None:
    page = await (await house()).page()
    async with page.session.get(page.server.make_url("/"), headers={"Host": "evil.example"}) as answer:
        assert answer.status == 421


# --- who is who -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
async def test_a_foreign_page_opens_no_conversation_and_gets_no_cookie(house: Open, origin: str | None) -> None:
    page = await (await house()).page()
    await page.enter()
    headers = {} if origin is None else {"Origin": origin}
    with pytest.raises(WSServerHandshakeError) as refused:
        await page.session.ws_connect(page.server.make_url("/socket"), headers=headers)
    assert refused.value.status == 403
    async with page.session.post(page.server.make_url("/enter"), headers=headers) as answer:
        assert answer.status == 403
        assert "Set-Cookie" not in answer.headers


async def test_a_learner_is_kept_by_the_cookie(house: Open) -> None:
    served = await house("أهلًا")
    page = await served.page()
    for _ in range(2):
        socket = await page.open()
        assert texts(await hear_until(socket, "replies")) == ["أهلًا"]
        await socket.close()
    assert len(served.talk._shown) == 1


async def test_a_forged_cookie_becomes_a_new_learner(house: Open) -> None:
    served = await house()
    page = await served.page()
    await page.open()
    chat = await served.only_chat()
    forger = await served.page()
    forger.session.cookie_jar.update_cookies({"tasree": f"1.{chat.removeprefix('web-')}.forged"})
    with pytest.raises(WSServerHandshakeError) as refused:
        await forger.session.ws_connect(served.server.make_url("/socket"), headers={"Origin": forger.origin})
    assert refused.value.status == 401
    await forger.open()
    assert len(served.talk._shown) == 2


async def test_learners_see_only_their_own_replies(house: Open) -> None:
    served = await house()
    one, other = await (await served.page()).open(), await (await served.page()).open()
    await hear_until(one, "replies")
    await hear_until(other, "replies")
    await send(one, "id-of-the-first", kind="text", text="سري")
    await hear_until(one, "ack")
    await send(other, "id-of-the-other", kind="text", text="عام")
    assert texts(await hear_until(other, "ack")) == ["قلت: عام"]


# --- nothing lost, nothing twice --------------------------------------------------------------------------------------


async def test_an_event_sent_again_is_taken_once_and_acknowledged_each_time(house: Open) -> None:
    served = await house()
    socket = await (await served.page()).open()
    for _ in range(3):
        await send(socket, "the-same-id", kind="text", text="مرحبا")
        assert (await hear_until(socket, "ack"))[-1]["id"] == "the-same-id"
    assert len(served.talk.taken) == 1


async def test_a_page_that_comes_back_gets_what_it_missed_as_it_stands_now(house: Open) -> None:
    served = await house("1", "2", "3")
    page = await served.page()
    socket = await page.open()
    change = (await hear_until(socket, "replies"))[-1]["change"]
    assert change == 3
    await socket.close()
    chat = await served.only_chat()
    await served.talk.say(chat, "run", said("جارٍ"))
    await served.talk.say(chat, "run", said("انتهى"))
    back = await page.open(since=change)
    (frame,) = await hear_until(back, "replies")
    assert texts([frame]) == ["انتهى"]
    assert [(item["number"], item["change"]) for item in frame["items"]] == [(4, 5)]


async def test_every_tab_of_a_learner_is_told(house: Open) -> None:
    served = await house()
    page = await served.page()
    sockets = [await page.open() for _ in range(3)]
    for socket in sockets:
        await hear_until(socket, "replies")
    await send(sockets[0], "id-in-one-tab", kind="text", text="مرحبا")
    for socket in sockets[1:]:
        assert texts(await hear_until(socket, "replies")) == ["قلت: مرحبا"]


async def test_a_gap_in_what_was_pushed_is_filled_from_the_store(house: Open) -> None:
    served = await house("أهلًا")
    socket = await (await served.page()).open()
    await hear_until(socket, "replies")
    chat = await served.only_chat()
    await served.talk.say(chat, "", said("لم يُعرض"), quietly=True)
    await served.talk.say(chat, "", said("عُرض"))
    (frame,) = await hear_until(socket, "replies")
    assert texts([frame]) == ["لم يُعرض", "عُرض"]
    assert frame["change"] == 3


async def test_a_change_pushed_late_is_not_sent_again(house: Open) -> None:
    served = await house("أهلًا")
    socket = await (await served.page()).open()
    await hear_until(socket, "replies")
    chat = await served.only_chat()
    late = await served.talk.say(chat, "", said("متأخر"), quietly=True)
    await served.talk.say(chat, "", said("تالٍ"))
    await served.chat.show(chat, late)
    await served.talk.say(chat, "", said("أخير"))
    heard: list[str] = []
    while "أخير" not in heard:
        heard += texts(await hear_until(socket, "replies"))
    assert heard == ["متأخر", "تالٍ", "أخير"]


async def test_a_turn_that_fails_closes_the_socket_and_the_event_can_be_sent_again(house: Open) -> None:
    served = await house()
    page = await served.page()
    socket = await page.open()
    await hear_until(socket, "replies")
    served.talk.trouble = TimeoutError("the store is busy")
    await send(socket, "to-be-repeated", kind="text", text="مرحبا")
    assert (await socket.receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}
    assert socket.close_code == 1011
    back = await page.open()
    await send(back, "to-be-repeated", kind="text", text="مرحبا")
    assert texts(await hear_until(back, "ack")) == ["قلت: مرحبا"]


async def test_what_follows_a_failed_event_waits_for_it(house: Open) -> None:
    served = await house()
    page = await served.page()
    socket = await page.open()
    await hear_until(socket, "replies")
    served.talk.trouble = TimeoutError("the store is busy")
    for i in range(5):
        await send(socket, f"in-order-{i:03}", kind="text", text=str(i))
    assert (await socket.receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}
    back = await page.open()
    for i in range(5):
        await send(back, f"in-order-{i:03}", kind="text", text=str(i))
        await hear_until(back, "ack")
    assert [event for _, event in served.talk.taken] == [TextSent(str(i)) for i in range(5)]


async def test_a_tab_that_could_not_be_told_is_closed_and_comes_back_whole(house: Open) -> None:
    served = await house("أهلًا")
    page = await served.page()
    socket = await page.open()
    await hear_until(socket, "replies")
    chat = await served.only_chat()
    served.talk.blindness = OSError("the disk is gone")
    await served.talk.say(chat, "", said("1"), quietly=True)
    await served.talk.say(chat, "", said("2"))
    assert (await socket.receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}
    assert socket.close_code == 1011
    assert texts(await hear_until(await page.open(), "replies")) == ["أهلًا", "1", "2"]


async def test_an_event_of_a_tab_that_closed_is_still_taken(house: Open) -> None:
    served = await house()
    page = await served.page()
    socket = await page.open()
    for i in range(5):
        await send(socket, f"closing-{i:03}", kind="text", text=str(i))
    await socket.close()
    back = await page.open()
    while len(served.talk.taken) < 5:
        await send(back, "the-last-of-all", kind="press", payload="x")
        await hear_until(back, "ack")
    assert [event for _, event in served.talk.taken if isinstance(event, TextSent)] == [
        TextSent(str(i)) for i in range(5)
    ]


async def test_a_long_history_comes_in_parts(house: Open) -> None:
    served = await house(*(str(i) for i in range(1, 101)))
    socket = await (await served.page()).open()
    (latest,) = await hear_until(socket, "replies")
    assert (texts([latest])[0], texts([latest])[-1], latest["more"], latest["change"]) == ("61", "100", True, 100)
    await socket.send_json({"t": "earlier", "before": 61})
    (earlier,) = await hear_until(socket, "earlier")
    assert (texts([earlier])[0], texts([earlier])[-1], earlier["more"]) == ("21", "60", True)
    await socket.send_json({"t": "earlier", "before": 21})
    (first,) = await hear_until(socket, "earlier")
    assert (texts([first])[0], texts([first])[-1], first["more"]) == ("1", "20", False)


async def test_a_stopped_server_tells_its_pages_to_come_back(house: Open) -> None:
    served = await house()
    socket = await (await served.page()).open()
    await hear_until(socket, "replies")
    closing = asyncio.create_task(served.server.close())
    assert (await socket.receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}
    assert socket.close_code == 1001
    await closing


# --- hostile input ----------------------------------------------------------------------------------------------------


async def test_frames_that_cannot_be_read_are_answered_and_cost_nothing(house: Open) -> None:
    served = await house()
    socket = await (await served.page()).open()
    await hear_until(socket, "replies")
    for frame in (
        "",
        "{",
        "[" * 5000,
        '{"t":"send"}',
        '{"t":"hello","since":-1}',
        "\u0000",
        json.dumps({"t": "x" * 9999}),
    ):
        await socket.send_str(frame)
        assert await hear(socket) == {"t": "refused", "id": "", "html": "<p>لا يُقرأ &lt;b&gt;</p>"}
    await socket.send_bytes(b"\x00\xff" * 1000)
    assert (await hear(socket))["t"] == "refused"
    await send(socket, "still-alive", kind="text", text="مرحبا")
    assert texts(await hear_until(socket, "ack")) == ["قلت: مرحبا"]


async def test_a_refused_event_is_named(house: Open) -> None:
    socket = await (await house()).page()
    opened = await socket.open()
    await hear_until(opened, "replies")
    await send(opened, "of-no-kind", kind="nothing")
    assert (await hear(opened))["id"] == "of-no-kind"
    await opened.send_json({"t": "too_large", "id": "kept-back"})
    assert await hear(opened) == {"t": "refused", "id": "kept-back", "html": "<p>كبير جدًّا</p>"}


async def test_a_long_text_a_large_file_and_an_empty_one_reach_the_engine(house: Open) -> None:
    served = await house()
    socket = await (await served.page()).open()
    await send(socket, "long-text", kind="text", text="ا" * 100_000)
    await send(socket, "large-file", kind="file", name="a.py", data=base64.b64encode(bytes(5 << 20)).decode())
    await send(socket, "empty-file", kind="file", name="b.py", data="")
    frames = [frame for _ in range(3) for frame in await hear_until(socket, "ack")]
    assert texts(frames)[-2:] == ["a.py 5242880", "b.py 0"]
    assert served.talk.taken[0][1] == TextSent("ا" * 100_000)


async def test_half_a_character_is_refused_and_never_ends_a_connection(house: Open) -> None:
    served = await house()
    socket = await (await served.page()).open()
    await hear_until(socket, "replies")
    await socket.send_str('{"t":"send","id":"half-a-pair","event":{"kind":"text","text":"\\ud83d"}}')
    assert (await hear(socket))["id"] == "half-a-pair"
    await served.talk.say(await served.only_chat(), "", said("\ud83d"))
    assert texts(await hear_until(socket, "replies")) == ["?"]


async def test_a_frame_over_the_hard_cap_closes_only_its_own_socket(house: Open) -> None:
    served = await house(frame_bytes=10_000)
    page = await served.page()
    socket, other = await page.open(), await page.open()
    await hear_until(socket, "replies")
    await hear_until(other, "replies")
    await send(socket, "over-the-cap", kind="text", text="x" * 20_000)
    assert (await socket.receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}
    assert socket.close_code == 1009
    await send(other, "under-the-cap", kind="text", text="مرحبا")
    await hear_until(other, "ack")


async def test_the_oldest_tab_leaves_when_there_are_too_many(house: Open) -> None:
    served = await house(tabs=2)
    page = await served.page()
    sockets = [await page.open() for _ in range(3)]
    await hear_until(sockets[0], "replies")
    assert (await sockets[0].receive()).type in {WSMsgType.CLOSE, WSMsgType.CLOSED}
    assert sockets[0].close_code == tabs.MOVED
    await hear_until(sockets[2], "replies")
    assert served.chat.count() == 2


async def test_a_full_house_says_so(house: Open) -> None:
    served = await house(connections=1)
    first = await (await served.page()).open()
    with pytest.raises(WSServerHandshakeError) as refused:
        await (await served.page()).open()
    assert refused.value.status == 503
    await first.close()


async def test_a_flood_is_slowed_and_loses_nothing(house: Open) -> None:
    served = await house(per_s=200.0, burst=5)
    socket = await (await served.page()).open()
    for i in range(60):
        await send(socket, f"flooding-{i:03}", kind="text", text=str(i))
    acks = [(await hear_until(socket, "ack"))[-1]["id"] for _ in range(60)]
    assert acks == [f"flooding-{i:03}" for i in range(60)]


async def test_a_ping_is_answered(house: Open) -> None:
    socket = await (await (await house()).page()).open(since=None)
    await socket.send_json({"t": "ping"})
    assert await hear(socket) == {"t": "pong"}


async def test_nothing_is_left_of_closed_tabs(house: Open) -> None:
    served = await house()
    page = await served.page()
    for _ in range(5):
        await (await page.open()).close()
    last = await page.open()
    await hear_until(last, "replies")
    await last.close()
    async with asyncio.timeout(WAIT_S):
        while served.chat.count():  # noqa: ASYNC110 - the server's end of the socket tells nobody that it is gone
            await asyncio.sleep(0.01)
    assert served.chat._tabs == {}
