"""The bot's commands: `python -m bot web | telegram | discord | say | ask | refit | check | preview`."""

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot import backups, charts, doctor, hosting, logs, preview, recording, rehearsal, settings
from bot.adapters.discord import looks as discord_looks
from bot.adapters.shell import asking as shell_asking
from bot.adapters.shell import parse as shell_parse
from bot.adapters.shell import render as shell_render
from bot.adapters.shell import reporting as shell_reporting
from bot.adapters.shell import serve as shell
from bot.adapters.telegram import looks as telegram_looks
from bot.adapters.web import render as web_render
from bot.adapters.web import serve
from bot.app import App, SystemClock, SystemDice
from bot.errors import BotError
from content import loader, recorded, tongue
from content.faults import CourseError
from content.schema import Course
from sandbox_runner.errors import RunnerError
from sandbox_runner.looking import State, as_text
from sandbox_runner.protocol import Budget

LOG = logging.getLogger("tasree")

LONGEST_NAME = 64
"""Characters of an account's name, as the store keeps it."""


def main(argv: list[str] | None = None) -> int:
    """Run one command; 0 when it did its work, 1 when something was wrong and is said, 2 for wrong usage."""
    chosen = _parser().parse_args(argv)
    logs.begin("json" if os.environ.get("TASREE_LOG") == "json" else "text")
    try:
        if chosen.command == "doctor":  # broken settings are among what it tells
            return asyncio.run(_doctor(chosen))
        found = settings.load(os.environ)
        if chosen.command in _AWAITED:
            return asyncio.run(_AWAITED[chosen.command](found, chosen))
        return _AT_ONCE[chosen.command](found, chosen)
    except CourseError as error:
        for fault in error.faults:
            print(fault, file=sys.stderr)
        return 1
    except (BotError, RunnerError, shell_parse.NoSuchButtonError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bot", description="Tasree: a tutor in chat.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("web", help="serve the web chat, with a runner of its own unless TASREE_RUNNER names one")
    commands.add_parser("discord", help="serve the Discord bot")
    telegram = commands.add_parser("telegram", help="serve the Telegram bot, by polling unless --webhook is given")
    telegram.add_argument("--webhook", default="", metavar="URL", help="the https address that Telegram posts to")
    telegram.add_argument("--listen", default="127.0.0.1:8443", metavar="HOST:PORT", help="where we listen for it")
    say = commands.add_parser("say", help="say something to the bot without a platform, and print its replies")
    say.add_argument("--as", dest="learner", type=_name, required=True, metavar="LEARNER", help="who speaks; any name")
    say.add_argument("--json", action="store_true", help="print the neutral blocks, one JSON document an argument")
    say.add_argument("--no-runner", action="store_true", help="start no runner: nothing can be run or timed")
    say.add_argument("--save", type=Path, metavar="FOLDER", help="write files that the bot offers into this folder")
    say.add_argument("texts", nargs="*", metavar="TEXT", help="a text, @FILE to upload, [2] or [label] to press")
    tick = commands.add_parser("tick", help="send the reminders that fell due and sweep what is old, once")
    tick.add_argument(
        "--at", type=_moment, metavar="TIME", help="as if it were this time, such as 2026-12-01T17:00+03:00"
    )
    tick.add_argument(
        "--platform", default="shell", metavar="NAME", help="whose learners are reminded; shell by default"
    )
    check = commands.add_parser("check", help="render every stop of every lesson, and run all that can be run")
    check.add_argument("lessons", nargs="*", metavar="LESSON", help="the lessons to run; all by default")
    check.add_argument("--no-runner", action="store_true", help="render only")
    budgets = [budget.value for budget in Budget]
    check.add_argument("--budget", choices=budgets, help="how long each example is timed; as for a learner by default")
    check.add_argument("--json", action="store_true", help="print the findings as one JSON document")
    ask = commands.add_parser("ask", help="answer a question from the lessons, and say how sure that is")
    ask.add_argument("--json", action="store_true", help="print one JSON document a question")
    ask.add_argument("question", metavar="QUESTION", help="the question; - reads one a line")
    told = commands.add_parser("report", help="say what learners answered, asked, left and complained of")
    told.add_argument("--json", action="store_true", help="print one JSON document with every figure")
    told.add_argument("--csv", type=Path, metavar="FILE", help="write the items' table there, the others beside it")
    told.add_argument("--picture", type=Path, metavar="FILE", help="draw a PNG there")
    refit = commands.add_parser("refit", help="fit to questions when one is answered, and write content/bands.yaml")
    refit.add_argument("--dry-run", action="store_true", help="write nothing, only say how it would do")
    refit.add_argument("files", nargs="+", type=Path, metavar="FILE", help="questions, one JSON object a line")
    looked = commands.add_parser("doctor", help="look this host over; say what is wrong and the next step")
    looked.add_argument("--json", action="store_true", help="print the findings as one JSON document")
    looked.add_argument("--no-runner", action="store_true", help="ask no runner, and start none")
    kept = commands.add_parser("backup", help="write the database and the key into one file; bots may be serving")
    kept.add_argument("file", type=Path, metavar="FILE", help="a file that is not there yet")
    back = commands.add_parser("restore", help="put a backup's database and key in place")
    back.add_argument("file", type=Path, metavar="FILE", help="what `backup` wrote")
    back.add_argument("--replace", action="store_true", help="move what is there aside")
    keep = commands.add_parser("record", help="run every example and keep its figures as seen on this machine")
    keep.add_argument("lessons", nargs="*", metavar="LESSON", help="the lessons to run; all by default")
    keep.add_argument("--title", default="", help="how lessons name the machine; its processor or GPU by default")
    show = commands.add_parser("preview", help="show a lesson in the browser, and again whenever it is saved")
    show.add_argument("lesson", metavar="LESSON", help="the lesson's slug")
    show.add_argument("--port", type=int, default=0, help="the port on this machine; a free one by default")
    return parser


async def _web(found: settings.Settings, _: argparse.Namespace) -> int:
    with hosting.only_one(found.data, serve.PLATFORM):
        key = settings.installation_key(found.data)
        hosting.try_address(found.web_host, found.web_port)
        chat = serve.WebChat()
        course = loader.load_course(found.content)
        async with hosting.open_app(
            found, os.environ, course, chat, adopt=True, with_runner=True, platform=serve.PLATFORM
        ) as app:
            stop = hosting.told_to_stop(lambda: _reload(app, found.content))
            async with chat.serving(
                app, host=found.web_host, port=found.web_port, key=key, origins=found.origins
            ) as address:
                print(f"Tasree: {address}", flush=True)
                await stop.wait()
    return 0


async def _discord(found: settings.Settings, chosen: argparse.Namespace) -> int:
    del chosen
    try:
        from bot import servers  # noqa: PLC0415 - its library is an extra, and takes a second to load
    except ModuleNotFoundError as error:
        if error.name != "discord":
            raise
        message = "the Discord bot needs its library: pip install 'tasree[discord]'"
        raise BotError(message) from error

    def reload(app: App) -> None:
        _reload(app, found.content)

    await servers.serve_discord(found, os.environ, reload)
    return 0


async def _telegram(found: settings.Settings, chosen: argparse.Namespace) -> int:
    try:
        from bot import platforms  # noqa: PLC0415 - a host without this platform has no library for it
    except ModuleNotFoundError as error:
        if error.name not in {"telegram", "httpx"}:
            raise
        message = "the Telegram bot needs its library: pip install 'tasree[telegram]'"
        raise BotError(message) from error

    def reload(app: App) -> None:
        _reload(app, found.content)

    await platforms.serve_telegram(found, os.environ, chosen.webhook, chosen.listen, reload)
    return 0


def _reload(app: App, content: Path) -> None:
    try:
        app.reload(loader.load_course(content))
        LOG.info("the course was read anew: %s", app.course.hash[:12])
    except CourseError as error:
        for fault in error.faults:
            LOG.warning("%s", fault)
        LOG.warning("the course was not changed: it has %d fault(s)", len(error.faults))


async def _say(found: settings.Settings, chosen: argparse.Namespace) -> int:
    course = loader.load_course(found.content)
    runs = not chosen.no_runner
    if not runs:
        logging.getLogger("tasree.app").setLevel(logging.ERROR)  # that no runner answers was asked for
    chat = shell.ShellChat()
    async with hosting.open_app(found, os.environ, course, chat, adopt=False, with_runner=runs) as app:
        await app.runner_asked()
        words = shell.say(
            app, chosen.learner, chosen.texts, lambda name: Path(name).read_bytes(), chat, _saving(chosen.save)
        )
        async for said, shown in words:
            print(shell_render.as_json(said, shown) if chosen.json else shell_render.as_text(said, shown), flush=True)
    return 0


async def _tick(found: settings.Settings, chosen: argparse.Namespace) -> int:
    logging.getLogger("tasree.app").setLevel(logging.ERROR)  # that no runner answers is no news here
    clock = _StandingClock(chosen.at) if chosen.at else SystemClock()
    course = loader.load_course(found.content)
    due, swept = await hosting.tick(found, course, shell.ShellChat(), clock, chosen.platform)
    print(f"digests due: {due}\nswept: {swept}")
    return 0


class _StandingClock:
    """The time that a person named."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        """Give that time."""
        return self._at


def _name(text: str) -> str:
    if not 0 < len(text) <= LONGEST_NAME:
        raise argparse.ArgumentTypeError(f"a name of 1 to {LONGEST_NAME} characters was expected")  # noqa: EM102, TRY003
    return text


def _moment(text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(f"{text} is no time: write 2026-12-01T17:00+03:00") from wrong  # noqa: EM102, TRY003
    if at.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} names no zone: write 2026-12-01T17:00+03:00")  # noqa: EM102, TRY003
    return at.astimezone(UTC)


def _saving(folder: Path | None) -> Callable[[str, bytes], None] | None:
    """Give what writes files that the bot offers into a folder; None when no folder was named."""
    if folder is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)

    def save(name: str, data: bytes, into: Path = folder) -> None:
        (into / Path(name).name).write_bytes(data)

    return save


async def _check(found: settings.Settings, chosen: argparse.Namespace) -> int:
    course = _only(loader.load_course(found.content), chosen.lessons)
    dice = SystemDice()
    look = serve.look(course)
    findings = [
        *rehearsal.rendered(course, dice, lambda reply: str(web_render.reply(reply, look))),
        *rehearsal.rendered(course, dice, shell_render.plain),
        *rehearsal.rendered(course, dice, lambda reply: telegram_looks.drawn(reply, course)),
        *rehearsal.rendered(course, dice, lambda reply: discord_looks.drawn(reply, course)),
    ]
    budget = Budget(chosen.budget) if chosen.budget else None
    if not chosen.no_runner:
        async with hosting.open_runner(found, os.environ) as runner:
            async for finding in rehearsal.run_through(course, runner, dice, budget=budget):
                findings.append(finding)
                if not chosen.json:
                    print(f"{'ok ' if finding.good else 'BAD'} {finding.where}: {finding.seen}", flush=True)
    bad = [finding for finding in findings if not finding.good]
    if chosen.json:
        print(json.dumps({"ok": not bad, "findings": [asdict(finding) for finding in findings]}, ensure_ascii=False))
    else:
        for finding in bad:
            print(f"BAD {finding.where}: {finding.seen}")
        print(f"{len(findings)} things tried, {len(bad)} of them bad")
    return 1 if bad else 0


async def _record(found: settings.Settings, chosen: argparse.Namespace) -> int:
    course = loader.load_course(found.content)
    _only(course, chosen.lessons)
    async with hosting.open_runner(found, os.environ) as runner:
        able = await runner.capabilities()
        title = chosen.title or recording.titled(able)
        recording.file_name(title)
        runs = []
        async for one in recording.record(course, runner, SystemDice(), chosen.lessons):
            print(f"{one.ending.value:<18} {one.where} on {one.device.value}", flush=True)
            runs.append(one.run)
            # Written after each: what was measured before an interruption is kept.
            path = recording.write(course, found.content, title, able, runs, datetime.now(UTC))
            course = loader.load_course(found.content)
    left = recorded.wanting(course)
    print(f"{len(runs)} runs in {path}; {len(left)} missing or stale in all" if runs else "nothing to run")
    return 0 if runs else 1


def _only(course: Course, slugs: Sequence[str]) -> Course:
    """Give the course with these lessons alone; all of them when none is named."""
    known = {lesson.slug for lesson in course.lessons}
    strangers = [slug for slug in slugs if slug not in known]
    if strangers:
        message = f"there is no lesson {', '.join(strangers)}; there are: {', '.join(sorted(known))}"
        raise BotError(message)
    kept = tuple(lesson for lesson in course.lessons if not slugs or lesson.slug in slugs)
    return course.model_copy(update={"lessons": kept})


async def _preview(found: settings.Settings, chosen: argparse.Namespace) -> int:
    def said(address: str) -> None:
        print(f"Tasree: {address}", flush=True)

    course, _ = loader.survey(found.content)
    if course is not None:
        _only(course, [chosen.lesson])
    await preview.serve_preview(found.content, chosen.lesson, SystemDice(), chosen.port, said)
    return 0


async def _report(found: settings.Settings, chosen: argparse.Namespace) -> int:
    course = loader.load_course(found.content)
    async with hosting.open_reports(found) as reports:
        report = await reports.report(course, datetime.now(UTC))
    files = shell_reporting.table_files(chosen.csv, report) if chosen.csv else {}
    if chosen.picture:
        files[chosen.picture] = charts.drawn(report, course)
    for path, data in files.items():
        shell_reporting.write(path, data)
    print(shell_reporting.as_json(report) if chosen.json else shell_reporting.as_text(report, course))
    return 0


async def _backup(found: settings.Settings, chosen: argparse.Namespace) -> int:
    about = await backups.backup(found, chosen.file, datetime.now(UTC))
    print(f"{chosen.file}: {about.kind} at revision {about.revision}, with the key; keep it as secret as the database")
    return 0


async def _restore(found: settings.Settings, chosen: argparse.Namespace) -> int:
    about = await backups.restore(found, chosen.file, datetime.now(UTC), replace=chosen.replace)
    print(f"restored what was kept at {about.at}, revision {about.revision}; the next start brings it to the newest")
    return 0


async def _doctor(chosen: argparse.Namespace) -> int:
    findings = await doctor.examine(os.environ, datetime.now(UTC), with_runner=not chosen.no_runner)
    bad = any(each.state is State.BAD for each in findings)
    if chosen.json:
        print(json.dumps({"ok": not bad, "findings": [asdict(each) for each in findings]}, ensure_ascii=False))
    else:
        print(as_text(findings))
    return 1 if bad else 0


def _ask(found: settings.Settings, chosen: argparse.Namespace) -> int:
    course = loader.load_course(found.content)
    shell_asking.warmed(course)
    lines = (line.rstrip("\n") for line in sys.stdin) if chosen.question == "-" else (chosen.question,)
    for line in lines:
        said = shell_asking.asked(course, line, datetime.now(UTC), SystemDice())
        print(json.dumps(said, ensure_ascii=False) if chosen.json else said["text"], flush=True)
    return 0


def _refit(found: settings.Settings, chosen: argparse.Namespace) -> int:
    fitted, told = shell_asking.refitted(loader.load_course(found.content), chosen.files, datetime.now(UTC))
    if not chosen.dry_run:
        shell_asking.write(found.content / tongue.BANDS, fitted)
    print(json.dumps(told, ensure_ascii=False, indent=2))
    return 0


_AWAITED: dict[str, Callable[[settings.Settings, argparse.Namespace], Coroutine[Any, Any, int]]] = {
    "web": _web,
    "telegram": _telegram,
    "discord": _discord,
    "say": _say,
    "tick": _tick,
    "check": _check,
    "record": _record,
    "preview": _preview,
    "report": _report,
    "backup": _backup,
    "restore": _restore,
}
_AT_ONCE: dict[str, Callable[[settings.Settings, argparse.Namespace], int]] = {"ask": _ask, "refit": _refit}
"""Every command of `_parser`, by its name."""

if __name__ == "__main__":
    sys.exit(main())
