"""A learner's own data over the web: files behind the cookie, and a deletion, after which it meets a fresh learner."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType
from aiohttp.test_utils import TestServer

from bot.adapters.web.serve import WebChat, WebSettings
from bot.adapters.web.tab import LEFT
from bot.app import App, SystemDice
from bot.testing import InstantRunner, ParsingChecker, StandStillClock
from content.schema import Course
from tests.bot.databases import SqliteFile

WAIT_S = 30


class Browser:
    """One cookie jar."""

    def __init__(self, server: TestServer) -> None:
        self.server = server
        self.session = ClientSession(cookie_jar=CookieJar(unsafe=True))
        self.headers = {"Origin": f"http://127.0.0.1:{server.port}"}

    async def open(self) -> tuple[ClientWebSocketResponse, str]:
        """Enter as the page does; gives the socket and the chat's tag."""
        async with self.session.post(self.server.make_url("/enter"), headers=self.headers) as answer:
            assert answer.status == 204
        socket = await self.session.ws_connect(self.server.make_url("/socket"), headers=self.headers, max_msg_size=0)
        welcome = await hear(socket)
        await socket.send_json({"t": "hello", "since": 0})
        return socket, welcome["tag"]

    async def get(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        async with self.session.get(self.server.make_url(path)) as answer:
            return answer.status, await answer.read(), dict(answer.headers)


async def hear(socket: ClientWebSocketResponse) -> dict[str, Any]:
    async with asyncio.timeout(WAIT_S):
        frame: dict[str, Any] = await socket.receive_json()
        return frame


async def say(socket: ClientWebSocketResponse, text: str, name: str) -> str:
    """Send a text; give the HTML of everything up to its acknowledgement."""
    await socket.send_json({"t": "send", "id": name, "event": {"kind": "text", "text": text}})
    html = ""
    while (frame := await hear(socket))["t"] != "ack":
        html += "".join(item["html"] for item in frame.get("items", ()))
    return html


@pytest.fixture
async def served(course: Course, tmp_path: Path) -> AsyncIterator[TestServer]:
    database = SqliteFile(tmp_path / "t.db")
    await database.migrate()
    store = database.open(identity=SystemDice().identity)
    chat = WebChat()
    app = App(
        course=course,
        store=store,
        runner=InstantRunner(),
        checker=ParsingChecker(),
        clock=StandStillClock(),
        dice=SystemDice(),
        chat=chat,
    )
    await app.start(adopt=False)
    server = TestServer(chat.app_for(app, WebSettings(b"k" * 32)))
    await server.start_server()
    yield server
    await server.close()
    await app.close()
    await store.close()


@pytest.fixture
async def browsers(served: TestServer) -> AsyncIterator[tuple[Browser, Browser]]:
    pair = (Browser(served), Browser(served))
    yield pair
    for browser in pair:
        await browser.session.close()


async def test_a_copy_is_given_to_the_cookie_of_its_learner_and_to_no_other(browsers: tuple[Browser, Browser]) -> None:
    mine, theirs = browsers
    socket, _ = await mine.open()
    html = await say(socket, "/export", "first-000")
    links = re.findall(r'download="([^"]+)" href="(/files/[a-z0-9]+)"', html)
    assert [name for name, _ in links] == ["tasree-data.json", "tasree-cards.csv"]
    for name, path in links:
        status, body, headers = await mine.get(path)
        assert status == 200
        assert headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert headers["Content-Type"] in {"application/json", "text/csv"}
        assert headers["Cache-Control"] == "private, no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert len(body) > 100
    assert json.loads((await mine.get(links[0][1]))[1])["format"] == "tasree-export"
    assert (await theirs.get(links[0][1]))[0] == 401
    await theirs.open()
    assert (await theirs.get(links[0][1]))[0] == 404
    for path in ("/files/none", "/files/..%2fkey", "/files/A", "/files/"):
        assert (await mine.get(path))[0] == 404, path


async def test_after_a_deletion_the_last_words_stand_and_the_next_event_is_a_fresh_learners(
    browsers: tuple[Browser, Browser],
) -> None:
    browser, _ = browsers
    socket, tag = await browser.open()
    other_tab, same = await browser.open()
    assert same == tag
    export = await say(socket, "/export", "first-000")
    await say(socket, "/delete", "second-00")
    assert "حُذف كل شيء" in await say(socket, "حذف نهائي", "third-000")
    assert await hear(socket) == {"t": "forgotten"}
    for left in (socket, other_tab):
        await left.send_json({"t": "send", "id": "fourth-00", "event": {"kind": "text", "text": "وين وصلت"}})
        async with asyncio.timeout(WAIT_S):
            while (got := await left.receive()).type is WSMsgType.TEXT:
                assert json.loads(got.data)["t"] != "ack"
        assert left.close_code == LEFT
    again, fresh = await browser.open()
    assert fresh != tag
    html = await say(again, "وين وصلت", "fourth-00")
    assert "أهلًا" in html
    assert "لم تبدأ القراءة بعد" in html
    for path in re.findall(r'href="(/files/[a-z0-9]+)"', export):
        assert (await browser.get(path))[0] == 404
