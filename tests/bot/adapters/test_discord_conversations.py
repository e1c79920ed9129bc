"""Every conversation of tests/conversations, read in a simulated Discord, which holds each call against its limits."""

import asyncio
import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from discordsim.place import Bot, served

from bot.adapters.discord import places
from bot.adapters.discord.parse import Heard
from bot.engine.events import ChatBlocked, DigestFellDue, FileSent
from bot.testing import FixedDice, StandStillClock
from content.schema import Course, Item
from sandbox_runner.protocol import Finished

_PATH = Path(__file__).with_name("test_telegram_conversations.py")
_spec = importlib.util.spec_from_file_location("conversations_on_telegram", _PATH)
assert _spec is not None
assert _spec.loader is not None
telegram = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = telegram
_spec.loader.exec_module(telegram)
golden = telegram.golden
_MARKS = re.compile("[\u061c\u200b\u2066-\u2069\\\\<>]")


class Player:
    """Plays steps as one learner in a private chat."""

    def __init__(self, bot: Bot, runner: Any) -> None:  # noqa: ANN401 - Telegram's stand-in
        self.bot = bot
        self.runner = runner
        self.user = bot.env.create_user("sara")
        self.channel = self.user.dm_channel
        self.who = places.private(self.channel.id, self.user.id)
        self.before: dict[int, str] = {}
        self.number = 0
        self.offered: dict[str, str] = {}

    async def play(self, step: dict[str, Any]) -> None:
        self.before = self.stands()
        (what, value), *_ = step.items()
        match what:
            case "open":
                await self.hear(text="/start")
            case "say":
                await self.hear(text=value)
            case "code":
                await self.hear(code=value)
            case "file":
                name, _, text = value.partition("\n")
                await self.bot.app.take(await self.chat(), FileSent(name, text.encode()), f"file:{self.number}")
            case "press":
                await self.hear(press=self.payload(value))
            case "payload":
                await self.hear(press=value)
            case "at" | "wait":
                pass  # the clock is the script's
            case "falls_due":
                await self.bot.app.take(await self.chat(), DigestFellDue(), "")
            case "blocked":
                await self.bot.app.take(await self.chat(), ChatBlocked(), "")
            case "progress":
                await self.runner.say(golden.PROGRESS[value])
            case "finish":
                await self.runner.say(Finished(golden.RESULTS[value](await self.runner.oldest())))

    async def hear(self, **what: Any) -> None:  # noqa: ANN401 - the fields of what is heard
        self.number += 1
        assert self.bot.chat.hearing is not None
        await self.bot.chat.hearing.hear(Heard(self.who, f"dc:test{self.number}", **what), None)

    def payload(self, label: str) -> str:
        """Find the newest button with this label."""
        for message in reversed(self.channel.history()):
            for row in message.components:
                for child in getattr(row, "children", ()):
                    self.offered.setdefault(telegram.squeezed(_MARKS.sub("", child.label or "")), str(child.custom_id))
                    if telegram.squeezed(_MARKS.sub("", child.label or "")) == telegram.squeezed(label):
                        return str(child.custom_id).removeprefix("t")
        assert telegram.squeezed(label) in self.offered, f"no button {label} in {self.stands()}"[-2500:]
        return self.offered[telegram.squeezed(label)].removeprefix("t")  # one that was there before an edit

    def stands(self) -> dict[int, str]:
        """Give each message as it is read."""
        return {message.id: self.read(message) for message in self.channel.history()}

    @staticmethod
    def read(message: Any) -> str:  # noqa: ANN401 - discord.py's
        labels = (child.label or "" for row in message.components for child in getattr(row, "children", ()))
        return _MARKS.sub("", "\n".join([message.content, *labels]))

    def lacks(self, replies: list[str]) -> list[str]:
        """Give what the engine said and nobody can read in what changed since the step began."""
        fresh = [text for number, text in self.stands().items() if self.before.get(number) != text]
        read = telegram.squeezed("".join(fresh))
        wanted = [piece for reply in replies for piece in self.pieces(reply)]
        return [piece for piece in wanted if telegram.squeezed(_MARKS.sub("", piece)) not in read]

    @staticmethod
    def pieces(reply: str) -> Iterator[str]:
        """Cut a reply into what must be read; long code goes out as a file, of which the chat shows head and end."""
        yield from (piece for piece in telegram.pieces(reply) if "…" not in piece)
        yield from telegram.buttons(reply)

    async def chat(self) -> str:
        return (await self.bot.app.enter("discord", self.who.external, greet=False)).id


@pytest.mark.parametrize("name", telegram.SCRIPTS)
async def test_a_conversation_is_read_on_discord(
    name: str, tmp_path: Path, migrated: Path, course: Course, other_items: tuple[Item, ...]
) -> None:
    written = telegram.SCRIPTS[name]
    course = golden.with_items(
        golden.with_explorer(course, written.get("explorer")), written.get("items", ()), other_items
    )
    course = golden.with_experiment(course, written.get("experiment", ()), written.get("seen"))
    script = golden.Script(course, away=written.get("away", False), gpu=written.get("gpu", False))
    runner = telegram.ScriptedRunner(script.talk.capabilities)
    shutil.copy(migrated, tmp_path / "d.db")
    clock = StandStillClock()
    async with served(course, tmp_path / "d.db", runner, FixedDice(), clock) as bot:
        player = Player(bot, runner)
        for number, step in enumerate(written["steps"]):
            await player.play(step)
            replies = script.play(step)
            clock.at = script.talk.clock.at
            try:
                async with asyncio.timeout(40):
                    while player.lacks(replies):  # noqa: ASYNC110 - what stands in the chat is the condition
                        await asyncio.sleep(0.02)
            except TimeoutError:
                what = {key: value for key, value in step.items() if key != "replies"}
                pytest.fail(f"step {number} {what}: nobody reads {player.lacks(replies)} in {player.stands()}"[-3000:])
        for _ in runner.waiting:
            await runner.say(Finished(golden.RESULTS["cancelled"](runner.waiting[0])))
