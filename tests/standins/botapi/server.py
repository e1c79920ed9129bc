"""The fake Bot API over real HTTP: `/bot<token>/<method>` and `/file/bot<token>/<path>`, with faults on demand."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from botapi import rules
from botapi.rules import Refusal
from botapi.world import DONE, Fault, World

SILENCE_S = 20.0


class Server:
    """Answers calls to a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.url = ""
        self._polling: asyncio.Future[None] | None = None

    async def call(self, request: web.Request) -> web.StreamResponse:
        """Answer one call."""
        if request.match_info["token"] != self.world.token:
            return _refused(Refusal(401, "Unauthorized"))
        method = request.match_info["method"]
        try:
            call = rules.fields(method, await _form(request))
            fault = self.world.trouble(method, call)
            if fault is not None and fault not in DONE:
                return await self._failed(request, fault)
            if method == "getUpdates":
                return _good(await self._updates(call))
            result = self.world.call(method, call, asyncio.get_running_loop().time())
            if fault is not None:
                return await self._failed(request, fault)
            return _good(result)
        except Refusal as refusal:
            if refusal.code == 400:
                self.world.refusals.append(f"{method}: {refusal.description}")
            return _refused(refusal)

    async def _failed(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        match fault:
            case Fault.SILENT_AFTER | Fault.SILENT_BEFORE:
                await asyncio.sleep(SILENCE_S)
            case Fault.GATEWAY | Fault.GATEWAY_AFTER:
                return web.Response(status=502, text="<html>502 Bad Gateway</html>", content_type="text/html")
            case Fault.TOO_MANY:
                return _refused(Refusal(429, "Too Many Requests: retry after 1", retry_after=1))
            case _:
                pass
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _updates(self, call: dict[str, Any]) -> list[dict[str, Any]]:
        if self.world.webhook:
            text = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete it first"
            raise Refusal(409, text)
        if self._polling is not None and not self._polling.done():
            self._polling.set_result(None)
        mine = self._polling = asyncio.get_running_loop().create_future()
        until = asyncio.get_running_loop().time() + min(call.get("timeout", 0), 50)
        while True:
            found = self.world.taken(call.get("offset", 0), call.get("allowed_updates"))
            left = until - asyncio.get_running_loop().time()
            if found or left <= 0:
                return found
            news = asyncio.ensure_future(self.world.news.wait())
            await asyncio.wait({news, mine}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            news.cancel()
            if mine.done():
                text = (
                    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
                )
                raise Refusal(409, text)

    async def file(self, request: web.Request) -> web.Response:
        """Give a file that somebody sent."""
        found = [one for one in self.world.notes.values() if request.match_info["path"].endswith(f"f{one.id}")]
        if request.match_info["token"] != self.world.token or not found:
            raise web.HTTPNotFound
        return web.Response(body=found[0].data)


@asynccontextmanager
async def serving(world: World, port: int = 0) -> AsyncIterator[Server]:
    """Serve a world on this machine."""
    server = Server(world)
    app = web.Application(client_max_size=64 << 20)
    app.router.add_route("*", "/bot{token}/{method}", server.call)
    app.router.add_get("/file/bot{token}/{path:.+}", server.file)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1024).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()


async def _form(request: web.Request) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in (await request.post()).items():
        made[name] = (value.filename, value.file.read()) if isinstance(value, web.FileField) else value
    return made


def _good(result: Any) -> web.Response:  # noqa: ANN401 - as many shapes as methods
    return web.json_response({"ok": True, "result": result})


def _refused(refusal: Refusal) -> web.Response:
    answer: dict[str, Any] = {"ok": False, "error_code": refusal.code, "description": refusal.description}
    if refusal.retry_after:
        answer["parameters"] = {"retry_after": refusal.retry_after}
    if refusal.migrate_to:
        answer["parameters"] = {"migrate_to_chat_id": refusal.migrate_to}
    return web.json_response(answer, status=refusal.code)
