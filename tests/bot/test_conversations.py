"""Golden conversations: scripts in tests/conversations, with the replies as plain text.

Regenerate them, after looking at why they changed, with REGENERATE_CONVERSATIONS=1.
"""

import asyncio
import os
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.engine.events import (
    ButtonPressed,
    ChatBlocked,
    ChatOpened,
    CodeSent,
    DigestFellDue,
    Event,
    FileSent,
    RunProgressed,
    TextSent,
)
from bot.engine.replies import Choices, Reply, Spans, Step
from bot.ports import Store
from bot.testing import CAPABLE, MACHINE, Conversation
from content.schema import Course, Explorer, Item, RecordedMachine, RecordedRatio, RecordedRun
from sandbox_runner.protocol import (
    Accepted,
    Checked,
    Claim,
    Device,
    Ending,
    Fault,
    Flag,
    Job,
    Note,
    Phase,
    Progress,
    Ratio,
    Reached,
    Result,
    Stream,
    Variant,
)
from tests.bot.databases import Database

FOLDER = Path(__file__).resolve().parent.parent / "conversations"
REGENERATE = bool(os.environ.get("REGENERATE_CONVERSATIONS"))


def told(reply: Reply) -> str:
    """Write a reply as plain text: prose as it is, code between backticks, buttons in brackets."""
    lines: list[str] = []
    for block in reply.blocks:
        match block.kind:
            case "heading" | "paragraph":
                lines.append("# " * (block.kind == "heading") + spans(block.spans))
            case "bullets":
                lines += [
                    f"{f'{i}.' if block.numbered else '-'} {spans(item)}" for i, item in enumerate(block.items, 1)
                ]
            case "code_block":
                lines += [f"``` {block.language} {block.title}".rstrip(), *block.code.split("\n"), "```"]
            case "picture":
                lines.append(f"<picture {block.key}: {block.alt}>")
            case "attachment" | "file":
                lines.append(f"<file {block.name} {block.media}>")
            case "timings":
                lines += [f"| {row.name} | {row.shown} | {row.first_call}".rstrip(" |") for row in block.rows]
                lines += [f"| {row.name} / {row.against} | {row.shown} | {row.interval}" for row in block.ratios]
                lines.append(f"| {spans(block.machine)}")
            case "bits":
                lines.append(f"<bits: {block.alt}>")
                lines += [
                    f"| {row.name} | {row.sign} {row.exponent} {row.fraction} | {row.shown}" for row in block.rows
                ]
            case "bars":
                lines.append(f"<bars: {block.alt}>")
                lines += [f"| {bar.name} | {bar.shown} | {bar.says}" for bar in block.bars]
            case "steps":
                lines.append(" ".join(step_told(step) for step in block.steps))
            case "choices":
                lines.append(" ".join(f"[{choice.label}]" for choice in block.choices))
    return "\n".join(lines)


def spans(given: Spans) -> str:
    marks = {"code": "`{}`", "strong": "**{}**"}
    return "".join(marks.get(span.kind, "{}").format(span.text) for span in given)


def step_told(step: Step) -> str:
    mark = {"past": "✓", "now": "▶", "ahead": "·"}[step.state]
    count = f" {step.done}/{step.total}" if step.total else ""
    return f"{mark}{step.label}{count}"


def variant(name: str, ns: float, spread: float) -> Variant:
    return Variant(name, ns, ns, (ns * (1 - spread), ns * (1 + spread)), 20, 3, ns * 9)


def timed(job: Job, claim: str, point: float) -> Result:
    ratio = Ratio("array", "loop", point, (point * 0.97, point * 1.04), Claim(claim), 20)
    variants = (variant("loop", 2.5e6, 0.01), variant("array", 2.5e6 / point, 0.02))
    return Result(
        job.id,
        job.kind,
        Ending.OK,
        variants=variants,
        ratios=(ratio,),
        confirmed=True,
        noise=0.008,
        checked="time only",
        machine=MACHINE,
    )


def graded(job: Job, point: float, spread: float = 0.02, *, confirmed: bool = True) -> Result:
    """Give the result of a submission with right answers, so many times as fast as the starter."""
    rows = (("starter", 1.0), ("submission", point), ("reference", 20.0))
    ratios = tuple(
        Ratio(name, "starter", times, (times * (1 - spread), times * (1 + spread)), Claim.FASTER, 20)
        for name, times in rows[1:]
    )
    return Result(
        job.id,
        job.kind,
        Ending.OK,
        variants=tuple(variant(name, 2e6 / times, 0.01) for name, times in rows),
        ratios=ratios,
        checks=(Checked(10, passed=True, error=1e-12), Checked(11, passed=True)),
        share=point / 20.0,
        confirmed=confirmed,
        noise=0.008,
        checked="fresh_inputs",
        machine=MACHINE,
        flags=(Flag("np_vectorize", {"mistake": 32, "what": "np.vectorize"}, 2),) if point < 10 else (),
    )


def differing(job: Job) -> Result:
    """Give the result of a submission that is wrong on a check and on the one that nobody knew."""
    checks = (Checked(10, passed=False, why="differ", error=0.25), Checked(11, passed=False, why="shape"))
    return Result(job.id, job.kind, Ending.WRONG_RESULT, checks=checks, machine=MACHINE)


def raising(job: Job) -> Result:
    """Give the result of a submission that raises in its first call."""
    fault = Fault("IndexError", "IndexError: list index out of range", 2)
    return Result(
        job.id,
        job.kind,
        Ending.PY_ERROR,
        fault=fault,
        checks=(Checked(10, passed=False, why="raised"),),
        machine=MACHINE,
    )


def answering(job: Job, own: str, checked: str) -> Result:
    """Give the result of code that answers a question: its own output, the mark in the job, what the check prints."""
    found = re.search(r"print\('\\n(id\d+)'\)", job.source)
    assert found is not None, job.source
    printed = f"{own}\n{found.group(1)}\n{checked}\n"
    return Result(job.id, job.kind, Ending.OK, stdout=Stream(printed, bytes=len(printed)), machine=MACHINE)


RESULTS: dict[str, Any] = {
    "printed": lambda job: Result(job.id, job.kind, Ending.OK, stdout=Stream("[2 4 6]\n", bytes=8), machine=MACHINE),
    "faster": lambda job: timed(job, "faster", 125.3),
    "slower": lambda job: timed(job, "slower", 0.5),
    "unclear": lambda job: timed(job, "unclear", 1.01),
    "right": lambda job: answering(job, "", "14"),
    "near": lambda job: answering(job, "hello\n", "36"),
    "wrong": lambda job: answering(job, "14\n", "15"),
    "solved": lambda job: graded(job, 12.5),
    "solved_faster": lambda job: graded(job, 25.0),
    "unconfirmed": lambda job: graded(job, 12.5, confirmed=False),
    "too_slow": lambda job: graded(job, 2.0),
    "close": lambda job: graded(job, 4.9, 0.05),
    "mistaken": lambda job: Result(
        job.id,
        job.kind,
        Ending.OK,
        flags=(Flag("np_vectorize", {"mistake": 32, "what": "np.vectorize"}, 2), Flag("noisy", {"noise": 0.3})),
        machine=MACHINE,
    ),
    "differs": differing,
    "raises": raising,
    "endless": lambda job: Result(job.id, job.kind, Ending.TIMEOUT_RUN, reached=Reached("run_s", 10, "s")),
    "cancelled": lambda job: Result(job.id, job.kind, Ending.CANCELLED),
    "error": lambda job: Result(
        job.id,
        job.kind,
        Ending.PY_ERROR,
        fault=Fault("ZeroDivisionError", "ZeroDivisionError: division by zero", 2),
        notes=(Note("left_processes", {"count": 2}),),
    ),
}
PROGRESS: dict[str, Accepted | Progress] = {
    "queued": Accepted(3, 12.0),
    "importing": Progress(Phase.IMPORT),
    "measuring": Progress(Phase.MEASURE, 8, 20),
}


class Script:
    """Plays the steps of a conversation; a button is pressed by its label, the newest first."""

    def __init__(
        self,
        course: Course,
        *,
        away: bool,
        gpu: bool = False,
        store: Store | None = None,
        at_once: Callable[[Coroutine[Any, Any, Any]], Any] | None = None,
    ) -> None:
        able = replace(CAPABLE, devices=(Device.CPU, Device.CUDA), device_count=1) if gpu else CAPABLE
        self.talk = Conversation(course, None if away else able, store, at_once)
        self.buttons: dict[str, str] = {}

    def play(self, step: dict[str, Any]) -> list[str]:
        replies = self.replies(step)
        for reply in replies:
            for block in reply.blocks:
                if isinstance(block, Choices):
                    self.buttons.update({choice.label: choice.payload for choice in block.choices})
        return [told(reply) for reply in replies]

    def replies(self, step: dict[str, Any]) -> tuple[Reply, ...]:
        (what, value), *_ = step.items()
        match what:
            case "finish":
                return self.talk.finish(RESULTS[value])
            case "at":
                self.talk.clock.at = datetime.fromisoformat(value)
                return ()
            case "wait":
                self.talk.clock.at += timedelta(hours=value)
                return ()
            case "progress":
                return self.talk.take(RunProgressed(self.talk.waiting[0].id, PROGRESS[value]))
            case _:
                return self.talk.take(self.event(what, value))

    def event(self, what: str, value: str) -> Event:
        match what:
            case "open":
                return ChatOpened()
            case "falls_due":
                return DigestFellDue()
            case "blocked":
                return ChatBlocked()
            case "press":
                return ButtonPressed(self.buttons[value])
            case "payload":
                return ButtonPressed(value)
            case "code":
                return CodeSent(value)
            case "file":
                name, _, text = value.partition("\n")
                return FileSent(name, text.encode())
            case "say":
                return TextSent(value)
        raise KeyError(what)


class _Literal(yaml.SafeDumper):
    """Writes several lines as a block, so that a diff of a conversation can be read."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Literal.add_representer(str, _text)


def with_explorer(course: Course, kind: str | None) -> Course:
    """Give the course with another explorer in each lesson, where a conversation names one."""
    if kind is None:
        return course
    explorer = Explorer.model_validate({"kind": kind, "intro": "ما أثر ذلك؟"})
    lessons = tuple(lesson.model_copy(update={"explorer": explorer}) for lesson in course.lessons)
    return course.model_copy(update={"lessons": lessons})


def with_items(course: Course, kinds: Sequence[str], others: tuple[Item, ...]) -> Course:
    """Give the course with other items in each lesson's check, where a conversation names their kinds."""
    if not kinds:
        return course
    items = tuple(item for kind in kinds for item in others if item.kind == kind)
    lessons = tuple(lesson.model_copy(update={"check": items}) for lesson in course.lessons)
    return course.model_copy(update={"lessons": lessons})


def with_experiment(course: Course, devices: Sequence[str], point: float | None) -> Course:
    """Give the course with the myths' experiment for other devices, and a record of a GPU where a figure is given."""
    if not devices:
        return course
    lesson = course.lessons[0]
    examples = tuple(
        each.model_copy(update={"devices": tuple(devices)}) if each.id == "race" else each for each in lesson.examples
    )
    course = course.model_copy(
        update={"lessons": (lesson.model_copy(update={"examples": examples}), *course.lessons[1:])}
    )
    if point is None:
        return course
    ratio = RecordedRatio(name="array", against="loop", point=point, low=point, high=point, claim="faster")
    run = RecordedRun(
        lesson=lesson.slug,
        example="race",
        device="cuda",
        code=course.digest(lesson.slug, next(each for each in examples if each.id == "race")),
        ending="ok",
        confirmed=True,
        checked="fresh_inputs",
        noise=0.01,
        ratios=(ratio,),
    )
    machine = RecordedMachine(
        title="Stand-in GPU",
        cpu="c",
        cores=2,
        gpu="g",
        devices=("cuda",),
        python="3",
        numpy="2",
        torch="2",
        kernel="6",
        recorded_at=datetime(2026, 1, 1, tzinfo=UTC),
        runs=(run,),
    )
    return course.model_copy(update={"recorded": (machine,)})


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_conversation_goes_as_written(path: Path, course: Course, other_items: tuple[Item, ...]) -> None:
    written = yaml.safe_load(path.read_text())
    steps = [{key: value for key, value in step.items() if key != "replies"} for step in written["steps"]]
    course = with_items(with_explorer(course, written.get("explorer")), written.get("items", ()), other_items)
    course = with_experiment(course, written.get("experiment", ()), written.get("seen"))
    script = Script(course, away=written.get("away", False), gpu=written.get("gpu", False))
    played = [{**step, "replies": script.play(step)} for step in steps]
    if REGENERATE:
        text = yaml.dump(
            {**written, "steps": played}, Dumper=_Literal, allow_unicode=True, sort_keys=False, width=10**6
        )
        path.write_text(text)
        return
    assert played == written["steps"]


@pytest.mark.parametrize("name", ["reading", "check", "code", "myths", "review", "board", "own_data", "reminders"])
def test_a_conversation_goes_the_same_way_on_each_database(name: str, course: Course, database: Database) -> None:
    written = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    assert not set(written) - {"title", "steps", "experiment", "seen"}
    course = with_experiment(course, written.get("experiment", ()), written.get("seen"))
    with asyncio.Runner() as loop:
        store = database.open()
        script = Script(course, away=False, store=store, at_once=loop.run)
        for step in written["steps"]:
            asked = {key: value for key, value in step.items() if key != "replies"}
            assert script.play(asked) == step["replies"], asked
        loop.run(store.close())


def test_there_are_conversations() -> None:
    assert len(list(FOLDER.glob("*.yaml"))) >= 8
