"""Shows a lesson as each platform would, in a browser on this machine, and again whenever one of its files is saved.

Law: nothing is stored and nothing is run; a lesson with faults shows its faults.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web
from markupsafe import Markup, escape

from bot import rehearsal
from bot.adapters.discord import looks as discord_looks
from bot.adapters.discord import render as discord_render
from bot.adapters.discord import showing as discord_showing
from bot.adapters.shell import render as shell_render
from bot.adapters.telegram import looks as telegram_looks
from bot.adapters.telegram import render as telegram_render
from bot.adapters.telegram import showing as telegram_showing
from bot.adapters.web import gate, pages, render, serve
from bot.engine.known import Dice
from bot.engine.replies import Reply
from bot.ports import Shown
from bot.posting.looks import OverLimitError
from content import loader
from content.schema import Course

LOOK_EVERY_S = 0.5

PAGE = Markup("""<!doctype html>
<html dir="rtl" lang="ar"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" type="image/svg+xml" href="{root}icon.svg">
<link rel="stylesheet" href="{root}page.css"><link rel="stylesheet" href="{root}blocks.css">
<link rel="stylesheet" href="{root}preview.css">
<script type="module" src="{root}preview.js"></script></head>
<body class="preview" data-stamp="{stamp}"><main><div class="column">
<h1>{title}</h1>{body}</div></main></body></html>
""")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page as it stands: its HTML, and the stamp of the files that it was made from."""

    html: str
    stamp: str


def stamp_of(root: Path) -> str:
    """Give a stamp that changes when a file below `root` is saved, added or removed."""
    found = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        with suppress(OSError):
            if path.is_file() and "__pycache__" not in path.parts:
                seen = path.stat()
                found.update(f"{path} {seen.st_mtime_ns} {seen.st_size}\n".encode())
    return found.hexdigest()[:16]


def sheet(root: Path, slug: str, dice: Dice, static: str) -> Sheet:
    """Make the page of one lesson from what is on the disk now."""
    stamp = stamp_of(root)
    course, faults = loader.survey(root)
    if course is None:
        lines = Markup("").join(Markup('<li dir="ltr">{}</li>').format(str(fault)) for fault in faults)
        body = Markup("<ul>{}</ul>").format(lines)
    elif slug not in {lesson.slug for lesson in course.lessons}:
        known = ", ".join(lesson.slug for lesson in course.lessons)
        body = Markup('<p dir="ltr">{}</p>').format(f"there is no lesson {slug}; there are: {known}")
    else:
        body = Markup("").join(_parts(course, slug, dice))
    html = PAGE.format(title=slug, root=static, stamp=stamp, body=body)
    return Sheet(str(html), stamp)


def _parts(course: Course, slug: str, dice: Dice) -> Iterator[Markup]:
    look = serve.look(course)
    for number, (press, replies) in enumerate(rehearsal.shown(course, slug, dice), start=1):
        yield Markup('<h2 class="press" dir="ltr">{}</h2>').format(press)
        for reply in replies:
            yield render.article(Shown(number, number, "", reply), look)
            yield _elsewhere("shell", shell_render.plain, reply)
            yield _laid_out("telegram", _on_telegram, course, reply)
            yield _laid_out("discord", _on_discord, course, reply)


def _on_telegram(course: Course, reply: Reply) -> Markup:
    telegram_looks.drawn(reply, course)
    return telegram_showing.laid_out(telegram_render.drafts(reply, telegram_looks.look(course)))


def _on_discord(course: Course, reply: Reply) -> Markup:
    discord_looks.drawn(reply, course)
    return discord_showing.laid_out(discord_render.drafts(reply, discord_looks.look(course)))


def _laid_out(platform: str, draw: Callable[[Course, Reply], Markup], course: Course, reply: Reply) -> Markup:
    """Lay a reply out as a platform's clients do, or say which of its limits it is over."""
    try:
        made = draw(course, reply)
    except OverLimitError as error:
        made = Markup('<pre dir="ltr">{}</pre>').format(str(error))
    return Markup("<details><summary>{}</summary>{}</details>").format(platform, made)


def _elsewhere(platform: str, draw: Callable[[Reply], str], reply: Reply) -> Markup:
    text = Markup('<pre dir="auto">{}</pre>').format(escape(draw(reply)))
    return Markup("<details><summary>{}</summary>{}</details>").format(platform, text)


async def serve_preview(root: Path, slug: str, dice: Dice, port: int, said: Callable[[str], None]) -> None:
    """Serve until cancelled; `said` is told the address."""
    parts = pages.load(cap=0)

    async def page(_request: web.Request) -> web.Response:
        made = await asyncio.to_thread(sheet, root, slug, dice, parts.root)
        return web.Response(text=made.html, content_type="text/html", headers={"Cache-Control": "no-store"})

    async def changed(request: web.Request) -> web.Response:
        """Answer when the files differ from the page's stamp, or after half a minute."""
        known = request.query.get("stamp", "")
        for _ in range(int(30 / LOOK_EVERY_S)):
            if (now := await asyncio.to_thread(stamp_of, root)) != known:
                return web.Response(text=now)
            await asyncio.sleep(LOOK_EVERY_S)
        return web.Response(text=known)

    async def part(request: web.Request) -> web.Response:
        found = parts.parts.get(request.match_info["path"])
        if found is None:
            raise web.HTTPNotFound
        return web.Response(body=found.body, headers={"Content-Type": found.media})

    async def picture(request: web.Request) -> web.Response:
        course, _ = await asyncio.to_thread(loader.survey, root)
        data = course.pictures.get(request.match_info["key"]) if course else None
        if data is None:
            raise web.HTTPNotFound
        return web.Response(body=data, content_type="image/png")

    @web.middleware
    async def guard(request: web.Request, handler: Callable[[web.Request], object]) -> web.StreamResponse:
        response: web.StreamResponse = await handler(request)  # type: ignore[misc]
        response.headers.update(gate.HEADERS)
        return response

    app = web.Application(middlewares=[guard])
    app.router.add_get("/", page)
    app.router.add_get("/changed", changed)
    app.router.add_get("/static/{digest}/{path:.+}", part)
    app.router.add_get("/pictures/{hash}/{key:.+}", picture)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        said(f"http://127.0.0.1:{runner.addresses[0][1]}/")
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
