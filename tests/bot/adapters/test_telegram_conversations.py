"""Every conversation of tests/conversations, played at a client of Telegram: what the engine says is what is read."""

import asyncio
import importlib.util
import re
import sys
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from botapi.person import Person, seen
from botapi.place import Bot, Place
from botapi.world import Note

from bot.engine.events import ChatBlocked, DigestFellDue
from bot.testing import FixedDice, StandStillClock
from content.schema import Course, Item
from sandbox_runner.errors import UnavailableError
from sandbox_runner.protocol import Capabilities, Event, Finished, Job

_PATH = Path(__file__).resolve().parent.parent / "test_conversations.py"
_spec = importlib.util.spec_from_file_location("conversations_of_the_engine", _PATH)
assert _spec is not None
assert _spec.loader is not None
golden = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = golden
_spec.loader.exec_module(golden)


class ScriptedRunner:
    """Runs nothing: each job says what the script lets it say."""

    def __init__(self, able: Capabilities | None) -> None:
        self.able = able
        self.waiting: list[Job] = []
        self.said: dict[str, asyncio.Queue[Event]] = {}

    async def capabilities(self) -> Capabilities:
        if self.able is None:
            message = "away"
            raise UnavailableError(message)
        return self.able

    async def submit(self, job: Job) -> AsyncGenerator[Event, None]:
        self.waiting.append(job)
        queue = self.said.setdefault(job.id, asyncio.Queue())
        while True:
            event = await queue.get()
            yield event
            if isinstance(event, Finished):
                return

    async def cancel(self, job_id: str) -> None:
        """The script says how it ends."""

    async def oldest(self) -> Job:
        """Wait for a job, and give the one that waits longest."""
        async with asyncio.timeout(10):
            while not self.waiting:  # noqa: ASYNC110 - as a person waits
                await asyncio.sleep(0.005)
        return self.waiting[0]

    async def say(self, event: Event) -> None:
        """Let the oldest job say something."""
        await self.oldest()
        job = self.waiting.pop(0) if isinstance(event, Finished) else self.waiting[0]
        self.said[job.id].put_nowait(event)


class Player:
    """Plays steps as one learner."""

    def __init__(self, bot: Bot, learner: Person, runner: ScriptedRunner) -> None:
        self.bot = bot
        self.learner = learner
        self.runner = runner
        self.since = 0.0

    async def play(self, step: dict[str, Any]) -> None:
        self.since = asyncio.get_running_loop().time()
        (what, value), *_ = step.items()
        learner = self.learner
        match what:
            case "open":
                learner.send("/start")
            case "say":
                learner.send(value, cleaned=False)
            case "code":
                learner.send_code(value)
            case "file":
                name, _, text = value.partition("\n")
                learner.upload(name, text.encode())
            case "press":
                learner.press(value)
            case "payload":
                learner.press_at(learner.screen()[-1], value)
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

    def lacks(self, replies: list[str]) -> list[str]:
        """Give what the engine said and nobody can read in what changed since the step began."""
        fresh = [note for note in self.learner.screen() if note.times[-1] >= self.since]
        read = squeezed("".join(self.visible(note) for note in fresh))
        shown = [sorted(squeezed(seen(button["text"])) for row in note.keyboard for button in row) for note in fresh]
        wanted = [sorted(map(squeezed, labels)) for labels in map(buttons, replies) if labels]
        lacking = [piece for reply in replies for piece in pieces(reply) if squeezed(piece) not in read]
        return lacking + [" ".join(labels) for labels in wanted if labels not in shown]

    async def chat(self) -> str:
        """Give the chat of ours."""
        return (await self.bot.app.enter("telegram", str(self.learner.chat), greet=False)).id

    @staticmethod
    def visible(note: Note) -> str:
        labels = "".join(f"\n{seen(button['text'])}" for row in note.keyboard for button in row)
        return seen(note.text) + labels + "\n" + note.data.decode("utf-8", "ignore") * (note.kind == "document")


def squeezed(text: str) -> str:
    return re.sub(r"[\s`*]+", "", text)


def buttons(reply: str) -> list[str]:
    """Give the labels of a reply's buttons."""
    outside = re.sub(r"^```.*?^```", "", reply, flags=re.DOTALL | re.MULTILINE)
    lines = (line for line in outside.split("\n") if line.startswith("[") and line.endswith("]"))
    return [label for line in lines for label in line[1:-1].split("] [")]


def pieces(reply: str) -> Iterator[str]:
    """Cut a reply of a golden conversation into what must be readable, piece by piece."""
    in_code = False
    for line in reply.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
            yield from [line.split(" ", 2)[2]] if line.count(" ") > 1 else []
        elif in_code:
            yield line
        elif re.match(r"<(picture|bits|bars|file)\b", line):
            continue
        elif line.startswith("[") and line.endswith("]"):
            continue  # looked at as a whole
        elif line.startswith("| "):
            yield from line.removeprefix("| ").replace(" / ", " | ").split(" | ")
        elif re.match(r"[✓▶·]", line):
            yield from re.split(r"[✓▶·]", line)
        else:
            yield re.sub(r"^(#|-|\d+\.) ", "", line)


SCRIPTS = {path.stem: yaml.safe_load(path.read_text()) for path in sorted(golden.FOLDER.glob("*.yaml"))}


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_conversation_is_read_on_telegram(
    name: str, place: Place, course: Course, other_items: tuple[Item, ...]
) -> None:
    written = SCRIPTS[name]
    course = golden.with_items(
        golden.with_explorer(course, written.get("explorer")), written.get("items", ()), other_items
    )
    place.course = golden.with_experiment(course, written.get("experiment", ()), written.get("seen"))
    script = golden.Script(place.course, away=written.get("away", False), gpu=written.get("gpu", False))
    runner = ScriptedRunner(script.talk.capabilities)
    clock = StandStillClock()
    async with place.bot(runner, FixedDice(), clock, edit_every_s=0.0) as bot:
        player = Player(bot, place.person(), runner)
        for number, step in enumerate(written["steps"]):
            await player.play(step)
            replies = script.play(step)
            clock.at = script.talk.clock.at
            try:
                async with asyncio.timeout(40):
                    while player.lacks(replies):  # noqa: ASYNC110 - what stands in the chat is the condition
                        await asyncio.sleep(0.005)
            except TimeoutError:
                what = {key: value for key, value in step.items() if key != "replies"}
                pytest.fail(
                    f"step {number} {what}: nobody reads {player.lacks(replies)} in {player.learner.reads()[-800:]}"
                )
        for _ in runner.waiting:
            await runner.say(Finished(golden.RESULTS["cancelled"](runner.waiting[0])))
        await player.learner.until(lambda: not place.world.unanswered())
        await bot.serving.hearing.idle()
