"""The web chat's input and output: one page, its parts, and a socket a tab.

Law: what is said here was saved before; a page that reconnects gets what it missed, and an event that comes twice is
taken once.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from aiohttp import web
from aiohttp.typedefs import Handler
from markupsafe import Markup

from bot.adapters.web import gate, pages, render
from bot.adapters.web.files import OFFERED, png_size, safe_name
from bot.adapters.web.pace import Pace
from bot.adapters.web.tab import MOVED, Tab, Talk, oldest_beyond
from bot.ports import Shown
from bot.posting.looks import ByHash
from content.schema import Course

__all__ = ["Talk", "WebChat", "WebSettings"]

PLATFORM = "web"
WORDS = render.WORDS | {"web.too_large", "web.unreadable"}
"""The phrases that this adapter needs."""

_DAY = 86_400
_YEAR = 365 * _DAY
_HEARTBEAT_S = 25.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WebSettings:
    """How the page is served; `host` is a name or number under which it listens.

    `frame_bytes` is the hard cap of one frame: a file of 5 MB, which the engine answers in words, still passes as
    base64. `tabs` counts a learner's, `connections` all of them; `per_s` and `burst` are each connection's pace.
    """

    cookie_key: bytes = field(repr=False)
    host: str = "127.0.0.1"
    origins: tuple[str, ...] = ()
    tabs: int = 8
    connections: int = 2000
    frame_bytes: int = 8 << 20
    per_s: float = 5.0
    burst: int = 25


class WebChat:
    """The platform side of the web: shows a reply in every open tab of its chat."""

    def __init__(self) -> None:
        self._tabs: dict[str, list[Tab]] = {}
        self._talk: Talk | None = None

    async def show(self, chat: str, shown: Shown) -> None:
        """Push a reply to the open tabs; without any it waits in the store."""
        tabs = self._tabs.get(chat)
        if not tabs:
            return
        try:
            html = self._draw(shown)
        except Exception:  # noqa: BLE001 - the port's law: showing never breaks a turn that is saved
            _log.exception("reply %s of a chat was not drawn", shown.number)
            return
        for tab in tabs:
            tab.tell(shown, html)

    async def forget(self, chat: str, address: str, farewell: Sequence[Shown]) -> None:  # noqa: ARG002 - as the port
        """Show the last words; what a tab says after them is said by a new learner."""
        for shown in farewell:
            await self.show(chat, shown)
        for tab in self._tabs.pop(chat, ()):
            tab.let_go()

    def app_for(self, talk: Talk, settings: WebSettings) -> web.Application:
        """Build the application that serves this conversation.

        Raises:
            OSError: when a part of the page cannot be read.
        """
        self._talk = talk
        site = _Site(talk, settings, self)
        app = web.Application(middlewares=[site.guard], client_max_size=1024)
        app.on_response_prepare.append(_with_headers)
        app.on_shutdown.append(self._close_all)
        app.router.add_get("/", site.page)
        app.router.add_get("/static/{digest}/{path:.+}", site.part)
        app.router.add_get("/pictures/{hash}/{key:.+}", site.picture)
        app.router.add_get("/files/{file:[a-z0-9]{1,40}}", site.file)
        app.router.add_post("/enter", site.enter)
        app.router.add_get("/socket", site.socket)
        return app

    @asynccontextmanager
    async def serving(
        self, talk: Talk, *, host: str, port: int, key: bytes, origins: tuple[str, ...] = ()
    ) -> AsyncIterator[str]:
        """Serve while the block runs; gives the address, with the real port where `port` is 0.

        Raises:
            OSError: when the port cannot be opened or a part of the page cannot be read.
        """
        settings = WebSettings(key, host, origins)
        runner = web.AppRunner(self.app_for(talk, settings), access_log=None, shutdown_timeout=5.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, host, port).start()
            number = runner.addresses[0][1]
            yield f"http://[{host}]:{number}/" if ":" in host else f"http://{host}:{number}/"
        finally:
            await runner.cleanup()

    async def admit(self, tab: Tab, most: int) -> None:
        """Take a tab in; the learner's oldest leave when there are more than `most`."""
        tabs = self._tabs.setdefault(tab.chat, [])
        tabs.append(tab)
        for old in tuple(oldest_beyond(tabs, most)):
            tabs.remove(old)
            await old.close(MOVED)

    def dismiss(self, tab: Tab) -> None:
        """Forget a tab that closed."""
        tabs = self._tabs.get(tab.chat, [])
        if tab in tabs:
            tabs.remove(tab)
        if not tabs:
            self._tabs.pop(tab.chat, None)

    def count(self) -> int:
        """Count the open tabs of everybody."""
        return sum(map(len, self._tabs.values()))

    def _draw(self, shown: Shown) -> str:
        assert self._talk is not None  # noqa: S101 - tabs exist only after `app_for`
        return str(render.article(shown, look(self._talk.course)))

    def tab(self, socket: web.WebSocketResponse, chat: str, settings: WebSettings) -> Tab:
        """Build a tab of a chat."""
        assert self._talk is not None  # noqa: S101 - as above
        talk = self._talk
        pace = Pace(settings.per_s, settings.burst)
        return Tab(socket, chat, talk, pace, self._draw, lambda name: _word(talk, name))

    async def _close_all(self, _app: web.Application) -> None:
        tabs = [tab for tabs in self._tabs.values() for tab in tabs]
        await asyncio.gather(*(tab.close(1001) for tab in tabs), return_exceptions=True)


def _word(talk: Talk, name: str) -> str:
    return str(Markup("<p>{}</p>").format(look(talk.course).words.get(name, "")))


def look(course: Course) -> render.Look:
    """Give what fragments need of a course; kept, for a course does not change."""
    return _look(ByHash(course))


@lru_cache(maxsize=2)
def _look(kept: ByHash) -> render.Look:
    course = kept.course
    phrases = {name: course.phrases.get(name) for name in WORDS}
    words = {name: phrase for name, phrase in phrases.items() if isinstance(phrase, str)}
    sizes = {key: size for key, data in course.pictures.items() if (size := png_size(data)) is not None}
    return render.Look(words, f"/pictures/{course.hash[:16]}/", sizes)


class _Site:
    """The routes."""

    def __init__(self, talk: Talk, settings: WebSettings, chat: WebChat) -> None:
        self._talk = talk
        self._settings = settings
        self._chat = chat
        self._gate = gate.Gate(settings.cookie_key, settings.origins, (settings.host,))
        self._pages = pages.load(cap=settings.frame_bytes)

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self._gate.host_allowed(request.host):
            raise web.HTTPMisdirectedRequest
        return await handler(request)

    async def page(self, request: web.Request) -> web.Response:
        headers = {"Cache-Control": "no-cache", "ETag": f'"{self._pages.digest}"'}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        return web.Response(body=self._pages.html, headers={**headers, "Content-Type": "text/html; charset=utf-8"})

    async def part(self, request: web.Request) -> web.Response:
        part = self._pages.parts.get(request.match_info["path"])
        if part is None or f"/static/{request.match_info['digest']}/" != self._pages.root:
            raise web.HTTPNotFound
        headers = {"Content-Type": part.media, "Vary": "Accept-Encoding", **_kept(_YEAR)}
        if part.packed is not None and "gzip" in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=part.packed, headers={**headers, "Content-Encoding": "gzip"})
        return web.Response(body=part.body, headers=headers)

    async def picture(self, request: web.Request) -> web.Response:
        course = self._talk.course
        data = course.pictures.get(request.match_info["key"])
        if data is None or png_size(data) is None:
            raise web.HTTPNotFound
        current = course.hash[:16] == request.match_info["hash"]
        headers = {"Content-Type": "image/png", **(_kept(_YEAR) if current else {"Cache-Control": "no-cache"})}
        return web.Response(body=data, headers=headers)

    async def file(self, request: web.Request) -> web.Response:
        """Give a file to the learner in whose chat it was offered, and to nobody else."""
        external = self._gate.learner(request.cookies.get(gate.COOKIE))
        if external is None:
            raise web.HTTPUnauthorized
        row = await self._talk.enter(PLATFORM, external)
        found = await self._talk.file(row.id, request.match_info["file"])
        if found is None:
            raise web.HTTPNotFound
        media = found.media if found.media in OFFERED else "application/octet-stream"
        headers = {
            "Content-Type": media,
            "Content-Disposition": f'attachment; filename="{safe_name(found.name)}"',
            "Cache-Control": "private, no-store",
        }
        return web.Response(body=found.data, headers=headers)

    async def enter(self, request: web.Request) -> web.Response:
        """Give every page of a browser the same learner.

        The page asks for this itself, because a link from elsewhere brings no strict cookie: setting a new one then
        would lose who the learner is.
        """
        self._check_origin(request)
        external = self._gate.learner(request.cookies.get(gate.COOKIE)) or secrets.token_urlsafe(18)
        response = web.Response(status=204, headers={"Cache-Control": "no-store"})
        response.set_cookie(**self._gate.cookie(external))  # type: ignore[arg-type]
        return response

    async def socket(self, request: web.Request) -> web.StreamResponse:
        self._check_origin(request)
        external = self._gate.learner(request.cookies.get(gate.COOKIE))
        if external is None:
            raise web.HTTPUnauthorized
        if self._chat.count() >= self._settings.connections:
            raise web.HTTPServiceUnavailable(headers={"Retry-After": "10"})
        row = await self._talk.enter(PLATFORM, external)
        socket = web.WebSocketResponse(
            heartbeat=_HEARTBEAT_S, max_msg_size=self._settings.frame_bytes, compress=False, timeout=5.0
        )
        await socket.prepare(request)
        tab = self._chat.tab(socket, row.id, self._settings)
        await self._chat.admit(tab, self._settings.tabs)
        try:
            await tab.converse()
        finally:
            self._chat.dismiss(tab)
        return socket

    def _check_origin(self, request: web.Request) -> None:
        if not self._gate.origin_allowed(request.headers.get("Origin"), request.host):
            raise web.HTTPForbidden


def _kept(seconds: int) -> Mapping[str, str]:
    return {"Cache-Control": f"public, max-age={seconds}, immutable"}


async def _with_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(gate.HEADERS)
